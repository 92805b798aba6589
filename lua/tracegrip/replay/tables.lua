-- tables.lua - which table a recorded value was, and all calls that had it.
-- Which one it is, the recording has to tell (--trace ...,identity).
--
--   tables.identity(grip, pool)  its number; or nil, message
--   tables.read(history, on)     reads a history (core.history) to its end,
--                                with looks at on(): whether to go on. Whether
--                                all was read
--   tables.calls(replay, number, on, most)
--                                the calls that had the table, as lines of
--                                text, so many at most; nil: not all were read

local core = require "tracegrip.core"
local sightings = require "tracegrip.cli.sightings"
local values = require "tracegrip.replay.values"
core.own()

local PIECE = 50000             -- packets between two looks at on()

local UNTOLD = "the recording does not tell which table this is: record with "
               .. "--trace ...,identity"
local NO_TABLE = "a recording tells of changes in tables alone"

local tables = {}

function tables.identity (grip, pool)
  local object = type(grip) == "table" and grip.type == "object"
                 and pool[grip.objectId + 1]
  if object and object.identity then
    return object.identity
  end
  local is_table = object and values.type(grip, pool) == "table"
  return nil, is_table and UNTOLD or NO_TABLE
end

function tables.read (history, on)
  while history:turn(PIECE) do
    if not on() then
      return false
    end
  end
  return true
end

local words = {enteredFrame = "is called with it", exitedFrame = "gives it"}

local function line_of (history, i, number)
  local seen = history:sighting(i)
  local list, packet = history:list(i)
  local changed = seen.changed and " *" or ""
  return ("moment %d%s: %s %s: %s"):format(
    seen.moment, changed, packet and packet.name or "?",
    seen.locals and "has it" or packet and words[packet.type] or "",
    list and seen.told and sightings.text(list, number) or "(not told)")
end

function tables.calls (replay, number, on, most)
  local history = core.history(replay, number, {})
  if not tables.read(history, on) then
    return nil
  end
  local lines, count = {}, (history:counts())
  for i = 1, math.min(count, most) do
    lines[i] = line_of(history, i, number)
  end
  local more = count - #lines + select(2, history:counts())
  if more > 0 then
    lines[#lines + 1] = ("… and %d more"):format(more)
  end
  return lines
end

return tables
