-- values.lua - a program that hands values of every shape to functions.
--
-- With a seed it is always the same. Its tables have no two keys whose order
-- depends on addresses or on the state's seed, so two runs see the same. Nor
-- does it ask the length of a list with holes: Lua 5.5 looks for its end by
-- the state's seed (ltable.c, hash_search).

local state = ...     -- the seed

local function random (n)
  state = state * 48271 % 2147483647
  return state // 7 % n + 1
end

local function nothing () end
local co = coroutine.create(function (...) coroutine.yield(...) end)
local classes = {
  {__name = "Named"}, {__name = 1}, {}, setmetatable({}, {__name = "Meta"}),
  {__name = ("long"):rep(30)}, {__metatable = false}, {__index = nothing},
  {__name = ""}
}

local value

local makers = {
  function () return random(200) - 100 end,
  function () return (random(200) - 100) * 2 ^ 40 // 1 | 0 end,
  function () return (random(2000) - 1000) / 8 end,
  function () return random(2) == 1 end,
  function () return nil end,
  function () return ("x"):rep(random(70)) end,
  function () return ("\0\xff"):rep(random(random(100))) end,
  function () return math.huge end,
  function () return nothing end,
  function () return print end,
  function () return co end,
  function () local up = random(9); return function () return up end end,
  function () return coroutine.wrap(nothing) end,
}

-- A sequence, with holes and what was removed, in an array or by hash.
local function list (depth)
  local t, n = {}, random(20)
  local from, to, step = 1, n, 1
  if random(3) == 1 then
    from, to, step = n, 1, -1
  end
  for i = from, to, step do
    t[i] = value(depth)
  end
  for _ = 1, random(8) - 4 do
    t[random(n)] = nil
  end
  local _ = #t        -- lets the interpreter note a length, nothing more
  return t
end

-- The first place of a table without a value.
local function vacant (t)
  local i = 1
  while t[i] ~= nil do
    i = i + 1
  end
  return i
end

-- Integer keys of every size, floats, booleans.
local function sparse (depth)
  local t = {}
  for _ = 1, random(5) do
    t[random(300) * 37 - 9000] = value(depth)
    t[random(100) + 0.5] = value(depth)
  end
  t[random(2) == 1] = value(depth)
  if random(3) == 1 then
    t[1] = 1
  end
  return t
end

function value (depth)
  local kind = random(#makers + (depth == 0 and 9 or 2))
  if makers[kind] then
    return makers[kind]()
  elseif depth > 2 then
    return {}
  end
  local t = (random(2) == 1 and list or sparse)(depth + 1)
  if random(4) == 1 then
    t[vacant(t)] = t
  end
  if random(3) == 1 then
    setmetatable(t, classes[random(#classes)])
  end
  return t
end

local function none () end
local function three (a, b, c) return c, b, a end
local function many (...) return ... end
local function some (_, ...) return select("#", ...), ... end

local shared = value(0)
for _ = 1, 12 do
  none(value(0), value(0))
  three(value(0), shared, value(0))
  many(value(0), value(0), value(0), shared, value(0), value(0), value(0))
  some(value(0), value(0), value(0))
  many()
  some(table.unpack(list(2), 1, 40))
  rawequal(value(0), shared)
  pcall(error, value(0))
end
