-- points.lua - the points of a recording at which a walk is to stop: calls,
-- ends of calls, calls made on a line, errors; with conditions and logpoints.
--
--   points.new(condition, log)   a point that is nowhere yet. condition, log:
--                                Lua (code.lua), or nil; 'message' of it says
--                                what is wrong with them
--   points.at_line(one, spot)    it is on a line, too: {url, line, functions},
--                                those of that source, as replay:functions()
--                                has them
--   points.at_function(one, functions, name)
--                                it is at these that have the name, or have it
--                                as the last part of theirs; whether there are
--                                any
--   points.stops(list)           what replay:stop_at takes of some points
--   points.here(replay, why, log)
--                                a moment that was named as a candidate: 'why'
--                                of replay:turn; log(one, results, message)
--                                prints a logpoint: what its code gave, a list
--                                with n, or what was wrong with that
--   points.met(list, here)       those of the points that are met there
--   points.thrown(here)          the error there: its text, and whether nothing
--                                catches it
--   points.is_uncaught(coming, frames)
--                                the same of the packet that unwinds, in a
--                                coroutine with so many frames
--   points.depth(replay, thread) how many frames a coroutine has
--
-- A line stops before a call that is made on it, and where a function is
-- entered that is defined on it: more of lines a recording does not have. A
-- condition that speaks of result, results or err is asked where the function
-- is left.

local core = require "tracegrip.core"
local code = require "tracegrip.replay.code"
local values = require "tracegrip.replay.values"
core.own()

local points = {}

---------------------------------------------------------------------------
-- Where they are
---------------------------------------------------------------------------

local function given (text)
  return text ~= "" and text or nil
end

function points.new (condition, log)
  local one = {at = {}, condition = given(condition), log = given(log)}
  if one.condition then
    one.message = code.check(one.condition)
    one.at_end = one.condition:find "%f[%w_]results?%f[^%w_]" ~= nil
                 or one.condition:find "%f[%w_]err%f[^%w_]" ~= nil
  end
  if one.log then
    one.message = one.message or code.check(one.log)
  end
  return one
end

-- A function that is defined on the line is entered there.
function points.at_line (one, spot)
  local line = spot.line
  for _, f in ipairs(spot.functions) do
    one.at[#one.at + 1] = {id = f.id, line = line,
                           call = f.line == line and f.last_line > 0}
  end
  one.lines = one.lines or {}
  one.lines[spot.url] = one.lines[spot.url] or {}
  one.lines[spot.url][line] = true
end

local function is_named (f, name)
  return f.name == name
         or f.name ~= nil and f.name:match "[.:]([^.:]+)$" == name
end

function points.at_function (one, functions, name)
  for _, f in ipairs(functions) do
    if is_named(f, name) then
      one.at[#one.at + 1] = {id = f.id, call = not one.at_end,
                             result = one.at_end}
    end
  end
  return #one.at > 0
end

function points.stops (list)
  local all = {}
  for _, one in ipairs(list) do
    table.move(one.at, 1, #one.at, #all + 1, all)
  end
  return all
end

---------------------------------------------------------------------------
-- A candidate
---------------------------------------------------------------------------

function points.depth (replay, thread)
  for _, one in ipairs(replay:threads()) do
    if one.thread == thread then
      return one.frames
    end
  end
  return 0
end

-- What is known of a candidate is read when it is asked for, once: there may be
-- millions of them.
local facts = {}

function facts.last (of) return of.replay:last() end
function facts.coming (of) return of.replay:coming() end
function facts.call (of) return of.replay:call() end

function facts.caller (of)
  return of.replay:arguments(of.coming.thread, 1)
end

function facts.frames (of)
  return points.depth(of.replay, of.coming.thread)
end

local Here = {__index = function (self, name)
  local fact = facts[name] and facts[name](self)
  self[name] = fact
  return fact
end}

function points.here (replay, why, log)
  return setmetatable({why = why, replay = replay, log = log}, Here)
end

---------------------------------------------------------------------------
-- Meeting them
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
local function is_at (one, here)
  local why = here.why
  if why.call and is_one_of(one, here.last, "call") then
    return true, here.last
  elseif why.result and is_one_of(one, here.last, "result") then
    return true, here.call, here.last
  elseif why.line and is_on_line(one, here.coming) then
    return true, here.caller
  end
end

local function holds (one, call, finish)
  if not one.condition then
    return true
  end
  local ok, results = code.run(one.condition, code.names(call, finish))
  return ok and results[1]
end

local function log (one, here, call, finish)
  local ok, results = code.run(one.log, code.names(call, finish))
  here.log(one, ok and results or nil, not ok and results or nil)
end

function points.met (list, here)
  local met = {}
  for _, one in ipairs(list) do
    local there, call, finish = is_at(one, here)
    if there and holds(one, call, finish) then
      if one.log then
        log(one, here, call, finish)
      else
        met[#met + 1] = one
      end
    end
  end
  return met
end

-- An error that nothing catches unwinds all of the main coroutine's frames.
function points.is_uncaught (coming, frames)
  return coming.thread == 1 and (coming.unwinds or 0) >= frames
end

function points.thrown (here)
  local thrown = here.coming.throw
  return thrown and values.said(thrown.value, thrown.objectPool) or "",
         points.is_uncaught(here.coming, here.frames)
end

return points
