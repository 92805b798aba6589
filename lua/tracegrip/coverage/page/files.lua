-- files.lua - of the page of coverage (coverage/html.lua): the table of files,
-- by folders or by what it is sorted by.

return [==[
// ---- what there is ----

const $ = id => document.getElementById(id);
const facts = JSON.parse($("data").textContent);

const totalsOf = ([lines, reached, functions, called]) =>
  ({lines, reached, functions, called});
const files = facts.files.map(file => {
  const name = plain(file.name), cut = name.lastIndexOf("/");
  return {
    name, folder: cut < 0 ? "" : name.slice(0, cut) || "/",
    short: name.slice(cut + 1), path: plain(file.path), loaded: file.loaded,
    ...totalsOf(file.totals), functionList: file.functions, counts: file.lines,
    text: file.text
  };
});
const all = {name: several(files.length, "file"), ...totalsOf(facts.totals)};

// 100 is all, and nothing else is.
function percent (part, whole) {
  if (whole === 0) return "-";
  const text = (100 * part / whole).toFixed(1);
  return (text === "100.0" && part < whole ? "99.9" : text) + "%";
}

// ---- the table ----

const table = {sort: "name", back: false, folders: true, closed: new Set()};

const rate = row => row.lines > 0 ? row.reached / row.lines : 2;

// Title, key, text; what is sorted by numbers begins with the worst.
const columns = [
  {title: "file", key: "name"},
  {title: "lines", key: "rate", text: row => percent(row.reached, row.lines)},
  {title: "", key: "rate", bar: true},
  {title: "reached", key: "reached", text: row => count(row.reached)},
  {title: "missed", key: "missed", text: row => count(row.lines - row.reached)},
  {title: "of", key: "lines", text: row => count(row.lines)},
  {title: "functions", key: "functions",
   text: row => `${count(row.called)} of ${count(row.functions)}`},
];

const keyOf = {
  name: row => row.name, rate, reached: row => -row.reached,
  missed: row => row.reached - row.lines, lines: row => -row.lines,
  functions: row => row.functions > 0 ? row.called / row.functions : 2
};

function compare (a, b) {
  const x = keyOf[table.sort](a), y = keyOf[table.sort](b);
  const order = typeof x === "string" ? x < y ? -1 : x > y ? 1 : 0 : x - y;
  return (table.back ? -order : order) || (a.name < b.name ? -1 : 1);
}

function listed () {
  const text = $("search").value.toLowerCase();
  return files.filter(file => file.name.toLowerCase().includes(text));
}

// Folders with what is in them, each in order.
function grouped (list) {
  const folders = new Map();
  for (const file of list) {
    const folder = folders.get(file.folder) || {
      name: file.folder || ".", files: [], lines: 0, reached: 0, functions: 0,
      called: 0
    };
    folders.set(file.folder, folder);
    folder.files.push(file);
    for (const key of ["lines", "reached", "functions", "called"])
      folder[key] += file[key];
  }
  for (const folder of folders.values()) folder.files.sort(compare);
  return [...folders.values()].sort(compare);
}

function element (tag, text, className) {
  const one = document.createElement(tag);
  if (text !== undefined) one.textContent = text;
  if (className) one.className = className;
  return one;
}

function barOf (row) {
  const cell = element("td", undefined, "bar"), bar = element("i");
  const part = element("b");
  cell.ariaHidden = "true";
  part.style.width = 100 * (row.lines > 0 ? row.reached / row.lines : 0) + "%";
  bar.classList.toggle("none", row.lines === 0);
  bar.append(part);
  cell.append(bar);
  return cell;
}

// What stands first is the row's heading.
function rowOf (row, heading, className) {
  const tr = element("tr", undefined, className), first = element("th");
  first.scope = "row";
  first.className = "text";
  first.append(...heading);
  tr.append(first, ...columns.slice(1).map(column =>
    column.bar ? barOf(row) : element("td", column.text(row))));
  return tr;
}

function fileRow (file, short) {
  const link = element("a", short ? file.short : file.name);
  link.href = addressOf(file);
  link.title = file.path;
  const tag = file.loaded ? [] : [element("span", "not loaded", "tag")];
  return rowOf(file, [link, ...tag], short ? "below" : "");
}

function folderRows (folder) {
  const closed = table.closed.has(folder.name);
  const button = element("button", (closed ? "▸ " : "▾ ") + folder.name);
  button.ariaExpanded = String(!closed);
  button.onclick = () => {
    if (closed) table.closed.delete(folder.name);
    else table.closed.add(folder.name);
    table.draw();
    [...$("sums").querySelectorAll("tr.folder button")]
      .find(one => one.textContent.slice(2) === folder.name).focus();
  };
  const rows = closed ? [] : folder.files.map(file => fileRow(file, true));
  return [rowOf(folder, [button], "folder"), ...rows];
}

function headOf (column) {
  const cell = element("th"), button = element("button", column.title);
  cell.scope = "col";
  if (column.key === "name") cell.className = "text";
  const chosen = table.sort === column.key && !column.bar;
  if (chosen) {
    const down = table.back ? "descending" : "ascending";
    cell.ariaSort = down;
    button.textContent += table.back ? " ↑" : " ↓";
  }
  if (column.bar) return cell;
  button.onclick = () => {
    table.back = table.sort === column.key && !table.back;
    table.sort = column.key;
    table.draw();
    $("sums").querySelectorAll("thead button")[
      columns.filter(one => !one.bar).indexOf(column)].focus();
  };
  cell.append(button);
  return cell;
}

table.draw = function () {
  const list = listed(), one = element("table");
  const head = element("tr"), body = one.createTBody();
  head.append(...columns.map(headOf));
  one.createTHead().append(head);
  one.ariaLabel = "Files";
  if (this.folders) body.append(...grouped(list).flatMap(folderRows));
  else body.append(...list.sort(compare).map(file => fileRow(file, false)));
  body.append(rowOf(all, [all.name], "all"));
  $("hits").textContent = $("search").value === "" ? ""
    : `${count(list.length)} of ${several(files.length, "file")}`;
  $("sums").replaceChildren(one);
};

]==]
