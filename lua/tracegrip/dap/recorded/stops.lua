-- stops.lua - where a walk through a recording is to stop, as the client has
-- said it.
--
--   stops.new(sources, functions, line_from)
--                            'functions' as replay:functions() has them;
--                            line_from: 0 or 1, the client's first line
--   self:lines(source, list) a source's breakpoints from now on; a list of
--                            Breakpoints as the protocol has them
--   self:possible(source, first, last)
--                            the lines of a range at which there can be one, as
--                            the protocol has them
--   self:named(list)         the same of those of functions
--   self:exceptions(errors)  at which errors, as asked.lua has them
--   self:arm(replay, errors, moments)
--                            tells the replay; errors: at all of them; moments:
--                            and at these
--   self:numbered()          a number for a breakpoint of somebody else's
--   self:any()               whether there is a stop at all
--   self:meets(here)         whether one would stop at a candidate, as
--                            points.lua has it: what the event "stopped" has of
--                            it; nil
--
-- A breakpoint moves to the next line where there may be something that a
-- recording has of lines (points.lua).

local asked = require "tracegrip.dap.asked"
local core = require "tracegrip.core"
local logmessage = require "tracegrip.dap.logmessage"
local points = require "tracegrip.replay.points"
local possible = require "tracegrip.replay.possible"
core.own()

local stops = {}

local Stops = {__name = "tracegrip.dap.recorded.stops"}
Stops.__index = Stops

local ABSENT = "the recording has nothing of this file"

function stops.new (sources, functions, line_from)
  return setmetatable({
    sources = sources, functions = functions, line_from = line_from,
    by_source = {},       -- key -> list of breakpoints
    by_name = {},         -- list of them
    filters = {},         -- filter -> true, or a pattern
    last = 0,             -- number given to one
    armed = {},           -- those of the search
  }, Stops)
end

---------------------------------------------------------------------------
-- What the client says
---------------------------------------------------------------------------

local function told (one)
  return {id = one.number, verified = one.message == nil, line = one.line,
          source = one.source, message = one.message,
          reason = one.message and "failed" or nil}
end

local function answer (list)
  local all = {}
  for i, one in ipairs(list) do
    all[i] = told(one)
  end
  return all
end

function Stops:numbered ()
  self.last = self.last + 1
  return self.last
end

-- Of a breakpoint of lines or of functions; 'message' says what is wrong.
local function new (self, given)
  local log = given.logMessage
  local one = points.new(given.condition, log and log ~= ""
                         and logmessage.expressions(log) or nil)
  one.number = self:numbered()
  if given.hitCondition and given.hitCondition ~= "" then
    one.message = "hits are not counted in a recording, which is walked in "
                  .. "both directions"
  end
  return one
end

local function set_line (self, source, given)
  local one = new(self, given)
  one.line, one.source, one.lines = given.line, source, {}
  local list, is_whole = self.sources:lines(source)
  if not list then
    one.message = ABSENT
    return one
  end
  local line, message = possible.from(list, is_whole,
                                      given.line + 1 - self.line_from)
  if not line then
    one.message = one.message or message
    return one
  end
  one.line = line - 1 + self.line_from
  for _, spot in ipairs(self.sources:spots(source, line)) do
    points.at_line(one, spot)
  end
  return one
end

function Stops:lines (source, list)
  local set = {}
  for i, given in ipairs(list) do
    set[i] = set_line(self, source, given)
  end
  self.by_source[asked.key(source)] = set
  return answer(set)
end

function Stops:possible (source, first, last)
  local list = {}
  for _, place in ipairs(self.sources:lines(source) or {}) do
    local line = place.line - 1 + self.line_from
    if place.recorded and line >= first and line <= last then
      list[#list + 1] = {line = line}
    end
  end
  return list
end

function Stops:named (list)
  self.by_name = {}
  for i, given in ipairs(list) do
    local one = new(self, given)
    if not points.at_function(one, self.functions, given.name) then
      one.message = "no function of this name in the recording"
    end
    self.by_name[i] = one
  end
  return answer(self.by_name)
end

function Stops:exceptions (errors)
  self.filters = errors
end

---------------------------------------------------------------------------
-- For the search
---------------------------------------------------------------------------

-- Those that are good.
local function good (self)
  local all = {}
  local function add (list)
    for _, one in ipairs(list) do
      if not one.message then
        all[#all + 1] = one
      end
    end
  end
  for _, list in pairs(self.by_source) do
    add(list)
  end
  add(self.by_name)
  return all
end

function Stops:arm (replay, errors, moments)
  self.all_errors, self.armed = errors, good(self)
  replay:stop_at(points.stops(self.armed), errors or next(self.filters) ~= nil,
                 moments)
end

function Stops:any ()
  return next(self.filters) ~= nil or #good(self) > 0
end

---------------------------------------------------------------------------
-- At a candidate
---------------------------------------------------------------------------

local function is_wanted (self, here)
  if self.all_errors then
    return true
  end
  return asked.meets(self.filters, points.thrown(here))
end

-- One of a function is told as such.
function Stops:meets (here)
  if here.why.error and is_wanted(self, here) then
    return {reason = "exception"}
  end
  local numbers, by_name = {}, false
  for i, one in ipairs(points.met(self.armed, here)) do
    numbers[i] = one.number
    by_name = by_name or one.lines == nil
  end
  if #numbers > 0 then
    return {reason = by_name and "function breakpoint" or "breakpoint",
            hitBreakpointIds = numbers}
  end
end

return stops
