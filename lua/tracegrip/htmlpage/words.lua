-- words.lua - of the page of "export html" (htmlpage.lua): numbers, places,
-- moments and what is missing, as a person reads them. In English, all of it.

return [==[
// ---- words ----

// What cannot be seen or turns a line around, as Lua writes it: U+202E in a
// value would have the rest of its line read from right to left.
const UNSEEN = new RegExp("[\\u0000-\\u001f\\u007f-\\u009f\\u061c"
  + "\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u2069\\ufeff]", "g");
const plain = text => text.replace(UNSEEN, c =>
  "\\u{" + c.charCodeAt(0).toString(16).toUpperCase() + "}");

function scaled (x, units) {
  const k = units.findIndex(([least]) => x >= least);
  const [, unit, factor] = units[k < 0 ? units.length - 1 : k];
  const n = x / factor;
  const places = factor === 1 || n >= 99.95 ? 0 : n >= 9.995 ? 1 : 2;
  return n.toFixed(places) + " " + unit;
}

const span = ns => scaled(ns, [[999.5e6, "s", 1e9], [999.5e3, "ms", 1e6],
                               [999.5, "µs", 1e3], [0, "ns", 1]]);
const KI = 1024;
const bytes = n => scaled(n, [[1000 * KI ** 2, "GiB", KI ** 3],
  [1000 * KI, "MiB", KI ** 2], [1000, "KiB", KI], [0, "bytes", 1]]);
const moment = ns => (ns / 1e6).toFixed(3) + " ms";
const count = n => n.toLocaleString("en");
const several = (n, what) => count(n) + " " + what + (n === 1 ? "" : "s");
const share = (part, whole) =>
  (whole > 0 ? 100 * part / whole : 0).toFixed(1) + "%";

const placeOf = f => f.left ? "" : f.c ? "[C]"
  : f.url + (f.line > 0 ? ":" + f.line : "");

const date = ms => new Date(ms).toLocaleString("en-GB", {
  year: "numeric", month: "short", day: "numeric", hour: "2-digit",
  minute: "2-digit", second: "2-digit", timeZoneName: "short"
});

// ---- what the page is of ----

function contents () {
  const list = facts.calls > 0 || facts.samples === undefined
    ? [several(facts.calls, "call")] : [];
  if (facts.samples !== undefined) list.push(several(facts.samples, "sample"));
  return list.concat(span(facts.duration)).join(", ");
}

// A list of sentences.
function missing () {
  const list = facts.lost.map(([n, why]) =>
    several(n, "event") + ` not recorded (${plain(why)})`);
  if (facts.leftOut > 0)
    list.push(several(facts.leftOut, "call")
      + (facts.shortest ? ` shorter than ${span(facts.shortest)}` : "")
      + ` not in the timeline, ${span(facts.hidden)} in all`);
  if (facts.folded > 0)
    list.push(several(facts.folded, "call") + ` deeper than `
      + `${count(facts.depth)} part of those around them in the timeline`);
  if (facts.bare > 0)
    list.push(several(facts.bare, "call") + " without values");
  return list;
}

// The options that were given, as the command line has them.
function filtered () {
  const f = facts.filter, ms = ns => String(ns / 1e6), list = [];
  if (f.from) list.push("--from " + ms(f.from));
  if (f.to) list.push("--to " + ms(f.to));
  if (f.thread) list.push("--thread " + f.thread);
  if (f.c === false) list.push("--no-c");
  for (const name of ["include", "exclude", "on"])
    for (const one of f[name] || []) list.push(`--${name} ` + plain(one));
  if (f.maxDepth) list.push("--max-depth " + f.maxDepth);
  if (f.minDuration) list.push("--min-ms " + ms(f.minDuration));
  if (f.limit) list.push("--limit " + f.limit);
  return list;
}

]==]
