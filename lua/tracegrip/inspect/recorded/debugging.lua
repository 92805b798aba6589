-- debugging.lua - the domain Debugger of a recording: breakpoints, pauses,
-- steps.
--
--   debugging.methods        name -> function (session, params): a result
--
-- session: recorded.lua's. Lines of the protocol count from 0; here and in Lua
-- they count from 1.

local core = require "tracegrip.core"
local evaluating = require "tracegrip.inspect.recorded.evaluating"
local fault = require "tracegrip.inspect.fault"
local regex = require "tracegrip.inspect.regex"
local source = require "tracegrip.inspect.scripts"
local textsearch = require "tracegrip.inspect.textsearch"
local walking = require "tracegrip.inspect.recorded.walking"
local wire = require "tracegrip.wire"
core.own()

local methods = {evaluateOnCallFrame = evaluating.in_frame}
local debugging = {methods = methods}

---------------------------------------------------------------------------
-- Going on
---------------------------------------------------------------------------

local function mover (way)
  return function (session)
    walking.on(session, way)
    return {}
  end
end

methods.resume, methods.stepInto = mover "on", mover "in"
methods.stepOver, methods.stepOut = mover "over", mover "out"

-- A search ends where it is.
function methods.pause (session)
  walking.halt(session)
  return {}
end

function methods.restartFrame (session, params)
  local frame = session.pausing:frame(fault.string(params, "callFrameId"))
  if not frame.seen then
    fault.raise("The recording does not have the beginning of this call")
  end
  walking.on(session, frame.entry + 1)
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
  walking.on(session, "on")
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
