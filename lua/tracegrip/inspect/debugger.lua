-- debugger.lua - the domain Debugger: breakpoints, pauses, steps, scripts.
--
--   debugger.methods           name -> function (session, params, co): a
--                              result; co is what runs, or stands still
--   debugger.reached(co, func, source, line, hit, entered, stepped, changed)
--                              the hook is at such a place; whether the program
--                              has stood still there, or goes no further step.
--                              hit: the line has breakpoints; entered: the
--                              function begins, and has some
--   debugger.changed(co, level)
--                              what is watched has changed (watching.lua);
--                              whether the program has stood still
--   debugger.halt(co)          the program asks to be stopped
--   debugger.asserted(co)      console.assert has failed; whether the program
--                              has stood still
--   debugger.thrown(co, value, level, uncaught)
--                              an error in the frame of that level; whether the
--                              program has stood still there
--   debugger.begin(co)         the program is to stop at its first line
--   debugger.met(co, source)   a function of a source that was never met begins
--   debugger.add_named(session, params)
--                              Lua.setBreakpointByName (adapting.lua)
--   debugger.pass()            Lua.passError (the same)
--   debugger.leave(session)    it is gone
--
-- Lines of the protocol count from 0; here and in Lua they count from 1.

local core = require "tracegrip.core"
local breakpoints = require "tracegrip.inspect.breakpoints"
local conditions = require "tracegrip.inspect.conditions"
local exceptions = require "tracegrip.inspect.exceptions"
local expression = require "tracegrip.inspect.expression"
local fault = require "tracegrip.inspect.fault"
local frames = require "tracegrip.inspect.frames"
local inframes = require "tracegrip.inspect.inframes"
local instrumenting = require "tracegrip.inspect.instrumenting"
local lines = require "tracegrip.inspect.lines"
local objects = require "tracegrip.inspect.objects"
local passing = require "tracegrip.inspect.passing"
local pausing = require "tracegrip.inspect.pausing"
local regex = require "tracegrip.inspect.regex"
local scripts = require "tracegrip.inspect.scripts"
local sessions = require "tracegrip.inspect.sessions"
local textsearch = require "tracegrip.inspect.textsearch"
local watching = require "tracegrip.inspect.watching"
local wire = require "tracegrip.wire"
core.own()

local methods = {
  evaluateOnCallFrame = inframes.evaluate,
  setVariableValue = inframes.assign,
  setInstrumentationBreakpoint = instrumenting.set,
  setBlackboxedRanges = passing.set_ranges,
  setBlackboxPatterns = passing.set_patterns
}
local debugger = {methods = methods}

local next_reason = "other"     -- of the pause that a step ends in

---------------------------------------------------------------------------
-- Scripts
---------------------------------------------------------------------------

local function announce (session, script)
  session:send("Debugger.scriptParsed", scripts.parsed(script))
end

local function location (script, line)
  return {scriptId = script.id, lineNumber = line - 1, columnNumber = 0}
end

function scripts.on_new (script)
  sessions.each("debugger", function (session)
    announce(session, script)
  end)
  breakpoints.meet(script, function (session, one)
    session:send("Debugger.breakpointResolved", {
      breakpointId = one.id, location = location(script, one.at[script.id])
    })
  end)
end

-- Asked at each hit: without a closure.
local function all_skip ()
  for _, session in next, sessions.all() do
    if session.debugger and not session.skips then
      return false
    end
  end
  return true
end

-- Before a program's first function runs there is nothing to be found of it.
local function has_begun (running)
  local begun = false
  for _, co in ipairs(running) do
    begun = begun or frames.innermost(co, 0) ~= nil
  end
  return begun
end

-- One that has a source map stands still before it runs, where a debugger wants
-- that: it has breakpoints in files that it finds by the map alone.
function debugger.met (co, source)
  breakpoints.await(false)
  local frame = frames.innermost(co, 0)
  local script, fresh = scripts.meet(source, frame and frame.func)
  if fresh and script.map and not all_skip() and instrumenting.wanted() then
    pausing.stop(co, "instrumentation", {}, {data = {
      scriptId = script.id, url = script.url, sourceMapURL = script.map
    }})
  end
end

function methods.enable (session, _, co)
  local running = core.inspector.chain(co)
  scripts.scan(running)
  breakpoints.await(not has_begun(running))
  session.debugger, session.suspended = true, false
  core.inspector.attached(true)
  exceptions.choose(session, session.exceptions)
  for _, script in ipairs(scripts.all()) do
    announce(session, script)
  end
  pausing.announce(session)
  return {debuggerId = string.format("lua-%d", core.pid())}
end

