-- htmlpage.lua - the page of "export html": what csrc/formats/html.c puts the
-- data into, at the comment "data". That file says what the data are.
--
-- One page, without anything from elsewhere, for browsers since 2023. Drawn on
-- canvases: a million boxes are looked at by binary search, and never more are
-- drawn than there are pixels in a row. All names and values are text: nothing
-- of the program becomes markup.

return [==[
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>tracegrip</title>
<style>
:root {
  color-scheme: light dark;
  --page: #fff; --text: #1b1f24; --faint: #656d76; --line: #d0d7de;
  --panel: #f6f8fa; --accent: #0969da;
}
:root.dark {
  --page: #0d1117; --text: #e6edf3; --faint: #8b949e; --line: #30363d;
  --panel: #161b22; --accent: #58a6ff;
}
* { box-sizing: border-box; }
body {
  margin: 0; height: 100vh; display: flex; flex-direction: column;
  background: var(--page); color: var(--text);
  font: 13px/1.45 system-ui, sans-serif;
}
header {
  display: flex; flex-wrap: wrap; gap: 6px 14px; align-items: center;
  padding: 8px 12px; border-bottom: 1px solid var(--line);
}
h1 { font-size: 15px; margin: 0; }
#about { color: var(--faint); }
nav { display: flex; gap: 2px; }
button, select, input {
  font: inherit; color: inherit; background: var(--panel);
  border: 1px solid var(--line); border-radius: 5px; padding: 3px 9px;
}
button { cursor: pointer; }
button[aria-pressed=true] {
  border-color: var(--accent); color: var(--accent);
}
#thread { max-width: 15em; }
#search { width: 11em; margin-left: auto; }
main { flex: 1; min-height: 0; display: flex; flex-direction: column; }
#stage { flex: 1; min-height: 0; position: relative; overflow: hidden; }
canvas { position: absolute; inset: 0; display: block; outline: none; }
#sums { position: absolute; inset: 0; overflow: auto; }
table { border-collapse: collapse; width: 100%; }
th, td {
  text-align: right; padding: 2px 10px; white-space: nowrap;
  font-variant-numeric: tabular-nums;
}
th {
  position: sticky; top: 0; background: var(--panel); cursor: pointer;
  border-bottom: 1px solid var(--line);
}
th.text, td.text { text-align: left; }
tr.chosen td { background: var(--panel); }
tbody tr { cursor: pointer; }
tbody tr:hover td { background: var(--panel); }
#detail {
  border-top: 1px solid var(--line); background: var(--panel);
  height: 170px; overflow: auto; padding: 8px 12px;
}
#detail h2 { font-size: 14px; margin: 0 0 4px; }
#detail dl {
  display: grid; grid-template-columns: max-content 1fr; gap: 1px 14px;
  margin: 0;
}
dt { color: var(--faint); }
dd { margin: 0; overflow-wrap: anywhere; }
code { font: 12px/1.5 ui-monospace, monospace; white-space: pre-wrap; }
#tip {
  position: fixed; pointer-events: none; max-width: 60ch; z-index: 2;
  background: var(--panel); border: 1px solid var(--line);
  border-radius: 5px; padding: 3px 8px; box-shadow: 0 2px 8px #0003;
}
#keys { color: var(--faint); padding: 3px 12px; }
[hidden] { display: none !important; }
</style>
</head>
<body>
<header>
  <h1 id="title"></h1><span id="about"></span>
  <nav>
    <button data-view="timeline">Timeline</button>
    <button data-view="flame">Flame graph</button>
    <button data-view="table">Functions</button>
  </nav>
  <select id="thread" aria-label="Coroutine"></select>
  <button id="upside" aria-pressed="false">Root below</button>
  <button id="callers" aria-pressed="false">By callers</button>
  <input id="search" type="search" placeholder="Search ( / )">
  <button id="theme">Dark</button>
</header>
<main>
  <div id="stage">
    <canvas id="canvas" tabindex="0"></canvas>
    <div id="sums" hidden></div>
  </div>
  <div id="keys"></div>
  <section id="detail" aria-live="polite"></section>
</main>
<div id="tip" hidden></div>
<!-- data -->
<script type="module">

// ---- what there is ----

const $ = id => document.getElementById(id);
const facts = JSON.parse($("facts").textContent);
const functions = facts.functions.map(row => ({
  name: row[0], url: row[1], line: row[2], c: row[3] === 1, calls: row[4],
  self: row[5], total: row[6], sum: row[7], min: row[8], max: row[9],
  throws: row[10], yields: row[11]
}));

