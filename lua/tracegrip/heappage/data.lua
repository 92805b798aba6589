-- data.lua - of the page of a heap snapshot (heappage.lua): what the document
-- has (csrc/graph/heappage.h), and how objects and ways are called. A node is a
-- number, its place in the document's list; boxes are the first ones, node 0 is
-- the root.

return [==[
// ---- what there is ----

const $ = id => document.getElementById(id);
const facts = JSON.parse($("facts").textContent);
const nodes = facts.nodes, texts = facts.texts.map(plain);
const boxes = facts.boxes, whole = facts.summary.bytes;
const ROOT = 0, SYNTHETIC = facts.types.indexOf("synthetic");
const JOINT = {NONE: 0, BEHIND: 1, APART: 2, FIRST: 3, LOADED: 4, GLOBALS: 5};

facts.title = plain(facts.title);

const isObject = i => nodes.type[i] !== SYNTHETIC;
const nameOf = i => texts[nodes.name[i]];
const classOf = i => texts[nodes.class[i]];
const percent = n => share(n, whole);

// What each box keeps, the largest first: in that order boxes are listed.
const kids = Array.from({length: boxes}, () => []);
for (let i = 1; i < boxes; i++) kids[nodes.above[i]].push(i);

const sum = (list, of) => list.reduce((n, one) => n + of(one), 0);

// What a box keeps beside itself that is no box.
const restOf = i => ({
  count: nodes.kept[i] - (isObject(i) ? 1 : 0)
         - sum(kids[i], k => nodes.kept[k]),
  bytes: nodes.retained[i] - nodes.self[i]
         - sum(kids[i], k => nodes.retained[k])
});

// What no way leads to from the root; what is no box.
const unreached = {count: facts.summary.objects - nodes.kept[ROOT],
                   bytes: whole - nodes.retained[ROOT]};
const shown = nodes.type.slice(0, boxes).filter(type => type !== SYNTHETIC)
  .length;
const smaller = {
  count: nodes.kept[ROOT] - shown,
  bytes: nodes.retained[ROOT] - nodes.self.slice(0, boxes)
    .reduce((n, one) => n + one, 0)
};

// ---- ways ----

// From behind 'top' to a node; null: not all of it is in the document.
function wayTo (i, top = ROOT) {
  const way = [];
  for (; i !== top; i = nodes.before[i]) {
    if (i <= 0) return null;
    way.push(i);
  }
  return way.reverse();
}

const edgeOf = i => texts[nodes.edge[i]];

// The calls that made an object, the innermost first; "": that is not known.
const makerOf = i => (nodes.maker && texts[nodes.maker[i]]) || "";

const written = {
  [JOINT.NONE]: () => "", [JOINT.BEHIND]: edgeOf,
  [JOINT.APART]: i => " > " + edgeOf(i),
  [JOINT.FIRST]: i => edgeOf(i).replace(/^\./, ""),
  [JOINT.LOADED]: () => "package.loaded", [JOINT.GLOBALS]: () => "_G"
};

const SHOWN = 24;               // steps of a way; of a longer one the ends

// A list whose middle is something else, if it is long.
const shortened = (list, gap) => list.length <= SHOWN ? list
  : [...list.slice(0, SHOWN / 2), gap(list.length - SHOWN),
     ...list.slice(-SHOWN / 2)];

// As Lua writes it: what is called package.loaded or _G has no way before it.
function wordsOf (way) {
  const from = way.findLastIndex(i => nodes.joint[i] >= JOINT.LOADED);
  const parts = way.map((i, k) =>
    k < from ? "" : written[nodes.joint[i]](i));
  return shortened(parts, () => " ... ").join("");
}

function whereOf (i) {
  const way = wayTo(i);
  return way === null ? "" : i === ROOT ? "the root" : wordsOf(way);
}

// What leads to a box from the one that keeps it.
const labels = new Array(boxes);
function labelOf (i) {
  if (i >= boxes) return "";
  if (labels[i] === undefined) {
    const way = i === ROOT ? [] : wayTo(i, nodes.above[i]);
    labels[i] = way === null ? ""
      : wordsOf(way).replace(/^ > /, "").replace(/^\.(?=\w)/, "");
  }
  return labels[i];
}

// What stands on a box: ".cache" of a table says more than "table".
function titleOf (i) {
  if (i === ROOT) return "All objects";
  const label = labelOf(i), name = nameOf(i);
  return label === "" ? name : name === "table" ? label : `${label}  ${name}`;
}

// ---- rows of tables ----

// The box that a row is of. Ids have 32 bits: two objects that are far apart
// may have the same, but hardly the same sizes as well.
const signOf = ({id, self, retained}) => [id, self, retained].join();
const bySign = new Map();
for (let i = 0; i < boxes; i++)
  bySign.set(signOf({id: nodes.id[i], self: nodes.self[i],
                     retained: nodes.retained[i]}), i);

// ---- in words ----

function summary () {
  const {objects} = facts.summary, list = [
    `${several(objects, "object")}, ${bytes(whole)}`];
  if (smaller.count > 0)
    list.push(`${count(shown)} that keep most alive are shown one by one, `
      + `${several(smaller.count, "smaller object")} together: `
      + bytes(smaller.bytes));
  if (unreached.count > 0)
    list.push(`${several(unreached.count, "object")} that nothing leads to: `
      + bytes(unreached.bytes));
  return list;
}

]==]
