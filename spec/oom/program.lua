-- program.lua - a bit of everything that makes the tracer allocate: many
-- functions, deep stacks, coroutines, values, errors. Prints a checksum.

local sum = 0
local function add (n)
  sum = sum + n
end

local function deep (n, t)
  if n == 0 then
    return #t
  end
  return 1 + deep(n - 1, t)
end

add(deep(60, {1, 2, {3, {4}}, name = "x"}))
for i = 1, 20 do
  add(load("return function (a) return a + " .. i .. " end")()(i))
end
for i = 1, 20 do
  local co = coroutine.create(function (a, b)
    local c = coroutine.yield({a, b, key = ("long"):rep(100)})
    error({code = c, text = ("wide"):rep(200)})
  end)
  local _, t = coroutine.resume(co, i, {i})
  local _, e = coroutine.resume(co, #t.key)
  add(e.code)
end
add(select(2, xpcall(error, function (m) return #m end, "message")))
print(sum)
