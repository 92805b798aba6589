-- debugging.lua - the domain Debugger of a recording: breakpoints, pauses,
-- steps.
--
--   debugging.methods        name -> function (session, params): a result
--   debugging.begin(session) the front end has set what it wants: the walk goes
--                            to the first place where it stands
--   debugging.walk(session, way)
--                            the walk goes on when the reply is sent; way: a
--                            move of replay/walk.lua, or a moment's number
--
-- session: recorded.lua's. Lines of the protocol count from 0; here and in Lua
-- they count from 1.

local core = require "tracegrip.core"
local evaluating = require "tracegrip.inspect.recorded.evaluating"
local fault = require "tracegrip.inspect.fault"
local frames = require "tracegrip.replay.frames"
local points = require "tracegrip.replay.points"
local programs = require "tracegrip.inspect.values"
local regex = require "tracegrip.inspect.regex"
local source = require "tracegrip.inspect.scripts"
local textsearch = require "tracegrip.inspect.textsearch"
local values = require "tracegrip.replay.values"
local wire = require "tracegrip.wire"
core.own()

local PAUSE = "backtrace"       -- the group of a pause's objects
local IGNORED = 1000            -- moments that a step leads over between two
                                -- looks at other requests

local methods = {evaluateOnCallFrame = evaluating.in_frame}
local debugging = {methods = methods}

---------------------------------------------------------------------------
-- Going on
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

-- What the pause says of an error that is about to unwind frames.
local function error_data (session)
  local grip, pool, packet = frames.error(session.walk)
  local data = session.remote:describe(grip, pool, PAUSE, true)
  data.uncaught = points.is_uncaught(
    packet, points.depth(session.walk.replay, packet.thread))
  return data
end

local function say_where (session, found)
  local moment = session.walk:moment()
  if moment.number == 0 then
    session.console:note("info", "The beginning of the recording.")
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

function debugging.walk (session, way)
  session.pausing:stands()
  session:after(function ()
    session.pausing:finish()
    move_on(session, way)
  end)
end

evaluating.walk = debugging.walk

local beginnings = {error = "on", entry = "in", ["end"] = "on"}

function debugging.begin (session)
  local word = session.book.begins
  session:after(function ()
    move_on(session, beginnings[word], word == "error")
  end)
end

evaluating.begin = debugging.begin

local function mover (way)
  return function (session)
    debugging.walk(session, way)
    return {}
  end
end

methods.resume, methods.stepInto = mover "on", mover "in"
methods.stepOver, methods.stepOut = mover "over", mover "out"

-- A search ends where it is.
function methods.pause (session)
  session.halting = true
  session.walk:pause()
  return {}
end

function methods.restartFrame (session, params)
  local frame = session.pausing:frame(fault.string(params, "callFrameId"))
  if not frame.seen then
    fault.raise("The recording does not have the beginning of this call")
  end
  debugging.walk(session, frame.entry + 1)
  return {callFrames = wire.array {}}
end

---------------------------------------------------------------------------
-- Scripts
---------------------------------------------------------------------------

function methods.enable (session)
  session.debugger = true
  for _, script in ipairs(session.book.scripts:all()) do
    session:send("Debugger.scriptParsed", source.parsed(script))
  end
  session.pausing:announce()
  return {debuggerId = ("lua-%d"):format(core.pid())}
end

-- Its breakpoints go, as those of V8 do.
function methods.disable (session)
  session.debugger = false
  session.stops:clear()
  return {}
end

function methods.getScriptSource (session, params)
  local script = session.book.scripts:of(fault.string(params, "scriptId"))
  return {scriptSource = script.text}
end

function methods.searchInContent (session, params)
  local script = session.book.scripts:of(fault.string(params, "scriptId"))
  return {result = wire.array(textsearch.lines(script.text, params))}
end

---------------------------------------------------------------------------
-- Breakpoints
---------------------------------------------------------------------------

local function location (script, line)
  return {scriptId = script.id, lineNumber = line - 1, columnNumber = 0}
end

local function locations (one)
  local list = wire.array {}
  for i, place in ipairs(one.places) do
    list[i] = location(place.script, place.line)
  end
  return list
