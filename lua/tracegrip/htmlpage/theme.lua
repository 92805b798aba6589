-- theme.lua - of pages (htmlpage.lua, heappage.lua): light and dark, as the
-- system asks for or the button says.

return [==[
// ---- light and dark ----

const media = matchMedia("(prefers-color-scheme: dark)");
let dark = media.matches;
let ink = {};                   // colours of the theme

const INKS = ["text", "faint", "page", "panel", "line", "accent", "hit",
              "onhit", "error", "warn", "mark", "heap"];

function paint () {
  document.documentElement.classList.toggle("dark", dark);
  $("theme").textContent = dark ? "Light" : "Dark";
  const style = getComputedStyle(document.documentElement);
  for (const name of INKS)
    ink[name] = style.getPropertyValue("--" + name).trim();
  recolour(rgbFrom(ink.text), rgbFrom(ink.page));
}

]==]
