-- programs.lua - what exports are tried with: name -> code. Each calls start().

local programs = {}

programs.calls = [[
local function leaf (n) return n * 2 end
local function middle (n) leaf(n) return leaf(n + 1), "two" end
local function recurse (n)
  if n > 0 then return 1 + recurse(n - 1) end
  return 0
end
local function main ()
  for i = 1, 50 do middle(i) end
  recurse(20)
  string.rep("x", 3)
  table.sort({3, 1, 2}, function (a, b) return a < b end)
end
start()
main() main()
]]

programs.tails = [[
local function count (n)
  if n == 0 then return "done" end
  return count(n - 1)
end
local function apply (f, ...) return f(...) end
start()
for i = 0, 9 do count(i) end
apply(apply, tostring, 1)
]]

programs.errors = [[
local function fail (n)
  if n == 0 then error({code = 1}) end
  fail(n - 1)
end
start()
for i = 0, 5 do pcall(fail, i) end
xpcall(fail, function (e) return tostring(e) end, 3)
pcall(error)
pcall(function () local x <close> = setmetatable({}, {__close = error}) end)
]]

programs.coroutines = [[
local function yielder (n)
  for i = 1, n do coroutine.yield(i) end
  return "end"
end
local function deeper (n) local r = yielder(n) return r end
local function body (n) deeper(n) deeper(n) end
start()
local a, b = coroutine.wrap(body), coroutine.create(body)
for i = 1, 4 do a(4) coroutine.resume(b, 3) end
local outer = coroutine.wrap(function ()
  local inner = coroutine.wrap(deeper)
  for i = 1, 3 do coroutine.yield(inner(5)) end
end)
for i = 1, 3 do outer() end
local failing = coroutine.create(function () coroutine.yield() error "x" end)
coroutine.resume(failing) coroutine.resume(failing)
]]

programs.names = [==[
local odd = {"a b", "a;b", 'say "so"', "back\\slash", "caf\u{E9}", "\xff\xfe",
             "x (y:12)", "tab\there", "<b>&amp;", "%d", "::UMA", "line\nfeed",
             "\1\127", "enhancedTraceVersion"}
start()
for _, name in ipairs(odd) do
  local f = load("return ...", "=" .. name)
  f(name, 0/0, 1/0, -1/0, math.mininteger, {[name] = name})
end
function Paint (x) return x end
Paint(1)
]==]

programs.unfinished = [[
local function inner () start() tostring(1) error "left" end
local function outer () inner() end
start()
outer()
]]

programs.within = [[
local function inner (n) tostring(n) end
local function outer (n) if n == 2 then start() end inner(n) end
for i = 1, 3 do outer(i) end
]]

programs.deep = [[
local function down (n) if n > 0 then return 1 + down(n - 1) end return 0 end
start()
down(3100)
down(3)
]]

programs.nothing = "start()"

return programs
