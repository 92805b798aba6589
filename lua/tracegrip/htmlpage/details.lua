-- details.lua - of the page of "export html" (htmlpage.lua): what is said below
-- of a call, a marker, a part of the flame graph or a function that was chosen.
-- It is read out to those who cannot see it.

return [==[
// ---- what was chosen ----

const ENDS = {error: "error", yield: "yielded", return: "returned"};

function valuesOf (i) {
  const why = outcome(i), tail = calls.why[i] & TAIL, entries = [];
  if (calls.argsSize[i] > 0)
    entries.push(["arguments", textAt(calls.args[i], calls.argsSize[i]), true]);
  if (calls.resultsSize[i] > 0)
    entries.push([ENDS[why] || why,
                  textAt(calls.results[i], calls.resultsSize[i]), true]);
  else if (why !== "return")
    entries.push(["ended by", tail ? "a tail call" : why]);
  if (tail && why === "return") entries.push(["ended by", "a tail call"]);
  if (calls.flags[i] & RESUMED) entries.push(["began", "resumed"]);
  if (calls.flags[i] & SAMPLED) entries.push(["known by", "samples"]);
  return entries;
}

function memoryOf (i) {
  const entries = [], before = heapAt(calls.begin[i]);
  if (calls.bytes) entries.push(["allocated", bytes(calls.bytes[i])]);
  if (before !== undefined)
    entries.push(["heap",
                  `${bytes(before)} to ${bytes(heapAt(calls.end[i]))}`]);
  return entries;
}

function describeCall (i) {
  const f = functions[calls.fn[i]], up = timeline.above(i);
  const {first, last, at} = timeline.siblings(i);
  detail(f.name, [
    ["where", placeOf(f)],
    ["time", `${span(calls.end[i] - calls.begin[i])}, `
             + `${span(calls.self[i])} of it by itself`],
    ...valuesOf(i),
    ["from", `${moment(calls.begin[i])} to ${moment(calls.end[i])}`],
    ["in", (up >= 0 ? functions[calls.fn[up]].name + ", " : "")
           + facts.threads[calls.thread[i]]],
    ["place", `level ${levelOf(i) + 1}, ${count(at - first + 1)} of `
              + count(last - first)],
    ...memoryOf(i)
  ]);
}

function describeMark (k) {
  const method = methodOf(k), number = marks.number[k];
  const entries = [["by", method === "collection" ? "the garbage collector"
                          : method === "untraced"
                          ? "record --windows: no calls were seen"
                          : "console." + method]];
  if (isSpan(k)) {
    entries.push(["time", span(marks.end[k] - marks.begin[k])]);
    entries.push(["from",
                  `${moment(marks.begin[k])} to ${moment(marks.end[k])}`]);
  } else entries.push(["at", moment(marks.end[k])]);
  if (method === "timeLog" && number >= 0) entries.push(["ran", span(number)]);
  if (method === "count" && number >= 0) entries.push(["count", count(number)]);
  entries.push(["in", facts.threads[marks.thread[k]]]);
  const words = wordsOf(k);
  if (words !== "" && !isSpan(k)) entries.push(["says", words, true]);
  detail(isSpan(k) ? words : method, entries);
}

const withShare = n => `${flame.amount(n)}, ${flame.share(n)}`;

// By callers a box further out is a caller: what it has is the first one's own,
// as far as that was called by this way.
function describeCaller (node) {
  const f = functions[node.fn];
  let first = node;
  const way = [f.name];
  for (; first.depth > 1; first = first.parent)
    way.push(functions[first.parent.fn].name);
  const row = flame.rows[first.fn];
  const own = flame.bytes ? "bytes of its own" : "self";
  detail(f.name, node === first ? [
    ["where", placeOf(f)], [own, withShare(row.own)],
    ["total", withShare(row.total)], ["calls", count(row.calls)]
  ] : [
    ["where", placeOf(f)],
    [`${own} of ${functions[first.fn].name}`,
     `${withShare(node.total)}, by ${way.join(" → ")}`]
  ]);
}

function describeNode (node) {
  if (node.fn < 0) return describeAll();
  if (flame.callers) return describeCaller(node);
  const f = functions[node.fn];
  detail(f.name, [
    ["where", placeOf(f)], ["total", withShare(node.total)],
    [flame.bytes ? "bytes of its own" : "self", withShare(node.own)],
    ["calls", count(node.calls)],
    ["place", `level ${node.depth}, ${node.parent.list.indexOf(node) + 1} of `
              + node.parent.list.length]
  ]);
}

const LINES = 12;               // more would be long to hear

// What is said of a line: its time, as samples tell; what it has allocated, and
// what is alive of what it has made.
function wordsOfLine ({self, samples, bytes: size, allocations, live}) {
  const words = [];
  if (samples > 0)
    words.push(`${span(self)}, ${percent(self)}, `
               + several(samples, "sample"));
  if (allocations > 0)
    words.push(`${bytes(size)} in ${several(allocations, "allocation")}`);
  if (live > 0) words.push(`${bytes(live)} alive`);
  return words.join("; ");
}

// The lines that took a function's time, most of it first; then those that have
// allocated alone, most bytes first.
function linesIn (f) {
  const list = f.lines.filter(one => wordsOfLine(one) !== "")
    .sort((a, b) => b.self - a.self || b.bytes - a.bytes || a.line - b.line);
  const entries = list.slice(0, LINES).map(one => [
    one.line > 0 ? "line " + one.line : "line not known", wordsOfLine(one)
  ]);
  const left = list.slice(LINES);
  const sum = key => left.reduce((n, one) => n + (one[key] || 0), 0);
  if (left.length > 0)
    entries.push([several(left.length, "more line"), wordsOfLine({
      self: sum("self"), samples: sum("samples"), bytes: sum("bytes"),
      allocations: sum("allocations"), live: sum("live")})]);
  return entries;
}

function describeFunction (i) {
  const f = functions[i];
  detail(f.name, [
    ...columns.slice(1).map(({title, text}) => [title, text(f)]),
    ...linesIn(f)
  ]);
}

function describeAll () {
  const m = facts.memory;
  detail(facts.title, [
    ["calls", facts.calls > 0 || facts.samples === undefined
              ? count(facts.calls) : ""],
    ["samples", facts.samples === undefined ? "" : count(facts.samples)],
    ["functions", count(functions.length - 1)],
    ["coroutines", count(facts.threads.length)],
    ["markers", markers.list.length > 0 ? count(markers.list.length) : ""],
    ["allocated", m ? `${bytes(m[1])} in ${several(m[3], "allocation")}, `
                      + `the heap at most ${bytes(Math.max(m[5], heap.most))}`
                    : ""],
    ["duration", span(facts.duration)], ["begun", date(facts.wall)],
    ["time 0", `${moment(facts.start)} on the recording's clock `
               + `(--from ${facts.start / 1e6})`],
    ["filtered", filtered().join(" "), true],
    ["missing", missing().join("; ") || "nothing"]
  ]);
}

]==]
