-- tree.lua - of the page of a heap snapshot (heappage.lua): who keeps most
-- alive, and what each of them keeps: the dominator tree, opened row by row.

return [==[
// ---- the tree ----

const tree = {rooted: false, open: new Set(), more: new Map(), row: null};

const PAGE = 100;               // rows below one, until more are asked for

// The rows at the outermost level: the root's tree; what is found; or those
// that "tracegrip heap FILE" has.
tree.top = function () {
  if (found) return found.list;
  return this.rooted ? [ROOT] : this.retainers;
};

// One that keeps little beside another, which has a row of its own, is not
// there. All are boxes, but those far down in a chain: of these there is the
// row.
tree.retainers = facts.summary.retainers.map(row => {
  const i = bySign.get(signOf(row));
  return i === undefined
    ? {...row, name: plain(row.name), path: plain(row.path)} : i;
});

const treeColumns = [
  {title: "what", words: true},
  {title: "retained", text: i => bytes(nodes.retained[i])},
  {title: "retained %", text: i => percent(nodes.retained[i])},
  {title: "own", text: i => bytes(nodes.self[i])},
  {title: "keeps", text: i => count(nodes.kept[i] - (isObject(i) ? 1 : 0))},
  {title: "where", words: true,
   text: (i, level) => level === 1 ? whereOf(i) : ""}
];

const canOpen = i => kids[i].length > 0 || restOf(i).count > 0;

tree.toggle = function (key, i) {
  if (!canOpen(i)) return;
  if (this.open.has(key)) this.open.delete(key);
  else this.open.add(key);
  this.draw();
  this.focus(key);
};

tree.focus = function (key) {
  const row = [...$("sums").querySelectorAll("tr[tabindex]")]
    .find(one => one.dataset.key === key);
  if (row) row.focus();
};

tree.key = function (event, key, i) {
  const open = this.open.has(key);
  if (walkRows(event)) return;
  if (event.key === "ArrowRight" && !open || event.key === "ArrowLeft" && open
      || event.key === "Enter" || event.key === " ") this.toggle(key, i);
  else if (event.key === "ArrowLeft") this.focus(key.replace(/\/[^/]*$/, ""));
  else if (event.key === "ArrowRight" && kids[i].length > 0)
    this.focus(`${key}/${kids[i][0]}`);
  else return;
  event.preventDefault();
};

// What stands in the first cell: at the outermost level what it is, below that
// how it is kept.
function headingOf (i, key, level) {
  const open = tree.open.has(key);
  const mark = element("span", "mark", canOpen(i) ? open ? "▾" : "▸" : "");
  mark.ariaHidden = "true";
  mark.onclick = event => {
    event.stopPropagation();
    tree.toggle(key, i);
  };
  const text = level > 1 || i === ROOT ? titleOf(i) : called(i);
  const th = element("th", "text", mark, text);
  th.scope = "row";
  th.style.paddingLeft = 8 + 14 * Math.min(level - 1, 30) + "px";
  th.title = text;
  return th;
}

tree.rowOf = function (i, key, level) {
  const row = choosable(element("tr"), () => {
    this.row = key;
    map.chosen = i;
    map.rest = false;
    describeNode(i);
  });
  row.append(headingOf(i, key, level), ...treeColumns.slice(1)
    .map(({text, words}) => cell("td", text(i, level), words)));
  row.dataset.key = key;
  row.ariaLevel = String(level);
  if (canOpen(i)) row.ariaExpanded = String(this.open.has(key));
  row.onkeydown = event => this.key(event, key, i);
  row.ondblclick = () => this.toggle(key, i);
  return row;
};

tree.strayRow = function ({name, id, self, retained, path}) {
  const texts = [bytes(retained), percent(retained), bytes(self), "", path];
  const row = choosable(element("tr"), () => detail(`${name} @${id}`, [
    ["where", path, true], ["own", bytes(self)],
    ["retained", withShare(retained)]]));
  const th = element("th", "text", element("span", "mark"), `${name} @${id}`);
  th.scope = "row";
  row.append(th, ...treeColumns.slice(1).map(({words}, k) =>
    cell("td", texts[k], words)));
  return row;
};

// For the rows that are not there, a button; for what is no box, a line.
tree.moreOf = function (key, left, level) {
  const button = element("button", "", `${count(left)} more …`);
  const row = remark(treeColumns, "");
  button.onclick = () => {
    this.more.set(key, (this.more.get(key) || PAGE) * 5);
    this.draw();
  };
  row.firstChild.style.paddingLeft = 22 + 14 * Math.min(level - 1, 30) + "px";
  row.firstChild.append(button);
  return row;
};

tree.restRow = function (i, level) {
  const rest = restOf(i);
  const row = remark(treeColumns, `${several(rest.count, "smaller object")}: `
    + bytes(rest.bytes));
  row.firstChild.style.paddingLeft = 22 + 14 * Math.min(level - 1, 30) + "px";
  return row;
};

// Rows of a list and of what is open below; no recursion, since chains are
// long.
tree.rows = function () {
  const body = [], stack = [];
  const push = (list, key, level, rest) => {
    const n = Math.min(list.length, this.more.get(key) || PAGE);
    if (rest >= 0 && restOf(rest).count > 0) stack.push(
      () => body.push(this.restRow(rest, level)));
    if (n < list.length) stack.push(
      () => body.push(this.moreOf(key, list.length - n, level)));
    for (let k = n; k-- > 0;) stack.push(() => {
      const one = `${key}/${list[k]}`;
      if (typeof list[k] !== "number")
        return body.push(this.strayRow(list[k]));
      body.push(this.rowOf(list[k], one, level));
      if (this.open.has(one)) push(kids[list[k]], one, level + 1, list[k]);
    });
  };
  push(this.top(), found ? "?" : this.rooted ? "." : "", 1, -1);
  while (stack.length > 0) stack.pop()();
  return body;
};

tree.draw = function () {
  const body = this.rows();
  const grid = gridOf("Retainers", treeColumns.map(one => headOf(one, "")),
                      body);
  grid.setAttribute("role", "treegrid");
  const {scrollTop} = $("sums");
  $("sums").replaceChildren(grid);
  $("sums").scrollTop = scrollTop;
};
tree.hits = () => `${count(found.list.length)} of `
  + `${several(shown, "object")}, ${bytes(foundBytes())}`;

tree.open.add("./0");
]==]
