-- htmlpage.lua - the page of "export html": what csrc/formats/html.c puts the
-- data into, at the comment "data". That file says what the data are.
--
-- One page, without anything from elsewhere, for browsers since 2023. Drawn on
-- canvases: a million boxes are looked at by binary search, and never more are
-- drawn than there are pixels in a row. All names and values are text: nothing
-- of the program becomes markup.
--
-- Here is what stands where; how it looks and what it does is in htmlpage/. The
-- parts of the script are one module, so each sees the names of those before it
-- and, once all have been read, of those after it.

local function part (name)
  return require("tracegrip.htmlpage." .. name)
end

return [==[
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>tracegrip</title>
<style>
]==] .. part "style" .. [==[
</style>
</head>
<body>
<header>
  <h1 id="title"></h1><span id="about"></span>
  <nav>
    <button data-view="timeline">Timeline</button>
    <button data-view="flame">Flame graph</button>
    <button data-view="table">Functions</button>
  </nav>
  <select id="thread" aria-label="Coroutine"></select>
  <button id="upside" aria-pressed="false">Root below</button>
  <button id="callers" aria-pressed="false">By callers</button>
  <input id="search" type="search" placeholder="Search ( / )">
  <button id="theme">Dark</button>
</header>
<main>
  <div id="stage">
    <canvas id="canvas" tabindex="0"></canvas>
    <div id="sums" hidden></div>
  </div>
  <div id="keys"></div>
  <section id="detail" aria-live="polite"></section>
</main>
<div id="tip" hidden></div>
<!-- data -->
<script type="module">

]==] .. part "data" .. part "boxes" .. part "timeline" .. part "flamegraph"
.. part "functions" .. part "details" .. part "controls" .. [==[
</script>
</body>
</html>
]==]
