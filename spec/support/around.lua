-- around.lua - puts a trace around the program that a child is about to run.
--
-- run.packets has the interpreter run this first (lua5.4 -e), with a directory
-- as argument. The trace starts as the last thing here, so the program's main
-- chunk is the first frame and has no Lua caller, as without tracing. It ends
-- with the interpreter: when the state closes or, after a plain os.exit, from
-- the C library's exit.

local core = require "tracegrip.core"
core.own()

local directory = ...
local path = package.cpath
package.cpath = path:gsub("/lib/lua/5%.4/%?%.so", "/spec/?.so")
local atexit = require "atexit"
package.cpath = path
package.loaded.atexit = nil

local options = dofile(directory .. "/options.lua")

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
  local file = assert(io.open(directory .. "/state.lua", "w"))
  file:write(state(trace))
  file:close()
end

atexit(core.start, options, finish)