-- Its breakpoints go, as those of V8 do; and the pause does, if it is not for a
-- snapshot of the heap.
function methods.disable (session)
  session.suspended = session.heap and pausing.stands()
  breakpoints.clear(session)
  watching.review()
  exceptions.choose(session, "none")
  passing.leave(session)
  instrumenting.leave(session)
  session.debugger = false
  if not sessions.any "debugger" then
    breakpoints.await(false)
  end
  core.inspector.attached(sessions.any "debugger")
  return {}
end

function debugger.leave (session)
  methods.disable(session)
  session.suspended = false
end

function methods.getScriptSource (_, params)
  return {scriptSource = scripts.of(fault.string(params, "scriptId")).text}
end

function methods.searchInContent (_, params)
  local script = scripts.of(fault.string(params, "scriptId"))
  return {result = wire.array(textsearch.lines(script.text, params))}
end

---------------------------------------------------------------------------
-- Breakpoints
---------------------------------------------------------------------------

local function condition_of (params)
  return expression.condition(fault.string(params, "condition", true) or "")
end

-- 'where' it is in words, until that is known.
local function add (session, params, one, where)
  conditions.attach(one, condition_of(params),
                    fault.string(params, "hitCondition", true),
                    fault.string(params, "logExpressions", true))
  breakpoints.add(session, one)
  conditions.check(one, where)
  return one
end

local function at_line (what, line)
  return string.format("%s:%d", what, line)
end

