-- pointer.lua - of the page of "export html" (htmlpage.lua): mouse and fingers
-- on the picture. One finger moves it, two enlarge it: the browser's own
-- gestures are off there (style.lua), or it would enlarge the page.

return [==[
// ---- mouse and fingers ----

const fingers = new Map();      // pressed ones, and the mouse, by their numbers
let moved = false, tapped = {time: 0, x: 0, y: 0};

function tip (event) {
  const x = event.offsetX, y = event.offsetY, view = views[current];
  tipBeside(event, view.tip(view.at(x, y), x, y));
}

const middleOf = list => ({
  x: list.reduce((sum, one) => sum + one.x, 0) / list.length,
  y: list.reduce((sum, one) => sum + one.y, 0) / list.length
});
const spreadOf = ([a, b]) => b ? Math.hypot(a.x - b.x, a.y - b.y) : 0;

canvas.onpointerdown = event => {
  moved = fingers.size > 0;
  fingers.set(event.pointerId, {x: event.offsetX, y: event.offsetY});
  canvas.setPointerCapture(event.pointerId);
  canvas.classList.add("pointed");      // no outline for who sees his finger
  canvas.focus({preventScroll: true});
  $("tip").hidden = true;
};

const SLACK = {mouse: 3, pen: 6, touch: 10};    // pixels that are no movement

canvas.onpointermove = event => {
  const finger = fingers.get(event.pointerId);
  if (!finger) return event.pointerType === "touch" ? undefined : tip(event);
  const before = [...fingers.values()].map(one => ({...one}));
  const far = Math.hypot(event.offsetX - finger.x, event.offsetY - finger.y);
  moved = moved || far > (SLACK[event.pointerType] || 3);
  if (!moved) return;
  finger.x = event.offsetX;
  finger.y = event.offsetY;
  const after = [...fingers.values()], view = views[current];
  const from = middleOf(before), to = middleOf(after);
  view.pan(from.x - to.x, from.y - to.y);
  if (after.length === 2 && current === "timeline")
    view.zoom(Math.max(spreadOf(before), 1) / Math.max(spreadOf(after), 1),
              to.x);
  soon();
};

// The first tap chooses, the second looks at it.
canvas.onpointerup = event => {
  const click = fingers.has(event.pointerId) && !moved;
  fingers.delete(event.pointerId);
  if (!click) return;
  const view = views[current], {offsetX: x, offsetY: y} = event;
  const item = view.at(x, y);
  const again = event.pointerType !== "mouse"
    && event.timeStamp - tapped.time < 350
    && Math.hypot(x - tapped.x, y - tapped.y) < 30;
  tapped = {time: again ? 0 : event.timeStamp, x, y};
  view.choose(item);
  if (again && item !== -1) view.zoomTo(item);
  show();
};
canvas.onpointercancel = event => { fingers.delete(event.pointerId); };
canvas.onpointerleave = () => { $("tip").hidden = true; };
canvas.ondblclick = event => {
  const view = views[current], item = view.at(event.offsetX, event.offsetY);
  if (item !== -1) view.zoomTo(item);
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

]==]
