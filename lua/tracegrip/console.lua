-- console.lua - marks around the part of a program that matters.
--
--   local console = require "tracegrip.console"
--   console.startTrace("load")
--   load_everything()
--   local trace = console.stopTrace("load")
--
-- startTrace (name?, options?) -> name
--   Starts a trace and returns its name, a generated "Trace 1", "Trace 2", ...
--   if none is given. The options are those of tracegrip.start. A running
--   trace of the same name is discarded and replaced.
--
-- stopTrace (name?) -> Trace | nil, message, code
--   Stops the trace of that name, without a name the most recently started
--   one. With nothing running the code is "wrongState", with no trace of that
--   name "noSuchTrace".
--
-- A client that is attached to the program through an actor is told of both.
--
-- These are the C functions themselves: a Lua function around them would stand
-- between the program's frames and their trace.

local core = require "tracegrip.core"
core.own(true)

return {
  startTrace = core.startTrace,
  stopTrace = core.stopTrace,
}
