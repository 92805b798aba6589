-- busy.lua - a program that does a bit of everything, the same each time, so
-- that wherever it is cut off something is going on: calls, tail calls, errors,
-- coroutines, functions that nobody has seen before, values of all sizes up to
-- some that need a block of their own.
--
--   number = loadfile("busy.lua")(rounds)
--
-- The number is what all of it comes to.

local rounds = ...
local sum = 0

local function leaf (x)
  return x + 1, "leaf"
end

local function tail (x)
  return leaf(x)
end

local function fail (x)
  error(x % 3 == 0 and {code = x} or "failed " .. x, 0)
end

local function take (...)
  sum = sum * 31 + #tostring((select(2, ...))) & 0xffffff
  return select("#", ...)
end

-- Chunks of different texts define functions of different names, and long ones:
-- what is known of them needs blocks of its own.
local padding = ("x"):rep(150)

local function fresh (i)
  local text = "local function fresh%d (a%d, ...) return a%d end return fresh%d"
  local f = load((text:gsub("%%d", padding .. i)))()
  return f(i, f, fresh)
end

local function deep (n)
  if n == 0 then
    return coroutine.yield "deep"
  end
  return (deep(n - 1))
end

local function generate (n)
  for i = 1, n do
    coroutine.yield(i, leaf(i))
  end
end

local waiting = coroutine.wrap(function ()
  while true do
    deep(5)
  end
end)

for i = 1, rounds do
  tail(i)
  for k = 1, 4 do
    fresh(4 * i + k)
  end
  pcall(fail, i)
  waiting()
  for x in coroutine.wrap(generate), i % 4 do
    sum = sum + take(x, x)
  end
  take({i, name = "n" .. i, {}}, ("x"):rep(i * 7 % 3000), i / 3, nil)
  if i % 20 == 0 then
    take((("%08d"):format(i)):rep(10000 + 5000 * (i % 7)))
  end
  if i % 50 == 0 then
    collectgarbage "step"
  end
end

return sum
