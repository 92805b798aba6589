-- source.lua - of the page of coverage (coverage/html.lua): a file's text with
-- its counts.

return [==[
// ---- a file's source ----

const source = {file: null, rows: [], line: 0};

// A file is named by its place in the address; a line may follow.
const addressOf = (file, line) =>
  "#" + encodeURIComponent(file.name) + (line ? ":" + line : "");

function linesOf (file) {
  const lines = file.text.split("\n");
  if (lines[lines.length - 1] === "") lines.pop();
  return lines.map(line => line.replace(/\r$/, ""));
}

function countsOf (file) {
  const counts = new Map();
  for (let i = 0; i < file.counts.length; i += 2)
    counts.set(file.counts[i], file.counts[i + 1]);
  return counts;
}

// Tabs stay what they are.
const shownText = line => line.split("\t").map(plain).join("\t");

function lineRow (text, number, times) {
  const row = element("tr", undefined,
                      times === undefined ? "" : times > 0 ? "hit" : "miss");
  row.append(element("td", number, "number"),
             element("td", times === undefined ? "" : count(times), "times"),
             element("td", shownText(text), "code"));
  return row;
}

function headingOf (file) {
  const heading = element("h2", file.name + " ");
  const about = [percent(file.reached, file.lines) + " of "
                   + several(file.lines, "line"),
                 `${count(file.called)} of `
                   + several(file.functions, "function")];
  if (!file.loaded) about.push("not loaded");
  heading.append(element("small", about.join(", ")));
  return heading;
}

function listFunctions (file) {
  const first = new Option("Functions", "");
  $("functions").replaceChildren(first, ...file.functionList.map(
    ([name, line, calls]) => new Option(
      `${calls === 0 ? "✗ " : ""}${plain(name)}: ${several(calls, "call")}`,
      line)));
  $("functions").value = "";
}

source.open = function (file) {
  if (this.file === file) return;
  const counts = countsOf(file), one = element("table");
  this.file = file;
  this.rows = linesOf(file).map((text, i) =>
    lineRow(text, i + 1, counts.get(i + 1)));
  this.line = 0;
  one.ariaLabel = "Line, count, text";
  one.createTBody().append(...this.rows);
  $("source").replaceChildren(headingOf(file), one);
  $("source").scrollTop = 0;
  listFunctions(file);
};

source.go = function (line) {
  const row = this.rows[line - 1];
  if (!row) return;
  if (this.rows[this.line - 1])
    this.rows[this.line - 1].classList.remove("here");
  this.line = line;
  row.classList.add("here");
  row.scrollIntoView({block: "center"});
};

// The line where the next run of missed ones begins, or the one before; 0.
source.missed = function (back) {
  const isMiss = i => this.rows[i] && this.rows[i].classList.contains("miss");
  // Lines without code are part of a run, or between two.
  const isCode = i => this.rows[i].className !== ""
                      && this.rows[i].className !== "here";
  const begins = i => {
    if (!isMiss(i)) return false;
    let before = i - 1;
    while (before >= 0 && !isCode(before)) before--;
    return !isMiss(before);
  };
  const step = back ? -1 : 1;
  for (let i = this.line - 1 + step; i >= 0 && i < this.rows.length; i += step)
    if (begins(i)) return i + 1;
  return 0;
};

]==]
