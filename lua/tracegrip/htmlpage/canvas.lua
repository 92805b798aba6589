-- canvas.lua - of pages (htmlpage.lua, heappage.lua): the canvas, and text that
-- fits; what is said beside the mouse.

return [==[
// ---- canvas ----

const canvas = $("canvas"), pen = canvas.getContext("2d");
const ROW = 18;
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

// Beside the mouse; without a text nothing.
function tipBeside (event, text) {
  const box = $("tip");
  box.hidden = !text;
  box.textContent = text;
  box.style.left = Math.max(0, Math.min(event.clientX + 12, innerWidth - 260))
                   + "px";
  box.style.top = event.clientY + 14 + "px";
}

]==]
