-- heappage.lua - the page of "export html" of a heap snapshot: what
-- csrc/graph/heappage.c puts the data into, at the comment "data". Its header
-- says what the data are.
--
-- One page, without anything from elsewhere, for browsers since 2023: a treemap
-- of who keeps how much alive, the same as a tree, a table by class, what is
-- there twice; and of each object why it is alive. It is made of what the page
-- of a recording is made of (htmlpage/) and of what is in heappage/; its script
-- is one module in the same way. All names are text: nothing of the heap
-- becomes markup.

local function shared (name)
  return (require("tracegrip.htmlpage." .. name))
end

local function own (name)
  return (require("tracegrip.heappage." .. name))
end

-- The first ones draw nothing, so they can be tried without a browser.
local script = table.concat {
  shared "words", shared "colours", own "data", own "search", own "squares",
  shared "elements", own "chosen", shared "theme", shared "canvas",
  own "map", own "tree", own "classes", own "waste", own "controls"
}

return shared "shell" {
  style = shared "style" .. own "style",
  bar = [==[
    <nav aria-label="Views">
      <button data-view="map" aria-pressed="true">Map</button>
      <button data-view="tree" aria-pressed="false">Retainers</button>
      <button data-view="classes" aria-pressed="false">Classes</button>
      <button data-view="waste" aria-pressed="false">Waste</button>
    </nav>
    <button id="rooted" aria-pressed="false" aria-label="From the root"
      >Root</button>
    <div id="find" role="search">
      <input id="search" type="search" placeholder="Search ( / )"
        aria-label="Search classes, names, texts, fields">
      <output id="hits" for="search" aria-label="Hits"></output>
    </div>
]==],
  stage = [==[
    <canvas id="canvas" tabindex="0" role="application"
      aria-roledescription="treemap" aria-label="Map"
      aria-describedby="keys"></canvas>
    <nav id="crumbs" aria-label="What the map shows"></nav>
    <div id="sums" hidden></div>
]==],
  script = script
}
