-- elements.lua - of pages (htmlpage.lua, heappage.lua): cells of tables, and
-- what is said below of what was chosen.

return [==[
// ---- elements ----

function cell (tag, text, words) {
  const one = document.createElement(tag);
  one.textContent = text;
  if (words) one.className = "text";
  return one;
}

// How far keys go from row to row.
const STEPS = {ArrowDown: 1, ArrowUp: -1, PageDown: 15, PageUp: -15,
               Home: -Infinity, End: Infinity};

// Entries are [name, text or element, whether it is code]; an empty text is
// left out.
function detail (title, entries) {
  const head = document.createElement("h2");
  head.textContent = title;
  const list = document.createElement("dl");
  for (const [name, value, code] of entries) {
    if (value === "") continue;
    const dd = document.createElement("dd");
    const text = document.createElement(code ? "code" : "span");
    text.append(value);
    dd.append(text);
    list.append(cell("dt", name), dd);
  }
  $("detail").replaceChildren(head, list);
}

]==]
