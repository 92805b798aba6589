-- child.lua - runs a program that is traced from where it calls start().
--
--   lua5.4 child.lua program.lua
--
-- in a directory with "options.lua", which returns the options of the trace.
-- To the program it offers the globals "tracegrip" and start([options]), which
-- starts a trace and returns it. Everything started is stopped when the program
-- ends, and its packets (Lua tables) go to "result.lua". Saved and opened, each
-- trace must say the same; with TG_TAPE=1 all is recorded on a file from the
-- first start() on, and that must say the same too.

tracegrip = require "tracegrip"
local core = require "tracegrip.core"
local support = os.getenv "TG_SUPPORT"
local literal = dofile(support .. "literal.lua")
local again = dofile(support .. "again.lua")
local tape = os.getenv "TG_TAPE" and "tape"
local options = dofile "options.lua"
local started = {}

-- All that a trace with these options sees, without its limits.
local function record (mine)
  local all = {}
  for key, value in pairs(mine) do
    all[key] = value
  end
  for _, key in ipairs {"name", "buffer", "overflow", "maxEvents",
                        "duration"} do
    all[key] = nil
  end
  assert(core.record(all, {path = tape}))
end

function start (mine)
  if tape and #started == 0 then
    record(mine or options)
  end
  local trace = tracegrip.start(mine or options)
  started[#started + 1] = trace
  return trace
end

local chunk = assert(loadfile(arg[1]))
local ok, message = pcall(chunk)
for i = 1, #started do   -- no call before the last trace has stopped
  started[i]:stop()
end

local result = {ok = ok, message = not ok and tostring(message) or nil}
for i, trace in ipairs(started) do
  local one = {lost = trace.lost, name = trace.name, packets = {}}
  for packet in trace:packets() do
    one.packets[#one.packets + 1] = packet
  end
  one.again = again(trace, ".", tape, i + 1)
  result[i] = one
end
local file = assert(io.open("result.lua", "wb"))
assert(file:write("return ", literal(result)))
assert(file:close())
