-- untraced.lua - a random program that makes and leaves frames in every way,
-- for windows: what it prints must not depend on whether anybody looks.
--
--   loadfile("untraced.lua")(seed, steps)
--
-- Calls, tail calls, errors through pcall and coroutines, yields across them,
-- coroutines that are kept, closed, dropped or wrapped, callbacks from C,
-- finalizers, a hook of its own. At the end the sum of all values.

local seed, steps = tonumber((...)), tonumber((select(2, ...)))
local sum, state = 0, seed

local function random (n)
  state = (state * 1103515245 + 12345) % 2147483648
  return state // 65536 % n + 1
end

local function add (x)
  sum = (sum * 31 + x) % 1000000007
end

local acts, kept = {}, {}

local function act (depth)
  return acts[random(#acts)](depth)
end

local function some (depth)
  local x = 0
  for i = 1, random(40) do x = x + i * depth % 7 end
  if depth > 0 then
    for _ = 1, random(2) do x = x + act(depth - 1) end
  end
  return x
end

local function body (depth)
  local x = some(depth)
  for i = 1, random(4) do x = x + (coroutine.yield(i) or 0) end
  if random(5) == 1 then error {x} end
  return some(depth)
end

local function go_on (co)
  local ok, x = coroutine.resume(co, random(9))
  add(ok and x or 3)
  return type(x) == "number" and x or 1
end

acts[1] = some
acts[2] = function (depth) return some(depth) end
acts[3] = function (depth)
  local ok, x = pcall(some, depth)
  add(ok and x or 1)
  return 2
end
acts[4] = function (depth)
  local ok = pcall(function ()
    some(depth)
    error("e" .. depth)
  end)
  return ok and 1 or 2
end
acts[5] = function (depth)
  local co = coroutine.create(body)
  local x = select(2, coroutine.resume(co, depth))
  kept[random(20)] = co
  return type(x) == "number" and x or 1
end
acts[6] = function (depth)
  local co = kept[random(20)]
  if co and coroutine.status(co) == "suspended" then return go_on(co) end
  return some(depth)
end
acts[7] = function (depth)
  local f, x = coroutine.wrap(body), 0
  for _ = 1, random(6) do
    local ok, y = pcall(f, depth)
    if not ok then break end
    x = x + (tonumber(y) or 0)
  end
  return x
end
acts[8] = function (depth)
  local co = kept[random(20)]
  if co and coroutine.status(co) == "suspended" then coroutine.close(co) end
  return some(depth)
end
acts[9] = function (depth)
  local function by () return ("x"):rep(some(depth) % 9) end
  return #("abcabc"):gsub("b", by)
end
acts[10] = function ()
  local list = {}
  for i = 1, 12 do list[i] = i * 7 % 13 end
  table.sort(list, function (a, b) return a < b end)
  return list[3]
end
acts[11] = function (depth)
  local x <close> = setmetatable({}, {__close = function () add(depth) end})
  return some(depth), x
end
acts[12] = function (depth)
  local function deep (n) return n == 0 and some(depth) or 1 + deep(n - 1) end
  return deep(random(150))
end
acts[13] = function (depth)
  local n = 0
  debug.sethook(function () n = n + 1 end, "crl")
  local x = pcall(some, 0)
  debug.sethook()
  add(n)
  return x and depth or 0
end
acts[14] = function (depth)
  return select(2, xpcall(some, function () return 5 end, depth))
end

acts[15] = function (depth)
  local function fall (n)
    if n == 0 then error("f" .. some(depth)) end
    return 1 + fall(n - 1)
  end
  return pcall(fall, random(2500)) and 1 or 3
end
acts[16] = function (depth)
  local function sink (n)
    if n == 0 then return coroutine.yield(some(depth)) or 1 end
    return 1 + sink(n - 1)
  end
  local co = coroutine.create(sink)
  coroutine.resume(co, random(1500))
  kept[random(20)] = co
  return 1
end
acts[17] = function (depth)
  local ok, x = xpcall(error, function (e) return some(depth) .. e end, "g")
  add(ok and 1 or #x)
  return 4
end

for _ = 1, steps do add(act(4)) end
print(sum)
