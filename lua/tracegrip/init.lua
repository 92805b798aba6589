-- init.lua - what require "tracegrip" gives: traces from Lua.
--
--   local tracegrip = require "tracegrip"
--   local trace = tracegrip.start {name = "load", trace = {"name", "time"}}
--   load_everything()
--   trace:stop()
--   for packet in trace:packets() do print(packet.type, packet.name) end
--
-- Loading it sets no global and installs no hook.
--
-- tracegrip.traceTypes
--   The list of what a trace can collect: name callsite time parameterNames
--   arguments return throw yield (a trace's default) and location depth
--   hitCount thread.
--
-- tracegrip.start (options?) -> Trace
--   Starts a trace. Several run at once, each with its own options; one that
--   has the name of a running trace replaces it. Wrong options raise an error
--   and change nothing. The options, all optional:
--
--   name             string; a generated "Trace 1", "Trace 2", ... by default
--   trace            list of trace types; the first eight by default
--   include exclude  lists of Lua patterns, on source or function name
--   c                whether C functions are traced (true)
--   maxDepth         frames at this depth and deeper are hidden
--   minDuration      ms; shorter calls are left out on export and in the log
--   valueDepth       levels of tables whose properties are listed (1)
--   valueProperties  properties listed of one table (16)
--   valueString      bytes kept of one string (256)
--   valueObjects     objects described in one packet (64)
--                    -- each of these four may be "all"
--   redact           list of patterns; values of parameters and keys with
--                    such a name are kept secret
--   buffer           bytes of events kept
--   overflow         when the buffer is full: "stop" keeps the beginning,
--                    "ring" the end; "wait" makes the program wait for the
--                    reader if that is a thread of its own (a server's
--                    client), and is the same as "stop" if there is none
--   maxEvents        the trace ends by itself after so many packets
--   duration         ms; the trace ends by itself after this time
--
-- A Trace:
--   trace.name, trace.active
--   trace.lost                   events not recorded, a table cause -> count
--   trace:stop()                 once or often; also <close> and collection
--   trace:packets()              iterator over its packets, Lua tables
--   trace:export(format, path)   true | nil, message, code
--
-- Packets are described in docs/protocol.md.
--
-- These are the C functions themselves: a Lua function around them would stand
-- between the program's frames and their trace.

local core = require "tracegrip.core"
core.own()

return {
  start = core.start,
  traceTypes = core.traceTypes,
}