async function bytesOf (id) {
  const text = atob($(id).textContent);
  const packed = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) packed[i] = text.charCodeAt(i);
  $(id).remove();
  const unpacked = new Blob([packed]).stream()
    .pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(unpacked).arrayBuffer());
}

const RESUMED = 1, SAMPLED = 2, ARGUMENTS = 4;
const VALUES = 1, TAIL = 2, WHY = ["", "return", "error", "yield", "end"];

// One box for each stretch that a call runs, in the order of their beginnings:
// columns, since objects for a million calls would take seconds.
function readCalls (bytes) {
  let at = 0;
  function varint () {
    let value = 0, factor = 1;
    for (;;) {
      const byte = bytes[at++];
      value += (byte & 127) * factor;
      if (byte < 128) return value;
      factor *= 128;
    }
  }
  const n = facts.calls + facts.sampled;
  const calls = {
    n: 0, fn: new Uint32Array(n), thread: new Uint16Array(n),
    begin: new Float64Array(n), end: new Float64Array(n),
    parent: new Int32Array(n), depth: new Uint16Array(n),
    inner: new Uint16Array(n), flags: new Uint8Array(n),
    why: new Uint8Array(n), self: new Float64Array(n),
    args: new Float64Array(n), argsSize: new Uint32Array(n),
    results: new Float64Array(n), resultsSize: new Uint32Array(n)
  };
  const open = [];
  let now = 0, text = 0;
  while (at < bytes.length) {
    const head = varint(), before = now;
    now += Math.floor(head / 2);
    const top = open.length > 0 ? open[open.length - 1] : -1;
    if (top >= 0) calls.self[top] += now - before;
    if (head % 2 === 1) {
      const i = calls.n++;
      calls.fn[i] = varint();
      calls.thread[i] = varint();
      calls.flags[i] = varint();
      calls.begin[i] = now;
      calls.parent[i] = top;
      calls.depth[i] = open.length;
      calls.inner[i] = top >= 0 && calls.thread[top] === calls.thread[i]
                       ? calls.inner[top] + 1 : 0;
      if (calls.flags[i] & ARGUMENTS) {
        calls.args[i] = text;
        text += calls.argsSize[i] = varint();
      }
      open.push(i);
    } else {
      const i = open.pop(), flags = varint();
      calls.end[i] = now;
      calls.why[i] = flags;
      if (flags & VALUES) {
        calls.results[i] = text;
        text += calls.resultsSize[i] = varint();
      }
    }
  }
  return calls;
}

const calls = readCalls(await bytesOf("events"));
const texts = await bytesOf("values");
const decoder = new TextDecoder();

const textAt = (from, size) =>
  decoder.decode(texts.subarray(from, from + size));

// ---- words ----

function span (ns) {
  const [unit, factor] = ns >= 999.5e6 ? ["s", 1e9] : ns >= 999.5e3
    ? ["ms", 1e6] : ns >= 999.5 ? ["µs", 1e3] : ["ns", 1];
  const x = ns / factor;
  const places = factor === 1 || x >= 99.95 ? 0 : x >= 9.995 ? 1 : 2;
  return x.toFixed(places) + " " + unit;
}

const moment = ns => (ns / 1e6).toFixed(3) + " ms";
const count = n => n.toLocaleString("en");
const placeOf = f => f.c ? "[C]" : f.url + (f.line > 0 ? ":" + f.line : "");
const outcome = i => WHY[calls.why[i] >> 2];

// ---- colours ----

const media = matchMedia("(prefers-color-scheme: dark)");
let dark = media.matches, colours = [];

function hash (text) {
  let h = 0;
  for (let i = 0; i < text.length; i++) h = (h * 31 + text.charCodeAt(i)) | 0;
  return h >>> 0;
}

// A hue for each file; C functions have one of their own.
function paint () {
  document.documentElement.classList.toggle("dark", dark);
  $("theme").textContent = dark ? "Light" : "Dark";
  colours = functions.map(f => {
    const h = f.c ? 44 : hash(f.url) % 300 + 60;
    const tone = hash(f.name) % 12;
    return dark ? `hsl(${h} 38% ${30 + tone}%)` : `hsl(${h} 62% ${84 - tone}%)`;
  });
}

const style = name =>
  getComputedStyle(document.documentElement).getPropertyValue(name);

// ---- the search ----

let found = null;               // by function; null: nothing is searched for

function search (text) {
  const wanted = text.trim().toLowerCase();
  found = wanted === "" ? null : functions.map(f =>
    (f.name + " " + placeOf(f)).toLowerCase().includes(wanted));
}

