-- style.lua - of the page of coverage (coverage/html.lua): what it has beside
-- the style of the page of "export html". What is written can be read on what
-- is behind it: 4.5 to 1, light and dark; and what a colour says is said by a
-- number too.

return [==[
:root {
  --good: #d3f5dc; --bad: #ffdcd9; --goodbar: #2da44e; --badbar: #cf222e;
}
:root.dark {
  --good: #10331f; --bad: #45191b; --goodbar: #3fb950; --badbar: #f85149;
}
#sums, #source { position: absolute; inset: 0; overflow: auto; }
#sums a { color: var(--accent); text-decoration: none; }
#sums a:hover { text-decoration: underline; }
#sums th:first-child { max-width: 70vw; }
#sums tr.folder > * { font-weight: 600; }
#sums tr.folder button {
  border: 0; background: none; padding: 0; font-weight: 600;
}
#sums tr.below th { padding-left: 30px; }
#sums tr.all > * { border-top: 1px solid var(--line); font-weight: 600; }
#sums td.bar { width: 30%; min-width: 90px; }
.bar i {
  display: block; height: 9px; border-radius: 3px; overflow: hidden;
  background: var(--badbar);
}
.bar i.none { background: var(--line); }
.bar b { display: block; height: 100%; background: var(--goodbar); }
.tag {
  margin-left: 8px; padding: 0 5px; border: 1px solid var(--line);
  border-radius: 4px; color: var(--faint); font-size: 11px;
}
#source table { width: auto; min-width: 100%; }
#source h2 {
  position: sticky; left: 0; font-size: 14px; margin: 0; padding: 8px 12px;
  overflow-wrap: anywhere; unicode-bidi: isolate;
}
#source h2 small { color: var(--faint); font-weight: normal; }
#source td {
  padding: 0 10px; font: 12px/1.5 ui-monospace, monospace; tab-size: 4;
}
#source td.number, #source td.times {
  color: var(--faint); user-select: none; -webkit-user-select: none;
}
#source td.code { text-align: left; white-space: pre; width: 100%; }
#source tr.hit td.times, #source tr.hit td.code { background: var(--good); }
#source tr.miss td.times, #source tr.miss td.code { background: var(--bad); }
#source tr.hit td.times, #source tr.miss td.times { color: var(--text); }
#source tr.miss td.times {
  font-weight: 700; box-shadow: inset 3px 0 var(--badbar);
}
#source tr.here td.number {
  color: var(--text); font-weight: 700; box-shadow: inset 3px 0 var(--accent);
}
#functions { max-width: 22em; }
]==]
