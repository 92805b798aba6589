-- child.lua - runs a program that is traced from where it calls start().
--
--   lua5.4 child.lua program.lua
--
-- in a directory with "options.lua", which returns the options of the trace.
-- To the program it offers the globals "tracegrip" and start([options]), which
-- starts a trace and returns it. Everything started is stopped when the program
-- ends, and its packets (Lua tables) go to "result.lua".

tracegrip = require "tracegrip"
local literal = dofile(os.getenv "TG_LITERAL")
local options = dofile "options.lua"
local started = {}

function start (mine)
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
  result[i] = one
end
local file = assert(io.open("result.lua", "wb"))
assert(file:write("return ", literal(result)))
assert(file:close())
