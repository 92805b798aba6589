-- data.lua - of the page of "export html" (htmlpage.lua): what the document
-- has (csrc/formats/html.c), unpacked. Boxes are columns of typed arrays:
-- objects for a million calls would take seconds.

return [==[
// ---- what there is ----

const $ = id => document.getElementById(id);
const facts = JSON.parse($("facts").textContent);
facts.threads = facts.threads.map(plain);
facts.title = plain(facts.program || facts.trace);

// What samples, and what was allocated, tell of a function's lines
// (csrc/formats/htmlfacts.c).
function linesOf (i) {
  const numbers = (facts.lines || {})[i] || [], list = [];
  const size = facts.memory ? 7 : 4;
  for (let k = 0; k < numbers.length; k += size) {
    const [line, self, samples, calls, bytes, allocations, live] =
      numbers.slice(k, k + size);
    list.push({line, self, samples, calls, bytes, allocations, live});
  }
  return list;
}

const functions = facts.functions.map((row, i) => ({
  name: plain(row[0]), url: plain(row[1]), line: row[2], c: row[3] === 1,
  calls: row[4], self: row[5], total: row[6], sum: row[7], min: row[8],
  max: row[9], throws: row[10], yields: row[11], bytes: row[12] || 0,
  totalBytes: row[13] || 0, allocations: row[14] || 0,
  error: facts.errors[i],
  live: row[18] || 0, peakLive: row[19] || 0,
  lines: linesOf(i)
}));
const LEFT = functions.length;          // behind those of the program
functions.push({name: facts.left || "", url: "", line: 0, c: false, left: true,
                calls: 0, lines: []});

// Nobody's time, and what parts of the time are parts of: that of the report.
// With samples it is time in which the program did not run.
const nobody = facts.functions.reduce((rest, row) => rest - row[5],
                                      facts.whole);
// Whether nothing but samples tells of the program: what did not run is in no
// function's time then. A call lasts while it waits.
const onlySamples = facts.samples !== undefined && facts.calls === 0;
const whole = onlySamples ? facts.whole - nobody : facts.whole;
const percent = ns => share(ns, whole);

async function bytesOf (id) {
  const text = atob($(id).textContent);
  const packed = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) packed[i] = text.charCodeAt(i);
  $(id).remove();
  const unpacked = new Blob([packed]).stream()
    .pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(unpacked).arrayBuffer());
}

// A function that reads one number after the other.
function varintsOf (bytes) {
  let at = 0;
  const varint = () => {
    let value = 0, factor = 1;
    for (;;) {
      const byte = bytes[at++];
      value += (byte & 127) * factor;
      if (byte < 128) return value;
      factor *= 128;
    }
  };
  varint.more = () => at < bytes.length;
  return varint;
}

const RESUMED = 1, SAMPLED = 2, ARGUMENTS = 4;
const VALUES = 1, TAIL = 2, WHY = ["", "return", "error", "yield", "end"];
const HEAP = 0x80, ALLOCATIONS = 0x81, COLLECTION = 0x82,
  UNTRACED = 0x83;      // sorts of markers

function newCalls (n) {
  return {
    n: 0, fn: new Uint32Array(n), thread: new Uint16Array(n),
    begin: new Float64Array(n), end: new Float64Array(n),
    parent: new Int32Array(n), depth: new Uint16Array(n),
    inner: new Uint16Array(n), flags: new Uint8Array(n),
    why: new Uint8Array(n), self: new Float64Array(n),
    args: new Uint32Array(n), argsSize: new Uint32Array(n),
    results: new Uint32Array(n), resultsSize: new Uint32Array(n),
    // Moments (moments.lua): what each event enters, or ~ leaves; after how
    // many events a box has begun, and has ended.
    events: 0, order: new Int32Array(2 * n), opened: new Uint32Array(n),
    closed: new Uint32Array(n),
    bytes: facts.memory ? new Float64Array(n) : null
  };
}

const newMarks = () => ({n: 0, sort: [], thread: [], number: [], begin: [],
                         end: [], text: [], size: [], at: []});

