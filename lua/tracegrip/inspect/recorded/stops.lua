-- stops.lua - where a front end wants a walk through a recording to stop.
--
--   stops.new(scripts)
--   self:add(id, line, condition, matches)
--                            a breakpoint at a line of the scripts of which
--                            matches(script) is true; condition: as the front
--                            end has it, or nil. It is {id, at, places,
--                            message}: places: list of {script, line}; message:
--                            why it stops nowhere, or nil. Raises a fault if
--                            there is one of that id
--   self:remove(id), self:clear()
--   self:goal(script, line)  the next walk alone stops there, too; whether that
--                            is possible, or false, message
--   self.active, self.skips  whether breakpoints are; whether nothing is to
--                            stop
--   self.errors              "none", "caught", "uncaught", "all"
--   self:arm(replay, all_errors)
--                            a walk begins: whether it has anything to stop at
--   self:meets(here)         {reason, hits} at a candidate of it; nil: it does
--                            not stop there. here: replay/points.lua
--   self:disarm()            it is over
--
-- Conditions and logpoints are Lua over what was recorded (replay/code.lua).

local core = require "tracegrip.core"
local expression = require "tracegrip.inspect.expression"
local fault = require "tracegrip.inspect.fault"
local points = require "tracegrip.replay.points"
local possible = require "tracegrip.replay.possible"
core.own()

local stops = {}

local Stops = {__name = "tracegrip.inspect.recorded.stops"}
Stops.__index = Stops

function stops.new (scripts)
  return setmetatable({
    scripts = scripts, by_id = {}, active = true, skips = false,
    errors = "none",
    aim = nil,            -- the goal, as a breakpoint
    armed = {},           -- those of the walk that is under way
    all_errors = false,   -- and whether all errors stop it
  }, Stops)
end

---------------------------------------------------------------------------
-- Breakpoints
---------------------------------------------------------------------------

local function new (condition)
  condition = condition and expression.condition(condition)
  local logged = condition and expression.logged(condition)
  if logged then
    return points.new(nil, logged)
  end
  return points.new(condition)
end

-- Where it has moved to; or nowhere: returns why.
local function place (self, one, script, line)
  local list, is_whole = self.scripts:lines(script)
  local at, message = possible.from(list, is_whole, line)
  if not at then
    return message
  end
  table.insert(one.places, {script = script, line = at})
  points.at_line(one, {url = script.source, line = at,
                       functions = script.functions})
end

function Stops:add (id, line, condition, matches)
  if self.by_id[id] then
    fault.raise("Breakpoint at specified location already exists.")
  end
  local one = new(condition)
  one.id, one.places = id, {}
  for _, script in ipairs(self.scripts:all()) do
    if script.source and matches(script) then
      local message = place(self, one, script, line)
      one.message = one.message or message
    end
  end
  self.by_id[id] = one
  return one
end

function Stops:remove (id)
  self.by_id[id] = nil
end

-- Nobody wants to stop anywhere any more.
function Stops:clear ()
  self.by_id, self.errors = {}, "none"
end

function Stops:goal (script, line)
  local one = new()
  one.places = {}
  local message = script.source and place(self, one, script, line)
                  or "there is nothing to stop at"
  self.aim = one.places[1] and one
  return self.aim ~= nil, message
end

---------------------------------------------------------------------------
-- A walk
---------------------------------------------------------------------------

function Stops:arm (replay, all_errors)
  local list = {self.aim}
  for _, one in pairs(self.active and self.by_id or {}) do
    if not one.message and one.places[1] then
      list[#list + 1] = one
    end
  end
  if self.skips then
    list, all_errors = {}, false
  end
  local errors = all_errors or self.errors ~= "none" and not self.skips
  self.armed, self.all_errors = list, all_errors
  replay:stop_at(points.stops(list), errors)
  return #list > 0 or errors
end

function Stops:disarm ()
  self.aim = nil
end

local function is_wanted (self, here)
  local _, uncaught = points.thrown(here)
  return self.all_errors or self.errors == "all"
         or self.errors == (uncaught and "uncaught" or "caught")
end

function Stops:meets (here)
  if here.why.error and is_wanted(self, here) then
    return {reason = "exception", hits = {}}
  end
  local met, hits = points.met(self.armed, here), {}
  for _, one in ipairs(met) do
    hits[#hits + 1] = one.id
  end
  return met[1] and {reason = "other", hits = hits}
end

return stops
