-- details.lua - of the page of "export html" (htmlpage.lua): what is said below
-- of a call, a part of the flame graph or a function that was chosen.

return [==[
// ---- what was chosen ----

function detail (title, entries) {
  const head = document.createElement("h2");
  head.textContent = title;
  const list = document.createElement("dl");
  for (const [name, value, code] of entries) {
    const dd = document.createElement("dd");
    const text = document.createElement(code ? "code" : "span");
    text.textContent = value;
    dd.append(text);
    list.append(cell("dt", name), dd);
  }
  $("detail").replaceChildren(head, list);
}

const ENDS = {error: "error", yield: "yielded", return: "returned"};

function describeCall (i) {
  const f = functions[calls.fn[i]], up = calls.parent[i], why = outcome(i);
  const entries = [
    ["where", placeOf(f)],
    ["time", `${span(calls.end[i] - calls.begin[i])}, `
             + `${span(calls.self[i])} of it by itself`],
    ["from", `${moment(calls.begin[i])} to ${moment(calls.end[i])}`],
    ["in", (up >= 0 ? functions[calls.fn[up]].name + ", " : "")
           + facts.threads[calls.thread[i]]]
  ];
  if (calls.argsSize[i] > 0)
    entries.push(["arguments", textAt(calls.args[i], calls.argsSize[i]), true]);
  if (calls.resultsSize[i] > 0)
    entries.push([ENDS[why] || why,
                  textAt(calls.results[i], calls.resultsSize[i]), true]);
  else if (why !== "return")
    entries.push(["ended by", calls.why[i] & TAIL ? "a tail call" : why]);
  if (calls.why[i] & TAIL && why === "return")
    entries.push(["ended by", "a tail call"]);
  if (calls.flags[i] & RESUMED) entries.push(["began", "resumed"]);
  if (calls.flags[i] & SAMPLED) entries.push(["known by", "samples"]);
  detail(f.name, entries);
}

function describeNode (node) {
  if (node.fn < 0) return describeAll();
  const f = functions[node.fn];
  detail(f.name, [
    ["where", placeOf(f)],
    ["total", `${span(node.total)}, ${percent(node.total)}`],
    ["self", `${span(node.self)}, ${percent(node.self)}`],
    ["calls", count(node.calls)]
  ].filter(([name]) => !flame.callers || node.depth < 2
                       || name === "where" || name === "total"));
}

function describeFunction (i) {
  const f = functions[i];
  detail(f.name, columns.slice(0, 10).map(c => [c[0], c[2](f)])
    .filter(entry => entry[1] !== "").concat([["where", placeOf(f)]]));
}

function describeAll () {
  detail(facts.program || facts.trace, [
    ["calls", count(facts.calls)], ["functions", count(functions.length)],
    ["coroutines", count(facts.threads.length)],
    ["duration", span(facts.duration)],
    ["begun", new Date(facts.wall).toLocaleString()],
    ["missing", facts.remarks.trim() || "nothing"]
  ]);
}

]==]
