-- controls.lua - of the page of "export html" (htmlpage.lua): which view is
-- shown; mouse, keys and buttons; and the beginning of it all.

return [==[
// ---- the page ----

const views = {timeline, flame, table};
const help = {
  timeline: "wheel zoom · drag move · click choose · double click zoom to a "
    + "call · W S A D or arrows · / search, Enter next · 0 all",
  flame: "click choose · double click look at that part · Backspace up · "
    + "/ search · 0 all",
  table: "click a heading to sort, a row to choose, twice to find its calls"
};
let current = "timeline", pending = false;

function describe () {
  const view = views[current], chosen = view.chosen;
  if (chosen === null || chosen === -1) describeAll();
  else if (current === "table") describeFunction(chosen);
  else view.describe(chosen);
}

function draw () {
  pending = false;
  if (current === "table") return table.draw();
  if (width === 0 || height === 0) return;      // a frame that is not shown
  readInk();
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

function look (name) {
  current = name;
  for (const button of document.querySelectorAll("nav button"))
    button.setAttribute("aria-pressed", button.dataset.view === name);
  $("sums").hidden = name !== "table";
  canvas.hidden = name === "table";
  $("upside").hidden = $("callers").hidden = name !== "flame";
  $("thread").hidden = name === "table";
  $("keys").textContent = help[name];
  const view = views[name], thread = Number($("thread").value);
  if (view.arrange && (view.thread !== thread || !view.ready)) {
    view.thread = thread;
    view.ready = true;
    view.chosen = name === "flame" ? null : -1;
    view.arrange();
  }
  $("tip").hidden = true;
  show();
}

// The next call that the search has found, after the one that is chosen.
function next (back) {
  if (current !== "timeline" || !found) return;
  const step = back ? -1 : 1;
  let i = back ? Math.max(timeline.chosen, 0) : timeline.chosen;
  for (let k = 0; k < calls.n; k++) {
    i = (i + step + calls.n) % calls.n;
    if (found[calls.fn[i]] && (timeline.thread < 0
                               || calls.thread[i] === timeline.thread)) {
      timeline.choose(i);
      timeline.zoomTo(i);
      return show();
    }
  }
}

function tip (event) {
  const view = views[current], hit = view.at(event.offsetX, event.offsetY);
  const box = $("tip");
  box.hidden = hit === -1;
  if (hit === -1) return;
  box.textContent = current === "timeline"
    ? `${functions[calls.fn[hit]].name}  `
      + span(calls.end[hit] - calls.begin[hit])
    : `${nameOf(hit)}  ${span(hit.total)}  ${percent(hit.total)}`;
  box.style.left = Math.min(event.clientX + 12, innerWidth - 260) + "px";
  box.style.top = event.clientY + 14 + "px";
}

let drag = null;

canvas.onpointerdown = event => {
  drag = {x: event.clientX, y: event.clientY, moved: false};
  canvas.setPointerCapture(event.pointerId);
  canvas.focus();
};
canvas.onpointermove = event => {
  if (!drag) return tip(event);
  const dx = drag.x - event.clientX, dy = drag.y - event.clientY;
  drag.moved = drag.moved || Math.abs(dx) + Math.abs(dy) > 3;
  if (!drag.moved) return;
  drag.x = event.clientX;
  drag.y = event.clientY;
  views[current].pan(dx, dy);
  soon();
};
canvas.onpointerup = event => {
  const click = drag && !drag.moved;
  drag = null;
  if (!click) return;
  const view = views[current];
  view.choose(view.at(event.offsetX, event.offsetY));
  show();
};
canvas.onpointercancel = () => { drag = null; };
canvas.onpointerleave = () => { $("tip").hidden = true; };
canvas.ondblclick = event => {
  const view = views[current], hit = view.at(event.offsetX, event.offsetY);
  if (hit !== -1) view.zoomTo(hit);
  soon();
};
canvas.addEventListener("wheel", event => {
  event.preventDefault();
  const view = views[current];
  if (event.shiftKey || current === "flame")
    view.pan(event.deltaX, event.deltaY);
  else if (Math.abs(event.deltaX) > Math.abs(event.deltaY))
    view.pan(event.deltaX, 0);
  else view.zoom(Math.exp(event.deltaY * 0.0015), event.offsetX);
  soon();
}, {passive: false});

const does = {
  w: v => v.zoom(0.7, width / 2), s: v => v.zoom(1 / 0.7, width / 2),
  a: v => v.pan(-width / 5, 0), d: v => v.pan(width / 5, 0),
  ArrowLeft: v => v.pan(-width / 5, 0), ArrowRight: v => v.pan(width / 5, 0),
  ArrowUp: v => v.pan(0, -3 * ROW), ArrowDown: v => v.pan(0, 3 * ROW),
  "+": v => v.zoom(0.7, width / 2), "-": v => v.zoom(1 / 0.7, width / 2),
  Backspace: v => v.zoom(1 / 0.7, width / 2), 0: v => v.reset(),
  Escape: v => { v.choose(-1); describe(); },
  Enter: v => { if (v.chosen !== -1 && v.chosen !== null) v.zoomTo(v.chosen); }
};

document.onkeydown = event => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target === $("search")) {
    if (event.key === "Enter") next(event.shiftKey);
    if (event.key === "Escape") canvas.focus();
    return;
  }
  if (event.key === "/") {
    $("search").focus();
    return event.preventDefault();
  }
  if (current === "table" || !does[event.key]) return;
  does[event.key](views[current]);
  event.preventDefault();
  soon();
};

$("search").oninput = () => { search($("search").value); soon(); };
$("theme").onclick = () => { dark = !dark; paint(); soon(); };
media.onchange = () => { dark = media.matches; paint(); soon(); };
$("thread").onchange = () => look(current);
for (const id of ["upside", "callers"])
  $(id).onclick = () => {
    flame[id] = !flame[id];
    $(id).setAttribute("aria-pressed", flame[id]);
    if (id === "callers") flame.arrange();
    show();
  };
for (const button of document.querySelectorAll("nav button"))
  button.onclick = () => look(button.dataset.view);
new ResizeObserver(() => { fit(); soon(); }).observe($("stage"));

document.title = `${facts.program || facts.trace} - tracegrip`;
$("title").textContent = facts.program || facts.trace;
$("about").textContent = facts.calls === 0 && facts.sampled > 0
  ? "samples" : `${count(facts.calls)} calls`;
$("about").textContent += `, ${span(facts.duration)}` + facts.remarks;
$("thread").append(new Option("Whole program", -1),
  ...facts.threads.map((name, i) => new Option(name, i)));
paint();
fit();
look("timeline");
document.documentElement.dataset.ready = Math.round(performance.now());
]==]