local function locations (one)
  local list = {}
  for script, at in next, one.at do
    list[#list + 1] = location(scripts.of(script), at)
  end
  return wire.array(list)
end

-- Which scripts a request means, and a name for that.
local function selector (params)
  local url = fault.string(params, "url", true)
  local pattern = fault.string(params, "urlRegex", true)
  if url then
    return function (script) return script.url == url end, "1", url
  elseif not pattern then
    fault.misuse("Either url or urlRegex must be specified.")
  end
  local found = regex.compile(pattern)
                or fault.raise("Regular expression not known here: %s",
                               pattern)
  return function (script) return found(script.url) end, "2", pattern
end

function methods.setBreakpointByUrl (session, params)
  local line = fault.integer(params, "lineNumber") + 1
  local matches, kind, what = selector(params)
  local id = string.format("%s:%d:0:%s", kind, line - 1, what)
  if session.breakpoints[id] then
    fault.raise("Breakpoint at specified location already exists.")
  end
  local one = add(session, params, {id = id, line = line, matches = matches},
                  at_line(what, line))
  return {breakpointId = id, locations = locations(one)}
end

-- At the beginning of every function of that name, whatever is loaded later.
function debugger.add_named (session, params)
  local name = fault.string(params, "name")
  local id = "4:" .. name
  if session.breakpoints[id] then
    fault.raise("Breakpoint of that function already exists.")
  end
  local one = add(session, params, {id = id, name = name}, name)
  return {breakpointId = id, locations = locations(one)}
end

local function read_location (place)
  return scripts.of(fault.string(place, "scriptId")),
         fault.integer(place, "lineNumber") + 1
end

function methods.setBreakpoint (session, params)
  local script, line = read_location(fault.object(params, "location"))
  local id = string.format("3:%d:0:%s", line - 1, script.id)
  if session.breakpoints[id] then
    fault.raise("Breakpoint at specified location already exists.")
  elseif not scripts.resolve(script, line) then
    fault.raise("Could not resolve breakpoint")
  end
  local one = add(session, params, {
    id = id, line = line,
    matches = function (other) return other == script end
  }, at_line(script.url, line))
  return {breakpointId = id,
          actualLocation = location(script, one.at[script.id])}
end

function methods.removeBreakpoint (session, params)
  local id = fault.string(params, "breakpointId")
  instrumenting.remove(session, id)
  breakpoints.remove(session, id)
  watching.review()
  return {}
end

-- The end is not included: of its line only what is before its column.
function methods.getPossibleBreakpoints (_, params)
  local script, from = read_location(fault.object(params, "start"))
  local stop = fault.object(params, "end", true)
  local to = math.huge
  if stop then
    local _, line = read_location(stop)
    to = (fault.integer(stop, "columnNumber", true) or 0) > 0 and line
         or line - 1
  end
  local list = {}
  for _, line in ipairs(lines.active(script.functions)) do
    if line >= from and line <= to then
      list[#list + 1] = location(script, line)
    end
  end
  return {locations = wire.array(list)}
end

function methods.setBreakpointsActive (session, params)
  session.active = params.active == true
  breakpoints.publish()
  return {}
end

function methods.setSkipAllPauses (session, params)
  session.skips = params.skip == true
  return {}
end

function methods.setPauseOnExceptions (session, params)
  local which = fault.string(params, "state")
  if not exceptions.choose(session, which) then
    fault.raise("Unknown pause on exceptions mode: %s", which)
  end
  return {}
end

---------------------------------------------------------------------------
-- Reaching a place
---------------------------------------------------------------------------

-- Stands still; how to go on.
local function stop (co, reason, hits, more)
  passing.over()
  return pausing.stop(co, reason, hits, more)
end

local function first_line (func)
  return debug.getinfo(func, "S").linedefined
end

-- A condition that does not hold is the usual case, a million times: nothing is
-- made for it.
function debugger.reached (co, func, source, line, hit, entered, stepped,
                           changed)
  local script = breakpoints.script(source)
  if not script or all_skip() then
    return true               -- nobody wants to know: no further step either
  end
  local hits, arrived = {}, false
  if hit or entered then
    local frame = frames.enter(co, func, line)
    hits, arrived = breakpoints.hits(source, hit and line or nil,
                                     entered and first_line(func) or nil,
                                     conditions.hold, frame)
    frames.leave(frame)
  end
  local changes = changed and watching.changes(hits, frames.innermost(co, 0))
  if #hits == 0 and not arrived
     and (not stepped or passing.leads_over(co, func, script, line)) then
    return false
  end
  breakpoints.goal(nil)
  local reason = (#hits > 0 or not stepped) and "other" or next_reason
  next_reason = "step"
  core.inspector.step(co, stop(co, reason, hits,
                               changes and {data = changes} or nil))
  return true
end

-- The frame of that level has changed it; or one of C, which is not shown.
function debugger.changed (co, level)
  local frame = frames.innermost(co, level) or frames.innermost(co, 0)
  local hits = {}
  local changes = watching.changes(hits, frame)
  if not changes or all_skip() then
    return false
  end
  next_reason = "step"
  level = frame and frame.level or level
  core.inspector.step(co, stop(co, "other", hits, {
    level = level, data = changes
  }), level)
  return true
end

function debugger.thrown (co, value, level, uncaught)
  local frame = frames.innermost(co, level)
  if not exceptions.wanted(uncaught)
     or frame and passing.ignores(scripts.meet(frame.info.source)) then
    return false
  end
  local from = passing.start()
  local how = stop(co, "exception", {}, {
    level = frame and frame.level or level,
    data = exceptions.data(value, uncaught)
  })
  if how == "pass" then
    passing.begin(from)       -- a step that is under way goes on
    return false
  end
  next_reason = "step"
  core.inspector.step(co, how)
  return true
end

function debugger.halt (co)
  if not all_skip() then
    core.inspector.step(co, stop(co, "other", {}))
  end
end

-- As V8: where exceptions stop the program.
function debugger.asserted (co)
  local wanted = false
  sessions.each("debugger", function (session)
    wanted = wanted or session.exceptions ~= "none"
  end)
  if not wanted or all_skip() then
    return false
  end
  core.inspector.step(co, stop(co, "assert", {}))
  return true
end

function debugger.begin (co)
  next_reason = "other"
  core.inspector.step(co, "next")
end

---------------------------------------------------------------------------
-- Going on
---------------------------------------------------------------------------

function methods.pause (_, _, co)
  if not pausing.stands() then
    next_reason = "other"
    passing.halt()
    core.inspector.step(co, "next")
  end
  return {}
end

function methods.resume (session)
  if not instrumenting.awaited(session) then
    pausing.go("none")
  end
  return {}
end

-- As if the error had not stopped the program.
function debugger.pass ()
  if pausing.reason() ~= "exception" then
    fault.raise("The program does not stand still at an error")
  end
  pausing.go("pass")
end

-- Into that function and no other of the line: over all of them, unless it is
-- met. It is where its first line is.
local function step_into_target (id)
  local func = objects.get(id)
  local info = type(func) == "function" and debug.getinfo(func, "S")
  if not info or info.what == "C" or core.inspector.own(func) then
    fault.raise("Only a function of Lua can be stepped into")
  end
  local script = scripts.meet(info.source)
  local at = scripts.resolve(script, math.max(info.linedefined, 1))
  pausing.go("over")
  if at then
    breakpoints.goal(script, at)
  end
end

function methods.stepInto (_, params)
  local target = fault.string(params, "target", true)
  if target then
    step_into_target(target)
  else
    passing.note(params)
    pausing.go("into")
  end
  return {}
end

function methods.stepOver (_, params)
  passing.note(params)
  pausing.go("over")
  return {}
end

function methods.stepOut ()
  pausing.go("out")
  return {}
end

function methods.continueToLocation (_, params)
  local script, line = read_location(fault.object(params, "location"))
  local at = scripts.resolve(script, line)
  if not at then
    fault.raise("There is no code at this line or after it")
  end
  pausing.go("none")
  breakpoints.goal(script, at)
  return {}
end

function methods.restartFrame ()
  fault.raise("A frame of Lua cannot be restarted")
end

function methods.setAsyncCallStackDepth (session, params)
  session.async_depth = fault.integer(params, "maxDepth")
  return {}
end

return debugger
