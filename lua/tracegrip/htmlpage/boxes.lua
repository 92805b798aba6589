-- boxes.lua - of the page of "export html" (htmlpage.lua): boxes on a canvas,
-- in the colours of their functions.

return [==[
// ---- boxes on a canvas ----

const AXIS = 22;
let colours = [];

function recolour (text, page) {
  colours = functions.map(f => coloursOf(f, dark, text, page));
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
