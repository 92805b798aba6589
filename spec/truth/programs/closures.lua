-- Functions that make functions, and pass values through chains of them.
local turns = tonumber(arg[1])
local function adder (k)
  return function (x)
    return x + k
  end
end
local function chain (f, g)
  return function (x)
    return f(g(x))
  end
end
local function map (list, f)
  local result = {}
  for i = 1, #list do
    result[i] = f(list[i])
  end
  return result
end
local function fold (list, f, sum)
  for i = 1, #list do
    sum = f(sum, list[i])
  end
  return sum
end
local function larger (a, b)
  return a > b and a or b
end
local list = {}
for i = 1, 100 do
  list[i] = i * 7 % 13
end
for _ = 1, turns do
  local f = chain(adder(1), chain(adder(2), adder(3)))
  fold(map(list, f), larger, 0)
  fold(list, larger, 0)
end
