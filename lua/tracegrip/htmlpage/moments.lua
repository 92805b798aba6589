-- moments.lua - of the page of "export html" (htmlpage.lua): a recording's
-- moments, between one event of its calls and the next, and the steps from one
-- to another, as in a debugger of recordings (docs/replay.md). What is shown of
-- one: the stack with arguments, what has just happened, what comes.
--
-- Moment 0 is before the first event. Boxes are stretches that calls run, so a
-- call that yields ends there, and goes on as another one.

return [==[
// ---- moments ----

const LAST = calls.events;      // the last moment
const FRAMES = 100;             // that are shown

const moments = {at: 0, chosen: -1};

// The event before moment 'k': the box that it enters, or ~ the one that it
// leaves.
const eventBefore = k => calls.order[k - 1];

// The innermost box that is open then; -1: none is.
function topAt (k) {
  if (k === 0) return -1;
  const event = eventBefore(k);
  return event >= 0 ? event : calls.parent[~event];
}

function momentTime (k) {
  if (k === 0) return 0;
  const event = eventBefore(k);
  return event >= 0 ? calls.begin[event] : calls.end[~event];
}

// Over a call, or out of the one that makes no more; back over the one that has
// just ended, or has just begun. The moment where there is no such.
const steps = {
  "in": k => Math.min(k + 1, LAST),
  over: k => k === LAST ? k
    : calls.order[k] >= 0 ? calls.closed[calls.order[k]] : k + 1,
  out: k => topAt(k) < 0 ? LAST : calls.closed[topAt(k)],
  backIn: k => Math.max(k - 1, 0),
  backOver: k => k === 0 ? k
    : eventBefore(k) < 0 ? calls.opened[~eventBefore(k)] - 1 : k - 1,
  backOut: k => topAt(k) < 0 ? 0 : calls.opened[topAt(k)] - 1,
  begin: () => 0,
  end: () => LAST
};

// The moments at which a call has begun, or has ended.
const momentOf = i => calls.opened[i];

function verbOf (event) {
  if (event >= 0)
    return calls.flags[event] & SAMPLED ? "is seen by samples"
      : calls.flags[event] & RESUMED ? "goes on" : "is called";
  const i = ~event, why = outcome(i);
  if (calls.why[i] & TAIL) return "makes a tail call";
  return {error: "fails", yield: "yields", return: "returns"}[why] || "ends";
}

// The box that an event enters or leaves.
const boxOf = event => event >= 0 ? event : ~event;

const happens = event =>
  `${functions[calls.fn[boxOf(event)]].name} ${verbOf(event)}`;

// What the program has said between the event before the moment and that before
// the one before.
function saidAt (k) {
  const first = firstWhere(marks.at, 0, at => at >= Math.max(k - 1, 0));
  const list = [];
  for (let m = first; m < marks.n && marks.at[m] < k; m++)
    if (!SILENT.has(methodOf(m))) list.push(markers.label(m));
  return list;
}

// What is said of a call: of one that has just begun its future is not told.
function valuesThen (event) {
  const i = boxOf(event);
  if (event < 0) return valuesOf(i);
  return calls.argsSize[i] > 0
    ? [["arguments", textAt(calls.args[i], calls.argsSize[i]), true]] : [];
}

// The page's timeline is not of all calls where there are too many.
function unseen () {
  const n = facts.leftOut + facts.folded;
  return n > 0 ? several(n, "call") + " of the recording have no moments here"
               : "";
}

function stackAt (k) {
  const list = [];
  for (let i = topAt(k); i >= 0; i = calls.parent[i]) list.push(i);
  return list;
}

moments.describe = function () {
  const k = this.at, event = k > 0 ? eventBefore(k) : null;
  const i = event === null ? -1 : boxOf(event);
  detail(k === 0 ? "The beginning" : happens(event), [
    ["moment", `${count(k)} of ${count(LAST)}`],
    ["time", moment(momentTime(k))],
    ["where", event === null ? "" : placeOf(functions[calls.fn[i]])],
    ...(event === null ? [] : valuesThen(event)),
    ["in", event === null ? "" : facts.threads[calls.thread[i]]],
    ...saidAt(k).map(text => ["said", text, true]),
    ["next", k < LAST ? happens(calls.order[k]) : "the end"],
    ["missing", unseen()]
  ]);
};

// ---- the slider and the stack ----

function frameRow (i) {
  const row = document.createElement("tr"), f = functions[calls.fn[i]];
  const name = cell("th", f.name, true), given = cell("td", "", true);
  const code = document.createElement("code");
  name.scope = "row";
  code.textContent = calls.argsSize[i] > 0
    ? textAt(calls.args[i], calls.argsSize[i]) : "";
  given.append(code);
  row.append(name, given, cell("td", moment(calls.begin[i])),
             cell("td", placeOf(f), true));
  return row;
}

function moreRow (n) {
  const row = document.createElement("tr");
  const one = cell("td", `… and ${several(n, "frame")} around these`, true);
  one.colSpan = 4;
  row.append(one);
  return row;
}

const HEADS = ["stack", "arguments", "since", "where"];

function stackTable (k) {
  const element = document.createElement("table"), list = stackAt(k);
  const head = document.createElement("tr");
  head.append(...HEADS.map((title, i) => {
    const th = cell("th", title, i !== 2);
    th.scope = "col";
    return th;
  }));
  element.setAttribute("aria-label", "Stack");
  element.createTHead().append(head);
  const body = element.createTBody();
  body.append(...list.slice(0, FRAMES).map(frameRow));
  if (list.length > FRAMES) body.append(moreRow(list.length - FRAMES));
  return element;
}

moments.draw = function () {
  const slider = $("moment"), k = this.at;
  slider.max = LAST;
  slider.value = k;
  slider.setAttribute("aria-valuetext",
    `${count(k)} of ${count(LAST)}: `
    + (k > 0 ? happens(eventBefore(k)) : "the beginning"));
  $("stack").replaceChildren(stackTable(k));
  for (const button of $("steps").querySelectorAll("button"))
    button.disabled = steps[button.dataset.step](k) === k;
  $("walk").dataset.at = k;                     // for tests
};

moments.go = function (k) {
  this.at = k;
  this.chosen = topAt(k);
};

// From the timeline: where the chosen call has begun.
moments.begin = function (item) {
  if (item >= 0) this.go(momentOf(item));
};

const STEPKEYS = {
  ArrowRight: "in", ArrowLeft: "backIn", ArrowDown: "over",
  ArrowUp: "backOver", o: "out", O: "backOut", Home: "begin", End: "end"
};

// Whether the key was one of these.
moments.key = function (event) {
  const step = STEPKEYS[event.key];
  if (!step) return false;
  this.go(steps[step](this.at));
  return true;
};

]==]