// ---- boxes on a canvas ----

const canvas = $("canvas"), pen = canvas.getContext("2d");
const ROW = 18, AXIS = 22;
let width = 0, height = 0;

function fit () {
  const scale = devicePixelRatio || 1, stage = $("stage");
  width = stage.clientWidth;
  height = stage.clientHeight;
  canvas.width = width * scale;
  canvas.height = height * scale;
  canvas.style.width = width + "px";
  canvas.style.height = height + "px";
  pen.setTransform(scale, 0, 0, scale, 0, 0);
}

const MEASURED = 7;             // of a character, about; cut text is measured

function drawText (text, x, y, room) {
  if (room < 3 * MEASURED) return;
  let shown = text;
  if (pen.measureText(shown).width > room - 6) {
    const most = Math.floor(room / MEASURED * 1.3);
    shown = text.slice(0, most);
    while (shown && pen.measureText(shown + "…").width > room - 6)
      shown = shown.slice(0, -1);
    if (!shown) return;
    shown += "…";
  }
  pen.fillText(shown, x + 3, y + ROW / 2 + 0.5);
}

let ink = {};                   // colours of the theme, for one drawing

function readInk () {
  ink = {text: style("--text"), faint: style("--faint"), page: style("--page"),
         line: style("--line"), accent: style("--accent")};
}

function drawBox (fn, x, y, w, label, chosen, thrown) {
  const hit = found && found[fn];
  pen.globalAlpha = found && !hit ? 0.25 : 1;
  pen.fillStyle = hit ? "#e85aad" : colours[fn];
  pen.fillRect(x, y, Math.max(w - (w > 3 ? 1 : 0), 1), ROW - 1);
  if (thrown) {
    pen.fillStyle = "#d1242f";
    pen.fillRect(x, y + ROW - 3, Math.max(w - 1, 1), 2);
  }
  if (w > 3 * MEASURED) {
    pen.fillStyle = hit ? "#fff" : ink.text;
    drawText(label, x, y, w);
  }
  pen.globalAlpha = 1;
  if (chosen) {
    pen.strokeStyle = ink.accent;
    pen.lineWidth = 2;
    pen.strokeRect(x + 1, y + 1, Math.max(w - 3, 2), ROW - 3);
  }
}

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

// ---- flame graph: calls added up by the way that led to them ----

const flame = {root: null, focus: null, chosen: null, scroll: 0, thread: -1,
               upside: false, callers: false, depth: 0};

function newNode (fn, parent) {
  return {fn, parent, calls: 0, self: 0, total: 0, throws: 0, children: null,
          list: null, depth: parent ? parent.depth + 1 : 0, x: 0};
}

function childOf (node, fn) {
  if (!node.children) node.children = new Map();
  let child = node.children.get(fn);
  if (!child) node.children.set(fn, child = newNode(fn, node));
  return child;
}

const wholeThread = i => flame.thread < 0 || calls.thread[i] === flame.thread;

function addUp () {
  const root = newNode(-1, null), nodes = new Array(calls.n);
  for (let i = 0; i < calls.n; i++) {
    if (!wholeThread(i)) continue;
    const above = calls.parent[i];
    const node = childOf(above >= 0 && nodes[above] || root, calls.fn[i]);
    nodes[i] = node;
    node.calls += calls.flags[i] & (RESUMED | SAMPLED) ? 0 : 1;
    node.throws += outcome(i) === "error" ? 1 : 0;
    node.self += calls.self[i];
  }
  return root;
}

// From each call that has time of its own to those that led to it.
function addUpCallers () {
  const root = newNode(-1, null), tree = addUp();
  each(tree, node => {
    if (node.self === 0 || node.fn < 0) return;
    let at = root;
    for (let up = node; up.fn >= 0; up = up.parent) {
      at = childOf(at, up.fn);
      at.calls += up === node ? node.calls : 0;
      at.total += node.self;
    }
    at.self += node.self;
  });
  return root;
}

function each (root, use) {
  const stack = [root];
  while (stack.length > 0) {
    const node = stack.pop();
    use(node);
    if (node.children) for (const child of node.children.values())
      stack.push(child);
  }
}

// Totals from the leaves up, children by their totals, and where each begins.
function settle (root, totalled) {
  const order = [];
  each(root, node => order.push(node));
  for (let k = order.length - 1; k >= 0; k--) {
    const node = order[k];
    if (!totalled) node.total += node.self;
    node.list = node.children ? [...node.children.values()] : [];
    if (!totalled || node === root)
      for (const child of node.list) node.total += child.total;
    node.list.sort((a, b) => b.total - a.total);
    node.children = null;
  }
  let depth = 0;
  for (const node of order) {
    let x = node.x;
    depth = Math.max(depth, node.depth);
    for (const child of node.list) {
      child.x = x;
      x += child.total;
    }
  }
  return depth;
}

