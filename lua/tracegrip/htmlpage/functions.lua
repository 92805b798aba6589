-- functions.lua - of the page of "export html" (htmlpage.lua): the table of
-- functions, as "tracegrip report" has it.

return [==[
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

]==]
