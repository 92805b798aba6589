-- html.lua - coverage as one page for any browser, without anything from
-- elsewhere: a table of files, and their sources with counts.
--
-- It looks like the page of "export html", whose style and words it has
-- (htmlpage/). All of the program is data, JSON in a script that no browser
-- runs, and text in the page: nothing of it becomes markup. What a mouse does
-- keys do too.
--
-- The data: {title, directory, date, totals, files}; totals are [lines,
-- reached, functions, called]; a file is {name, path, loaded, totals, functions
-- = [[name, line, calls] ...], lines = [line, count, line, count ...], text}.

local core = require "tracegrip.core"
local jsontext = require "tracegrip.jsontext"
core.own()

local lua = core.lua          -- the program may have changed its own libraries
local math, os, string, table = lua.math, lua.os, lua.string, lua.table
local ipairs, require = lua.ipairs, require

---------------------------------------------------------------------------
-- Data
---------------------------------------------------------------------------

local function list (items)
  return "[" .. table.concat(items, ",") .. "]"
end

local function totals_text (t)
  return list {t.lines, t.reached, t.functions, t.called}
end

local function functions_text (file)
  local items = {}
  for i, one in ipairs(file.functions) do
    items[i] = list {jsontext.string(one.name), math.max(one.first, 1),
                     one.calls}
  end
  return list(items)
end

local function lines_text (file)
  local items = {}
  for _, pair in ipairs(file.lines) do
    items[#items + 1] = pair[1]
    items[#items + 1] = pair[2]
  end
  return list(items)
end

local function file_text (file)
  return string.format(
    '{"name":%s,"path":%s,"loaded":%s,"totals":%s,"functions":%s,'
    .. '"lines":%s,"text":%s}', jsontext.string(file.name),
    jsontext.string(file.path), file.loaded and "true" or "false",
    totals_text(file.totals), functions_text(file), lines_text(file),
    jsontext.string(file.text))
end

-- In a script there may be no "</script", and no "<!--" (HTML, 4.12.1.3).
local function data_text (files, totals, plan)
  local items = {}
  for i, file in ipairs(files) do
    items[i] = file_text(file)
  end
  local name = string.match(plan.directory, "[^/]*$")
  local text = string.format(
    '{"title":%s,"directory":%s,"date":%d000,"totals":%s,"files":%s}',
    jsontext.string(name ~= "" and name or "/"),
    jsontext.string(plan.directory), os.time(), totals_text(totals),
    list(items))
  return (string.gsub(text, "<", "\\u003c"))
end

---------------------------------------------------------------------------
-- The page
---------------------------------------------------------------------------

local HEAD = [==[
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<link rel="icon" href="data:,">
<title>Coverage - tracegrip</title>
<style>
]==] .. require "tracegrip.htmlpage.style" .. require
  "tracegrip.coverage.page.style" .. [==[
</style>
</head>
<body>
<header>
  <div id="head">
    <h1 id="title">tracegrip</h1><span id="about"></span>
    <button id="theme" aria-label="Light or dark">Dark</button>
  </div>
  <div id="bar">
    <nav aria-label="Views">
      <button data-view="files" aria-pressed="true">Files</button>
      <button data-view="source" aria-pressed="false">Source</button>
    </nav>
    <button id="folders" aria-pressed="true">Folders</button>
    <select id="functions" aria-label="Functions of this file" hidden></select>
    <button id="before" hidden aria-label="Missed before">↑ Missed</button>
    <button id="after" hidden aria-label="Missed after">↓ Missed</button>
    <div id="find" role="search">
      <input id="search" type="search" placeholder="Files ( / )"
        aria-label="Names of files">
      <output id="hits" for="search" aria-label="Files found"></output>
    </div>
  </div>
</header>
<main>
  <div id="stage">
    <p id="loading" role="status">Loading…</p>
    <noscript><p>This page needs JavaScript.</p></noscript>
    <div id="sums"></div>
    <div id="source" tabindex="0" role="region" aria-label="Source" hidden>
    </div>
  </div>
  <div id="keys"></div>
</main>
<script>
  // Shown for good where the browser is too old.
  onerror = onunhandledrejection = event => {
    const loading = document.getElementById("loading");
    const why = event.reason || event.message || event;
    if (loading) loading.textContent = "This browser cannot show it: " + why;
  };
</script>
<script id="data" type="application/json">]==]

local MIDDLE = [==[</script>
<script type="module">

]==] .. require "tracegrip.htmlpage.words"
  .. require "tracegrip.coverage.page.files"
  .. require "tracegrip.coverage.page.source"
  .. require "tracegrip.coverage.page.controls" .. [==[
</script>
</body>
</html>
]==]

-- The text of the document.
return function (files, totals, plan)
  return HEAD .. data_text(files, totals, plan) .. MIDDLE
end
