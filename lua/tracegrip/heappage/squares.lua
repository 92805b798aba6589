-- squares.lua - of the page of a heap snapshot (heappage.lua): a rectangle cut
-- into others of given areas, each as nearly a square as may be: "Squarified
-- treemaps" (Bruls, Huizing, van Wijk, 2000).

return [==[
// ---- squares ----

// How far the worst of some areas is from a square, in a row of that side.
function worst (areas, total, side) {
  const thick = total / side;
  return Math.max(...[areas[0], areas[areas.length - 1]].map(area => {
    const long = area / thick;
    return Math.max(long / thick, thick / long);
  }));
}

// As many of the areas from 'at' on as a row takes without becoming worse.
function rowFrom (areas, at, side) {
  const row = [areas[at]];
  let total = areas[at], best = worst(row, total, side);
  for (let k = at + 1; k < areas.length; k++) {
    const more = worst([row[0], areas[k]], total + areas[k], side);
    if (more > best) break;
    best = more;
    total += areas[k];
    row.push(areas[k]);
  }
  return {row, total};
}

// Of amounts, the largest first, that add up to 'total': a rectangle each.
function squares (amounts, total, {x, y, w, h}) {
  const scale = w * h / total, areas = amounts.map(one => one * scale);
  const list = [];
  while (list.length < areas.length) {
    const side = Math.min(w, h), upright = w >= h;
    const {row, total: area} = rowFrom(areas, list.length, side);
    const thick = Math.min(area / side, upright ? w : h);
    let along = 0;
    for (const one of row) {
      const long = area > 0 ? one / area * side : 0;
      list.push(upright ? {x, y: y + along, w: thick, h: long}
                        : {x: x + along, y, w: long, h: thick});
      along += long;
    }
    if (upright) { x += thick; w -= thick; } else { y += thick; h -= thick; }
  }
  return list;
}

]==]
