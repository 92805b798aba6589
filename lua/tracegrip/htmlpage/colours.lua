-- colours.lua - of the page of "export html" (htmlpage.lua): a colour for each
-- function, on which its name can be read.

return [==[
// ---- colours ----

const READABLE = 4.5;           // contrast of text and what is behind it (WCAG)

// Hue in degrees, the others 0 to 1; to three numbers up to 255.
function rgbOf (hue, saturation, light) {
  const a = saturation * Math.min(light, 1 - light);
  return [0, 8, 4].map(n => {
    const k = (n + hue / 30) % 12;
    const part = light - a * Math.max(-1, Math.min(k - 3, 9 - k, 1));
    return Math.round(255 * part);
  });
}

const rgbFrom = hex => hex.trim().slice(1).match(/../g).map(two =>
  parseInt(two, 16));

function luminance (rgb) {
  const [r, g, b] = rgb.map(part => {
    const x = part / 255;
    return x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function contrast (a, b) {
  const x = luminance(a), y = luminance(b);
  return (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05);
}

// So much of the first, the rest of the second.
const mixed = (a, b, part) =>
  a.map((x, i) => Math.round(x * part + b[i] * (1 - part)));

// A tone on which 'text' can be read: darker, or lighter, until it can.
function legible (hue, tone, dark, text) {
  const saturation = dark ? 0.38 : 0.62, step = dark ? -0.01 : 0.01;
  let light = dark ? 0.3 + tone / 100 : 0.84 - tone / 100;
  let rgb = rgbOf(hue, saturation, light);
  while (contrast(rgb, text) < READABLE && light > 0 && light < 1) {
    light += step;
    rgb = rgbOf(hue, saturation, light);
  }
  return rgb;
}

function hash (text) {
  let h = 0;
  for (let i = 0; i < text.length; i++) h = (h * 31 + text.charCodeAt(i)) | 0;
  return h >>> 0;
}

const FADED = 0.35;             // of its colour, where something else counts

// Of a function, and of one beside what is looked for: a hue for each file, a
// tone for each name. C functions have a hue of their own.
function coloursOf (f, dark, text, page) {
  const hue = f.c ? 44 : hash(f.url) % 300 + 60;
  const rgb = f.left ? mixed(text, page, 0.15)
                     : legible(hue, hash(f.name) % 12, dark, text);
  return [rgb, mixed(rgb, page, FADED)].map(c => `rgb(${c.join(" ")})`);
}

]==]
