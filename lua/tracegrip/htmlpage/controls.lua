-- controls.lua - of the page of "export html" (htmlpage.lua): which view is
-- shown; keys, buttons and the search; and the beginning of it all.

return [==[
// ---- the page ----

const views = {timeline, moments, flame, table};
const touched = matchMedia("(pointer: coarse)").matches;
const help = touched ? {
  timeline: "drag to move · pinch to zoom · tap a call · tap twice to zoom to "
    + "it",
  moments: "drag the slider, or step",
  flame: "tap a box · tap twice to look at that part · − to go up",
  table: "tap a heading to sort, a row to choose"
} : {
  timeline: "arrows: caller, first call in it, neighbours · Enter: zoom to it"
    + " · W S zoom · A D move · M next marker · / search · 0 all",
  moments: "→ step in · ← back · ↓ over · ↑ back over · O out · Shift+O back "
    + "out · Home, End · / search, Enter to its next call",
  flame: "arrows: up, down, neighbours · Enter: look at that part · "
    + "Backspace up · / search · 0 all",
  table: "a heading sorts · arrows choose a row, Enter finds its calls · "
    + "/ search"
};
let current = "timeline", pending = false;

const isChosen = view => view.chosen !== null && view.chosen !== -1;

function describe () {
  const view = views[current];
  if (view === moments) view.describe();
  else if (!isChosen(view)) describeAll();
  else if (current === "table") describeFunction(view.chosen);
  else view.describe(view.chosen);
}

// On the canvas.
const isDrawn = () => current === "timeline" || current === "flame";

function draw () {
  pending = false;
  if (!isDrawn()) return views[current].draw();
  if (width === 0 || height === 0) return;      // an iframe that is not shown
  pen.clearRect(0, 0, width, height);
  pen.font = "12px system-ui, sans-serif";
  pen.textBaseline = "middle";
  views[current].draw();
}

function soon () {
  if (!pending) requestAnimationFrame(draw);
  pending = true;
}

function show () {
  describe();
  soon();
}

const labels = {
  timeline: () => `Timeline, ${contents()}. Arrow keys go from call to call.`,
  flame: () => "Flame graph" + (flame.callers ? " by callers" : "")
               + ". Arrow keys go from box to box."
};

// What a view has no use for stays where it is, so that nothing jumps.
function look (name) {
  if (name === "moments" && current === "timeline")
    moments.begin(timeline.chosen);
  current = name;
  for (const button of document.querySelectorAll("nav button"))
    button.setAttribute("aria-pressed", button.dataset.view === name);
  $("sums").hidden = name !== "table";
  $("walk").hidden = name !== "moments";
  canvas.hidden = $("zooms").hidden = !isDrawn();
  for (const id of ["upside", "callers", "bytes"])
    $(id).disabled = name !== "flame";
  $("thread").disabled = name === "table" || name === "moments";
  $("keys").textContent = help[name];
  const view = views[name], thread = Number($("thread").value);
  if (isDrawn()
      && (view.thread !== thread || !view.ready)) {
    view.thread = thread;
    view.ready = true;
    view.arrange();
    if (found) searchAgain();           // in what is shown now
  }
  if (labels[name]) canvas.setAttribute("aria-label", labels[name]());
  $("tip").hidden = true;
  countHits();
  show();
}

// ---- the search ----

function countHits () {
  let text = "";
  if (found && (current === "timeline" || current === "moments")) {
    const n = found.list.length;
    const at = found.list.indexOf(views[current].chosen);
    text = at >= 0 ? `${count(at + 1)} of ${count(n)}` : several(n, "hit");
  } else if (found && current === "flame") {
    const {boxes, sum} = flame.matched();
    text = `${count(boxes)} boxes, ${flame.share(sum)}`;
  } else if (found) text = `${count(listed().length)} of `
    + several(functions.length - 1, "function");
  $("hits").textContent = text;
}

const LONG = 4e6;               // bytes of values that take a while
let waiting = 0;                // a timer's number

// While somebody types; where there is much to be looked at, once he stops.
function searchSoon () {
  clearTimeout(waiting);
  if (texts.length < LONG) return searchAgain();
  $("hits").textContent = "searching…";
  waiting = setTimeout(searchAgain, 250);
}

function searchAgain () {
  clearTimeout(waiting);
  waiting = 0;
  search($("search").value, timeline.thread);
  table.ready = false;
  countHits();
  soon();
}

// The next call or marker that the search has found, after what is chosen.
function next (back) {
  if (!found || found.list.length === 0) return;
  if (current === "moments") return nextMoment(back);
  if (current !== "timeline") return;
  const item = found.list[placeAfter(timeline.chosen, back)];
  timeline.choose(item);
  timeline.zoomTo(item);
  countHits();
  show();
}

// The moment at which the next call that the search has found has begun.
function nextMoment (back) {
  const is = item => item >= 0 && (back ? momentOf(item) < moments.at
                                        : momentOf(item) > moments.at);
  const item = back ? found.list.findLast(is) : found.list.find(is);
  if (item === undefined) return;
  moments.go(momentOf(item));
  countHits();
  show();
}

// ---- keys ----

// To what the view has there; from nothing, to where it begins.
function walk (view, way) {
  const to = view.walk(way);
  view.choose(to);
  if (isChosen(view)) view.reveal(to);
  countHits();
  describe();
}

function toMark (view, back) {
  if (view !== timeline || markers.list.length === 0) return;
  view.choose(view.nextMark(back));
  view.reveal(view.chosen);
  describe();
}

const does = {
  w: v => v.zoom(0.7, width / 2), s: v => v.zoom(1 / 0.7, width / 2),
  a: v => v.pan(-width / 5, 0), d: v => v.pan(width / 5, 0),
  ArrowLeft: v => walk(v, "left"), ArrowRight: v => walk(v, "right"),
  ArrowUp: v => walk(v, "up"), ArrowDown: v => walk(v, "down"),
  PageUp: v => v.pan(0, -height / 2), PageDown: v => v.pan(0, height / 2),
  m: v => toMark(v, false), M: v => toMark(v, true),
  "+": v => v.zoom(0.7, width / 2), "-": v => v.zoom(1 / 0.7, width / 2),
  Backspace: v => v.zoom(1 / 0.7, width / 2), 0: v => v.reset(),
  Escape: v => { v.choose(-1); describe(); },
  Enter: v => { if (isChosen(v)) v.zoomTo(v.chosen); }
};

function searchKey (event) {
  if (event.key === "Enter") {
    if (waiting) searchAgain();
    next(event.shiftKey);
  }
  if (event.key === "Escape")
    (current === "table" ? $("sums").querySelector("tr[tabindex='0']") || canvas
     : current === "moments" ? $("moment") : canvas).focus();
}

// A button keeps the keys that press it, a list all that choose from it.
function isTaken (event) {
  const tag = event.target && event.target.tagName;
  return tag === "SELECT"
         || (tag === "BUTTON" && (event.key === "Enter" || event.key === " "));
}

document.onkeydown = event => {
  canvas.classList.remove("pointed");
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target === $("search")) return searchKey(event);
  if (event.key === "/") {
    $("search").focus();
    return event.preventDefault();
  }
  if (current === "moments" && moments.key(event)) {
    event.preventDefault();
    countHits();
    return show();
  }
  if (!isDrawn() || !does[event.key] || isTaken(event)) return;
  does[event.key](views[current]);
  event.preventDefault();
  soon();
};

// ---- buttons ----

$("search").oninput = searchSoon;
$("theme").onclick = () => { dark = !dark; paint(); soon(); };
media.onchange = () => { dark = media.matches; paint(); soon(); };
$("thread").onchange = () => look(current);
for (const id of ["upside", "callers", "bytes"])
  $(id).onclick = () => {
    flame[id] = !flame[id];
    $(id).setAttribute("aria-pressed", flame[id]);
    if (id !== "upside") flame.arrange();
    look("flame");
  };
for (const button of document.querySelectorAll("nav button"))
  button.onclick = () => look(button.dataset.view);
for (const button of document.querySelectorAll("#zooms button"))
  button.onclick = () => { does[button.dataset.key](views[current]); soon(); };
for (const button of document.querySelectorAll("#steps button"))
  button.onclick = () => {
    moments.go(steps[button.dataset.step](moments.at));
    show();
  };
$("moment").oninput = event => {
  moments.go(Number(event.target.value));
  show();
};
new ResizeObserver(() => { fit(); soon(); }).observe($("stage"));

// ---- the beginning ----

const shortTitle = facts.title.replace(/.*\//, "");
document.title = `${shortTitle} - tracegrip`;
$("title").textContent = shortTitle;
$("title").title = facts.title;
$("about").textContent = [contents(), ...missing(),
  ...(filtered().length > 0 ? ["filtered: " + filtered().join(" ")] : [])
].join("; ");
$("about").title = $("about").textContent;
$("thread").append(new Option("Whole program", -1),
  ...facts.threads.map((name, i) => new Option(name, i)));
$("bytes").hidden = !facts.memory;
$("loading").remove();
$("bar").inert = $("theme").disabled = false;
document.body.removeAttribute("aria-busy");
paint();
fit();
look("timeline");
document.documentElement.dataset.ready = Math.round(performance.now());
]==]
