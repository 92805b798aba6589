-- style.lua - of the page of "export html" (htmlpage.lua): how it looks, light
-- and dark.

return [==[
:root {
  color-scheme: light dark;
  --page: #fff; --text: #1b1f24; --faint: #656d76; --line: #d0d7de;
  --panel: #f6f8fa; --accent: #0969da;
}
:root.dark {
  --page: #0d1117; --text: #e6edf3; --faint: #8b949e; --line: #30363d;
  --panel: #161b22; --accent: #58a6ff;
}
* { box-sizing: border-box; }
body {
  margin: 0; height: 100vh; display: flex; flex-direction: column;
  background: var(--page); color: var(--text);
  font: 13px/1.45 system-ui, sans-serif;
}
header {
  display: flex; flex-wrap: wrap; gap: 6px 14px; align-items: center;
  padding: 8px 12px; border-bottom: 1px solid var(--line);
}
h1 { font-size: 15px; margin: 0; }
#about { color: var(--faint); }
nav { display: flex; gap: 2px; }
button, select, input {
  font: inherit; color: inherit; background: var(--panel);
  border: 1px solid var(--line); border-radius: 5px; padding: 3px 9px;
}
button { cursor: pointer; }
button[aria-pressed=true] {
  border-color: var(--accent); color: var(--accent);
}
#thread { max-width: 15em; }
#search { width: 11em; margin-left: auto; }
main { flex: 1; min-height: 0; display: flex; flex-direction: column; }
#stage { flex: 1; min-height: 0; position: relative; overflow: hidden; }
canvas { position: absolute; inset: 0; display: block; outline: none; }
#sums { position: absolute; inset: 0; overflow: auto; }
table { border-collapse: collapse; width: 100%; }
th, td {
  text-align: right; padding: 2px 10px; white-space: nowrap;
  font-variant-numeric: tabular-nums;
}
th {
  position: sticky; top: 0; background: var(--panel); cursor: pointer;
  border-bottom: 1px solid var(--line);
}
th.text, td.text { text-align: left; }
tr.chosen td { background: var(--panel); }
tbody tr { cursor: pointer; }
tbody tr:hover td { background: var(--panel); }
#detail {
  border-top: 1px solid var(--line); background: var(--panel);
  height: 170px; overflow: auto; padding: 8px 12px;
}
#detail h2 { font-size: 14px; margin: 0 0 4px; }
#detail dl {
  display: grid; grid-template-columns: max-content 1fr; gap: 1px 14px;
  margin: 0;
}
dt { color: var(--faint); }
dd { margin: 0; overflow-wrap: anywhere; }
code { font: 12px/1.5 ui-monospace, monospace; white-space: pre-wrap; }
#tip {
  position: fixed; pointer-events: none; max-width: 60ch; z-index: 2;
  background: var(--panel); border: 1px solid var(--line);
  border-radius: 5px; padding: 3px 8px; box-shadow: 0 2px 8px #0003;
}
#keys { color: var(--faint); padding: 3px 12px; }
[hidden] { display: none !important; }
]==]
