-- walking.lua - a walk through a recording: from the pause where a front end
-- has said to go on to the next one.
--
--   walking.begin(session)    the front end has set what it wants: the walk
--                             goes to the first place where it stands
--   walking.on(session, way)  the walk goes on when the reply is sent; way: a
--                             move of replay/walk.lua, or a moment's number.
--                             Raises a fault if it does not stand still
--   walking.list(session, number)
--                             tells in the console which calls had a table
--   walking.check_still(session)
--                             raises a fault while the recording is read
--   walking.halt(session)     a search ends where it is
--
-- session: recorded.lua's. A step leads over what is not shown (pausing.lua),
-- and over files that the front end ignores.

local core = require "tracegrip.core"
local fault = require "tracegrip.inspect.fault"
local frames = require "tracegrip.replay.frames"
local points = require "tracegrip.replay.points"
local programs = require "tracegrip.inspect.values"
local tables = require "tracegrip.replay.tables"
local values = require "tracegrip.replay.values"
core.own()

local PAUSE = "backtrace"       -- the group of a pause's objects
local CALLS = 1000              -- of a table that are told
local IGNORED = 1000            -- moments that a step leads over between two
                                -- looks at other requests

local walking = {}

---------------------------------------------------------------------------
-- What stops it
---------------------------------------------------------------------------

-- What a logpoint gives, where the breakpoint is.
local function print_log (session, one, results, message)
  if message then
    return session.console:note("error", message)
  end
  local list = {}
  for i = 1, results.n do
    local grip, pool = values.grip(results[i])
    list[i] = {grip = grip, pool = pool}
  end
  session.console:log(one.places[1].script, one.places[1].line, list)
end

local function meeter (session)
  return function (why, forwards)
    return session.stops:meets(points.here(session.walk.replay, why,
                                           function (...)
      if forwards then
        print_log(session, ...)
      end
    end))
  end
end

---------------------------------------------------------------------------
-- Going on
---------------------------------------------------------------------------

-- Whether the walk stands in a function of C, and not at its error, or in a
-- file that the front end wants to see nothing of.
local function is_ignored (session)
  local moment = session.walk:moment()
  local frame = session.walk.replay:frames(moment.running, 1, 1)[1]
  local script = session.book.scripts:at(frame and frame.url)
  for _, matches in ipairs(frame and session.ignored or {}) do
    if matches(script.url) then
      return true
    end
  end
  return frame ~= nil and frame.c and frames.error(session.walk) == nil
end

-- The number of the call that is shown as the innermost.
local function top_entry (session)
  local _, frame = session.pausing:top()
  return frame and frame.entry
end

-- Whether a step that has led to a moment goes on: into what comes next leads
-- over what is not shown, and out of a call is out of the one that was shown.
local function leads_on (session, way, from)
  if way == "in" or way == "backIn" then
    return is_ignored(session)
  end
  return (way == "out" or way == "backOut") and from ~= nil
         and top_entry(session) == from
end

-- Of a walk: how it has ended, what was met, what went wrong.
local function go (session, way, thread, all_errors)
  local walk, stops = session.walk, session.stops
  if type(way) == "number" then
    return walk:go(way)
  end
  local meets = stops:arm(walk.replay, all_errors) and meeter(session) or nil
  local from, count = top_entry(session), 0
  local found, met, message = walk:step(way, thread, meets)
  while found == "found" and not met and leads_on(session, way, from) do
    count = count + 1
    if count % IGNORED == 0 then
      walk.breathe()
    end
    if session.halting then
      break
    end
    found, met, message = walk:step(way, walk:moment().running, meets)
  end
  stops:disarm()
  return found, met, message
end

---------------------------------------------------------------------------
-- Standing still
---------------------------------------------------------------------------

-- What the pause says of an error that is about to unwind frames.
local function error_data (session)
  local grip, pool, packet = frames.error(session.walk)
  local data = session.remote:describe(grip, pool, PAUSE, true)
  data.uncaught = points.is_uncaught(
    packet, points.depth(session.walk.replay, packet.thread))
  return data
end

local DAMAGED = "The end of what can be read: the recording is damaged, there "
                .. "is no event at byte %d."

local function say_where (session, found)
  local moment, damage = session.walk:moment(), session.book.trace.damage
  if moment.number == 0 then
    session.console:note("info", "The beginning of the recording.")
  elseif found == "edge" and damage then
    session.console:note("error", DAMAGED:format(damage))
  elseif found == "edge" then
    session.console:note("info", "The end of the recording.")
  end
end

local function stand (session, found, met, message)
  local reason = met and met.reason or found == "found" and "step" or "other"
  programs.fresh()
  if message then
    session.console:note("error", "The recording cannot be read on: "
                                  .. tostring(message))
  else
    say_where(session, found)
  end
  session.pausing:begin(reason, met and met.hits or {},
                        reason == "exception" and error_data(session) or nil)
end

-- On a coroutine: a search lets others have their turn.
local function move_on (session, way, all_errors)
  local from = session.walk:moment()
  session.halting = false
  local found, met, message = go(session, way, from.running, all_errors)
  if session.over then
    return
  end
  session.console:arrive(from.number, session.walk:moment().number)
  stand(session, found, met, message)
end

function walking.check_still (session)
  if session.walk.moving then
    fault.raise("The recording is being searched")
  end
end

function walking.on (session, way)
  session.pausing:stands()
  walking.check_still(session)
  session:after(function ()
    session.pausing:finish()
    move_on(session, way)
  end)
end

local beginnings = {error = "on", entry = "in", ["end"] = "on"}

function walking.begin (session)
  local word = session.book.begins
  session:after(function ()
    move_on(session, beginnings[word], word == "error")
  end)
end

-- The recording is read for that, which pause ends.
function walking.list (session, number)
  session:after(function ()
    local lines, message = session.walk:read(function (on)
      return tables.calls(session.walk.replay, number, on, CALLS)
    end)
    for _, line in ipairs(lines or {message or "paused"}) do
      session.console:note("info", line)
    end
  end)
end

function walking.halt (session)
  session.halting = true
  session.walk:pause()
end

return walking
