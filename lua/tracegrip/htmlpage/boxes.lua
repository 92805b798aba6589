-- boxes.lua - of the page of "export html" (htmlpage.lua): boxes on a canvas,
-- and text that fits.

return [==[
// ---- light and dark ----

const media = matchMedia("(prefers-color-scheme: dark)");
let dark = media.matches, colours = [];
let ink = {};                   // colours of the theme

const INKS = ["text", "faint", "page", "panel", "line", "accent", "hit",
              "onhit", "error", "warn", "mark", "heap"];

function paint () {
  document.documentElement.classList.toggle("dark", dark);
  $("theme").textContent = dark ? "Light" : "Dark";
  const style = getComputedStyle(document.documentElement);
  for (const name of INKS)
    ink[name] = style.getPropertyValue("--" + name).trim();
  const text = rgbFrom(ink.text), page = rgbFrom(ink.page);
  colours = functions.map(f => coloursOf(f, dark, text, page));
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

function outline (x, y, w) {
  pen.strokeStyle = ink.accent;
  pen.lineWidth = 2;
  pen.strokeRect(x + 1, y + 1, Math.max(w - 3, 2), ROW - 3);
}

// how: hit (it is looked for), faded (something else is), chosen, thrown.
function drawBox (fn, x, y, w, label, how) {
  pen.fillStyle = how.hit ? ink.hit : colours[fn][how.faded ? 1 : 0];
  pen.fillRect(x, y, Math.max(w - (w > 3 ? 1 : 0), 1), ROW - 1);
  if (how.thrown) {
    pen.fillStyle = ink.error;
    pen.fillRect(x, y + ROW - 3, Math.max(w - 1, 1), 2);
  }
  if (w > 3 * MEASURED) {
    pen.fillStyle = how.hit ? ink.onhit : how.faded ? ink.faint : ink.text;
    drawText(label, x, y, w);
  }
  if (how.chosen) outline(x, y, w);
}

]==]
