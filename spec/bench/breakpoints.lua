-- breakpoints.lua - what a breakpoint costs the calls of other functions, and
-- a condition that does not hold, or a logpoint, each time.
--
--   make breakpoints
--
-- Nanoseconds of the processor that a call of a small function takes: with no
-- hook; with one for calls that does nothing, set and taken away by the program
-- itself; with a debugger attached; with a breakpoint in another function; with
-- one, and while errors are asked for. The least of nine rounds of a million
-- calls, and what is on top of the first in terms of the empty hook's. Then
-- microseconds for each time that a line with a condition, or a logpoint, is
-- reached, also those of the server's thread.

local debugger = require "spec.support.debugger"
local run = require "spec.support.run"

local program = ("package.cpath = %q .. package.cpath\n"):format(
  run.build .. "/spec/?.so;") .. [[
local bench = require "bench_hook"
local COUNT, ROUNDS = 1000000, 9
local function leaf (a) return a + 1 end
local function marked (a)
  return a
end
local function round ()
  local begun = bench.now()
  for i = 1, COUNT do leaf(i) end
  return (bench.now() - begun) / COUNT
end
local function tell ()
  local least = math.huge
  for _ = 1, ROUNDS do least = math.min(least, round()) end
  io.stdout:write(("%.2f\n"):format(least))
  io.stdout:flush()
end
tell()
bench.hook "calls"
tell()
bench.hook()
io.stderr:write "begun\n"
for n = 1, 3 do
  while step ~= n do end
  tell()
end
while true do end
]]

local function lines (text)
  return select(2, text:gsub("\n", ""))
end

local hits = [[
local COUNT, ROUNDS = %d, 5
local function round ()
  local begun = os.clock()
  local sum = 0
  for i = 1, COUNT do
    sum = sum + i
  end
  return (os.clock() - begun) / COUNT
end
local least = math.huge
for _ = 1, ROUNDS do least = math.min(least, round()) end
io.stdout:write(("%%.2f\n"):format(least * 1e6))
io.stdout:flush()
while true do end
]]

local names = {"no hook", "an empty hook for calls", "a debugger is attached",
               "a breakpoint in another function",
               "a breakpoint, and errors are asked for"}

local function show (text)
  local n, first, empty = 0, nil, nil
  for figure in text:gmatch "%S+" do
    n = n + 1
    local ns = tonumber(figure)
    first = first or ns
    empty = empty or n == 2 and ns - first
    print(("%-40s %6.1f ns %8s"):format(names[n], ns,
      empty and ("%.2f"):format((ns - first) / empty) or "-"))
  end
end

local function measure (name, condition, count)
  debugger.debug(hits:format(count), function (front, _, command)
    front:stop_at(6, condition)
    front:post "Debugger.resume"
    print(("%-40s %6.1f us"):format(name,
      tonumber(command:until_says "(%S+)\n")))
  end)
end

debugger.attach(program, function (front, command)
  local function step (n)
    front:ask("Runtime.evaluate", {expression = "step = " .. n})
    command:until_ready(function () return lines(command.out) == n + 2 end)
  end
  command:until_ready(function () return lines(command.out) == 2 end)
  step(1)
  front:stop_at(6)
  step(2)
  front:ask("Debugger.setPauseOnExceptions", {state = "all"})
  step(3)
  show(command.out)
end)
measure("a condition that does not hold", "i == -1", 20000)
measure("a logpoint", "/** DEVTOOLS_LOGPOINT */ console.log(i)", 5000)
