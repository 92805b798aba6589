-- Traces by name, several at once: the most recently started one stops first
-- unless another is named.

local console = require "tracegrip.console"

local function sum (n)
  local s = 0
  for i = 1, n do
    s = s + i
  end
  return s
end

local function count (trace)
  local n = 0
  for _ in trace:packets() do
    n = n + 1
  end
  return n
end

console.startTrace("all", {trace = {"name", "time"}})
sum(10)
print("unnamed traces are called", console.startTrace())
sum(20)
local inner = console.stopTrace()
sum(30)
local outer = console.stopTrace("all")

print(inner.name, count(inner), "packets")
print(outer.name, count(outer) > count(inner), "the outer one saw more")

local none, message, code = console.stopTrace("all")
print(none, code)
assert(type(message) == "string")

--[[ prints
unnamed traces are called	Trace 1
Trace 1	4	packets
all	true	the outer one saw more
nil	wrongState
--]]
