-- throwing.lua - random programs full of errors, and what each frame threw.
--
--   lua5.4 throwing.lua FIRST LAST
--
-- Each program runs twice. Plain, each of its functions F.f1, F.f2 ... runs in
-- a pcall of ours that notes what leaves it, and throws it on: that is the
-- truth. Then traced: what a packet says that F.fN threw must be one of the
-- values that left F.fN, or be unknown. All values are different, as are those
-- that lie about to be taken for one: arguments of message handlers and __close
-- methods that the program calls itself, results and errors of C functions.
--
-- Prints what was wrong, and then how many values were known and unknown.

local tracegrip = require "tracegrip"
local catches = require "catches"

local truth                     -- by number: the values that left, as texts
local start                     -- what the program calls to start the trace

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
  self.out[#self.out + 1] = format:format(...)
end

function Program:unique (prefix)
  self.values = self.values + 1
  return prefix .. self.values
end

-- The name of a new function that is written later, after the present one.
function Program:child ()
  if self.functions >= self.most then
    return "F.leaf"
  end
  self.functions = self.functions + 1
  self.waiting[#self.waiting + 1] = self.functions
  return "F.f" .. self.functions
end

function Program:handler ()
  return "H." .. self:pick("same", "same", "constant", "table", "none",
                           "vararg", "fails", "careful", "upper", "trace",
                           "tail")
end

function Program:closer ()
  return ("C(%q, %q)"):format(self:pick("two", "one", "none", "vararg", "fails",
                                        "breaks", "called"),
                              self:unique "c")
end

function Program:raise ()
  local v = self:unique "u"
  return self:pick(
    ("error(%q)"):format(v), ("error(%q, 0)"):format(v),
    ("error({id = %q})"):format(v),
    "error()", ("error(%q, {})"):format(v), ("assert(false, %q)"):format(v),
    "assert(nil)", "assert()", "string.rep()", "setmetatable(1, 2)",
    ("do local x = nil; x.%s = 1 end"):format(v),
    ("local x = nil + %q"):format(v), ("local x = #a.%s.y"):format(v),
    ("%s()"):format(v), ("string.rep(%q, -1, {})"):format(v),
    ("coroutine.yield(%q)"):format(v), ("table.concat({{}}, %q)"):format(v))
end

-- Calls that throw nothing, of what is also called by Lua itself.
function Program:decoy ()
  local v = self:unique "d"
  return self:pick(
    ("H.same(%q)"):format(v), ("H.constant(%q)"):format(v),
    ("H.vararg(%q)"):format(v), ("string.upper(%q)"):format(v),
    ("C.two({}, %q)"):format(v), ("C.one({}, %q)"):format(v),
    ("C.vararg({}, %q)"):format(v), ("F.leaf(%q)"):format(v),
    ("pcall(error, %q)"):format(v), ("tostring(%q)"):format(v),
    ("local _ = coroutine.wrap(F.leaf)(%q)"):format(v))
end

-- A call of 'f' that an error gets through.
function Program:open (f)
  local v = self:unique "a"
  return self:pick(
    ("%s(%q)"):format(f, v), ("%s(%q, {})"):format(f, v),
    ("local r = %s(%q)"):format(f, v), ("coroutine.wrap(%s)(%q)"):format(f, v),
    ("local r = coroutine.wrap(%s)(%q)"):format(f, v),
    ("for _ in coroutine.wrap(%s) do break end"):format(f),
    ("coroutine.wrap(function (...) %s(...) end)(%q)"):format(f, v),
    ("coroutine.wrap(coroutine.wrap(%s))(%q)"):format(f, v),
    ("table.sort({2, 1, 3}, %s)"):format(f),
    ("string.gsub(%q, '.', %s)"):format(v, f),
    ("catches.pass(%s, %q)"):format(f, v),
    ("catches.change(%s, %q)"):format(f, v),
    ("local r = setmetatable({}, {__index = %s}).x"):format(f),
    ("local r = setmetatable({}, {__add = %s}) + 1"):format(f),
    ("tostring(setmetatable({}, {__tostring = %s}))"):format(f))
end

-- One that ends there.
function Program:shut (f)
  local v = self:unique "a"
  local co = ("local co = coroutine.create(%s) "):format(f)
  local resume = ("coroutine.resume(co, %q) "):format(v)
  return self:pick(
    ("pcall(%s, %q)"):format(f, v), ("pcall(%s, %q)"):format(f, v),
    ("pcall(pcall, %s, %q)"):format(f, v),
    ("pcall(coroutine.wrap(%s), %q)"):format(f, v),
    ("xpcall(%s, %s, %q)"):format(f, self:handler(), v),
    ("xpcall(%s, %s, %q)"):format(f, self:handler(), v),
    ("xpcall(coroutine.wrap(%s), %s, %q)"):format(f, self:handler(), v),
    co .. resume, co .. resume .. resume .. "coroutine.close(co)",
    co .. resume .. "coroutine.close(co)",
    co .. "catches.resume(co)", co .. "catches.resume(co) coroutine.close(co)",
    ("catches.keep(%s, %q)"):format(f, v),
    ("catches.answer(%s, %q)"):format(f, v),
    ("catches.code(%s, %q)"):format(f, v),
    ("catches.handle(%s, %s, %q)"):format(self:handler(), f, v),
    ("catches.serve(%s, %s)"):format(f, self:pick("H.same", "C.two", "C.one",
                                                  "C.vararg", self:child())),
    ("catches.close(%s, %s, %q)"):format(self:closer(), f, v),
    ("catches.on(coroutine.create(print), %s)"):format(f),
    ("load(function () %s() end)"):format(f))
end

function Program:statement ()
  local n = self:random(12)
  if n <= 2 then
    self:add("  %s", self:decoy())
  elseif n <= 4 then
    self:add("  do %s end", self:open(self:child()))
  elseif n <= 9 then
    self:add("  do %s end", self:shut(self:child()))
  elseif n == 10 then
    self:add("  if coroutine.isyieldable() then coroutine.yield(%q) end",
             self:unique "y")
  elseif n == 11 then
    self:add("  start()")
  else
    self:add("  do local c <close> = %s end", self:closer())
  end
end

function Program:func (i)
  self:add("function F.f%d (a, ...)", i)
  if self:random(5) == 1 then
    local child = self:child()
    self:add("  closes(%d, %q)", i, child)
    self:add("  local c <close> = %s", self:closer())
    self:add("  local r = %s(%q)", child, self:unique "a")
    self:add("  return r")
  else
    for _ = 1, self:random(4) do
      self:statement()
    end
    if self:random(2) == 1 then
      self:add("  do %s end", self:open(self:child()))
    end
    if self:random(3) == 1 then
      self:add("  %s", self:decoy())
    end
    if self:random(3) > 1 then
      self:add("  do %s end", self:raise())
    end
  end
  self:add("end")
end

local function generate (seed)
  local P = setmetatable({state = seed, out = {}, values = 0, functions = 1,
                          waiting = {1}, most = 6 + seed % 30}, Program)
  for _ = 1, 5 do
    P:random(2)
  end
  P:add("local F, H, C, catches, start, closes = ...")
  while #P.waiting > 0 do
    P:func(table.remove(P.waiting, 1))
  end
  return table.concat(P.out, "\n")
end

-- What the programs call ----------------------------------------------------

local function handlers ()
  local H, failed = {}, 0
  function H.same (m) return m end
  function H.constant () return "constant" end
  function H.table (m) return {m} end
  function H.none () end
  function H.vararg (...) return ... end
  function H.tail (m) return H.same(m) end
  function H.fails (m)
    failed = failed + 1
    if failed % 2 == 1 then
      error(type(m) == "string" and "failed " .. m or m, 0)
    end
    return "failed"
  end
  function H.careful ()
    pcall(error, "careful", 0)
    pcall(H.none.x)
    coroutine.wrap(H.same)("careful")
    return "done"
  end
  H.upper, H.trace = string.upper, debug.traceback
  return H
end

local function closers ()
  local C, made = {}, {}
  function C.two (o, e) return o, e end
  function C.one (o) return o end
  function C.none () end
  function C.vararg (...) return ... end
  function C.fails (o) error(o.value, 0) end
  function C.breaks (o)
    load(("local o = ... o.%s.x = 1"):format(o.value), "=closing")(o)
  end
  C.called = setmetatable({}, {__call = function (_, o) return o end})
  for name, close in pairs(C) do
    made[name] = {__close = close}
  end
  return setmetatable(C, {__call = function (_, name, value)
    return setmetatable({value = value}, made[name])
  end})
end

local function leaf (x)
  return x
end

-- The truth -----------------------------------------------------------------

local function text_of (value)
  return type(value) == "table" and "table " .. tostring(value.id)
         or type(value) == "string" and value or tostring(value)
end

local function noted (i, f)
  truth[i] = {}
  return function (...)
    local results = table.pack(pcall(f, ...))
    if not results[1] then
      truth[i][text_of(results[2])] = true
      error(results[2], 0)
    end
    return table.unpack(results, 2, results.n)
  end
end


local function execute (text, name, wrap)
  local F = {leaf = leaf}
  local closing = {}
  local function closes (i, child)
    closing[i] = tonumber(child:match "%d+")
  end
  assert(load(text, name))(F, handlers(), closers(), catches, start, closes)
  if wrap then
    for key, f in pairs(F) do
      if key ~= "leaf" then
        F[key] = noted(tonumber(key:match "%d+"), f)
      end
    end
  end
  pcall(coroutine.wrap(F.f1), "begin")
  return closing
end

-- Whoever threw a value of 'from' also threw what 'to' did.
local function add (from, to)
  local more = false
  for _, values in pairs(truth) do
    for value in pairs(from) do
      if values[value] then
        for other in pairs(to) do
          more = more or not values[other]
          values[other] = true
        end
        break
      end
    end
  end
  return more
end

-- Frames go before variables are closed, all down to the one that catches: they
-- threw what the child of a function with such a variable threw, even if its
-- __close throws something else.
local function add_children (closing)
  local more = true
  while more do
    more = false
    for i, child in pairs(closing) do
      more = add(truth[i], truth[child] or {}) or more
    end
  end
end

-- The comparison ------------------------------------------------------------

local function thrown (packet)
  local value = packet.throw.value
  if packet.throw.unknown then
    return nil
  elseif type(value) ~= "table" then
    return tostring(value)
  elseif value.type == "undefined" then
    return "nil"
  end
  local id = packet.throw.objectPool[1].ownProperties.id
  return "table " .. tostring(id and id.value)
end

-- Handlers may fail: then it is theirs. Where the stack ends depends on us.
local function true_of (i, value)
  return truth[i][value]
         or value:find "^failed " and truth[i][value:sub(8)]
         or value:find "^bad argument #1 to '[%w.]*upper'"
         or value:find "C stack overflow"
end

local known, unknown, wrong = 0, 0, 0

-- The number of the function at that place, 0 if it is none of the program's.
local function number_of (location, url, lines)
  return location and location.url == url and lines[location.line] or 0
end

local function check (seed, trace, url, lines)
  local stack = {}
  for packet in trace:packets() do
    if packet.type == "enteredFrame" then
      stack[#stack + 1] = number_of(packet.location, url, lines)
    else
      local i = table.remove(stack)
      if packet.why == "exception" and i > 0 then
        local value = thrown(packet)
        known = known + (value and 1 or 0)
        unknown = unknown + (value and 0 or 1)
        if value and not true_of(i, value) then
          wrong = wrong + 1
          print(("seed %d: F.f%d threw %s, it is said; but %s"):format(
            seed, i, value, next(truth[i]) or "nothing"))
        end
      end
    end
  end
end

local function definitions (text)
  local lines, n = {}, 0
  for line in text:gmatch "[^\n]+" do
    n = n + 1
    lines[n] = tonumber(line:match "^function F%.f(%d+)")
  end
  return lines
end

local function try (seed)
  local text = generate(seed)
  local name = seed % 3 == 0 and "@p.lua"
               or seed % 3 == 1 and "=p" or "@" .. ("long/"):rep(14) .. "p.lua"
  truth = {}
  start = function () end
  add_children(execute(text, name, true))
  local trace
  start = function ()
    trace = trace or tracegrip.start {
      trace = {"name", "location", "throw"}, valueString = "all",
      c = seed % 7 > 0, maxDepth = seed % 11 == 0 and 5 or nil
    }
  end
  if seed % 4 > 0 then
    start()
  end
  execute(text, name, false)
  if trace then
    trace:stop()
    check(seed, trace, name:sub(2), definitions(text))
  end
end

if arg[3] == "show" then
  print(generate(tonumber(arg[1])))
  return
end
for seed = tonumber(arg[1]), tonumber(arg[2]) do
  try(seed)
end
print(("%d wrong, %d known, %d unknown"):format(wrong, known, unknown))
os.exit(wrong == 0)
