-- functions.lua - of the page of "export html" (htmlpage.lua): the table of
-- functions, as "tracegrip report" has it.

return [==[
// ---- the table, as "tracegrip report" has it ----

const table = {sort: "self", chosen: -1, list: [], rows: new Map()};

// Title, key, text, what it is; a column that is 'sparse' is left out where
// nobody has anything.
const columns = [
  {title: "function", key: "name", text: f => f.name, words: true},
  {title: "calls", key: "calls", sparse: true,
   text: f => f.calls > 0 ? count(f.calls) : ""},
  {title: "self", key: "self", text: f => span(f.self)},
  {title: "self %", key: "self", text: f => percent(f.self), again: true},
  {title: "±", key: "error", sparse: true,
   text: f => f.error > 0 ? percent(f.error) : ""},
  {title: "total", key: "total", text: f => span(f.total)},
  {title: "total %", key: "total", text: f => percent(f.total), again: true},
  {title: "min", key: "min", text: f => f.calls > 0 ? span(f.min) : ""},
  {title: "mean", key: "mean",
   text: f => f.calls > 0 ? span(f.sum / f.calls) : ""},
  {title: "max", key: "max", text: f => f.calls > 0 ? span(f.max) : ""},
  {title: "throws", key: "throws", sparse: true,
   text: f => f.throws > 0 ? count(f.throws) : ""},
  {title: "yields", key: "yields", sparse: true,
   text: f => f.yields > 0 ? count(f.yields) : ""},
  {title: "allocated", key: "bytes", sparse: true, text: f => bytes(f.bytes)},
  {title: "allocated in all", key: "totalBytes", sparse: true,
   text: f => bytes(f.totalBytes)},
  {title: "allocations", key: "allocations", sparse: true,
   text: f => count(f.allocations)},
  {title: "alive", key: "live", sparse: true, text: f => bytes(f.live)},
  {title: "alive at peak", key: "peakLive", sparse: true,
   text: f => bytes(f.peakLive)},
  {title: "where", key: "url", text: placeOf, words: true}
].filter(({key, sparse}) => !sparse || functions.some(f => f[key] > 0));

const keyOf = (f, key) => key === "mean" ? f.sum / Math.max(f.calls, 1)
                                         : f[key];

function compare (a, b) {
  const x = keyOf(functions[a], table.sort);
  const y = keyOf(functions[b], table.sort);
  return typeof x === "string" ? x.localeCompare(y, "en") || a - b
                               : y - x || a - b;
}

// The numbers of those that are shown, in order.
const listed = () => functions.map((f, i) => i)
  .filter(i => i !== LEFT && (!found || found.functions[i])).sort(compare);

function rowOf (i) {
  const row = document.createElement("tr");
  columns.forEach(({text, words}, k) => {
    const one = cell(k === 0 ? "th" : "td", text(functions[i]), words);
    if (k === 0) one.scope = "row";
    row.append(one);
  });
  row.tabIndex = -1;
  row.onclick = () => table.take(i);
  row.onfocus = () => table.take(i);
  row.ondblclick = () => lookFor(functions[i]);
  row.onkeydown = event => table.key(event);
  return row;
}

// What is no function's, as a report ends with.
function nobodyRow () {
  const row = document.createElement("tr");
  columns.forEach(({title, words}, k) => row.append(cell(
    k === 0 ? "th" : "td", k === 0 ? nobodyName()
    : title === "self" ? span(nobody)
    : title === "self %" && !onlySamples ? percent(nobody) : "", words)));
  row.className = "nobody";
  return row;
}

const nobodyName = () => onlySamples ? "(not running)"
  : "(no traced function)";

const ROWS = 2000;              // more would make the page slow

function restOf (n) {
  const row = document.createElement("tr"), one = cell("td", "", true);
  one.colSpan = columns.length;
  one.textContent = `… and ${count(n)} more: search, or sort otherwise`;
  row.append(one);
  return row;
}

// Numbers fall, words rise.
function headOf ({title, key, words, again}) {
  const th = cell("th", "", words), button = document.createElement("button");
  const sorted = key === table.sort && !again;
  th.scope = "col";
  if (sorted) th.setAttribute("aria-sort", words ? "ascending" : "descending");
  button.textContent = title + (sorted ? words ? " ▴" : " ▾" : "");
  button.onclick = () => {
    table.sort = key;
    table.arrange();
    [...$("sums").querySelectorAll("th button")]
      .find(one => one.textContent.startsWith(title)).focus();
  };
  th.append(button);
  return th;
}

// Anew, when the order or what is searched for has changed.
table.arrange = function () {
  const head = document.createElement("tr"), body = [];
  head.append(...columns.map(headOf));
  this.list = listed();
  this.rows = new Map();
  for (const i of this.list.slice(0, ROWS)) {
    this.rows.set(i, rowOf(i));
    body.push(this.rows.get(i));
  }
  if (this.list.length > ROWS) body.push(restOf(this.list.length - ROWS));
  if (nobody >= 500 && !found) body.push(nobodyRow());
  const element = document.createElement("table");
  element.setAttribute("role", "grid");
  element.setAttribute("aria-label", "Functions");
  element.setAttribute("aria-rowcount", this.list.length + 1);
  element.createTHead().append(head);
  element.createTBody().append(...body);
  $("sums").replaceChildren(element);
  this.mark();
};

// One row can be reached by the tab key: the chosen one, or the first.
table.mark = function () {
  const first = this.rows.has(this.chosen) ? this.chosen : this.list[0];
  for (const [i, row] of this.rows) {
    row.classList.toggle("chosen", i === this.chosen);
    row.setAttribute("aria-selected", i === this.chosen);
    row.tabIndex = i === first ? 0 : -1;
  }
};

table.take = function (i) {
  if (this.chosen === i) return;
  this.chosen = i;
  this.mark();
  show();
};

table.key = function (event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const most = Math.min(this.list.length, ROWS) - 1, step = STEPS[event.key];
  if (event.key === "Enter") lookFor(functions[this.chosen]);
  else if (step !== undefined) {
    const to = this.list.indexOf(this.chosen) + step;
    this.rows.get(this.list[Math.max(0, Math.min(to, most))]).focus();
  } else return;
  event.preventDefault();
};

table.draw = function () {
  if (!this.ready) this.arrange();
  this.ready = true;
};

function lookFor (f) {
  $("search").value = f.name;
  look("timeline");
  searchAgain();
  canvas.focus();
}

]==]
