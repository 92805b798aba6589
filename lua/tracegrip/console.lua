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
-- Into all traces that run, with the type "markers" (which those have that
-- tracegrip.start, startTrace and the command line start; an actor's client has
-- to ask for it), at this place and time:
--
-- timeStamp (name, ...)           a moment
-- time (label)                    a timer begins; one that runs goes on
-- timeLog (label, ...)            how long it has run
-- timeEnd (label)                 how long it ran: a span of time
-- count (label), countReset (label)
-- log, info, warn, error, debug (...)
-- table, trace (...)              to a trace the same as log
-- assert (condition, ...)         if it is false or nil: an error that says so;
--                                 nothing is raised
-- group, groupCollapsed (...)     what follows is one level in
-- groupEnd ()
-- traceparent (header)            calls that this call makes from now on hang
--                                 below that span of somebody else's (a W3C
--                                 traceparent) when they are exported or sent
--                                 as spans; nil or anything else ends that
--
-- They take what those of browsers do: a label is "default" if there is none;
-- values are captured as a call's arguments are. Nothing is printed, nothing is
-- an error: of a timer that was never begun there is a marker that says so, of
-- the method "warn". Timers and counters are those since tracing began. When
-- no trace wants markers a call does nothing.
--
-- Where the program is open to Chrome DevTools (docs/inspect.md) their console
-- shows all of these but timeStamp, and those of before they were attached: the
-- last 1000, whose values are kept for them. A failed assert stops the program
-- where exceptions do. Timers and counters are those since it was opened.
--
-- These are the C functions themselves: a Lua function around them would stand
-- between the program's frames and their trace.

local core = require("tracegrip.installed").core
core.own(true)

local console = {
  startTrace = core.startTrace,
  stopTrace = core.stopTrace,
}
for name, method in core.lua.pairs(core.marks) do
  console[name] = method
end
return console
