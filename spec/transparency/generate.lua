-- generate.lua - random Lua programs that print as they go.
--
--   local text = require("spec.transparency.generate")(seed)
--
-- The same seed always gives the same program. Every program ends: functions
-- spend a common stock of fuel and return at once when it is used up. Nothing
-- that is printed depends on addresses, times or the pace of the collector.

local Program = {}
Program.__index = Program

-- A generator of our own (Lehmer), so that seeds mean the same everywhere.
function Program:random (n)
  self.state = self.state * 48271 % 2147483647
  return self.state // 7 % n + 1
end

function Program:pick (...)
  return (select(self:random(select("#", ...)), ...))
end

function Program:add (format, ...)
  self.out[#self.out + 1] = ("  "):rep(self.level) .. format:format(...)
end

local prelude = [==[
collectgarbage("stop")
local fuel = 0
local F, O = {}, {}
O.__index = O
local weak = setmetatable({}, {__mode = "k"})
local counting = trace == nil   -- traces.lua sets one, which counts itself
local trace = trace or function () end

local function show (v)
  local t = type(v)
  if t == "number" or t == "string" or t == "boolean" or t == "nil" then
    return tostring(v)
  elseif t == "table" and rawget(v, "code") then
    return "error:" .. tostring(rawget(v, "code"))
  end
  return t
end

local function say (...)
  local list = table.pack(...)
  for i = 1, list.n do
    list[i] = show(list[i])
  end
  print(table.concat(list, " "))
end

local function num (v)
  return type(v) == "number" and v // 1 | 0 or #type(v)
end

local meta = {}
meta.__index = function (t, k) return #tostring(k) end
meta.__newindex = function (t, k, v) rawset(t, k, v) end
meta.__call = function (self, x, ...) return x, ... end
meta.__add = function (a, b) return 7 end
meta.__concat = function (a, b) return "cat" end
meta.__lt = function (a, b) return rawlen(a) < rawlen(b) end
meta.__le = function (a, b) return not (b < a) end
meta.__eq = function (a, b) return rawlen(a) == rawlen(b) end
meta.__len = function (a) return 3 end
meta.__unm = function (a) return a end
meta.__tostring = function (a) return "object" end
meta.__pairs = function (a) return next, {1, 2}, nil end
meta.__close = function (a, e)
  say("close", rawlen(a), e)
  if rawlen(a) == 3 then error("closing", 0) end
end
meta.__gc = function (a) print("gc", rawlen(a)) end

local function object (n)
  local t = {}
  for i = 1, n do t[i] = i end
  return setmetatable(t, meta)
end

local function handler (m)
  say("handler", m)
  return m
end
local function failing (m)
  if fuel % 3 == 0 then error("again", 0) end
  return handler(m)
end
]==]

-- Statements: each adds lines of a function's body. "v" is a number there.
local statements = {}

local function statement (weight, f)
  for _ = 1, weight do
    statements[#statements + 1] = f
  end
end

-- An expression that is a function of the program.
function Program:callee ()
  return ("F[%d]"):format(self:random(self.functions))
end

function Program:number ()
  return self:pick("v", "a", "v + 1", "v - a", "v * 2",
                   tostring(self:random(50)))
end

function Program:arguments ()
  return self:pick(self:number(), self:number(),
                   self:number() .. ", " .. self:number(),
                   "v, ...", "...", "v, nil, a")
end

statement(4, function (P)
  P:add("v = num(%s(%s))", P:callee(), P:arguments())
end)

statement(2, function (P)
  P:add("say(\"called\", %s(%s))", P:callee(), P:arguments())
end)

statement(3, function (P)
  P:add("if v %% %d == 0 then return %s(%s) end", P:random(3) + 1, P:callee(),
        P:arguments())
end)

statement(2, function (P)
  P:add("say(\"pcall\", pcall(%s, %s))", P:callee(), P:arguments())
end)

statement(2, function (P)
  P:add("say(\"xpcall\", xpcall(%s, %s, %s))", P:callee(),
        P:pick("handler", "failing", "debug.traceback", "handler"),
        P:arguments())
end)

statement(2, function (P)
  P:add("if v %% %d == 1 then %s end", P:random(4) + 2, P:pick(
    'error("e" .. v)', "error({code = v})", 'error("flat", 0)', "error()",
    'error("two", 2)', "error(v)", 'assert(nil, "asserted")',
    "assert(false)", "local x = nil + v", "local x = #v",
    "v = v < {}", "v.x.y = 1", "undefined(v)", "string.rep()",
    'error(setmetatable({}, {__tostring = function () return "E" end}))',
    "error(object(1))"))
end)

statement(3, function (P)
  P:add("if coroutine.isyieldable() then v = num(coroutine.yield(%s)) end",
        P:arguments())
end)

statement(1, function (P)
  P:add("if coroutine.isyieldable() and v %% 3 == 0 then")
  P:add("  return coroutine.yield(%s)", P:arguments())
  P:add("end")
end)

statement(2, function (P)
  P:add("do")
  P:add("  local co = coroutine.create(%s)", P:callee())
  P:add("  for i = 1, %d do", P:random(4))
  P:add("    say(\"resume\", coroutine.resume(co, %s))", P:arguments())
  P:add("  end")
  if P:random(3) == 1 then
    P:add("  if coroutine.status(co) ~= \"running\" then")
    P:add("    say(\"closed\", pcall(coroutine.close, co))")
    P:add("  end")
  end
  P:add("end")
end)

statement(2, function (P)
  P:add("do")
  P:add("  local gen = coroutine.wrap(%s)", P:callee())
  P:add("  for i = 1, %d do say(\"wrap\", pcall(gen, %s)) end", P:random(3),
        P:arguments())
  P:add("end")
end)

statement(1, function (P)
  P:add("v = num(coroutine.wrap(%s)(%s))", P:callee(), P:arguments())
end)

statement(1, function (P)
  P:add("for x in coroutine.wrap(%s) do say(\"each\", x) break end",
        P:callee())
end)

statement(2, function (P)
  P:add("do")
  P:add("  local up <close> = object(%d)", P:random(3))
  P:add("  v = num(%s(%s))", P:callee(), P:arguments())
  if P:random(3) == 1 then
    P:add("  if v > 20 then return %s(v) end", P:callee())
  end
  P:add("end")
end)

statement(1, function (P)
  P:add("do")
  P:add("  local n = v")
  P:add("  local function count (by) n = n + by return n end")
  P:add("  say(count(1), count(2), (function () return count(n) end)())")
  P:add("end")
end)

statement(2, function (P)
  P:add("say(\"meta\", %s)", P:pick(
    "object(2) + 1", "object(1) .. v", "object(1) < object(2)",
    "object(2) <= object(1)", "object(1) == object(1)", "#object(2)",
    "object(1)(v, a)", "object(1).field", "-object(1) == object(1)",
    "tostring(object(1))", "pcall(object(1), v)"))
end)

statement(1, function (P)
  P:add("for k, x in pairs(object(1)) do say(\"pair\", k, x) end")
end)

statement(1, function (P)
  P:add("say(\"vararg\", select(\"#\", ...), (select(%d, nil, nil, nil, ...)))",
        P:random(4))
end)

statement(1, function (P)
  P:add("say(\"gsub\", (string.gsub(\"ab\", \".\", function (c)")
  P:add("  if v > 30 then return nil end")
  P:add("  return c .. num(%s(v))", P:callee())
  P:add("end)))")
end)

statement(1, function (P)
  P:add("say(\"sort\", pcall(table.sort, {3, 1, 2, v, a},")
  P:add("  function (x, y) %s return x < y end))",
        P:pick("", "", "if x == 3 and y == 1 then error(\"compare\") end",
               "say(\"less\", x, y)"))
end)

statement(1, function (P)
  P:add("say(\"load\", load(function () %s end, \"=piece\"))",
        P:pick("error(\"reading\", 0)", "return nil", "return #v"))
end)

statement(1, function (P)
  P:add("do local f = load(%q, \"=text\") say(\"chunk\", pcall(f, v)) end",
        P:pick("return ... + 1", "error(...)", "local x <const> = ... return x",
               "return (function (...) return ... end)(...)"))
end)

statement(1, function (P)
  P:add("do")
  P:add("  local i = 0")
  P:add("  ::again::")
  P:add("  i = i + 1")
  P:add("  if i < %d then goto again end", P:random(4))
  P:add("  v = v + i")
  P:add("end")
end)

statement(1, function (P)
  P:add(P:pick("say(debug.traceback(\"trace\", 1))",
               "say(debug.traceback())",
               "say(debug.getinfo(1, \"l\").currentline)",
               "say(debug.getinfo(1, \"n\").name)",
               "say(debug.getinfo(2, \"S\").what)"))
end)

statement(1, function (P)
  P:add("weak[{}] = v")
  P:add("collectgarbage()")
  P:add("say(\"weak\", next(weak) == nil)")
end)

statement(1, function (P)
  P:add("v = num(O:m%d(v))", P:random(2))
end)

statement(1, function (P)
  P:add("for i = 1, 3 do")
  P:add("  local ok, m = pcall(function ()")
  P:add("    if i == 2 then error(\"loop\") end")
  P:add("    return i")
  P:add("  end)")
  P:add("  if not ok then say(m) break end")
  P:add("end")
end)

statement(3, function (P)
  P:add("trace(%d)", P:random(9))
end)

-- Wrapped coroutines where C or the VM calls them.
statement(2, function (P)
  P:add("do")
  P:add("  local gen = coroutine.wrap(%s)", P:callee())
  P:add("  say(\"gen\", %s)", P:pick(
    'pcall(string.gsub, "ab", ".", gen)',
    "pcall(table.sort, {2, 1}, gen)",
    "pcall(setmetatable({}, {__index = gen}).x)",
    "pcall(function () return setmetatable({}, {__index = gen}).x end)",
    "pcall(function () return setmetatable({}, {__add = gen}) + v end)",
    "pcall(function () return gen(v) end)",
    "pcall(function () return (gen(v)) end)",
    "xpcall(gen, handler, v)", "pcall(pcall, gen)",
    'pcall(load, gen, "=gen")',
    "pcall(function () for x in gen do say(x) break end end)",
    "pcall(function () local c <close> = setmetatable({}, {__close = gen}) end)"
  ))
  P:add("end")
end)

statement(2, function (P)
  P:add("do")
  P:add("  local co = coroutine.create(%s)", P:callee())
  P:add("  say(\"via\", pcall(coroutine.resume, co, v))")
  P:add("  say(%s)", P:pick(
    "coroutine.status(co)", "debug.traceback(co)", "coroutine.close(co)",
    "(function () return coroutine.resume(co, a) end)()",
    "xpcall(coroutine.resume, handler, co)",
    "pcall(coroutine.close, coroutine.running())",
    "pcall(coroutine.resume, coroutine.running())",
    "coroutine.isyieldable(co)", "pcall(coroutine.close, 5)"))
  P:add("end")
end)

-- What cannot be done: yields in handlers and across C calls.
statement(1, function (P)
  P:add("say(\"bad\", %s)", P:pick(
    "xpcall(error, function (m) return coroutine.yield(m) end, v)",
    "xpcall(error, function (m) return pcall(coroutine.yield, m) end, v)",
    'pcall(string.gsub, "x", ".", coroutine.yield)',
    "pcall(table.sort, {2, 1}, coroutine.yield)",
    "xpcall(error, coroutine.wrap(function (m) error(m) end), v)",
    "pcall(error, setmetatable({}, {__index = error}))",
    "pcall(setmetatable, {}, {__gc = error})", "xpcall(nil, handler)",
    "pcall(next, {}, 1)", "pcall(select, 0)", "select(-1, ...)",
    "pcall(error, nil)", "pcall(rawset, nil)", "xpcall(handler, nil, v)"))
end)

-- The program's own hooks: lines, instructions, calls.
statement(2, function (P)
  P:add("do")
  P:add("  local n, old = 0, debug.gethook()")
  P:add("  debug.sethook(function () n = n + 1 end, %q, %d)",
        P:pick("l", "c", "r", "crl", "", "l"), P:pick(0, 7, 100))
  P:add("  v = num(select(2, pcall(%s, v)))", P:callee())
  P:add("  say(\"hook\", debug.gethook() ~= nil, counting and n, old ~= nil)")
  P:add("  debug.sethook()")
  P:add("end")
end)

-- Functions -----------------------------------------------------------------

function Program:body ()
  self.level = 1
  self:add("fuel = fuel - 1")
  self:add("if fuel <= 0 then return 0 end")
  self:add("local v = num(a)")
  for _ = 1, 2 + self:random(5) do
    statements[self:random(#statements)](self)
  end
  self:add("return %s", self:pick("v", "v, a", "v, ...", "", "{v}", "v .. \"\"",
                                 ("%s(v)"):format(self:callee())))
  self.level = 0
end

function Program:func (i)
  local form = self:random(3)
  if form == 1 then
    self:add("local function f%d (a, ...)", i)
  else
    self:add("F[%d] = function (a, ...)", i)
  end
  self:body()
  self:add("end")
  if form == 1 then
    self:add("F[%d] = f%d", i, i)
  end
end

function Program:method (i)
  self:add("function O:m%d (a, ...)", i)
  self:body()
  self:add("end")
end

function Program:main ()
  for i = 1, 6 do
    self:add("fuel = %d", 20 + self:random(60))
    self:add("say(\"main %d\", pcall(%s, %d))", i, self:callee(),
             self:random(9))
  end
  self:add(self:pick("", "", "F[1](1)", "error(\"last\")", "error({code = 1})",
                     "os.exit(3)", "os.exit(true, true)",
                     "coroutine.wrap(function () os.exit(4, true) end)()",
                     "error(setmetatable({}, meta))", "return 1, 2"))
end

return function (seed)
  local P = setmetatable({
    state = (seed * 7919 + 12345) % 2147483646 + 1, out = {}, level = 0
  }, Program)
  for _ = 1, 10 do
    P:random(2)
  end
  P.functions = 3 + P:random(6)
  P:add("-- seed %d", seed)
  P:add("%s", prelude)
  for i = 1, 2 do
    P:method(i)
  end
  for i = 1, P.functions do
    P:func(i)
  end
  P:main()
  return table.concat(P.out, "\n") .. "\n"
end
