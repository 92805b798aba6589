-- data.lua - of the page of "export html" (htmlpage.lua): what the document
-- has, and how it is told. Boxes are columns of typed arrays: objects for a
-- million calls would take seconds.

return [==[
// ---- what there is ----

const $ = id => document.getElementById(id);
const facts = JSON.parse($("facts").textContent);
const functions = facts.functions.map(row => ({
  name: row[0], url: row[1], line: row[2], c: row[3] === 1, calls: row[4],
  self: row[5], total: row[6], sum: row[7], min: row[8], max: row[9],
  throws: row[10], yields: row[11]
}));

async function bytesOf (id) {
  const text = atob($(id).textContent);
  const packed = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) packed[i] = text.charCodeAt(i);
  $(id).remove();
  const unpacked = new Blob([packed]).stream()
    .pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(unpacked).arrayBuffer());
}

const RESUMED = 1, SAMPLED = 2, ARGUMENTS = 4;
const VALUES = 1, TAIL = 2, WHY = ["", "return", "error", "yield", "end"];

// One box for each stretch that a call runs, in the order of their beginnings:
// columns, since objects for a million calls would take seconds.
function readCalls (bytes) {
  let at = 0;
  function varint () {
    let value = 0, factor = 1;
    for (;;) {
      const byte = bytes[at++];
      value += (byte & 127) * factor;
      if (byte < 128) return value;
      factor *= 128;
    }
  }
  const n = facts.boxes;
  const calls = {
    n: 0, fn: new Uint32Array(n), thread: new Uint16Array(n),
    begin: new Float64Array(n), end: new Float64Array(n),
    parent: new Int32Array(n), depth: new Uint16Array(n),
    inner: new Uint16Array(n), flags: new Uint8Array(n),
    why: new Uint8Array(n), self: new Float64Array(n),
    args: new Float64Array(n), argsSize: new Uint32Array(n),
    results: new Float64Array(n), resultsSize: new Uint32Array(n)
  };
  const open = [];
  let now = 0, text = 0;
  while (at < bytes.length) {
    const head = varint(), before = now;
    now += Math.floor(head / 2);
    const top = open.length > 0 ? open[open.length - 1] : -1;
    if (top >= 0) calls.self[top] += now - before;
    if (head % 2 === 1) {
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
    } else {
      const i = open.pop(), flags = varint();
      calls.end[i] = now;
      calls.why[i] = flags;
      if (flags & VALUES) {
        calls.results[i] = text;
        text += calls.resultsSize[i] = varint();
      }
    }
  }
  return calls;
}

const calls = readCalls(await bytesOf("events"));
const texts = await bytesOf("values");
const decoder = new TextDecoder();

const textAt = (from, size) =>
  decoder.decode(texts.subarray(from, from + size));

// ---- words ----

function span (ns) {
  const [unit, factor] = ns >= 999.5e6 ? ["s", 1e9] : ns >= 999.5e3
    ? ["ms", 1e6] : ns >= 999.5 ? ["µs", 1e3] : ["ns", 1];
  const x = ns / factor;
  const places = factor === 1 || x >= 99.95 ? 0 : x >= 9.995 ? 1 : 2;
  return x.toFixed(places) + " " + unit;
}

const moment = ns => (ns / 1e6).toFixed(3) + " ms";
const count = n => n.toLocaleString("en");
const placeOf = f => f.c ? "[C]" : f.url + (f.line > 0 ? ":" + f.line : "");
const outcome = i => WHY[calls.why[i] >> 2];

]==]
