-- instrumenting.lua - debuggers that want to see a script with a source map
-- before it runs, since they have breakpoints in files that they find by the
-- map alone.
--
--   instrumenting.set(session, params)
--                            Debugger.setInstrumentationBreakpoint
--   instrumenting.remove(session, id)
--                            that breakpoint, if it is one
--   instrumenting.wanted()   whether one wants that now; each that does is
--                            waited for
--   instrumenting.awaited(session)
--                            this one goes on; whether another is waited for
--   instrumenting.leave(session)
--                            it goes, and so may the pause
--
-- Such a pause is over when all who wanted it have seen it: one that goes on
-- late would go on from another pause.

local core = require "tracegrip.core"
local breakpoints = require "tracegrip.inspect.breakpoints"
local fault = require "tracegrip.inspect.fault"
local pausing = require "tracegrip.inspect.pausing"
local sessions = require "tracegrip.inspect.sessions"
core.own()

local KNOWN = "beforeScriptWithSourceMapExecution"
local ID = "instrumentation:" .. KNOWN

local instrumenting = {}

function instrumenting.set (session, params)
  if fault.string(params, "instrumentation") ~= KNOWN then
    fault.raise("Only %s is known here", KNOWN)
  end
  session.instrumented = true
  breakpoints.publish()
  return {breakpointId = ID}
end

function instrumenting.remove (session, id)
  if id == ID then
    session.instrumented = false
  end
end

function instrumenting.wanted ()
  local any = false
  sessions.each("debugger", function (session)
    session.waits = session.instrumented
    any = any or session.waits
  end)
  return any
end

local function is_awaited ()
  local any = false
  sessions.each("debugger", function (session)
    any = any or session.instrumented and session.waits
  end)
  return any and pausing.stands() and pausing.reason() == "instrumentation"
end

function instrumenting.awaited (session)
  session.waits = false
  return is_awaited()
end

function instrumenting.leave (session)
  local waited = is_awaited()
  session.instrumented, session.waits = false, false
  if waited and not is_awaited() then
    pausing.go("none")
  end
end

return instrumenting
