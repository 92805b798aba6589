-- classes.lua - of the page of a heap snapshot (heappage.lua): the table by
-- class, as "tracegrip heap FILE" has it, and how tables are made.

return [==[
// ---- tables ----

function headOf ({title, words}, order, press) {
  const th = cell("th", "", words), button = element("button", "");
  th.scope = "col";
  button.textContent = title + (order ? order === "ascending" ? " ▴" : " ▾"
                                      : "");
  if (order) th.ariaSort = order;
  button.onclick = press;
  th.append(press ? button : title);
  if (!press) th.className += " plain";
  return th;
}

// The first cell is the row's heading.
function rowOf (columns, one, className) {
  const row = element("tr", className || "");
  row.append(...columns.map(({text, words}, k) => {
    const made = cell(k === 0 ? "th" : "td", text(one), words);
    if (k === 0) made.scope = "row";
    return made;
  }));
  return row;
}

// A line of its own below the others.
function remark (columns, text) {
  const row = element("tr", "nobody"), one = cell("td", text, true);
  one.colSpan = columns.length;
  row.append(one);
  return row;
}

// From row to row of what #sums shows, by the keys that a list has.
function walkRows (event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return false;
  const step = STEPS[event.key];
  if (step === undefined) return false;
  const rows = [...$("sums").querySelectorAll("tr[tabindex]")];
  const to = rows.indexOf(event.currentTarget) + step;
  rows[Math.max(0, Math.min(to, rows.length - 1))].focus();
  event.preventDefault();
  return true;
}

// It is chosen by a click, and where keys come to.
function choosable (row, choose) {
  row.tabIndex = -1;
  row.onclick = row.onfocus = () => {
    for (const one of $("sums").querySelectorAll("tr[tabindex]")) {
      one.classList.toggle("chosen", one === row);
      one.ariaSelected = String(one === row);
      one.tabIndex = one === row ? 0 : -1;
    }
    choose();
  };
  row.onkeydown = walkRows;
  return row;
}

function gridOf (label, head, body) {
  const table = element("table");
  table.setAttribute("role", "grid");
  table.ariaLabel = label;
  table.createTHead().append(element("tr", "", ...head));
  table.createTBody().append(...body);
  const first = table.querySelector("tr[tabindex]");
  if (first) first.tabIndex = 0;
  return table;
}

// ---- by class ----

const classes = {sort: "retained", list: facts.summary.classes.map(row =>
  ({...row, name: plain(row.name)}))};

const classColumns = [
  {title: "class", key: "name", words: true, text: row => row.name},
  {title: "count", key: "count", text: row => count(row.count)},
  {title: "own", key: "self", text: row => bytes(row.self)},
  {title: "own %", key: "self", again: true, text: row => percent(row.self)},
  {title: "retained", key: "retained", text: row => bytes(row.retained)},
  {title: "retained %", key: "retained", again: true,
   text: row => percent(row.retained)}
];

// Numbers fall, words rise.
classes.compare = (a, b) => classes.sort === "name"
  ? a.name.localeCompare(b.name, "en")
  : b[classes.sort] - a[classes.sort] || a.name.localeCompare(b.name, "en");

function classHead (column, k) {
  const sorted = column.key === classes.sort && !column.again;
  const order = !sorted ? "" : column.words ? "ascending" : "descending";
  return headOf(column, order, () => {
    classes.sort = column.key;
    classes.draw();
    $("sums").querySelectorAll("thead button")[k].focus();
  });
}

classes.listed = () => classes.list.filter(row => isFound(row.name));

classes.draw = function () {
  const list = this.listed().sort(this.compare);
  const body = list.map(row => choosable(rowOf(classColumns, row),
                                         () => describeClass(row)));
  const left = {
    count: facts.summary.objects - sum(this.list, row => row.count),
    self: whole - sum(this.list, row => row.self)
  };
  if (left.count > 0 && !found)
    body.push(remark(classColumns, `${several(left.count, "object")} of more `
      + `classes: ${bytes(left.self)}`));
  $("sums").replaceChildren(gridOf("Classes", classColumns.map(classHead),
                                   body));
};
classes.hits = () => `${count(classes.listed().length)} of `
  + several(classes.list.length, "class").replace(/classs$/, "classes");

]==]