flame.arrange = function () {
  this.root = this.callers ? addUpCallers() : addUp();
  this.depth = settle(this.root, this.callers);
  this.focus = this.root;
  this.chosen = null;
  this.scroll = 0;
};

flame.rowAt = function (depth) {
  const y = depth * ROW - this.scroll;
  return this.upside ? height - ROW - y : y;
};

flame.boxOf = function (node) {
  const scale = width / Math.max(this.focus.total, 1);
  return [(node.x - this.focus.x) * scale, node.total * scale];
};

const nameOf = node => node.fn < 0
  ? `all: ${span(node.total)}` : functions[node.fn].name;

// Those above the one that is looked at are as wide as it is.
flame.draw = function () {
  for (let up = this.focus.parent; up; up = up.parent) {
    this.drawNode(up, 0, width);
    pen.fillStyle = ink.page;
    pen.globalAlpha = 0.45;
    pen.fillRect(0, this.rowAt(up.depth), width, ROW);
    pen.globalAlpha = 1;
  }
  const stack = [this.focus];
  while (stack.length > 0) {
    const node = stack.pop(), [x, w] = this.boxOf(node);
    if (w < 0.4) continue;
    this.drawNode(node, x, w);
    if ((node.depth + 1) * ROW - this.scroll < height)
      for (const child of node.list) stack.push(child);
  }
};

flame.drawNode = function (node, x, w) {
  const y = this.rowAt(node.depth);
  if (node.fn >= 0)
    return drawBox(node.fn, x, y, w, nameOf(node), node === this.chosen,
                   node.throws > 0);
  pen.fillStyle = ink.line;
  pen.fillRect(x, y, w, ROW - 1);
  pen.fillStyle = ink.text;
  drawText(nameOf(node), x, y, w);
};

flame.at = function (x, y) {
  const row = this.upside ? height - y : y;
  const depth = Math.floor((row + this.scroll) / ROW);
  if (depth < this.focus.depth) {
    let up = this.focus;
    while (up && up.depth > depth) up = up.parent;
    return up || -1;
  }
  let node = this.focus;
  while (node && node.depth < depth)
    node = node.list.find(child => {
      const [left, w] = this.boxOf(child);
      return x >= left && x < left + w;
    });
  return node || -1;
};

flame.choose = function (node) {
  this.chosen = node === -1 ? null : node;
};
flame.zoomTo = function (node) { this.focus = node; };
flame.describe = node => describeNode(node);
flame.zoom = function (factor) {
  if (factor > 1 && this.focus.parent) this.focus = this.focus.parent;
  else if (factor < 1) this.focus = this.chosen || this.focus;
};
flame.pan = function (dx, dy) {
  const most = (this.depth + 1) * ROW - height;
  this.scroll = Math.max(0, Math.min(
    this.scroll + (this.upside ? -dy : dy), most));
};
flame.reset = function () {
  this.focus = this.root;
  this.scroll = 0;
};

// ---- the table, as "tracegrip report" has it ----

const table = {sort: "self", chosen: -1};
const columns = [
  ["calls", "calls", f => f.calls > 0 ? count(f.calls) : ""],
  ["self", "self", f => span(f.self)],
  ["self %", "self", f => percent(f.self)],
  ["total", "total", f => span(f.total)],
  ["total %", "total", f => percent(f.total)],
  ["min", "min", f => f.calls > 0 ? span(f.min) : ""],
  ["mean", "mean", f => f.calls > 0 ? span(f.sum / f.calls) : ""],
  ["max", "max", f => f.calls > 0 ? span(f.max) : ""],
  ["throws", "throws", f => f.throws > 0 ? count(f.throws) : ""],
  ["yields", "yields", f => f.yields > 0 ? count(f.yields) : ""],
  ["function", "name", f => f.name],
  ["where", "url", f => placeOf(f)]
];

const percent = ns => (100 * ns / Math.max(facts.duration, 1)).toFixed(1) + "%";
const keyOf = (f, key) => key === "mean" ? f.sum / Math.max(f.calls, 1)
                                         : f[key];

function compare (a, b) {
  const x = keyOf(functions[a], table.sort);
  const y = keyOf(functions[b], table.sort);
  return typeof x === "string" ? x.localeCompare(y) || a - b : y - x || a - b;
}

