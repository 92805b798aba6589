-- around.lua - puts a trace around the program that a child is about to run.
--
-- run.packets has the interpreter run this first (lua5.4 -e), with a directory
-- and that of this file as arguments. The trace starts as the last thing here,
-- so the program's main chunk is the first frame and has no Lua caller, as
-- without tracing. It ends with the interpreter: when the state closes or,
-- after a plain os.exit, from the C library's exit. Then what it says must be
-- the same when it has been saved and opened; with TG_TAPE=1 also what a
-- recording of it all says.

local core = require "tracegrip.core"
core.own()

local directory, support = ...
local path = package.cpath
package.cpath = path:gsub("/lib/lua/5%.%d/%?%.so", "/spec/?.so")
local atexit = require "atexit"
package.cpath = path
package.loaded.atexit = nil

local options = dofile(directory .. "/options.lua")
local again = dofile(support .. "again.lua")
local tape = os.getenv "TG_TAPE" and directory .. "/tape"

local function state (trace)
  local parts = {}
  for cause, count in pairs(trace.lost) do
    parts[#parts + 1] = string.format("[%q] = %d", cause, count)
  end
  return string.format("return {lost = {%s}, bytes = %s, events = %s}",
                       table.concat(parts, ", "), trace.bytes, trace.events)
end

local function finish (trace)
  trace:stop()
  assert(trace:export("packets", directory .. "/packets.jsonl"))
  local message = again(trace, directory, tape, 2)
  if message then
    error(message, 0)
  end
  local file = assert(io.open(directory .. "/state.lua", "w"))
  file:write(state(trace))
  file:close()
end

local function start ()
  assert(core.record({trace = core.traceTypes}, {path = tape}))
  return core.start(options)
end

atexit(tape and start or core.start, options, finish)
