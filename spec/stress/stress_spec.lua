-- Much of everything: coroutines, depth, recursion in C, traces at once.

local conform = require "spec.support.conform"
local nesting = require "spec.transparency.nesting"
local run = require "spec.support.run"

local function succeed (program, how)
  local result = run.code(program, how or {timeout = 300})
  assert.equal(0, result.status, result.stderr)
  return result.stdout
end

-- The most memory that a process had, in MB; not told under a sanitizer, which
-- keeps what was freed.
local resident = [[
local function resident ()
  if os.getenv "LD_PRELOAD" then return 0 end
  for line in io.lines "/proc/self/status" do
    local kb = line:match "^VmHWM:%s*(%d+)"
    if kb then return tonumber(kb) // 1024 end
  end
end
]]

-- Two hundred bytes kept of each are too much, of a million as of a quarter of
-- them.
local MANY = run.some(250000, 1000000)
local MOST = run.some(60, 200)          -- MB

describe("very many coroutines", function ()
  local function many (sentence, body)
    it(sentence, function ()
      local mb = succeed(resident .. [[
        local tracegrip = require "tracegrip"
        local trace = tracegrip.start {
          trace = {"name", "time", "thread"}, buffer = 1 << 20,
          overflow = "ring"
        }
      ]] .. body:format(MANY) .. [[
        trace:stop()
        local n = 0
        for p in trace:packets() do
          assert(p.sequence == n)
          n = n + 1
        end
        assert(n > 10000, n)
        assert(not debug.gethook())
        print(resident())
      ]])
      assert.is_true(tonumber(mb) < MOST, mb)
    end)
  end

  many("created, run and dropped take no memory", [[
    local function f (x) return x end
    local create, resume = coroutine.create, coroutine.resume
    for i = 1, %d do
      resume(create(f), i)
    end
  ]])

  many("left suspended take no memory when they are dropped", [[
    local yield = coroutine.yield
    local function f (x) yield(x) end
    local wrap = coroutine.wrap
    for i = 1, %d do
      wrap(f)(i)
    end
  ]])

  many("created and never run take no memory", [[
    local function f () end
    local create = coroutine.create
    for i = 1, %d do
      create(f)
    end
  ]])

  it("of which ten thousand live at once, older than the trace", function ()
    succeed [[
      local tracegrip = require "tracegrip"
      local list = {}
      local function f () while true do coroutine.yield(1) end end
      for i = 1, 10000 do
        list[i] = coroutine.create(f)
        coroutine.resume(list[i])
      end
      local resume = coroutine.resume
      local trace = tracegrip.start {trace = {"thread", "name"}}
      for round = 1, 3 do
        for i = 1, 10000 do resume(list[i]) end
      end
      trace:stop()
      local n, most, open = 0, 0, 0
      for p in trace:packets() do
        n = n + 1
        most = math.max(most, p.thread or 0)
        open = open + (p.type == "enteredFrame" and 1 or -1)
        assert(open >= 0)
      end
      -- resume, f, yield again; yield returns, yields; f yields; resume returns
      assert(n == 3 * 10000 * 8, n)
      assert(most == 10001, most)
      assert(open == 0)
      for i = 1, 10000 do assert(not debug.gethook(list[i])) end
    ]]
  end)
end)

