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

-- A call as a row has it: "fill app.lua:7".
local function call_of (call)
  local place = call.line and ("%s:%d"):format(call.url, call.line) or call.url
  local name = call.name ~= "" and call.name or "(anonymous)"
  return columns.clean(name .. (place and "  " .. place or ""))
end

local NOBODY = "in no function that was traced"

-- Of a row whose maker is known: the innermost call, and those around it.
local function made_by (row)
  local words = {}
  for i, call in ipairs(row.made_by or {}) do
    words[i] = call_of(call)
  end
  return row.made_by and (#words > 0 and table.concat(words, " < ") or NOBODY)
         or ""
end

-- The column that tells of it, if any row does.
local function add_maker (of, list)
  for _, row in ipairs(list) do
    if row.made_by then
      of[#of + 1] = {title = "made by", cut = "back", least = 24, drop = 3,
                     text = made_by}
      return of
    end
  end
  return of
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

local function add_calls (rows, calls)
  for i, call in ipairs(calls or {}) do
    rows[#rows + 1] = (i == 1 and "made by " or "  called by ") .. call_of(call)
  end
  if calls and #calls == 0 then
    rows[#rows + 1] = "made " .. NOBODY
  end
end

function heaptext.paths (document)
  local rows = {("%s @%d: %s, keeps %s alive"):format(
    columns.clean(document.name), document.id, units.bytes(document.self),
    units.bytes(document.retained))}
  rows[2] = columns.clean(document.path)
  add_calls(rows, document.made_by)
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
            document.objects, add_maker({
    bytes("retained", "retained"), bytes("self", "self", 2), id(),
    text("what", "name"), way("where")}, document.objects), width)
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

-- The tree as a list, each call with how deep it is.
local function flatten (list, calls, depth)
  for _, call in ipairs(calls) do
    list[#list + 1] = call
    call.what = ("  "):rep(depth) .. call_of(call)
    flatten(list, call.calls, depth + 1)
  end
  return list
end

function heaptext.makers (document, width)
  local list = flatten({}, document.calls, 0)
  local rows = {}
  if #list == 0 then
    return {"the snapshot does not tell who made what is in it"}
  end
  add_table(rows, "Who made what is alive", list, {
    bytes("total", "total"), bytes("self", "self"), count("count", "count"),
    bytes("allocated", "allocated", 1),
    {title = "call", cut = "back", least = 24,
     text = function (row) return row.what end}}, width)
  if document.ways > #list then
    rows[#rows + 1] = ("and %s with less (--limit)"):format(
      units.several(document.ways - #list, "way"))
  end
  rows[#rows + 1] = ("%s in %s more, of which nobody knows who made them")
                    :format(units.bytes(document.unknown),
                            units.several(document.unknown_count, "object"))
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
