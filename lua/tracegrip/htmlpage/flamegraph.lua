-- flamegraph.lua - of the page of "export html" (htmlpage.lua): calls added up
-- by the way that led to them, or by those that they led to.

return [==[
// ---- flame graph: calls added up by the way that led to them ----

const flame = {root: null, focus: null, chosen: null, scroll: 0, thread: -1,
               upside: false, callers: false, depth: 0};

function newNode (fn, parent) {
  return {fn, parent, calls: 0, self: 0, total: 0, throws: 0, children: null,
          list: null, depth: parent ? parent.depth + 1 : 0, x: 0};
}

function childOf (node, fn) {
  if (!node.children) node.children = new Map();
  let child = node.children.get(fn);
  if (!child) node.children.set(fn, child = newNode(fn, node));
  return child;
}

const wholeThread = i => flame.thread < 0 || calls.thread[i] === flame.thread;

function addUp () {
  const root = newNode(-1, null), nodes = new Array(calls.n);
  for (let i = 0; i < calls.n; i++) {
    if (!wholeThread(i)) continue;
    const above = calls.parent[i];
    const node = childOf(above >= 0 && nodes[above] || root, calls.fn[i]);
    nodes[i] = node;
    node.calls += calls.flags[i] & (RESUMED | SAMPLED) ? 0 : 1;
    node.throws += outcome(i) === "error" ? 1 : 0;
    node.self += calls.self[i];
  }
  return root;
}

// From each call that has time of its own to those that led to it.
function addUpCallers () {
  const root = newNode(-1, null), tree = addUp();
  each(tree, node => {
    if (node.self === 0 || node.fn < 0) return;
    let at = root;
    for (let up = node; up.fn >= 0; up = up.parent) {
      at = childOf(at, up.fn);
      at.calls += up === node ? node.calls : 0;
      at.total += node.self;
    }
    at.self += node.self;
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
    if (!totalled) node.total += node.self;
    node.list = node.children ? [...node.children.values()] : [];
    if (!totalled || node === root)
      for (const child of node.list) node.total += child.total;
    node.list.sort((a, b) => b.total - a.total);
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

flame.arrange = function () {
  this.root = this.callers ? addUpCallers() : addUp();
  this.depth = settle(this.root, this.callers);
  this.focus = this.root;
  this.chosen = null;
  this.scroll = 0;
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
  ? `all: ${span(node.total)}` : functions[node.fn].name;

// Those above the one that is looked at are as wide as it is.
flame.draw = function () {
  for (let up = this.focus.parent; up; up = up.parent) {
    this.drawNode(up, 0, width);
    pen.fillStyle = ink.page;
    pen.globalAlpha = 0.45;
    pen.fillRect(0, this.rowAt(up.depth), width, ROW);
    pen.globalAlpha = 1;
  }
  const stack = [this.focus];
  while (stack.length > 0) {
    const node = stack.pop(), [x, w] = this.boxOf(node);
    if (w < 0.4) continue;
    this.drawNode(node, x, w);
    if ((node.depth + 1) * ROW - this.scroll < height)
      for (const child of node.list) stack.push(child);
  }
};

flame.drawNode = function (node, x, w) {
  const y = this.rowAt(node.depth);
  if (node.fn >= 0)
    return drawBox(node.fn, x, y, w, nameOf(node), node === this.chosen,
                   node.throws > 0);
  pen.fillStyle = ink.line;
  pen.fillRect(x, y, w, ROW - 1);
  pen.fillStyle = ink.text;
  drawText(nameOf(node), x, y, w);
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

]==]
