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
--   self:meets(moment)       whether one would stop at a candidate: what the
--                            event "stopped" has of it; nil. moment:
--                            {why, last, coming, call, caller, frames, log}:
--                            of replay:turn; the packets around; what entered
--                            the last's frame, and the frame that makes the
--                            call that comes; how many frames there are;
--                            log(text, breakpoint) prints a logpoint
--
-- A line stops before a call that is made on it, and where a function is
-- entered that is defined on it: more of lines a recording does not have. So a
-- breakpoint moves to the next line where there may be such.
-- Conditions are Lua over what was recorded (code.lua); one that speaks of
-- result, results or err is asked where the function is left.

local asked = require "tracegrip.dap.asked"
local core = require "tracegrip.core"
local code = require "tracegrip.dap.recorded.code"
local logmessage = require "tracegrip.dap.logmessage"
local values = require "tracegrip.dap.recorded.values"
core.own()

local stops = {}

local Stops = {__name = "tracegrip.dap.recorded.stops"}
Stops.__index = Stops

local ABSENT = "the recording has nothing of this file"
local NOT_CALLED = "no function of this line was called in the recording"
local NO_CALL = "nothing is called at this line or after it"

function stops.new (sources, functions, line_from)
  return setmetatable({
    sources = sources, functions = functions, line_from = line_from,
    by_source = {},       -- key -> list of breakpoints
    by_name = {},         -- list of them
    filters = {},         -- filter -> true, or a pattern
    last = 0,             -- number given to one
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
  local one = {number = self:numbered()}
  if given.condition and given.condition ~= "" then
    one.condition = given.condition
    one.message = code.check(one.condition)
    one.at_end = one.condition:find "%f[%w_]results?%f[^%w_]" ~= nil
                 or one.condition:find "%f[%w_]err%f[^%w_]" ~= nil
  end
  if given.logMessage and given.logMessage ~= "" then
    one.log = logmessage.expressions(given.logMessage)
    one.message = one.message or code.check(one.log)
  end
  if given.hitCondition and given.hitCondition ~= "" then
    one.message = "hits are not counted in a recording, which is walked in "
                  .. "both directions"
  end
  return one
end

-- The first line from there on at which something may be met; or nil, message.
local function stand_from (list, is_whole, line)
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

-- A function that is defined on the line is entered there.
local function set_at (one, spot)
  local line = spot.line
  for _, f in ipairs(spot.functions) do
    one.at[#one.at + 1] = {id = f.id, line = line,
                           call = f.line == line and f.last_line > 0}
  end
  one.lines[spot.url] = one.lines[spot.url] or {}
  one.lines[spot.url][line] = true
end

local function set_line (self, source, given)
  local one = new(self, given)
  one.line, one.source, one.at, one.lines = given.line, source, {}, {}
  local list, is_whole = self.sources:lines(source)
  if not list then
    one.message = ABSENT
    return one
  end
  local line, message = stand_from(list, is_whole,
                                   given.line + 1 - self.line_from)
  if not line then
    one.message = one.message or message
    return one
  end
  one.line = line - 1 + self.line_from
  for _, spot in ipairs(self.sources:spots(source, line)) do
    set_at(one, spot)
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

-- By its name, or by the last part of it.
local function is_named (f, name)
  return f.name == name
         or f.name ~= nil and f.name:match "[.:]([^.:]+)$" == name
end

function Stops:named (list)
  self.by_name = {}
  for i, given in ipairs(list) do
    local one = new(self, given)
    one.at = {}
    for _, f in ipairs(self.functions) do
      if is_named(f, given.name) then
        one.at[#one.at + 1] = {id = f.id, call = not one.at_end,
                               result = one.at_end}
      end
    end
    if #one.at == 0 then
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

-- Calls f for each that is good.
local function each (self, f)
  for _, list in pairs(self.by_source) do
    for _, one in ipairs(list) do
      if not one.message then
        f(one)
      end
    end
  end
  for _, one in ipairs(self.by_name) do
    if not one.message then
      f(one)
    end
  end
end

function Stops:arm (replay, errors, moments)
  local list = {}
  each(self, function (one)
    table.move(one.at, 1, #one.at, #list + 1, list)
  end)
  self.all_errors = errors
  replay:stop_at(list, errors or next(self.filters) ~= nil, moments)
end

function Stops:any ()
  local any = next(self.filters) ~= nil
  each(self, function () any = true end)
  return any
end

---------------------------------------------------------------------------
-- At a candidate
---------------------------------------------------------------------------

local function is_one_of (one, packet, what)
  for _, place in ipairs(one.at) do
    if place[what] and place.id == packet["function"] then
      return true
    end
  end
end

local function is_on_line (one, coming)
  local site = coming.callsite
  local lines = site and one.lines and one.lines[site.url]
  return lines ~= nil and lines[site.line] == true
end

-- Whether it is there, and the packets that its code is about.
local function is_at (one, moment)
  local why = moment.why
  if why.call and is_one_of(one, moment.last, "call") then
    return true, moment.last
  elseif why.result and is_one_of(one, moment.last, "result") then
    return true, moment.call, moment.last
  elseif why.line and is_on_line(one, moment.coming) then
    return true, moment.caller
  end
end

local function holds (one, call, finish)
  if not one.condition then
    return true
  end
  local ok, results = code.run(one.condition, code.names(call, finish))
  return ok and results[1]
end

local function log (one, moment, call, finish)
  local ok, results = code.run(one.log, code.names(call, finish))
  local parts = {}
  for i = 2, ok and results.n or 0 do
    parts[#parts + 1] = values.said(values.grip(results[i]))
  end
  moment.log(ok and table.concat(parts) or results, one)
end

-- The breakpoints that are met, and whether one is of a function.
local function met (self, moment)
  local numbers, by_name = {}, false
  each(self, function (one)
    local here, call, finish = is_at(one, moment)
    if not here or not holds(one, call, finish) then
      return
    elseif one.log then
      return log(one, moment, call, finish)
    end
    numbers[#numbers + 1] = one.number
    by_name = by_name or one.lines == nil
  end)
  return numbers, by_name
end

-- An error that nothing catches unwinds all of the main coroutine's frames.
function stops.is_uncaught (coming, frames)
  return coming.thread == 1 and (coming.unwinds or 0) >= frames
end

local function is_wanted (self, moment)
  if self.all_errors then
    return true
  end
  local thrown = moment.coming.throw
  local text = thrown and values.said(thrown.value, thrown.objectPool) or ""
  local uncaught = stops.is_uncaught(moment.coming, moment.frames)
  return asked.meets(self.filters, text, uncaught)
end

function Stops:meets (moment)
  if moment.why.error and is_wanted(self, moment) then
    return {reason = "exception"}
  end
  local numbers, by_name = met(self, moment)
  if #numbers > 0 then
    return {reason = by_name and "function breakpoint" or "breakpoint",
            hitBreakpointIds = numbers}
  end
end

return stops
