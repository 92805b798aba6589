-- controls.lua - of the page of a heap snapshot (heappage.lua): which view is
-- shown; mouse, keys, buttons and the search; and the beginning of it all.

return [==[
// ---- the page ----

const views = {map, tree, classes, waste};
const touched = matchMedia("(pointer: coarse)").matches;
const help = touched ? {
  map: "tap a box to go in, its way above to go out",
  tree: "tap ▸ to see what it keeps", classes: "tap a heading to sort",
  waste: "tap a row"
} : {
  map: "a click goes in · arrows: keeper, largest kept, neighbours · Enter in"
    + " · Backspace out · 0 all · / search",
  tree: "▸ or → shows what it keeps, ← hides it · arrows go from row to row"
    + " · / search",
  classes: "a heading sorts · arrows choose a row · / search",
  waste: "arrows choose a row · / search"
};
let current = "map", pending = false;

function draw () {
  pending = false;
  if (current === "map") map.draw();
}

function soon () {
  if (!pending) requestAnimationFrame(draw);
  pending = true;
}

// After the map has gone somewhere, or something else was chosen on it.
function show () {
  map.crumbs();
  if (map.rest) describeRest(map.chosen);
  else describeNode(map.chosen);
  soon();
}

// Wherever it is chosen; on the map it is brought into sight.
function chooseNode (i) {
  if (current === "map" && i < boxes) {
    map.reveal(i);
    show();
  } else {
    if (i < boxes) map.reveal(i);
    describeNode(i);
  }
}

function countHits () {
  $("hits").textContent = !found ? ""
    : current === "map" ? tree.hits() : views[current].hits();
}

function look (name) {
  current = name;
  for (const button of document.querySelectorAll("#bar nav button"))
    button.ariaPressed = String(button.dataset.view === name);
  canvas.hidden = $("crumbs").hidden = name !== "map";
  $("sums").hidden = name === "map";
  $("rooted").disabled = name !== "tree";
  $("keys").textContent = help[name];
  $("tip").hidden = true;
  countHits();
  if (name === "map") return show();
  views[name].draw();
  $("sums").scrollTop = 0;
  if (name === "tree") describeNode(map.chosen);
  else describeAll();
}

// ---- the map, by mouse and keys ----

canvas.onpointermove = event => {
  if (event.pointerType === "touch") return;
  const part = map.at(event.offsetX, event.offsetY);
  canvas.style.cursor = part && !part.own && !part.rest
    && part.node !== map.focus ? "pointer" : "default";
  tipBeside(event, tipOf(part));
};
canvas.onpointerleave = () => { $("tip").hidden = true; };
canvas.onclick = event => {
  const part = map.at(event.offsetX, event.offsetY);
  canvas.classList.add("pointed");      // no outline for who sees his finger
  $("tip").hidden = true;
  if (part) map.enter(part);
  show();
};

const does = {
  Enter: () => map.enter({node: map.chosen, rest: map.rest ? 1 : 0}),
  Backspace: () => map.out(),
  0: () => { map.focus = map.chosen = ROOT; map.rest = false; },
  Escape: () => { map.chosen = map.focus; map.rest = false; }
};
for (const way of ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"])
  does[way] = () => map.walk(way);

// The next box that is found, after the one that is chosen.
function next (back) {
  if (current !== "map" || !found || found.list.length === 0) return;
  const {list} = found, at = list.indexOf(map.chosen);
  const step = back ? Math.max(at, 0) + list.length - 1 : at + 1;
  chooseNode(list[step % list.length]);
  $("hits").textContent = `${count(list.indexOf(map.chosen) + 1)} of `
    + count(list.length);
}

function searchKey (event) {
  if (event.key === "Enter") next(event.shiftKey);
  if (event.key !== "Escape") return;
  const row = $("sums").querySelector("tr[tabindex='0']");
  (current === "map" || !row ? canvas : row).focus();
}

document.onkeydown = event => {
  canvas.classList.remove("pointed");
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target === $("search")) return searchKey(event);
  if (event.key === "/") {
    $("search").focus();
    return event.preventDefault();
  }
  const button = event.target.tagName === "BUTTON" && event.key === "Enter";
  if (current !== "map" || !does[event.key] || button) return;
  does[event.key]();
  show();
  event.preventDefault();
};

// ---- buttons ----

$("search").oninput = () => {
  search($("search").value);
  if (current === "map") soon();
  else views[current].draw();
  countHits();
};
$("rooted").onclick = () => {
  tree.rooted = !tree.rooted;
  $("rooted").ariaPressed = String(tree.rooted);
  tree.draw();
};
$("theme").onclick = () => { dark = !dark; paint(); soon(); };
media.onchange = () => { dark = media.matches; paint(); soon(); };
for (const button of document.querySelectorAll("#bar nav button"))
  button.onclick = () => look(button.dataset.view);
new ResizeObserver(() => { fit(); soon(); }).observe($("stage"));

// ---- the beginning ----

document.title = `${facts.title} - tracegrip`;
$("title").textContent = facts.title;
$("title").title = facts.title;
$("about").textContent = summary().join("; ");
$("about").title = $("about").textContent;
canvas.ariaLabel = `Map of ${summary()[0]}. Arrow keys go from box to box.`;
$("loading").remove();
$("bar").inert = $("theme").disabled = false;
document.body.removeAttribute("aria-busy");
paint();
fit();
look("map");
document.documentElement.dataset.ready = Math.round(performance.now());
]==]
