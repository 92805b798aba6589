-- style.lua - of the page of a heap snapshot (heappage.lua): what it has beside
-- the style of pages (htmlpage/style.lua).

return [==[
#detail { height: 210px; }
#crumbs {
  position: absolute; top: 0; left: 0; right: 0; height: 30px; padding: 0 8px;
  gap: 0; align-items: center; overflow-x: auto; background: var(--page);
  scrollbar-width: none;
}
#crumbs button {
  border: 0; background: none; padding: 2px 4px; min-height: 0; flex: none;
  max-width: 22em; overflow: hidden; text-overflow: ellipsis;
  white-space: nowrap; color: var(--accent);
}
#crumbs button[aria-current] { color: var(--text); font-weight: 600; }
#crumbs i { flex: none; color: var(--faint); }
#crumbs > * + *::before {
  content: "›"; padding-right: 8px; color: var(--faint); font-weight: normal;
}
#sums h2 {
  font-size: 14px; margin: 0; padding: 10px 12px 4px; position: sticky; left: 0;
}
th.plain { padding: 3px 10px; font-weight: 600; }
td.text { max-width: 60vw; overflow: hidden; text-overflow: ellipsis; }
.mark {
  display: inline-block; width: 14px; color: var(--faint); cursor: pointer;
}
.way { list-style: none; margin: 0; padding: 0; }
.way li { display: inline; }
.way li + li::before { content: "›"; padding: 0 5px; color: var(--faint); }
.way.list li { display: block; }
.way.list li::before { content: none; }
.way button {
  border: 0; background: none; padding: 0; text-align: left;
  font: 12px/1.6 ui-monospace, monospace; color: var(--accent);
  overflow-wrap: anywhere;
}
.way button:hover { text-decoration: underline; }
.way i { color: var(--faint); font-style: normal; }
@media (max-width: 640px) {
  #detail { height: 38vh; }
  td.text { max-width: none; }
}
@media (pointer: coarse) {
  .way button { min-height: 30px; }
  .mark { width: 26px; }
}
]==]
