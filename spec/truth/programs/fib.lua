-- Calls in calls: all of the time is one function's.
local turns = tonumber(arg[1])
local function fib (n)
  if n < 2 then
    return n
  end
  return fib(n - 1) + fib(n - 2)
end
local function more (n)
  local sum = 0
  for i = 1, n do
    sum = sum + i % 7
  end
  return sum
end
for _ = 1, turns do
  fib(12)
  more(4000)
end
