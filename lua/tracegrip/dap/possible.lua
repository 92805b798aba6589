-- possible.lua - the lines of a source at which a breakpoint can stand.
--
--   possible.locations(live, source, first, last, request)
--                           those of that range, in order, as the protocol has
--                           them; waits; raises a problem. live: live.lua's
--                           back end; source: a Source of the client's
--   possible.functions(path)
--                           the functions that a file will have when it is
--                           loaded (inspect/lines.lua); nil: that is not known
--
-- What the program has loaded it tells itself, whatever has become of the file.
-- Of another file it would load what is on the disk now: that has code where it
-- compiles, and none where it does not.

local core = require "tracegrip.core"
local lines = require "tracegrip.inspect.lines"
local mapping = require "tracegrip.dap.mapping"
local problem = require "tracegrip.dap.problem"
core.own()

local possible = {}

function possible.functions (path)
  local text = core.contents(path)
  return text and lines.of(lines.compilable(text), "@" .. path)
end

-- Lines as the protocol lists them.
local function listed (set)
  local list = {}
  for line in pairs(set) do
    list[#list + 1] = {line = line}
  end
  table.sort(list, function (a, b) return a.line < b.line end)
  return list
end

-- The same file may have been loaded by several names.
local function loaded (live, ids, first, last, request)
  local set = {}
  for _, id in ipairs(ids) do
    local result = live.program:ask("Debugger.getPossibleBreakpoints", {
      start = {scriptId = id, lineNumber = live.places:ours(first)},
      ["end"] = {scriptId = id, lineNumber = live.places:ours(last) + 1}
    }, request)
    for _, place in ipairs(result.locations) do
      set[live.places:line(place.lineNumber)] = true
    end
  end
  return listed(set)
end

-- Of a file that scripts were made of: lines that have code in one of them.
local function mapped (live, keys, source, first, last, request)
  local set = {}
  for _, id in ipairs(keys) do
    local active = mapping.active(live, id, request)
    for _, line in ipairs(live.places.originals:active(source, id, active)) do
      local at = live.places:line(line - 1)
      set[at] = at >= first and at <= last or nil
    end
  end
  return listed(set)
end

local function on_disk (live, source, first, last)
  if not source.path then
    problem.raise("this source is not known")
  elseif not core.contents(source.path) then
    problem.raise("%s is not loaded, and cannot be read here", source.path)
  end
  local list = {}
  for _, line in ipairs(lines.active(possible.functions(source.path) or {})) do
    local here = live.places:line(line - 1)
    if here >= first and here <= last then
      list[#list + 1] = {line = here}
    end
  end
  return list
end

function possible.locations (live, source, first, last, request)
  local ids = live.places:ids(source)
  local keys = live.places.originals:keys(source)
  if keys then
    return mapped(live, keys, source, first, last, request)
  elseif #ids > 0 then
    return loaded(live, ids, first, last, request)
  end
  return on_disk(live, source, first, last)
end

return possible
