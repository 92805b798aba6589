-- chosen.lua - of the page of a heap snapshot (heappage.lua): what is said
-- below of an object, of a class, of a row of equal ones; and why it is alive.
-- It is read out to those who cannot see it.

return [==[
// ---- what was chosen ----

function element (tag, className, ...parts) {
  const one = document.createElement(tag);
  if (className) one.className = className;
  one.append(...parts);
  return one;
}

const called = i => `${nameOf(i)} @${nodes.id[i]}`;
const withShare = n => `${bytes(n)}, ${percent(n)}`;

// One of a way: what leads to it; a click chooses it.
function stepOf (i, edge) {
  const button = element("button", "", edge);
  button.title = `${called(i)}, own ${bytes(nodes.self[i])}, keeps `
    + bytes(nodes.retained[i]);
  button.ariaLabel = `${edge}: ${called(i)}`;
  button.onclick = () => chooseNode(i);
  return button;
}

const gapOf = n => element("i", "", `… ${several(n, "more step")} …`);

// A way to whoever refers to the object, and the last step by that edge.
function wayElement (from, edge, i) {
  const way = wayTo(from), list = element("ol", "way");
  const steps = shortened(
    [...way.map(k => [k, edgeOf(k)]), [i, texts[edge]]], n => n);
  list.append(...steps.map(step => element("li", "",
    typeof step === "number" ? gapOf(step) : stepOf(...step))));
  return list;
}

function waysOf (i) {
  const ways = nodes.ways[i] || [], list = [];
  for (let k = 0; k < ways.length; k += 2)
    list.push(["why alive", wayElement(ways[k], ways[k + 1], i)]);
  if (list.length > 1) list.forEach((entry, k) => entry[0] += ` ${k + 1}`);
  const all = nodes.referrers[i], more = all - list.length;
  if (i < boxes && more > 0 && i !== ROOT)
    list.push(["kept by", `${several(all, "reference")}; all ways: tracegrip `
      + `heap FILE --path ${nodes.id[i]} --limit all`]);
  return list;
}

function describeNode (i) {
  if (i === ROOT) return describeAll();
  const box = i < boxes;
  const keeps = box ? nodes.kept[i] - (isObject(i) ? 1 : 0) : 0;
  detail(called(i), [
    ["class", classOf(i) === nameOf(i) ? "" : classOf(i)],
    ["where", whereOf(i), true],
    ["made by", makerOf(i), true],
    ["own", bytes(nodes.self[i])],
    ["retained", withShare(nodes.retained[i]) + (keeps > 0
      ? `: itself and ${several(keeps, "object")}` : "")],
    ...waysOf(i)
  ]);
}

const MOST = 12;                // objects of a class; more would be long

function describeClass (row) {
  const list = element("ol", "way list");
  for (let i = 1; i < boxes && list.childElementCount < MOST; i++)
    if (classOf(i) === row.name && isObject(i)) {
      const text = whereOf(i) || called(i);
      list.append(element("li", "", stepOf(i,
        `${bytes(nodes.retained[i])}  ${text}`)));
    }
  detail(row.name, [
    ["objects", count(row.count)], ["own", withShare(row.self)],
    ["retained", withShare(row.retained)],
    ["the largest", list.childElementCount > 0 ? list : "are not shown one by "
      + "one"]
  ]);
}

function describeWaste (row) {
  detail(row.what, [
    ["objects", count(row.count)], ["own", bytes(row.self)],
    ["more than one", row.wasted > 0 ? bytes(row.wasted) : ""],
    ["one of them", row.path, true]
  ]);
}

// What is too small to be a box of its own.
function describeRest (i) {
  const {count: n, bytes: size} = restOf(i);
  detail(several(n, "smaller object"), [
    ["retained", withShare(size)], ["kept by", titleOf(i)],
    ["where", whereOf(i), true],
    ["to see them", "tracegrip export html --limit N, N being more than "
                    + count(boxes)]
  ]);
}

function describeAll () {
  detail(facts.title, [
    ["objects", count(facts.summary.objects)], ["bytes", bytes(whole)],
    ["shown", `${count(shown)} one by one`],
    ["smaller ones", smaller.count > 0
      ? `${count(smaller.count)}, ${withShare(smaller.bytes)}, as one box of `
        + `whoever keeps them` : "none"],
    ["not reached", unreached.count > 0
      ? `${count(unreached.count)}, ${withShare(unreached.bytes)}` : ""]
  ]);
}

]==]
