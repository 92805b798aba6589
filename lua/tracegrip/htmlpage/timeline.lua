-- timeline.lua - of the page of "export html" (htmlpage.lua): a box for each
-- stretch that a call runs, over time. One row is searched by halves, and a box
-- that is less than a pixel stands for all in that pixel.

return [==[
// ---- timeline: boxes by level, each level in the order of time ----

const timeline = {
  from: 0, to: Math.max(facts.duration, 1), scroll: 0, chosen: -1, thread: -1,
  levels: []
};

// The number of each call of the chosen coroutine, level by level.
timeline.arrange = function () {
  const level = this.thread < 0 ? calls.depth : calls.inner;
  const sizes = [];
  const shown = i => this.thread < 0 || calls.thread[i] === this.thread;
  for (let i = 0; i < calls.n; i++)
    if (shown(i)) sizes[level[i]] = (sizes[level[i]] || 0) + 1;
  this.levels = sizes.map(size => new Uint32Array(size));
  const filled = sizes.map(() => 0);
  for (let i = 0; i < calls.n; i++)
    if (shown(i)) this.levels[level[i]][filled[level[i]]++] = i;
};

// The first box of a level, from 'low' on, that ends after 'time'.
function firstAfter (list, time, low) {
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (calls.end[list[middle]] > time) high = middle;
    else low = middle + 1;
  }
  return low;
}

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
    const x = Math.round((t - from) / (to - from) * width) + 0.5;
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
    const left = Math.max(x, 0);
    const label = functions[calls.fn[i]].name;
    drawBox(calls.fn[i], left, y, Math.min(x + w, width) - left, label,
            i === this.chosen, outcome(i) === "error");
    k++;
    if (w < 1) k = firstAfter(list, this.from + (x + 1) / scale, k);
  }
};

timeline.draw = function () {
  const first = Math.floor(this.scroll / ROW);
  for (let d = first; d < this.levels.length; d++) {
    const y = AXIS + d * ROW - this.scroll;
    if (y > height) break;
    this.drawLevel(this.levels[d], y);
  }
  axis(this.from, this.to);
};

timeline.at = function (x, y) {
  const list = this.levels[Math.floor((y - AXIS + this.scroll) / ROW)];
  if (!list || y < AXIS) return -1;
  const time = this.from + x / width * (this.to - this.from);
  const i = list[firstAfter(list, time, 0)];
  return i !== undefined && calls.begin[i] <= time ? i : -1;
};

timeline.describe = i => describeCall(i);
timeline.choose = function (i) { this.chosen = i; };
timeline.zoomTo = function (i) {
  const margin = (calls.end[i] - calls.begin[i]) * 0.02;
  this.show(calls.begin[i] - margin, calls.end[i] + margin);
};

timeline.show = function (from, to) {
  const least = Math.min(20, facts.duration);
  if (to - from < least) to = from + least;
  const size = Math.min(to - from, Math.max(facts.duration, 1));
  this.from = Math.max(0, Math.min(from, facts.duration - size));
  this.to = this.from + size;
};

timeline.zoom = function (factor, x) {
  const time = this.from + x / width * (this.to - this.from);
  this.show(time - (time - this.from) * factor,
            time + (this.to - time) * factor);
};

timeline.pan = function (dx, dy) {
  const by = dx / width * (this.to - this.from);
  this.show(this.from + by, this.to + by);
  const most = this.levels.length * ROW + AXIS - height;
  this.scroll = Math.max(0, Math.min(this.scroll + dy, most));
};

timeline.reset = function () {
  this.show(0, Math.max(facts.duration, 1));
  this.scroll = 0;
};

]==]