function cell (tag, text, left) {
  const one = document.createElement(tag);
  one.textContent = text;
  if (left) one.className = "text";
  return one;
}

function rowOf (i) {
  const row = document.createElement("tr");
  columns.forEach(([, key, text]) => row.append(
    cell("td", text(functions[i]), key === "name" || key === "url")));
  row.classList.toggle("chosen", i === table.chosen);
  row.onclick = () => { table.chosen = i; show(); };
  row.ondblclick = () => { table.chosen = i; lookFor(functions[i]); };
  return row;
}

const ROWS = 2000;              // more would make the page slow

function restOf (n) {
  const row = document.createElement("tr"), one = cell("td", "", true);
  one.colSpan = columns.length;
  one.textContent = `… and ${count(n)} more: search, or sort otherwise`;
  row.append(one);
  return row;
}

table.draw = function () {
  const head = document.createElement("tr"), body = [];
  columns.forEach(([title, key]) => {
    const th = cell("th", title, key === "name" || key === "url");
    if (key === this.sort && title === key) th.textContent += " ▾";
    th.onclick = () => { this.sort = key; show(); };
    head.append(th);
  });
  const list = functions.map((f, i) => i).filter(i => !found || found[i]);
  list.sort(compare);
  for (const i of list.slice(0, ROWS)) body.push(rowOf(i));
  if (list.length > ROWS)
    body.push(restOf(list.length - ROWS));
  const element = document.createElement("table");
  element.createTHead().append(head);
  element.createTBody().append(...body);
  $("sums").replaceChildren(element);
};

function lookFor (f) {
  $("search").value = f.name;
  search(f.name);
  look("timeline");
}

// ---- what was chosen ----

function detail (title, entries) {
  const head = document.createElement("h2");
  head.textContent = title;
  const list = document.createElement("dl");
  for (const [name, value, code] of entries) {
    const dd = document.createElement("dd");
    const text = document.createElement(code ? "code" : "span");
    text.textContent = value;
    dd.append(text);
    list.append(cell("dt", name), dd);
  }
  $("detail").replaceChildren(head, list);
}

const ENDS = {error: "error", yield: "yielded", return: "returned"};

function describeCall (i) {
  const f = functions[calls.fn[i]], up = calls.parent[i], why = outcome(i);
  const entries = [
    ["where", placeOf(f)],
    ["time", `${span(calls.end[i] - calls.begin[i])}, `
             + `${span(calls.self[i])} of it by itself`],
    ["from", `${moment(calls.begin[i])} to ${moment(calls.end[i])}`],
    ["in", (up >= 0 ? functions[calls.fn[up]].name + ", " : "")
           + facts.threads[calls.thread[i]]]
  ];
  if (calls.argsSize[i] > 0)
    entries.push(["arguments", textAt(calls.args[i], calls.argsSize[i]), true]);
  if (calls.resultsSize[i] > 0)
    entries.push([ENDS[why] || why,
                  textAt(calls.results[i], calls.resultsSize[i]), true]);
  else if (why !== "return")
    entries.push(["ended by", calls.why[i] & TAIL ? "a tail call" : why]);
  if (calls.why[i] & TAIL && why === "return")
    entries.push(["ended by", "a tail call"]);
  if (calls.flags[i] & RESUMED) entries.push(["began", "resumed"]);
  if (calls.flags[i] & SAMPLED) entries.push(["known by", "samples"]);
  detail(f.name, entries);
}

function describeNode (node) {
  if (node.fn < 0) return describeAll();
  const f = functions[node.fn];
  detail(f.name, [
    ["where", placeOf(f)],
    ["total", `${span(node.total)}, ${percent(node.total)}`],
    ["self", `${span(node.self)}, ${percent(node.self)}`],
    ["calls", count(node.calls)]
  ].filter(([name]) => !flame.callers || node.depth < 2
                       || name === "where" || name === "total"));
}

function describeFunction (i) {
  const f = functions[i];
  detail(f.name, columns.slice(0, 10).map(c => [c[0], c[2](f)])
    .filter(entry => entry[1] !== "").concat([["where", placeOf(f)]]));
}

function describeAll () {
  detail(facts.program || facts.trace, [
    ["calls", count(facts.calls)], ["functions", count(functions.length)],
    ["coroutines", count(facts.threads.length)],
    ["duration", span(facts.duration)],
    ["begun", new Date(facts.wall).toLocaleString()],
    ["missing", facts.remarks.trim() || "nothing"]
  ]);
}

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
</script>
</body>
</html>
]==]