describe("depth", function ()
  it("of 200,000 nested calls is recorded and comes back", function ()
    succeed [[
      local tracegrip = require "tracegrip"
      local function f (n) if n > 0 then f(n - 1) end end
      local trace = tracegrip.start {trace = {"depth"}}
      f(199999)
      trace:stop()
      local n, deepest = 0, 0
      for p in trace:packets() do
        assert(p.sequence == n)
        assert((p.type == "enteredFrame") == (n < 200000))
        n = n + 1
        deepest = math.max(deepest, p.depth or 0)
      end
      assert(n == 400000, n)
      assert(deepest == 199999, deepest)
    ]]
  end)

  it("of 200,000 frames is unwound by one error", function ()
    succeed [[
      local tracegrip = require "tracegrip"
      local function f (n) if n > 0 then f(n - 1) else error("x", 0) end end
      local trace = tracegrip.start {trace = {"throw"}}
      pcall(f, 199997)
      trace:stop()
      local n, thrown = 0, 0
      for p in trace:packets() do
        n = n + 1
        if p.why == "exception" then
          assert(p.throw.value == "x")
          thrown = thrown + 1
        end
      end
      assert(thrown == 199999, thrown)
      assert(n == 400000, n)
    ]]
  end)

  it("of 50,000 frames is yielded and resumed", function ()
    succeed [[
      local tracegrip = require "tracegrip"
      local function f (n)
        if n > 0 then f(n - 1) else coroutine.yield("y") end
      end
      local gen = coroutine.wrap(f)
      local trace = tracegrip.start {trace = {"yield"}}
      gen(49998)
      gen()
      trace:stop()
      local n, yields, resumed = 0, 0, 0
      for p in trace:packets() do
        n = n + 1
        if p.why == "yield" then yields = yields + 1 end
        if p.resumed then resumed = resumed + 1 end
      end
      assert(yields == 50000, yields)
      assert(resumed == 50000, resumed)
      assert(n == 4 * 50000 + 4, n)
    ]]
  end)

  local function same (sentence, program, options)
    it(sentence, function ()
      local how = {timeout = 300}
      local plain = run.code(program, how)
      local traced = run.traced(program, options or {
        trace = {"name", "depth", "throw"}
      }, how)
      assert.equal(plain.stdout, traced.stdout)
      assert.equal(plain.stderr, traced.stderr)
      assert.equal(plain.status, traced.status)
      assert.equal(0, (nesting.check(traced.text)))
      for cause, n in pairs(traced.lost) do
        assert.is_true(n == 0 or options ~= nil, cause)
      end
    end)
  end

  -- Lua makes room for a hook (LUA_MINSTACK slots) before it calls one, so with
  -- any hook a stack overflows some frames earlier, and in the function called
  -- instead of its caller: no lines here, and counts in thousands
  same("of a million frames ends where it does untraced", [[
    local n = 0
    local function f () n = n + 1 return 1 + f() end
    local ok, m = pcall(f)
    print(ok, m:gsub(":%d+:", ":"))
    print(n // 1000)
  ]], {trace = {"name", "depth"}, overflow = "ring", buffer = 1 << 19})

  same("up to a stack overflow ends where it does untraced", [[
    local n = 0
    local function f ()
      local a, b, c, d, e, g, h, i, j, k, l, m, o, p, q, r, s, t, u
      n = n + 1
      return 1 + f()
    end
    local ok, m = pcall(f)
    print(ok, #m, m:gsub(":%d+:", ":"), n // 1000)
    n = 0
    print(select("#", pcall(f)), n // 1000)
  ]])

  same("up to a stack overflow under xpcall", [[
    local n = 0
    local function f ()
      local a, b, c, d, e, g, h, i, j, k, l, m, o, p, q, r, s, t, u
      n = n + 1
      return 1 + f()
    end
    print(xpcall(f, function (m)
      local text = m:gsub(":%d+:", ":")
      return text
    end))
    print(n // 1000)
  ]])

  same("up to a stack overflow in a coroutine", [[
    local n = 0
    local function f ()
      local a, b, c, d, e, g, h, i, j, k, l, m, o, p, q, r, s, t, u
      n = n + 1
      return 1 + f()
    end
    local ok, m = coroutine.resume(coroutine.create(f))
    print(ok, m:gsub(":%d+:", ":"), n // 1000)
  ]])

  same("in C by nested pcall", [[
    local n = 0
    local function f () n = n + 1 local ok, m = pcall(f) return m end
    print(pcall(f))
    print(n)
  ]])

  same("in C by nested string.gsub", [[
    local n = 0
    local function f () n = n + 1 return (string.gsub("x", ".", f)) end
    print(pcall(f))
    print(n)
  ]])

  same("in C by nested coroutines", [[
    local n = 0
    local function f () n = n + 1 return coroutine.wrap(f)() end
    local ok, m = pcall(f)
    print(ok, #m, n)
    n = 0
    local function g ()
      n = n + 1
      return coroutine.resume(coroutine.create(g))
    end
    print(select("#", g()), n)
  ]])

  same("in C by metamethods, sort and load", [[
    local n = 0
    local t = setmetatable({}, {})
    getmetatable(t).__index = function (t, k) n = n + 1 return t[k + 1] end
    local ok, m = pcall(function () return t[1] end)
    print(ok, m:sub(1, 60), n)
    n = 0
    local function less () n = n + 1 table.sort({2, 1}, less) end
    ok, m = pcall(less)
    print(ok, m:sub(1, 60), n)
    n = 0
    local function read () n = n + 1 return load(read) and nil end
    ok, m = pcall(read)
    print(ok, m, n)
    n = 0
    local o = setmetatable({}, {__tostring = function (o)
      n = n + 1
      return tostring(o)
    end})
    ok, m = pcall(tostring, o)
    print(ok, m:sub(1, 60), n)
  ]])

  same("in C by a message handler that always fails", [[
    local n = 0
    local function handler (m) n = n + 1 error(m, 0) end
    print(xpcall(error, handler, "x"))
    print(n)
    print(xpcall(string.rep, function (m) n = n + 1 return m .. nil end))
    print(n)
  ]])
end)

describe("many values", function ()
  it("pass through a call up to the limits of Lua", function ()
    local result = conform.run([[
      local function count (...) local n = select("#", ...) return n end
      local list = {}
      for i = 1, 200000 do list[i] = i end
      local unpack = table.unpack
      start()
      print(count(unpack(list)))
      print(pcall(unpack, list, 1, 1e7))
      print(pcall(string.rep, "x", -1))
    ]], {timeout = 60})
    assert.is_true(result.ok, result.message)
    assert.matches("^200000\nfalse\ttoo many results to unpack\n",
                   result.stdout)
  end)
end)

describe("twenty traces at once", function ()
  it("see a busy program alike", function ()
    succeed [[
      local tracegrip = require "tracegrip"
      local function leaf (x) if x % 7 == 0 then error("seven", 0) end end
      local function step (x) pcall(leaf, x) coroutine.yield(x) end
      local function body () for i = 1, 1000 do step(i) end end
      local gen = coroutine.wrap(body)
      local traces = {}
      for i = 1, 20 do
        traces[i] = tracegrip.start {trace = {"name", "depth", "throw"}}
      end
      for i = 1, 1000 do gen() end
      for i = 1, 20 do traces[i]:stop() end
      local first = {}
      for p in traces[20]:packets() do
        first[#first + 1] = p.type .. (p.name or "") .. (p.depth or "")
                            .. (p.throw and p.throw.value or "")
      end
      assert(#first > 10000)
      for i = 1, 19 do
        local n = 0
        for p in traces[i]:packets() do
          n = n + 1
          assert(first[n] == p.type .. (p.name or "") .. (p.depth or "")
                             .. (p.throw and p.throw.value or ""))
        end
        assert(n == #first)
      end
    ]]
  end)

  -- Not 6 KB of each: what is not yet collected, of two hundred traces at most,
  -- is some 45 MB. Left alone the collector sets its own pace.
  it("started and stopped thousands of times leave nothing", function ()
    local mb = succeed(resident .. [[
      local tracegrip = require "tracegrip"
      local function f () end
      for i = 1, 3000 do
        local a = tracegrip.start()
        f()
        local b = tracegrip.start {trace = {"name"}}
        a:stop()
        f()
        b:stop()
        if i % 100 == 0 then collectgarbage() end
      end
      collectgarbage()
      assert(not debug.gethook())
      print(resident())
    ]])
    assert.is_true(tonumber(mb) < 80, mb)
  end)
end)