// One box for each stretch that a call runs, in the order of their beginnings;
// markers in that of their ends; the heap's size where it is told.
function readEvents (from) {
  const varint = varintsOf(from), open = [];
  const calls = newCalls(facts.boxes), marks = newMarks();
  const heap = {time: [], bytes: [], most: 0};
  let now = 0, text = 0;

  function enter (top) {
    const i = calls.n++;
    calls.fn[i] = varint();
    calls.thread[i] = varint();
    calls.flags[i] = varint();
    calls.begin[i] = now;
    calls.parent[i] = top;
    calls.depth[i] = open.length;
    calls.inner[i] = top >= 0 && calls.thread[top] === calls.thread[i]
                     ? calls.inner[top] + 1 : 0;
    if (calls.flags[i] & ARGUMENTS) {
      calls.args[i] = text;
      text += calls.argsSize[i] = varint();
    }
    open.push(i);
    calls.order[calls.events++] = i;
    calls.opened[i] = calls.events;
  }

  function leave (flags) {
    const i = open.pop();
    calls.end[i] = now;
    calls.why[i] = flags;
    calls.order[calls.events++] = ~i;
    calls.closed[i] = calls.events;
    if (flags & VALUES) {
      calls.results[i] = text;
      text += calls.resultsSize[i] = varint();
    }
    if (calls.bytes && calls.parent[i] >= 0)
      calls.bytes[calls.parent[i]] += calls.bytes[i];
  }

  function sizeIs (size) {
    heap.time.push(now);
    heap.bytes.push(size);
    heap.most = Math.max(heap.most, size);
  }

  function allocated (top) {
    varint();                           // how many
    const size = varint();
    varint();                           // bytes that were freed
    const left = varint();
    if (top >= 0 && calls.bytes) calls.bytes[top] += size;
    if (left > 0) sizeIs(left);
  }

  function mark (top) {
    const sort = varint();
    if (sort === ALLOCATIONS) return allocated(top);
    const thread = varint(), number = varint() - 1, size = varint();
    if (sort === HEAP) return sizeIs(number);
    const spans = number >= 0
      && (sort === COLLECTION || sort === UNTRACED
          || facts.methods[sort] === "timeEnd");
    marks.n++;
    marks.sort.push(sort);
    marks.thread.push(thread);
    marks.number.push(number);
    marks.begin.push(spans ? now - number : now);
    marks.end.push(now);
    marks.text.push(text);
    marks.size.push(size);
    marks.at.push(calls.events);
    text += size;
  }

  while (varint.more()) {
    const head = varint(), before = now;
    now += Math.floor(head / 2);
    const top = open.length > 0 ? open[open.length - 1] : -1;
    if (top >= 0) calls.self[top] += now - before;
    if (head % 2 === 1) enter(top);
    else {
      const flags = varint();
      if (flags === 0) mark(top);
      else leave(flags);
    }
  }
  return {calls, marks, heap};
}

// Time by stack, of all calls (csrc/formats/htmlsums.h): columns, node 0 is the
// root. A coroutine's node has no function, -1.
function readSums (from) {
  const varint = varintsOf(from);
  const sums = {n: 1, parent: [0], fn: [-1], thread: [-1], calls: [0],
                throws: [0], self: [0], bytes: [0]};
  for (; varint.more(); sums.n++) {
    sums.parent.push(sums.n - varint());
    const row = varint(), coroutine = row % 2 === 1, what = (row - row % 2) / 2;
    const known = !coroutine && facts.memory;
    sums.fn.push(coroutine ? -1 : what);
    sums.thread.push(coroutine ? what : -1);
    sums.calls.push(coroutine ? 0 : varint());
    sums.throws.push(coroutine ? 0 : varint());
    sums.self.push(coroutine ? 0 : varint());
    sums.bytes.push(known ? varint() : 0);
  }
  return sums;
}

const {calls, marks, heap} = readEvents(await bytesOf("events"));
const texts = await bytesOf("values");
const sums = readSums(await bytesOf("stacks"));
const decoder = new TextDecoder();

const textAt = (from, size) =>
  plain(decoder.decode(texts.subarray(from, from + size)));
const outcome = i => WHY[calls.why[i] >> 2];

]==]
