-- heaptext.lua - what tracegrip heap prints for a person, of the documents that
-- core.heapview gives.
--
--   heaptext.summary(document, width) -> rows, and so on for each question

local columns = require "tracegrip.cli.columns"
local core = require "tracegrip.core"
local units = require "tracegrip.cli.units"
core.own()

local heaptext = {}

local function text (title, key, drop)
  return {title = title, cut = "back", least = 16, drop = drop,
          text = function (row) return columns.clean(row[key] or "") end}
end

local function way (title)
  return {title = title, cut = "front", least = 24, text = function (row)
    return columns.clean(row.path or "")
  end}
end

local function count (title, key, drop)
  return {title = title, right = true, drop = drop, text = function (row)
    return units.count(row[key])
  end}
end

local function size (n)
  return (units.bytes(n):gsub(" bytes?$", "   B"))
end

local function bytes (title, key, drop)
  return {title = title, right = true, drop = drop, text = function (row)
    return size(row[key])
  end}
end

local function id ()
  return {title = "id", right = true, drop = 1, text = function (row)
    return "@" .. math.tointeger(row.id)
  end}
end

-- A table with a line above it, or a line that there is nothing.
local function add_table (rows, title, list, of, width)
  if #rows > 0 then
    rows[#rows + 1] = ""
  end
  if #list == 0 then
    rows[#rows + 1] = title .. ": none"
    return
  end
  rows[#rows + 1] = title .. ":"
  table.move(columns.format(of, list, width), 1, #list + 1, #rows + 1, rows)
end

function heaptext.summary (document, width)
  local rows = {("%s, %s"):format(units.several(document.objects, "object"),
                                  units.bytes(document.bytes))}
  add_table(rows, "By class", document.classes, {
    count("count", "count"), bytes("self", "self"),
    bytes("retained", "retained"), text("class", "name")}, width)
  add_table(rows, "Who keeps most alive", document.retainers, {
    bytes("retained", "retained"), bytes("self", "self", 2), id(),
    text("what", "name"), way("where")}, width)
  return rows
end

local function ways_of (list)
  local words = {}
  for i, edge in ipairs(list) do
    words[i] = ("  %s  %s @%d"):format(columns.clean(edge.text),
                                       columns.clean(edge.class), edge.id)
  end
  return words
end

function heaptext.paths (document)
  local rows = {("%s @%d: %s, keeps %s alive"):format(
    columns.clean(document.name), document.id, units.bytes(document.self),
    units.bytes(document.retained))}
  rows[2] = columns.clean(document.path)
  for i, list in ipairs(document.paths) do
    rows[#rows + 1] = ""
    rows[#rows + 1] = ("way %d:"):format(i)
    local words = ways_of(list)
    table.move(words, 1, #words, #rows + 1, rows)
  end
  if document.longer > 0 then
    rows[#rows + 1] = units.several(document.longer, "way")
                      .. " too long to be shown"
  elseif #document.paths == 0 then
    rows[#rows + 1] = "no way leads to it from the roots"
  end
  return rows
end

function heaptext.find (document, width)
  local rows = {}
  add_table(rows, units.several(document.found, "object") .. " found",
            document.objects, {
    bytes("retained", "retained"), bytes("self", "self", 2), id(),
    text("what", "name"), way("where")}, width)
  return rows
end

function heaptext.duplicates (document, width)
  local rows = {}
  local function of (key)
    return {count("count", "count"), bytes("more than one", "wasted"),
            text(key, key), way("one of them")}
  end
  add_table(rows, "Equal strings", document.strings, of "text", width)
  add_table(rows, "Tables that refer to the same objects", document.tables,
            of "name", width)
  return rows
end

function heaptext.empty (document, width)
  local rows = {}
  add_table(rows, "Objects that refer to nothing", document.empty, {
    count("count", "count"), bytes("self", "self"), text("class", "name"),
    way("one of them")}, width)
  return rows
end

local function change (title, key)
  return {title = title, right = true, text = function (row)
    local n = row[key]
    return (n > 0 and "+" or n < 0 and "-" or "") .. size(math.abs(n))
  end}
end

function heaptext.diff (document, width)
  local added, removed = document.added, document.removed
  local rows = {("%s added (%s), %s removed (%s)"):format(
    units.several(added.count, "object"), units.bytes(added.bytes),
    units.count(removed.count), units.bytes(removed.bytes))}
  add_table(rows, "By class", document.classes, {
    change("bytes", "bytes"), count("added", "added"),
    count("removed", "removed"), text("class", "name"),
    way("one that is new")}, width)
  return rows
end

local function series (title, key, show, drop)
  return {title = title, right = true, drop = drop, text = function (row)
    local words = {}
    for i, n in ipairs(row[key]) do
      words[i] = show(n)
    end
    return table.concat(words, " > ")
  end}
end

function heaptext.growing (document, width)
  local rows = {}
  add_table(rows, "What grows from each to the next", document.growing, {
    series("count", "counts", units.count), bytes("retained", "retained"),
    id(), text("what", "name"), way("the largest one")}, width)
  return rows
end

return heaptext
