-- programs.lua - what the importers are given: name -> code. Each shows a way
-- in which calls can be hard to draw.

local programs = {}

-- Busy for so many turns, so that times are not all alike.
local busy = [[
local function busy (n)
  local x = 0
  for i = 1, n do x = x + i % 7 end
  return x
end
]]

programs.deep = busy .. [[
local function down (n)
  if n == 0 then return busy(2000) end
  local result = down(n - 1)
  if n % 100 == 0 then busy(n) end
  return result
end
down(1500)
down(3)
]]

programs.wide = busy .. [[
local list = {}
for i = 1, 60 do
  list[i] = load("local busy = ... return function () busy(" .. i * 10
                 .. ") end", "=part" .. i)(busy)
end
for turn = 1, 5 do
  for i = 1, #list do list[i]() end
end
for i = 1, 3000 do math.abs(i) end
]]

programs.coroutines = busy .. [[
local function produce (n)
  for i = 1, n do
    busy(i * 5)
    coroutine.yield(i)
  end
end
local function deeper (n) produce(n) return "done" end
local function consume (next, n)
  local sum = 0
  for i = 1, n do sum = sum + (tonumber(next(n)) or 0) end
  return sum
end
local list = {}
for i = 1, 5 do
  list[i] = coroutine.wrap(function ()
    local inner = coroutine.wrap(deeper)
    inner(3)
    deeper(20)
    inner()
  end)
end
for turn = 1, 21 do
  for i = 1, #list do list[i]() end
end
local abandoned = coroutine.wrap(produce)
abandoned(3)
consume(coroutine.wrap(deeper), 8)
]]

programs.throwing = busy .. [[
local function fail (n)
  if n == 0 then busy(100) error({code = n}) end
  fail(n - 1)
end
for i = 1, 50 do
  pcall(fail, i % 7)
  xpcall(fail, function (e) busy(20) return e end, i % 3)
end
local co = coroutine.create(function () coroutine.yield(1) fail(4) end)
coroutine.resume(co)
coroutine.resume(co)
do local guard <close> = setmetatable({}, {__close = function () busy(9) end})
end
os.exit(0)
]]

programs.tails = busy .. [[
local even, odd
function even (n) busy(n) if n == 0 then return true end return odd(n - 1) end
function odd (n) if n == 0 then return false end return even(n - 1) end
for i = 1, 30 do even(i) end
local function apply (f, ...) return f(...) end
for i = 1, 30 do apply(apply, busy, i) end
]]

programs.names = busy .. [[
local odd = {"a b", "a;b", 'say "so"', "back\\slash", "caf\u{E9}", "\xff\xfe",
             "x (y:12)", "tab\there", "<b>&amp;", "%d", "::UMA", "line\nfeed"}
for i, name in ipairs(odd) do
  local f = load("local busy = ... return function (...) busy(" .. i * 50
                 .. ") return ... end", "=" .. name)(busy)
  f(name, 0/0, 1/0, -1/0, {[name] = name})
end
]]

-- What viewers could take for something of their own.
programs.taken = busy .. [[
local names = {"Profile", "ProfileChunk", "CpuProfile", "FunctionCall",
  "RunTask", "RunMicrotasks", "EvaluateScript", "TracingStartedInPage",
  "TracingStartedInBrowser", "V8.Execute", "v8.compile", "Screenshot",
  "thread_name", "process_name", "firstPaint", "navigationStart", "(root)",
  "(program)", "(idle)", "(garbage collector)", "GeckoMain", "f (x.lua:12)",
  "f (in lib)", "0x12ab", "UserTiming::UMA", "enhancedTraceVersion",
  "[error]", "", "__proto__", "constructor", "toString"}
local t = {}
for i, name in ipairs(names) do
  t[name] = load("local busy, t = ... return function (x) busy(x) end")(busy)
  load(("local t = ... for i = 1, 2 do t[%q](i * 20) end"):format(name))(t)
end
]]

programs.nothing = ""

-- Where the system keeps pure Lua modules, whatever version they are filed by.
local paths = [[
package.path = package.path
  .. ";/usr/share/lua/5.4/?.lua;/usr/share/lua/5.4/?/init.lua"
  .. ";/usr/share/lua/5.1/?.lua;/usr/share/lua/5.1/?/init.lua"
]]

programs.dkjson = paths .. [[
local json = require "dkjson"
local value = {list = {}, text = "é\n\"\\\u{1F600}"}
for i = 1, 40 do
  value.list[i] = {i, i / 3, tostring(i), {key = i % 2 == 0}}
end
local text = json.encode(value, {indent = true, keyorder = {"list"}})
json.decode(text, 1, nil)
json.decode("{\"a\": [1, 2, }")
pcall(json.encode, {f = print})
]]

programs.penlight = paths .. [[
local List = require "pl.List"
local pretty = require "pl.pretty"
local template = require "pl.template"
for i = 1, 20 do
  List {3, 1, i}:sort():map(function (x) return x * x end)
  pretty.write({1, i, {x = {y = "z"}}}, "")
end
pcall(pretty.read, "{1, 2, x = }")
template.substitute("$(x) # y\n", {x = 5, tostring = tostring})
]]

programs.luacheck = paths .. [[
local check = require "luacheck"
check.check_strings({"local function f (a) return a + b end\nreturn f"})
]]

return programs
