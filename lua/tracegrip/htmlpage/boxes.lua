-- boxes.lua - of the page of "export html" (htmlpage.lua): boxes on a canvas:
-- their colours, what is searched for, and text that fits.

return [==[
// ---- colours ----

const media = matchMedia("(prefers-color-scheme: dark)");
let dark = media.matches, colours = [];

function hash (text) {
  let h = 0;
  for (let i = 0; i < text.length; i++) h = (h * 31 + text.charCodeAt(i)) | 0;
  return h >>> 0;
}

// A hue for each file; C functions have one of their own.
function paint () {
  document.documentElement.classList.toggle("dark", dark);
  $("theme").textContent = dark ? "Light" : "Dark";
  colours = functions.map(f => {
    const h = f.c ? 44 : hash(f.url) % 300 + 60;
    const tone = hash(f.name) % 12;
    return dark ? `hsl(${h} 38% ${30 + tone}%)` : `hsl(${h} 62% ${84 - tone}%)`;
  });
}

const style = name =>
  getComputedStyle(document.documentElement).getPropertyValue(name);

// ---- the search ----

let found = null;               // by function; null: nothing is searched for

function search (text) {
  const wanted = text.trim().toLowerCase();
  found = wanted === "" ? null : functions.map(f =>
    (f.name + " " + placeOf(f)).toLowerCase().includes(wanted));
}

// ---- boxes on a canvas ----

const canvas = $("canvas"), pen = canvas.getContext("2d");
const ROW = 18, AXIS = 22;
let width = 0, height = 0;

function fit () {
  const scale = devicePixelRatio || 1, stage = $("stage");
  width = stage.clientWidth;
  height = stage.clientHeight;
  canvas.width = width * scale;
  canvas.height = height * scale;
  canvas.style.width = width + "px";
  canvas.style.height = height + "px";
  pen.setTransform(scale, 0, 0, scale, 0, 0);
}

const MEASURED = 7;             // of a character, about; cut text is measured

function drawText (text, x, y, room) {
  if (room < 3 * MEASURED) return;
  let shown = text;
  if (pen.measureText(shown).width > room - 6) {
    const most = Math.floor(room / MEASURED * 1.3);
    shown = text.slice(0, most);
    while (shown && pen.measureText(shown + "…").width > room - 6)
      shown = shown.slice(0, -1);
    if (!shown) return;
    shown += "…";
  }
  pen.fillText(shown, x + 3, y + ROW / 2 + 0.5);
}

let ink = {};                   // colours of the theme, for one drawing

function readInk () {
  ink = {text: style("--text"), faint: style("--faint"), page: style("--page"),
         line: style("--line"), accent: style("--accent")};
}

function drawBox (fn, x, y, w, label, chosen, thrown) {
  const hit = found && found[fn];
  pen.globalAlpha = found && !hit ? 0.25 : 1;
  pen.fillStyle = hit ? "#e85aad" : colours[fn];
  pen.fillRect(x, y, Math.max(w - (w > 3 ? 1 : 0), 1), ROW - 1);
  if (thrown) {
    pen.fillStyle = "#d1242f";
    pen.fillRect(x, y + ROW - 3, Math.max(w - 1, 1), 2);
  }
  if (w > 3 * MEASURED) {
    pen.fillStyle = hit ? "#fff" : ink.text;
    drawText(label, x, y, w);
  }
  pen.globalAlpha = 1;
  if (chosen) {
    pen.strokeStyle = ink.accent;
    pen.lineWidth = 2;
    pen.strokeRect(x + 1, y + 1, Math.max(w - 3, 2), ROW - 3);
  }
}

]==]
