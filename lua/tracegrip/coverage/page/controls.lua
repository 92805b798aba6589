-- controls.lua - of the page of coverage (coverage/html.lua): which view is
-- shown, keys and buttons; and the beginning of it all.

return [==[
// ---- the page ----

const help = {
  files: "a heading sorts · a name shows the file · / search",
  source: "N next missed lines · P those before · Escape: all files · / search"
};

let current = "files", last = files[0];

function look (view) {
  current = view;
  for (const button of document.querySelectorAll("nav button"))
    button.ariaPressed = String(button.dataset.view === view);
  $("sums").hidden = $("folders").hidden = view !== "files";
  for (const id of ["source", "functions", "before", "after"])
    $(id).hidden = view !== "source";
  $("keys").textContent = help[view];
}

// The address says what is shown: so it can be linked to, and gone back from.
function follow () {
  const [, name, line] =
    location.hash.match(/^#(.*?)(?::(\d+))?$/) || ["", "", ""];
  let wanted = name;
  try { wanted = decodeURIComponent(name); } catch { /* not from us */ }
  const file = files.find(one => one.name === wanted);
  if (!file) {
    look("files");
    document.title = `${facts.title} - coverage`;
    return;
  }
  last = file;
  look("source");
  source.open(file);
  document.title = `${file.short} - coverage`;
  if (line) source.go(Number(line));
  if (document.activeElement !== $("functions"))
    $("source").focus({preventScroll: true});
}

function toMissed (back) {
  const line = source.missed(back);
  if (line) location.replace(addressOf(source.file, line));
}

const does = {
  n: () => toMissed(false), p: () => toMissed(true),
  Escape: () => { location.hash = ""; }
};

document.onkeydown = event => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target === $("search") || event.target === $("functions")) return;
  if (event.key === "/") $("search").focus();
  else if (current === "source" && does[event.key]) does[event.key]();
  else return;
  event.preventDefault();
};

// ---- light and dark ----

const media = matchMedia("(prefers-color-scheme: dark)");
let dark = media.matches;

function paint () {
  document.documentElement.classList.toggle("dark", dark);
  $("theme").textContent = dark ? "Light" : "Dark";
}

$("theme").onclick = () => { dark = !dark; paint(); };
media.onchange = () => { dark = media.matches; paint(); };

// ---- buttons ----

$("folders").onclick = () => {
  table.folders = !table.folders;
  $("folders").ariaPressed = String(table.folders);
  table.draw();
};
$("search").oninput = () => {
  if (current !== "files") location.hash = "";
  table.draw();
};
$("before").onclick = () => toMissed(true);
$("after").onclick = () => toMissed(false);
$("functions").onchange = () => {
  const line = $("functions").value;
  if (line) location.replace(addressOf(source.file, line));
};
document.querySelector("[data-view=files]").onclick = () => {
  location.hash = "";
};
document.querySelector("[data-view=source]").onclick = () => {
  if (last) location.hash = addressOf(last);
};
onhashchange = follow;

// ---- the beginning ----

facts.title = plain(facts.title);
$("title").textContent = "Coverage of " + facts.title;
$("title").title = plain(facts.directory);
$("about").textContent = [
  `${percent(all.reached, all.lines)} of ${several(all.lines, "line")}`,
  `${count(all.called)} of ${several(all.functions, "function")}`,
  all.name, date(facts.date)].join(", ");
$("about").title = $("about").textContent;
$("loading").remove();
table.folders = new Set(files.map(file => file.folder)).size > 1;
$("folders").ariaPressed = String(table.folders);
paint();
table.draw();
follow();
document.documentElement.dataset.ready = Math.round(performance.now());
]==]
