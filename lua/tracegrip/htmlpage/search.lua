-- search.lua - of the page of "export html" (htmlpage.lua): what is looked for,
-- in names and places, in arguments, results and errors, in markers.

return [==[
// ---- the search ----

// null: nothing is searched for. Else flags by function, call and marker, and
// calls and markers that are found, in the order of time.
let found = null;

// A marker's number among items of the timeline; those of calls are from 0 on,
// -1 is none.
const itemOf = mark => -2 - mark;
const markOf = item => -2 - item;

// A byte in lower case, but for those of letters beyond ASCII.
const lower = Uint8Array.from({length: 256}, (_, byte) =>
  byte >= 65 && byte <= 90 ? byte + 32 : byte);

// The bytes that are looked for: letters beyond ASCII as they are, and both
// large and small. 'skips' are how far to go on by a byte at the end.
function needlesOf (text) {
  const encoder = new TextEncoder();
  const ways = new Set([text, text.toLowerCase(), text.toUpperCase()]
    .map(way => way.replace(/[A-Z]/g, c => c.toLowerCase())));
  return [...ways].map(way => {
    const bytes = encoder.encode(way);
    const skips = new Uint32Array(256).fill(bytes.length);
    for (let i = 0; i + 1 < bytes.length; i++)
      skips[bytes[i]] = bytes.length - 1 - i;
    for (let byte = 65; byte <= 90; byte++) skips[byte] = skips[lower[byte]];
    return {bytes, skips};
  });
}

// Horspool's search in a part of all texts.
function has (needle, from, size) {
  const {bytes, skips} = needle, last = bytes.length - 1;
  const end = from + size;
  for (let at = from + last; at < end; at += skips[texts[at]]) {
    let k = last;
    while (k >= 0 && lower[texts[at - last + k]] === bytes[k]) k--;
    if (k < 0) return true;
  }
  return false;
}

function foundCalls (byFunction, needles) {
  const flags = new Uint8Array(calls.n);
  for (let i = 0; i < calls.n; i++)
    flags[i] = byFunction[calls.fn[i]] || needles.some(needle =>
      calls.argsSize[i] > 0 && has(needle, calls.args[i], calls.argsSize[i])
      || calls.resultsSize[i] > 0
         && has(needle, calls.results[i], calls.resultsSize[i]));
  return flags;
}

// Calls by their beginnings, markers by their ends: of those, what is shown.
function inOrder (byCall, byMark, thread) {
  const list = [];
  let k = 0;
  const upTo = time => {
    for (; k < marks.n && marks.end[k] <= time; k++)
      if (byMark[k]) list.push(itemOf(k));
  };
  for (let i = 0; i < calls.n; i++) {
    if (!byCall[i] || (thread >= 0 && calls.thread[i] !== thread)) continue;
    upTo(calls.begin[i]);
    list.push(i);
  }
  upTo(Infinity);
  return list;
}

// For what 'text' says, in one coroutine, or in all: -1.
function search (text, thread) {
  const wanted = text.trim().toLowerCase();
  found = null;
  if (wanted === "") return;
  const needles = needlesOf(text.trim());
  const byFunction = functions.map(f =>
    (f.name + " " + placeOf(f)).toLowerCase().includes(wanted) ? 1 : 0);
  const byCall = foundCalls(byFunction, needles);
  const byMark = marks.sort.map((sort, k) => markers.shown.has(k)
    && (methodOf(k).toLowerCase().includes(wanted)
        || needles.some(needle => has(needle, marks.text[k], marks.size[k]))));
  found = {functions: byFunction, calls: byCall, marks: byMark,
           list: inOrder(byCall, byMark, thread)};
}

const timeOf = item =>
  item >= 0 ? calls.begin[item] : marks.end[markOf(item)];

// The place in the list of the one after 'item', or before it.
function placeAfter (item, back) {
  const list = found.list, n = list.length;
  const at = item === -1 ? -1 : list.indexOf(item);
  if (at >= 0 || item === -1)
    return back ? (Math.max(at, 0) + n - 1) % n : (at + 1) % n;
  const later = list.findIndex(one => timeOf(one) > timeOf(item));
  return back ? ((later < 0 ? n : later) + n - 1) % n : Math.max(later, 0);
}

]==]
