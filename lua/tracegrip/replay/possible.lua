-- possible.lua - the lines of a recording's source at which it can be stopped.
--
--   possible.lines(functions, text)
--                   list of {line, recorded}, in order: lines at which
--                   something may be called, or a function is entered that is
--                   defined there; recorded: the recording has such a function.
--                   And whether these are all: not without the text, or if that
--                   is no Lua that is known here. functions: those of the
--                   source, as replay:functions() has them
--   possible.from(list, is_whole, line)
--                   the first of them from a line on; or nil, message
--
-- A recording has the places of calls that were made, and of no others; those
-- are known when it has been read. So the text is asked where there could be
-- some: in functions that the recording has, where an instruction may call.

local core = require "tracegrip.core"
local lines = require "tracegrip.inspect.lines"
core.own()

local NOT_CALLED = "no function of this line was called in the recording"
local NO_CALL = "nothing is called at this line or after it"

local possible = {}

local function key_of (first, last)
  return first << 32 | last
end

local function sorted (recorded)
  local list = {}
  for line, is in pairs(recorded) do
    list[#list + 1] = {line = line, recorded = is}
  end
  table.sort(list, function (a, b) return a.line < b.line end)
  return list
end

-- The main function has no line where it begins.
function possible.lines (functions, text)
  local known, recorded = {}, {}
  local function add (line, is)
    recorded[line] = recorded[line] or is
  end
  for _, f in ipairs(functions) do
    local is_main = f.last_line == 0
    known[key_of(is_main and 0 or f.line, f.last_line)] = true
    if not is_main then
      add(f.line, true)
    end
  end
  local all = text and lines.of(lines.compilable(text), "=recorded", true)
  for _, f in ipairs(all or {}) do
    local is = known[key_of(f.first, f.last)] or false
    if f.last > 0 then
      add(f.first, is)
    end
    for line in pairs(f.calls) do
      add(line, is)
    end
  end
  return sorted(recorded), all ~= nil
end

function possible.from (list, is_whole, line)
  for _, place in ipairs(is_whole and list or {}) do
    if place.line >= line then
      return place.recorded and place.line or nil, NOT_CALLED
    end
  end
  if is_whole then
    return nil, NO_CALL
  end
  return line
end

return possible
