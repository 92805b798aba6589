-- timeline.lua - of the page of "export html" (htmlpage.lua): a box for each
-- stretch that a call runs, over time. One row is searched by halves, and a box
-- that is less than a pixel stands for all in that pixel. Above the boxes are
-- markers, below them the size of the heap (markers.lua).

return [==[
// ---- timeline: boxes by level, each level in the order of time ----

const timeline = {
  from: 0, to: Math.max(facts.duration, 1), scroll: 0, chosen: -1, thread: -1,
  levels: []
};

const levelOf = i =>
  timeline.thread < 0 ? calls.depth[i] : calls.inner[i];

// The number of each call of the chosen coroutine, level by level.
timeline.arrange = function () {
  const sizes = [];
  const shown = i => this.thread < 0 || calls.thread[i] === this.thread;
  for (let i = 0; i < calls.n; i++)
    if (shown(i)) sizes[levelOf(i)] = (sizes[levelOf(i)] || 0) + 1;
  this.levels = sizes.map(size => new Uint32Array(size));
  const filled = sizes.map(() => 0);
  for (let i = 0; i < calls.n; i++)
    if (shown(i)) this.levels[levelOf(i)][filled[levelOf(i)]++] = i;
  this.chosen = -1;
  this.scroll = 0;
  markers.arrange(this.thread);
};

// The first place of a list from 'low' on of which 'is' is true; it stays so.
function firstWhere (list, low, is) {
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (is(list[middle])) high = middle;
    else low = middle + 1;
  }
  return low;
}

// The first box of a level, from 'low' on, that ends after 'time'.
const firstAfter = (list, time, low) =>
  firstWhere(list, low, i => calls.end[i] > time);

timeline.xOf = function (time) {
  return (time - this.from) / (this.to - this.from) * width;
};
timeline.timeAt = function (x) {
  return this.from + x / width * (this.to - this.from);
};

function axis (from, to) {
  const steps = [1, 2, 5], wanted = (to - from) / (width / 110);
  let unit = 1;
  while (unit * 10 <= wanted) unit *= 10;
  const step = unit * (steps.find(s => s * unit >= wanted) || 10);
  pen.fillStyle = ink.page;
  pen.fillRect(0, 0, width, AXIS);
  pen.fillStyle = ink.faint;
  pen.strokeStyle = ink.line;
  pen.lineWidth = 1;
  for (let t = Math.ceil(from / step) * step; t <= to; t += step) {
    const x = Math.round(timeline.xOf(t)) + 0.5;
    pen.beginPath();
    pen.moveTo(x, AXIS - 5);
    pen.lineTo(x, AXIS);
    pen.stroke();
    pen.fillText(span(t), x + 3, AXIS / 2);
  }
}

// A box that is less than a pixel stands for all that are in that pixel.
timeline.drawLevel = function (list, y) {
  const scale = width / (this.to - this.from);
  let k = firstAfter(list, this.from, 0);
  while (k < list.length) {
    const i = list[k];
    const x = (calls.begin[i] - this.from) * scale;
    if (x >= width) return;
    const w = (calls.end[i] - calls.begin[i]) * scale;
    const left = Math.max(x, 0), hit = found && found.calls[i];
    drawBox(calls.fn[i], left, y, Math.min(x + w, width) - left,
            functions[calls.fn[i]].name,
            {hit, faded: found && !hit, chosen: i === this.chosen,
             thrown: outcome(i) === "error"});
    k++;
    if (w < 1) k = firstAfter(list, this.from + (x + 1) / scale, k);
  }
};

// Where boxes are, between markers and heap.
timeline.top = () => AXIS + markers.rows * ROW;
timeline.bottom = () => height - markers.below;

timeline.draw = function () {
  const first = Math.floor(this.scroll / ROW);
  for (let d = first; d < this.levels.length; d++) {
    const y = this.top() + d * ROW - this.scroll;
    if (y > this.bottom()) break;
    this.drawLevel(this.levels[d], y);
  }
  markers.draw();
  axis(this.from, this.to);
  canvas.dataset.top = this.top();              // where things are, for tests
  canvas.dataset.shown = `${this.from} ${this.to}`;
};

timeline.at = function (x, y) {
  if (y < AXIS || y >= this.bottom()) return -1;
  if (y < this.top()) return markers.at(x, Math.floor((y - AXIS) / ROW));
  const list = this.levels[Math.floor((y - this.top() + this.scroll) / ROW)];
  if (!list) return -1;
  const time = this.timeAt(x);
  const i = list[firstAfter(list, time, 0)];
  return i !== undefined && calls.begin[i] <= time ? i : -1;
};

timeline.tip = function (item, x, y) {
  if (item === -1) return y >= this.bottom() ? markers.heapAt(x) : "";
  if (item < 0) return markers.label(markOf(item));
  return `${functions[calls.fn[item]].name}  `
    + span(calls.end[item] - calls.begin[item]);
};

const beginOf = item =>
  item >= 0 ? calls.begin[item] : marks.begin[markOf(item)];
const endOf = item => item >= 0 ? calls.end[item] : marks.end[markOf(item)];

timeline.describe = item =>
  item >= 0 ? describeCall(item) : describeMark(markOf(item));
timeline.choose = function (item) { this.chosen = item; };
timeline.zoomTo = function (item) {
  const length = endOf(item) - beginOf(item);
  const margin = length > 0 ? length * 0.02 : facts.duration / 100;
  this.show(beginOf(item) - margin, endOf(item) + margin);
  this.toLevel(item);
};

// Its row is in sight.
timeline.toLevel = function (item) {
  if (item < 0) return;
  const y = levelOf(item) * ROW, room = this.bottom() - this.top() - ROW;
  if (y < this.scroll || y > this.scroll + room)
    this.scroll = Math.max(0, y - room / 2);
};

const LEAST = 6;                // pixels of a box that can be seen

// All of it is in sight, and not too small: with what is around it, if that
// leaves it large enough.
timeline.reveal = function (item) {
  const begin = beginOf(item), length = endOf(item) - begin;
  const pixels = (from, to) => length / (to - from) * width;
  const up = item >= 0 ? this.above(item) : -1;
  const visible = begin >= this.from && begin <= this.to;
  if (!visible || (length > 0 && pixels(this.from, this.to) < LEAST)) {
    const margin = Math.max(length * 8, facts.duration / 1e6);
    if (length === 0) this.pan(this.xOf(begin) - width / 2, 0);
    else if (up >= 0 && pixels(calls.begin[up], calls.end[up]) >= LEAST)
      this.zoomTo(up);
    else this.show(begin - margin, begin + length + margin);
  }
  this.toLevel(item);
};

timeline.show = function (from, to) {
  const least = Math.min(20, facts.duration);
  if (to - from < least) to = from + least;
  const size = Math.min(to - from, Math.max(facts.duration, 1));
  this.from = Math.max(0, Math.min(from, facts.duration - size));
  this.to = this.from + size;
};

timeline.zoom = function (factor, x) {
  const time = this.timeAt(x);
  this.show(time - (time - this.from) * factor,
            time + (this.to - time) * factor);
};

timeline.pan = function (dx, dy) {
  const by = dx / width * (this.to - this.from);
  this.show(this.from + by, this.to + by);
  const most = this.levels.length * ROW + this.top() - this.bottom();
  this.scroll = Math.max(0, Math.min(this.scroll + dy, most));
};

timeline.reset = function () {
  this.show(0, Math.max(facts.duration, 1));
  this.scroll = 0;
};

// ---- from call to call ----

// What is around a call, in what is shown.
timeline.above = function (i) {
  const up = calls.parent[i];
  return up >= 0 && (this.thread < 0 || calls.thread[up] === this.thread)
         ? up : -1;
};

// The first place in the call's level that is behind all in the same caller.
timeline.siblings = function (i) {
  const list = this.levels[levelOf(i)], up = this.above(i);
  const first = firstWhere(list, 0, one => one > up);
  const last = up < 0 ? list.length : firstWhere(list, first, one =>
    calls.begin[one] >= calls.end[up] && this.above(one) !== up);
  return {list, first, last, at: firstWhere(list, 0, one => one >= i)};
};

timeline.below = function (i) {
  const list = this.levels[levelOf(i) + 1];
  const child = list && list[firstWhere(list, 0, one => one > i)];
  return child !== undefined && this.above(child) === i ? child : -1;
};

// Where to go from a call: up, down, left, right; itself where there is none.
timeline.walk = function (way) {
  const i = this.chosen;
  if (i < -1) return this.nextMark(way === "left" || way === "up");
  if (i === -1) {
    const list = this.levels[0] || [];
    const first = list[Math.min(firstAfter(list, this.from, 0),
                                list.length - 1)];
    return first === undefined ? -1 : first;
  }
  if (way === "up" || way === "down") {
    const to = way === "up" ? this.above(i) : this.below(i);
    return to < 0 ? i : to;
  }
  const {list, first, last, at} = this.siblings(i);
  const to = at + (way === "left" ? -1 : 1);
  return to >= first && to < last ? list[to] : i;
};

// The marker after the chosen item, or before it.
timeline.nextMark = function (back) {
  const item = this.chosen, n = markers.list.length;
  if (n === 0) return item;
  const at = item < -1 ? markers.list.indexOf(markOf(item)) : -1;
  const time = item >= 0 ? calls.begin[item] : this.from;
  const next = at >= 0 ? at + 1
    : firstWhere(markers.list, 0, k => marks.end[k] >= time);
  const to = back ? (at >= 0 ? at : next) - 1 : next;
  return itemOf(markers.list[(to + n) % n]);
};

]==]
