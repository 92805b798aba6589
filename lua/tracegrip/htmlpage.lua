-- htmlpage.lua - the page of "export html": what csrc/formats/html.c puts the
-- data into, at the comment "data". That file says what the data are.
--
-- One page, without anything from elsewhere, for browsers since 2023. Drawn on
-- a canvas: a million boxes are looked at by binary search, and never more are
-- drawn than there are pixels in a row. All names and values are text: nothing
-- of the program becomes markup. What a mouse does keys do too, and what is
-- chosen is read out (details.lua).
--
-- Here is what stands where; how it looks and what it does is in htmlpage/. The
-- parts of the script are one module, so each sees the names of those before it
-- and, once all have been read, of those after it.

local function part (name)
  return require("tracegrip.htmlpage." .. name)
end

-- The first ones draw nothing, and ask for nothing of a page but its data when
-- they begin: so they can be tried without a browser.
local script = {}
for i, name in ipairs {"words", "data", "colours", "timeline", "markers",
                       "search", "flamegraph", "functions", "elements",
                       "details", "moments", "theme", "canvas", "boxes",
                       "pointer", "controls"} do
  script[i] = part(name)
end

return part "shell" {
  style = part "style",
  bar = [==[
    <nav aria-label="Views">
      <button data-view="timeline" aria-pressed="true">Timeline</button>
      <button data-view="moments">Moments</button>
      <button data-view="flame">Flame graph</button>
      <button data-view="table">Functions</button>
    </nav>
    <select id="thread" aria-label="Coroutine"></select>
    <button id="upside" aria-pressed="false">Root below</button>
    <button id="callers" aria-pressed="false">By callers</button>
    <button id="bytes" aria-pressed="false" hidden>Bytes</button>
    <div id="find" role="search">
      <input id="search" type="search" placeholder="Search ( / )"
        aria-label="Search names, places, arguments, results, errors, markers">
      <output id="hits" for="search" aria-label="Hits"></output>
    </div>
]==],
  stage = [==[
    <canvas id="canvas" tabindex="0" role="application"
      aria-roledescription="picture" aria-label="Timeline"
      aria-describedby="keys"></canvas>
    <div id="zooms" hidden>
      <button data-key="+" aria-label="Zoom in">+</button>
      <button data-key="-" aria-label="Zoom out">−</button>
      <button data-key="0" aria-label="Show all">All</button>
    </div>
    <div id="sums" hidden></div>
    <div id="walk" hidden>
      <div id="steps">
        <button data-step="begin">Beginning</button>
        <button data-step="backOut">Back out</button>
        <button data-step="backOver">Back over</button>
        <button data-step="backIn">Back</button>
        <button data-step="in">Step in</button>
        <button data-step="over">Over</button>
        <button data-step="out">Out</button>
        <button data-step="end">End</button>
      </div>
      <input id="moment" type="range" min="0" value="0" aria-label="Moment">
      <div id="stack"></div>
    </div>
]==],
  script = table.concat(script)
}
