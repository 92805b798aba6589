-- markers.lua - of the page of "export html" (htmlpage.lua): what is drawn
-- around the timeline's boxes, on the same clock: what the program said, its
-- timers, collections of garbage, the size of the heap.

return [==[
// ---- markers, timers, the heap ----

const markers = {
  list: [],             // all that are shown, in the order of their ends
  shown: new Set(),     // the same
  flags: [],            // moments...
  lanes: [],            // ...and spans; no two of a lane at a time
  rows: 0, below: 0     // rows above the boxes, pixels below them
};

const LANES = 6, STRIP = 46;
const SILENT = new Set(["time", "groupEnd"]);   // other markers tell of them

const methodOf = k => marks.sort[k] === COLLECTION ? "collection"
  : marks.sort[k] === UNTRACED ? "untraced"
  : facts.methods[marks.sort[k]] || "marker";
const isSpan = k =>
  ["timeEnd", "collection", "untraced"].includes(methodOf(k));
const wordsOf = k => textAt(marks.text[k], marks.size[k]);

// Timers that never end are shown where they begin.
function openTimers () {
  const open = new Map();
  for (let k = 0; k < marks.n; k++) {
    const method = methodOf(k);
    if (method === "time") open.set(wordsOf(k), k);
    else if (method === "timeEnd") open.delete(wordsOf(k));
  }
  return new Set(open.values());
}

markers.label = function (k) {
  const words = wordsOf(k), method = methodOf(k);
  if (isSpan(k)) return `${words}  ${span(marks.end[k] - marks.begin[k])}`;
  const number = marks.number[k] < 0 ? "" : method === "timeLog"
    ? "  " + span(marks.number[k]) : method === "count"
    ? "  " + count(marks.number[k]) : "";
  return (method === "timeStamp" ? words : `${method}: ${words}`) + number;
};

// The first lane that is free then; the last one has what is left.
function putInLanes (list) {
  const lanes = [], ends = [];
  for (const k of list.sort((a, b) => marks.begin[a] - marks.begin[b]
                                      || marks.end[b] - marks.end[a])) {
    let lane = ends.findIndex(end => end <= marks.begin[k]);
    if (lane < 0) lane = Math.min(ends.length, LANES - 1);
    (lanes[lane] = lanes[lane] || []).push(k);
    ends[lane] = Math.max(ends[lane] || 0, marks.end[k]);
  }
  return lanes;
}

markers.arrange = function (thread) {
  const open = openTimers(), spans = [];
  this.list = [];
  this.flags = [];
  for (let k = 0; k < marks.n; k++) {
    if (thread >= 0 && marks.thread[k] !== thread) continue;
    if (SILENT.has(methodOf(k)) && !open.has(k)) continue;
    this.list.push(k);
    (isSpan(k) ? spans : this.flags).push(k);
  }
  this.shown = new Set(this.list);
  this.lanes = putInLanes(spans);
  this.rows = (this.flags.length > 0 ? 1 : 0) + this.lanes.length;
  this.below = heap.time.length > 1 ? STRIP : 0;
};

const flagInk = k => ({warn: ink.warn, error: ink.error})[methodOf(k)]
                     || ink.mark;
const isHit = k => found && found.marks[k];

// A flag's text has the room up to the next one; of those in one pixel one is
// drawn.
markers.drawFlags = function () {
  const list = this.flags, x = k => timeline.xOf(marks.end[k]);
  let at = Math.max(firstWhere(list, 0, k => marks.end[k] >= timeline.from) - 1,
                    0);
  while (at < list.length && x(list[at]) <= width) {
    const k = list[at], left = x(k);
    const next = firstWhere(list, at + 1, one => x(one) >= left + 1);
    const room = (next < list.length ? Math.min(x(list[next]), width) : width)
                 - left;
    pen.fillStyle = isHit(k) ? ink.hit : flagInk(k);
    pen.beginPath();
    pen.moveTo(left, AXIS + 2);
    pen.lineTo(left + 9, AXIS + 6);
    pen.lineTo(left, AXIS + 10);
    pen.fill();
    pen.fillRect(left, AXIS + 2, 1.5, ROW - 3);
    pen.fillStyle = ink.text;
    drawText(this.label(k), left + 8, AXIS, room - 8);
    if (itemOf(k) === timeline.chosen)
      outline(left - 2, AXIS, Math.min(Math.max(room, 14), 160));
    at = next;
  }
};

markers.drawSpan = function (k, y) {
  const left = Math.max(timeline.xOf(marks.begin[k]), 0);
  const right = Math.min(timeline.xOf(marks.end[k]), width);
  if (left > width || right < 0) return;
  const w = Math.max(right - left, 2), chosen = itemOf(k) === timeline.chosen;
  pen.fillStyle = isHit(k) ? ink.hit : ink.panel;
  pen.fillRect(left, y, w, ROW - 1);
  pen.fillStyle = ink.mark;
  pen.fillRect(left, y, w, 2);
  pen.fillRect(left, y, 1.5, ROW - 1);
  pen.fillRect(left + w - 1.5, y, 1.5, ROW - 1);
  pen.fillStyle = isHit(k) ? ink.onhit : ink.text;
  drawText(this.label(k), left, y, w);
  if (chosen) outline(left, y, w);
};

// The size at a moment is that told last; in a pixel, the most.
markers.drawHeap = function () {
  const top = height - STRIP, scale = (STRIP - 16) / Math.max(heap.most, 1);
  pen.fillStyle = ink.page;
  pen.fillRect(0, top, width, STRIP);
  pen.fillStyle = ink.line;
  pen.fillRect(0, top, width, 1);
  pen.fillStyle = ink.heap;
  let at = Math.max(0, firstWhere(heap.time, 0, t => t > timeline.from) - 1);
  for (let x = 0; x < width; x++) {
    const time = timeline.timeAt(x + 1);
    let size = heap.time[at] <= time ? heap.bytes[at] : 0;
    for (; at + 1 < heap.time.length && heap.time[at + 1] <= time; at++)
      size = Math.max(size, heap.bytes[at + 1]);
    pen.fillRect(x, height - size * scale, 1, size * scale);
  }
  pen.fillStyle = ink.text;
  drawText(`Lua heap, at most ${bytes(heap.most)}`, 0, top - 1, width);
};

markers.draw = function () {
  if (this.rows > 0) {
    pen.fillStyle = ink.page;
    pen.fillRect(0, AXIS, width, this.rows * ROW);
  }
  const first = this.flags.length > 0 ? 1 : 0;
  if (first > 0) this.drawFlags();
  this.lanes.forEach((lane, row) => {
    for (const k of lane) this.drawSpan(k, AXIS + (first + row) * ROW);
  });
  if (this.below > 0) this.drawHeap();
};

const NEAR = 6;                 // pixels beside a flag

markers.at = function (x, row) {
  const first = this.flags.length > 0 ? 1 : 0;
  const time = timeline.timeAt(x);
  if (row < first) {
    const after = firstWhere(this.flags, 0, k =>
      timeline.xOf(marks.end[k]) > x + NEAR);
    return after > 0 ? itemOf(this.flags[after - 1]) : -1;
  }
  const slack = timeline.timeAt(NEAR) - timeline.from;
  const lane = this.lanes[row - first] || [];
  const there = by => lane.find(k =>
    marks.begin[k] <= time + by && time - by <= marks.end[k]);
  const k = there(0) === undefined ? there(slack) : there(0);
  return k === undefined ? -1 : itemOf(k);
};

// What the heap had then; undefined where it is not known.
function heapAt (time) {
  const after = firstWhere(heap.time, 0, t => t > time);
  return heap.bytes[after - 1];
}

markers.heapAt = function (x) {
  const size = heapAt(timeline.timeAt(x));
  return size === undefined ? "" : `Lua heap  ${bytes(size)}`;
};

]==]
