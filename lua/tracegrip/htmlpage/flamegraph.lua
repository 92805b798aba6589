-- flamegraph.lua - of the page of "export html" (htmlpage.lua): time, or bytes,
-- added up by the way that led to calls, or by those that they led to. Of all
-- calls, whatever the timeline leaves out.

return [==[
// ---- flame graph ----

const flame = {root: null, focus: null, chosen: null, scroll: 0, thread: -1,
               upside: false, callers: false, bytes: false, depth: 0};

function newNode (fn, parent) {
  return {fn, parent, calls: 0, own: 0, total: 0, throws: 0, children: null,
          list: null, depth: parent ? parent.depth + 1 : 0, x: 0};
}

function childOf (node, fn) {
  if (!node.children) node.children = new Map();
  let child = node.children.get(fn);
  if (!child) node.children.set(fn, child = newNode(fn, node));
  return child;
}

// The page's nodes of one coroutine, or with all of them (-1) on top of who
// resumed them: those of one function below one node are one.
function addUp (thread, weight) {
  const root = newNode(-1, null), nodes = new Array(sums.n);
  nodes[0] = thread < 0 ? root : null;
  for (let k = 1; k < sums.n; k++) {
    const up = nodes[sums.parent[k]], of = sums.thread[k];
    if (of >= 0) nodes[k] = thread < 0 ? up : of === thread ? root : null;
    else if (!up) nodes[k] = null;
    else {
      const node = nodes[k] = childOf(up, sums.fn[k]);
      node.calls += sums.calls[k];
      node.throws += sums.throws[k];
      node.own += weight[k];
    }
  }
  return root;
}

// From each call that has time of its own to those that led to it. A node's
// 'own' is what of the first function's came by this way.
function addUpCallers (tree) {
  const root = newNode(-1, null);
  each(tree, node => {
    if (node.fn < 0 || node.own === 0) return;
    let at = root;
    for (let up = node; up.fn >= 0; up = up.parent) {
      at = childOf(at, up.fn);
      at.total += node.own;
    }
  });
  return root;
}

function each (root, use) {
  const stack = [root];
  while (stack.length > 0) {
    const node = stack.pop();
    use(node);
    if (node.children) for (const child of node.children.values())
      stack.push(child);
  }
}

// Totals from the leaves up, children by their totals, and where each begins.
function settle (root, totalled) {
  const order = [];
  each(root, node => order.push(node));
  for (let k = order.length - 1; k >= 0; k--) {
    const node = order[k];
    if (!totalled) node.total += node.own;
    node.list = node.children ? [...node.children.values()] : [];
    if (!totalled || node === root)
      for (const child of node.list) node.total += child.total;
    node.list.sort((a, b) => b.total - a.total || a.fn - b.fn);
    node.children = null;
  }
  let depth = 0;
  for (const node of order) {
    let x = node.x;
    depth = Math.max(depth, node.depth);
    for (const child of node.list) {
      child.x = x;
      x += child.total;
    }
  }
  return depth;
}

// What each function has in a tree: calls, own, and total, in which recursion
// counts once.
function byFunction (root) {
  const rows = functions.map(() => ({calls: 0, own: 0, total: 0, open: 0}));
  const stack = [[root, false]];
  while (stack.length > 0) {
    const [node, left] = stack.pop(), row = rows[node.fn];
    if (left) { row.open--; continue; }
    if (row) {
      row.calls += node.calls;
      row.own += node.own;
      if (row.open++ === 0) row.total += node.total;
      stack.push([node, true]);
    }
    for (const child of node.list) stack.push([child, false]);
  }
  return rows;
}

flame.arrange = function () {
  const weight = this.bytes ? sums.bytes : sums.self;
  const tree = addUp(this.thread, weight);
  const callers = this.callers ? addUpCallers(tree) : null;
  this.depth = settle(tree, false);
  this.rows = byFunction(tree);
  if (callers) this.depth = settle(callers, true);
  this.root = this.focus = callers || tree;
  this.chosen = null;
  this.scroll = 0;
};

// Of the whole that the report has.
flame.amount = function (n) {
  return this.bytes ? bytes(n) : span(n);
};
flame.share = function (n) {
  return this.bytes ? share(n, facts.memory[1]) : percent(n);
};

// The topmost boxes that are found: what they have together.
flame.matched = function () {
  let sum = 0, n = 0;
  const stack = [[this.root, false]];
  while (stack.length > 0) {
    const [node, inside] = stack.pop();
    const hit = node.fn >= 0 && found.functions[node.fn] === 1;
    n += hit ? 1 : 0;
    if (hit && !inside) sum += node.total;
    for (const child of node.list) stack.push([child, inside || hit]);
  }
  return {boxes: n, sum};
};

flame.rowAt = function (depth) {
  const y = depth * ROW - this.scroll;
  return this.upside ? height - ROW - y : y;
};

flame.boxOf = function (node) {
  const scale = width / Math.max(this.focus.total, 1);
  return [(node.x - this.focus.x) * scale, node.total * scale];
};

const nameOf = node => node.fn < 0
  ? `all: ${flame.amount(node.total)}` : functions[node.fn].name;

// Those above the one that is looked at are as wide as it is.
flame.draw = function () {
  for (let up = this.focus.parent; up; up = up.parent)
    this.drawNode(up, 0, width, true);
  const stack = [this.focus];
  while (stack.length > 0) {
    const node = stack.pop(), [x, w] = this.boxOf(node);
    if (w < 0.4) continue;
    this.drawNode(node, x, w, false);
    if ((node.depth + 1) * ROW - this.scroll < height)
      for (const child of node.list) stack.push(child);
  }
};

flame.drawNode = function (node, x, w, above) {
  const y = this.rowAt(node.depth), chosen = node === this.chosen;
  if (node.fn >= 0) {
    const hit = found && found.functions[node.fn] === 1;
    return drawBox(node.fn, x, y, w, nameOf(node),
                   {hit, chosen, faded: (found && !hit) || (above && !hit),
                    thrown: node.throws > 0});
  }
  pen.fillStyle = ink.panel;
  pen.fillRect(x, y, w, ROW - 1);
  pen.fillStyle = ink.text;
  drawText(nameOf(node), x, y, w);
  if (chosen) outline(x, y, w);
};

flame.at = function (x, y) {
  const row = this.upside ? height - y : y;
  const depth = Math.floor((row + this.scroll) / ROW);
  if (depth < this.focus.depth) {
    let up = this.focus;
    while (up && up.depth > depth) up = up.parent;
    return up || -1;
  }
  let node = this.focus;
  while (node && node.depth < depth)
    node = node.list.find(child => {
      const [left, w] = this.boxOf(child);
      return x >= left && x < left + w;
    });
  return node || -1;
};

flame.tip = function (node) {
  if (node === -1) return "";
  return `${nameOf(node)}  ${this.amount(node.total)}  `
    + this.share(node.total);
};

flame.choose = function (node) {
  this.chosen = node === -1 ? null : node;
};
flame.zoomTo = function (node) { this.focus = node; };
flame.describe = node => describeNode(node);
flame.zoom = function (factor) {
  if (factor > 1 && this.focus.parent) this.focus = this.focus.parent;
  else if (factor < 1) this.focus = this.chosen || this.focus;
};
flame.pan = function (dx, dy) {
  const most = (this.depth + 1) * ROW - height;
  this.scroll = Math.max(0, Math.min(
    this.scroll + (this.upside ? -dy : dy), most));
};
flame.reset = function () {
  this.focus = this.root;
  this.scroll = 0;
};

// ---- from box to box ----

// By the picture: where the root is below, up leads away from it.
flame.walk = function (way) {
  const node = this.chosen;
  if (!node) return this.focus;
  if (way === "up" || way === "down")
    return ((way === "up") !== this.upside ? node.parent : node.list[0])
           || node;
  const list = node.parent ? node.parent.list : [node];
  return list[list.indexOf(node) + (way === "left" ? -1 : 1)] || node;
};

// It is in what is looked at, wide enough, and its row in sight.
flame.reveal = function (node) {
  const within = () => {
    for (let up = node; up; up = up.parent) if (up === this.focus) return true;
    return false;
  };
  if (node.depth >= this.focus.depth) {
    while (!within()) this.focus = this.focus.parent;
    if (this.boxOf(node)[1] < LEAST)
      this.focus = node.parent || node;
  }
  const y = node.depth * ROW;
  if (y < this.scroll || y > this.scroll + height - ROW)
    this.scroll = Math.max(0, y - height / 2);
};

]==]
