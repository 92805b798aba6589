-- Small functions that call smaller ones, a third of them by a tail call.
local turns = tonumber(arg[1])
local function square (x)
  return x * x
end
local function clamp (x, most)
  if x > most then
    return most
  end
  return x
end
local function curve (x)
  local y = square(x) - 3 * x
  return clamp(y, 1000)
end
local function area (n)
  local sum = 0
  for x = 1, n do
    sum = sum + curve(x % 50) // 2
  end
  return sum
end
for _ = 1, turns do
  area(800)
end
