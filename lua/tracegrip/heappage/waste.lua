-- waste.lua - of the page of a heap snapshot (heappage.lua): what is there more
-- than once, and what is there for nothing, as "tracegrip heap FILE
-- --duplicates" and "--empty" have it.

return [==[
// ---- waste ----

const wasteOf = (list, key) => list.map(row => ({
  what: plain(row[key]), count: row.count, self: row.self,
  wasted: row.wasted || 0, path: plain(row.path)}));

const waste = {parts: [
  {title: "Equal strings", wasted: true,
   list: wasteOf(facts.duplicates.strings, "text")},
  {title: "Tables that refer to the same objects by the same names",
   wasted: true, list: wasteOf(facts.duplicates.tables, "name")},
  {title: "Objects that refer to nothing", wasted: false,
   list: wasteOf(facts.empty.empty, "name")}
]};

const wasteColumns = [
  {title: "what", words: true, text: row => row.what},
  {title: "count", text: row => count(row.count)},
  {title: "own", text: row => bytes(row.self)},
  {title: "more than one", wasted: true, text: row => bytes(row.wasted)},
  {title: "one of them", words: true, text: row => row.path}
];

waste.listed = part => part.list.filter(row =>
  isFound(row.what) || isFound(row.path));

function wasteElements (part) {
  const columns = wasteColumns.filter(one => part.wasted || !one.wasted);
  const list = waste.listed(part);
  const title = element("h2", "", list.length > 0 ? `${part.title}: `
    + bytes(sum(list, row => part.wasted ? row.wasted : row.self))
    + (part.wasted ? " more than one of each" : "") : `${part.title}: none`);
  if (list.length === 0) return [title];
  const body = list.map(row => choosable(rowOf(columns, row),
                                         () => describeWaste(row)));
  return [title, gridOf(part.title, columns.map(one => headOf(one, "")), body)];
}

waste.draw = function () {
  $("sums").replaceChildren(...this.parts.flatMap(wasteElements));
};
waste.hits = () => several(sum(waste.parts, part =>
  waste.listed(part).length), "row");

]==]
