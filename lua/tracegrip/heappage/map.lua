-- map.lua - of the page of a heap snapshot (heappage.lua): who keeps how much
-- alive, as boxes in boxes. The area of a box is what it retains; what is in it
-- is what it keeps.

return [==[
// ---- the map ----

const map = {focus: ROOT, chosen: ROOT, rest: false, drawn: []};

const CRUMBS = 30;              // pixels above it, for the way in
const LEAST = 26;               // pixels of a box in which others are drawn
const GAP = 2;

let colours = new Map();        // by class, as it is and beside what is found

function recolour (text, page) {
  colours = new Map();
  map.colourOf = name => {
    if (!colours.has(name)) {
      const rgb = legible(hash(name) % 300 + 60, hash(name + name) % 12, dark,
                          text);
      colours.set(name, [rgb, mixed(rgb, page, FADED)]
        .map(c => `rgb(${c.join(" ")})`));
    }
    return colours.get(name);
  };
}

// What a box is divided into: what it keeps, what is its own, what is too small
// to be a box; the largest first.
function partsOf (i) {
  const parts = kids[i].map(k => ({node: k, size: nodes.retained[k]}));
  const rest = restOf(i);
  if (parts.length === 0 && rest.bytes === 0) return [];
  if (nodes.self[i] > 0)
    parts.push({node: i, size: nodes.self[i], own: true});
  if (rest.bytes > 0)
    parts.push({node: i, size: rest.bytes, rest: rest.count});
  return parts.sort((a, b) => b.size - a.size);
}

function partText (part) {
  if (part.own) return "own";
  return part.rest ? several(part.rest, "smaller object")
                   : titleOf(part.node);
}

const isChosenPart = part => part.node === map.chosen && !part.own
  && Boolean(part.rest) === map.rest;

function drawPart (part, {x, y, w, h}) {
  const plain = part.own || part.rest;
  const hit = found && !plain && found.flags[part.node] === 1;
  const faded = found && !hit;
  pen.fillStyle = hit ? ink.hit : plain || part.node === ROOT ? ink.panel
    : map.colourOf(classOf(part.node))[faded ? 1 : 0];
  pen.fillRect(x, y, w - Math.min(1, w / 4), h - Math.min(1, h / 4));
  if (h >= ROW - 4) {
    pen.fillStyle = hit ? ink.onhit : faded || plain ? ink.faint : ink.text;
    drawText(`${partText(part)}  ${bytes(part.size)}`, x, y, w);
  }
}

// Boxes are drawn before what is in them; what was drawn last is on top.
map.place = function (part, place) {
  this.drawn.push({...part, place});
  drawPart(part, place);
  if (part.own || part.rest || place.w < LEAST || place.h < LEAST + ROW) return;
  const inner = {x: place.x + GAP, y: place.y + ROW, w: place.w - 2 * GAP,
                 h: place.h - ROW - GAP};
  const parts = partsOf(part.node);
  if (parts.length === 0) return;
  pen.fillStyle = ink.page;             // between boxes of one colour, too
  pen.fillRect(inner.x, inner.y, inner.w, inner.h);
  squares(parts.map(one => one.size), sum(parts, one => one.size), inner)
    .forEach((at, k) => {
      if (at.w >= 2 && at.h >= 2) this.place(parts[k], at);
      else drawPart(parts[k], at);
    });
};

map.draw = function () {
  if (width === 0 || height === 0) return;      // an iframe that is not shown
  pen.clearRect(0, 0, width, height);
  pen.font = "12px system-ui, sans-serif";
  pen.textBaseline = "middle";
  this.drawn = [];
  this.place({node: this.focus, size: nodes.retained[this.focus]},
             {x: 0, y: CRUMBS, w: width, h: height - CRUMBS});
  const one = this.drawn.find(isChosenPart);
  if (one && one !== this.drawn[0]) {
    const {x, y, w, h} = one.place;
    pen.strokeStyle = ink.accent;
    pen.lineWidth = 3;
    pen.strokeRect(x + 1.5, y + 1.5, w - 3, h - 3);
  }
};

map.at = function (x, y) {
  return this.drawn.findLast(({place}) => x >= place.x && y >= place.y
    && x < place.x + place.w && y < place.y + place.h);
};

function tipOf (part) {
  if (!part) return "";
  const {node} = part;
  if (part.rest)
    return `${several(part.rest, "smaller object")} of ${titleOf(node)}: `
      + withShare(part.size);
  return `${titleOf(node)}  (${called(node)})  own ${bytes(nodes.self[node])}, `
    + `retained ${withShare(nodes.retained[node])}`;
}

// Into a box, or to one that has nothing in it.
map.enter = function (part) {
  this.rest = Boolean(part.rest);
  this.chosen = part.node;
  if (!part.own && !part.rest && kids[part.node].length > 0)
    this.focus = part.node;
};

map.out = function () {
  if (this.focus === ROOT) return;
  this.chosen = this.focus;
  this.focus = nodes.above[this.focus];
  this.rest = false;
};

const isWithin = (i, top) => {
  while (i > top) i = nodes.above[i];     // whoever keeps a box is before it
  return i === top;
};

// So that it can be seen: in what is looked at, and large enough to be drawn.
map.reveal = function (i) {
  this.rest = false;
  this.chosen = i;
  while (!isWithin(i, this.focus)) this.focus = nodes.above[this.focus];
  this.draw();
  if (!this.drawn.some(isChosenPart)) this.focus = nodes.above[i];
};

map.walk = function (way) {
  const i = this.chosen, list = i === ROOT ? [i] : kids[nodes.above[i]];
  const step = {ArrowLeft: -1, ArrowRight: 1}[way];
  const to = way === "ArrowDown" ? kids[i][0]
    : way === "ArrowUp" ? nodes.above[i] : list[list.indexOf(i) + step];
  if (to >= 0) chooseNode(to);
};

// ---- the way in ----

function crumbOf (i) {
  const button = element("button", "", titleOf(i));
  button.title = tipOf({node: i});
  if (i === map.focus) button.ariaCurrent = "true";
  button.onclick = () => {
    map.focus = i;
    chooseNode(i);
  };
  return button;
}

map.crumbs = function () {
  const list = [];
  for (let i = this.focus; i >= 0; i = nodes.above[i]) list.push(i);
  $("crumbs").replaceChildren(...shortened(list.reverse(), n => -n)
    .map(i => i < 0 ? gapOf(-i) : crumbOf(i)));
  $("crumbs").scrollLeft = $("crumbs").scrollWidth;
};

]==]
