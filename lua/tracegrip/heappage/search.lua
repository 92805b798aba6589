-- search.lua - of the page of a heap snapshot (heappage.lua): what is looked
-- for, in names and texts of objects, in what leads to them, in rows of tables.

return [==[
// ---- the search ----

// null: nothing is searched for. Else the text, flags by box, and the boxes
// that are found, the largest first.
let found = null;

function search (text) {
  const wanted = text.trim().toLowerCase();
  found = null;
  if (wanted === "") return;
  const flags = new Uint8Array(boxes), list = [];
  for (let i = 1; i < boxes; i++)
    if ([labelOf(i), nameOf(i), classOf(i), "@" + nodes.id[i]]
          .some(one => one.toLowerCase().includes(wanted))) {
      flags[i] = 1;
      list.push(i);
    }
  found = {wanted, flags, list};
}

const isFound = text =>
  found === null || text.toLowerCase().includes(found.wanted);

// What is found keeps together: what is below another that is found is in that.
function foundBytes () {
  const inside = new Uint8Array(boxes);
  let n = 0;
  for (let i = 1; i < boxes; i++) {
    const above = nodes.above[i];
    inside[i] = inside[above] || found.flags[above];
    if (found.flags[i] && !inside[i]) n += nodes.retained[i];
  }
  return n;
}

]==]
