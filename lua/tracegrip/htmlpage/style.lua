-- style.lua - of the page of "export html" (htmlpage.lua): how it looks, light
-- and dark, and on a phone. What is written can be read on what is behind it:
-- 4.5 to 1, in both (spec/export/htmlnumbers_spec.lua).

return [==[
:root {
  color-scheme: light;
  --page: #ffffff; --text: #1b1f24; --faint: #57606a; --line: #d0d7de;
  --panel: #f6f8fa; --accent: #0757ba; --hit: #b5126f; --onhit: #ffffff;
  --error: #c4141f; --warn: #9a6700; --mark: #6639ba; --heap: #8ab4e8;
}
:root.dark {
  color-scheme: dark;
  --page: #0d1117; --text: #e6edf3; --faint: #9aa4ae; --line: #30363d;
  --panel: #161b22; --accent: #58a6ff; --hit: #c21a78; --onhit: #ffffff;
  --error: #ff7b72; --warn: #d29922; --mark: #bc8cff; --heap: #2f5f96;
}
* { box-sizing: border-box; }
body {
  margin: 0; height: 100vh; height: 100dvh; display: flex;
  flex-direction: column; background: var(--page); color: var(--text);
  font: 13px/1.45 system-ui, sans-serif;
}
#head, #bar {
  display: flex; flex-wrap: wrap; gap: 6px 12px; align-items: center;
  padding: 6px 12px;
}
#head { flex-wrap: nowrap; padding-bottom: 0; }
#bar { border-bottom: 1px solid var(--line); }
#bar[inert] { opacity: 0.5; }
h1 {
  font-size: 15px; margin: 0; flex: none; max-width: 50%; overflow: hidden;
  text-overflow: ellipsis; white-space: nowrap; unicode-bidi: isolate;
}
#about {
  color: var(--faint); flex: 1; min-width: 0; overflow: hidden;
  text-overflow: ellipsis; white-space: nowrap;
}
#theme { flex: none; width: 5em; }
nav { display: flex; flex-wrap: wrap; gap: 2px; }
button, select, input {
  font: inherit; color: inherit; background: var(--panel);
  border: 1px solid var(--line); border-radius: 5px; padding: 3px 9px;
}
button { cursor: pointer; }
button:disabled, select:disabled { opacity: 0.45; cursor: default; }
button[aria-pressed=true] {
  border-color: var(--accent); color: var(--accent);
}
:focus-visible { outline: 2px solid var(--accent); outline-offset: 1px; }
canvas:focus-visible { outline: 3px solid var(--accent); outline-offset: -3px; }
canvas.pointed:focus-visible, tr:focus-visible { outline: none; }
tr:focus-visible > * {
  box-shadow: inset 0 2px var(--accent), inset 0 -2px var(--accent);
}
#thread { max-width: 15em; }
#find { margin-left: auto; display: flex; gap: 8px; align-items: center; }
#search { width: 11em; }
#hits { color: var(--faint); min-width: 8.5em; }
main { flex: 1; min-height: 0; display: flex; flex-direction: column; }
#stage { flex: 1; min-height: 0; position: relative; overflow: hidden; }
#loading { margin: 0; padding: 12px; color: var(--faint); }
canvas {
  position: absolute; inset: 0; display: block; touch-action: none;
  user-select: none; -webkit-user-select: none;
}
#zooms { position: absolute; right: 8px; bottom: 8px; display: flex; gap: 4px; }
#zooms button { min-width: 32px; height: 32px; padding: 0 8px; opacity: 0.92; }
#sums { position: absolute; inset: 0; overflow: auto; }
#walk { position: absolute; inset: 0; overflow: auto; padding: 8px 12px; }
#steps { display: flex; flex-wrap: wrap; gap: 4px; }
#moment { width: 100%; padding: 0; margin: 8px 0; accent-color: var(--accent); }
#stack td, #stack th { white-space: normal; vertical-align: top; }
#stack thead th { padding: 3px 10px; font-weight: 600; }
table { border-collapse: separate; border-spacing: 0; width: 100%; }
th, td {
  text-align: right; padding: 2px 10px; white-space: nowrap;
  font-variant-numeric: tabular-nums; font-weight: normal;
  unicode-bidi: isolate;
}
thead th {
  position: sticky; top: 0; z-index: 2; background: var(--panel); padding: 0;
  border-bottom: 1px solid var(--line);
}
thead button {
  border: 0; border-radius: 0; width: 100%; text-align: inherit;
  font-weight: 600; padding: 3px 10px; white-space: nowrap;
}
thead button:focus-visible { outline-offset: -2px; }
th:first-child {
  position: sticky; left: 0; z-index: 1; background: var(--page);
  max-width: 45vw; overflow: hidden; text-overflow: ellipsis;
}
thead th:first-child { z-index: 3; background: var(--panel); }
th.text, td.text { text-align: left; }
tr.chosen > *, tbody tr:hover > * { background: var(--panel); }
tr.chosen > :first-child { border-left: 3px solid var(--accent); }
tr.nobody { color: var(--faint); }
tbody tr[tabindex] { cursor: pointer; }
#detail {
  border-top: 1px solid var(--line); background: var(--panel);
  height: 190px; overflow: auto; padding: 8px 12px;
}
#detail h2 {
  font-size: 14px; margin: 0 0 4px; overflow-wrap: anywhere;
  unicode-bidi: isolate;
}
#detail dl {
  display: grid; grid-template-columns: max-content 1fr; gap: 1px 14px;
  margin: 0;
}
dt { color: var(--faint); max-width: 40vw; }
dd { margin: 0; overflow-wrap: anywhere; }
dd > * { unicode-bidi: isolate; }
code { font: 12px/1.5 ui-monospace, monospace; white-space: pre-wrap; }
#tip {
  position: fixed; pointer-events: none; max-width: 60ch; z-index: 4;
  background: var(--panel); border: 1px solid var(--line);
  border-radius: 5px; padding: 3px 8px; box-shadow: 0 2px 8px #0003;
  overflow: hidden; text-overflow: ellipsis; unicode-bidi: isolate;
}
#keys { color: var(--faint); padding: 3px 12px; }
@media (max-width: 640px) {
  #head, #bar { padding: 6px 8px; gap: 6px 8px; }
  #thread { flex: 1 1 70px; width: 70px; min-width: 0; }
  #find { margin-left: 0; flex: 1 1 100%; }
  #search { flex: 1; min-width: 0; }
  #detail { height: 30vh; }
  #keys { display: none; }
  th, td, thead button { padding-left: 6px; padding-right: 6px; }
}
@media (pointer: coarse) {
  button, select, input { min-height: 34px; }
  #zooms button { min-width: 40px; height: 40px; }
  tbody td, tbody th { padding-top: 7px; padding-bottom: 7px; }
}
[hidden] { display: none !important; }
]==]
