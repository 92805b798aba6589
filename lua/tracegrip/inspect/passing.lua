-- passing.lua - what steps lead over: files and lines that a debugger wants to
-- see nothing of, and the lines that are one with the one where a step began.
--
--   passing.set_patterns(session, params)
--                            Debugger.setBlackboxPatterns: files, by address
--   passing.set_ranges(session, params)
--                            Debugger.setBlackboxedRanges: lines of a script
--   passing.ignores(script)  whether a file is such a one
--   passing.note(params)     a step begins, with the skipList of its request
--   passing.leads_over(co, func, script, line)
--                            whether it goes on there
--   passing.halt()           somebody has asked to stop, wherever that is
--   passing.over()           the program stands still
--   passing.start()          where the step that is under way has begun,
--   passing.begin(start)     and that it goes on from there
--   passing.leave(session)   it is gone
--
-- Lines of the protocol count from 0; here and in Lua they count from 1.

local core = require "tracegrip.core"
local fault = require "tracegrip.inspect.fault"
local frames = require "tracegrip.inspect.frames"
local pausing = require "tracegrip.inspect.pausing"
local regex = require "tracegrip.inspect.regex"
local scripts = require "tracegrip.inspect.scripts"
local sessions = require "tracegrip.inspect.sessions"
local words = require "tracegrip.inspect.words"
core.own()

local MOST_LINES = 10000        -- of a range of a step's
local NONE, WEAK = {}, {__mode = "v"}

local passing = {}

local halting = false           -- a pause was asked for: it is where it may be
local unmoved                   -- where a step is not over yet: {frame = {co,
                                -- func}, depth, places}; nil: nowhere

---------------------------------------------------------------------------
-- What debuggers say
---------------------------------------------------------------------------

function passing.set_patterns (session, params)
  local list = {}
  for i, pattern in ipairs(fault.object(params, "patterns")) do
    list[i] = type(pattern) == "string" and regex.compile(pattern)
              or fault.raise("Regular expression not known here: %s",
                             words.value(pattern))
  end
  session.ignored = list
  return {}
end

-- From each first place to the next one.
function passing.set_ranges (session, params)
  local script = scripts.of(fault.string(params, "scriptId"))
  local ends = {}
  for i, place in ipairs(fault.object(params, "positions")) do
    ends[i] = fault.integer(place, "lineNumber") + 1
    if i > 1 and ends[i] < ends[i - 1] then
      fault.raise("Input positions array is not sorted or contains duplicate "
                  .. "values.")
    end
  end
  session.skipped[script.id] = ends
  return {}
end

-- Its first line is as good as all of it: columns mean nothing here.
local function places_of (list)
  local places = {}
  for _, range in ipairs(list) do
    local first = fault.integer(fault.object(range, "start"), "lineNumber")
    local last = fault.integer(fault.object(range, "end"), "lineNumber")
    if last - first > MOST_LINES then
      fault.raise("A range has at most %d lines", MOST_LINES)
    end
    for line = first, last do
      places[fault.string(range, "scriptId") .. ":" .. line + 1] = true
    end
  end
  return places
end

-- skipList: lines that are one with the one where the program stands.
function passing.note (params)
  local list = fault.object(params, "skipList", true)
  local co = pausing.where()
  local frame = list and frames.innermost(co, 0)
  unmoved = frame and {
    frame = setmetatable({co = co, func = frame.func}, WEAK),
    depth = frames.depth(co) - frame.level, places = places_of(list)
  }
end

function passing.leave (session)
  session.ignored, session.skipped = {}, {}
end

---------------------------------------------------------------------------
-- Where a step is
---------------------------------------------------------------------------

function passing.ignores (script)
  local found = false
  sessions.each("debugger", function (session)
    for _, matches in ipairs(session.ignored) do
      found = found or matches(script.url)
    end
  end)
  return found
end

-- An odd number of ends of ranges lies before it.
local function is_skipped (script, line)
  local found = false
  sessions.each("debugger", function (session)
    local ends = session.skipped[script.id] or NONE
    local low, high = 0, #ends
    while low < high do
      local middle = (low + high + 1) // 2
      if ends[middle] <= line then
        low = middle
      else
        high = middle - 1
      end
    end
    found = found or low % 2 == 1
  end)
  return found
end

-- A step's own lines count in the frame where it has begun.
local function is_unmoved (co, func, script, line)
  local from = unmoved
  return from ~= nil and from.frame.co == co and from.frame.func == func
         and from.places[script.id .. ":" .. line] == true
         and from.depth == frames.depth(co)
end

function passing.leads_over (co, func, script, line)
  return passing.ignores(script)
         or not halting and (is_skipped(script, line)
                             or is_unmoved(co, func, script, line))
end

function passing.halt ()
  halting = true
end

function passing.over ()
  unmoved, halting = nil, false
end

function passing.start ()
  return unmoved
end

function passing.begin (start)
  unmoved = start
end

return passing