end

local function read_location (session, place)
  return session.book.scripts:of(fault.string(place, "scriptId")),
         fault.integer(place, "lineNumber") + 1
end

-- One that stops nowhere is told why, in the console.
local function add (session, params, id, line, matches)
  local one = session.stops:add(id, line,
                                fault.string(params, "condition", true),
                                matches)
  if one.message then
    session.console:note("error", ("The breakpoint at line %d: %s"):format(
      line, one.message))
  end
  return one
end

-- Which scripts a request means, and a name for that.
local function selector (params)
  local url = fault.string(params, "url", true)
  local pattern = fault.string(params, "urlRegex", true)
  if url then
    return function (script) return script.url == url end, "1:" .. url
  elseif not pattern then
    fault.misuse("Either url or urlRegex must be specified.")
  end
  local found = regex.compile(pattern)
                or fault.raise("Regular expression not known here: %s",
                               pattern)
  return function (script) return found(script.url) end, "2:" .. pattern
end

function methods.setBreakpointByUrl (session, params)
  local line = fault.integer(params, "lineNumber") + 1
  local matches, what = selector(params)
  local one = add(session, params, ("%d:%s"):format(line, what), line, matches)
  return {breakpointId = one.id, locations = locations(one)}
end

function methods.setBreakpoint (session, params)
  local script, line = read_location(session,
                                     fault.object(params, "location"))
  local one = add(session, params, ("%d:3:%s"):format(line, script.id), line,
                  function (other) return other == script end)
  if not one.places[1] then
    session.stops:remove(one.id)
    fault.raise("Could not resolve breakpoint")
  end
  return {breakpointId = one.id, actualLocation = locations(one)[1]}
end

function methods.removeBreakpoint (session, params)
  session.stops:remove(fault.string(params, "breakpointId"))
  return {}
end

-- The end is not included: of its line only what is before its column.
function methods.getPossibleBreakpoints (session, params)
  local script, from = read_location(session, fault.object(params, "start"))
  local stop = fault.object(params, "end", true)
  local to = math.huge
  if stop then
    local _, line = read_location(session, stop)
    to = (fault.integer(stop, "columnNumber", true) or 0) > 0 and line
         or line - 1
  end
  local list = wire.array {}
  for _, one in ipairs((session.book.scripts:lines(script))) do
    if one.recorded and one.line >= from and one.line <= to then
      list[#list + 1] = location(script, one.line)
    end
  end
  return {locations = list}
end

function methods.setBreakpointsActive (session, params)
  session.stops.active = params.active
  return {}
end

function methods.setSkipAllPauses (session, params)
  session.stops.skips = params.skip
  return {}
end

local states = {none = true, caught = true, uncaught = true, all = true}

function methods.setPauseOnExceptions (session, params)
  if not states[params.state] then
    fault.raise("Unknown pause on exceptions mode: %s", params.state)
  end
  session.stops.errors = params.state
  return {}
end

function methods.continueToLocation (session, params)
  session.pausing:stands()
  local there, message = session.stops:goal(
    read_location(session, fault.object(params, "location")))
  if not there then
    fault.raise("%s", message)
  end
  debugging.walk(session, "on")
  return {}
end

---------------------------------------------------------------------------
-- What is passed over, and what cannot be
---------------------------------------------------------------------------

function methods.setBlackboxPatterns (session, params)
  local list = {}
  for i, pattern in ipairs(params.patterns) do
    list[i] = type(pattern) == "string" and regex.compile(pattern)
              or fault.raise("Regular expression not known here: %s",
                             tostring(pattern))
  end
  session.ignored = list
  return {}
end

function methods.setBlackboxedRanges (_, params)
  if params.positions[1] then
    fault.raise("Steps through a recording pass over no parts of files")
  end
  return {}
end

function methods.setInstrumentationBreakpoint ()
  fault.raise("A recording has no script that is about to begin")
end

function methods.setVariableValue ()
  fault.raise("Nothing can be changed in a recording")
end

function methods.setAsyncCallStackDepth (session, params)
  session.async_depth = fault.integer(params, "maxDepth")
  return {}
end

return debugging
