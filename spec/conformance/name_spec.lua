-- The descriptive fields: name, callsite, location, parameterNames, depth,
-- hitCount, time.

local conform = require "spec.support.conform"

local function shown (...)
  local types = {...}
  return function (sentence, program, expected, how)
    how = how or {}
    how.trace = types
    conform.frames(it, sentence, program, expected, how)
  end
end

describe("the name of a function", function ()
  local frames = shown("name")

  frames("in package.loaded is the qualified one", [[
    local gsub, say = string.gsub, print
    start()
    gsub("x", "y", "z")
    say()
    local s = ("x"):rep(2)
    table.concat({})
    debug.getinfo(1)
    io.write("")
  ]], [[
    > string.gsub
    < string.gsub return
    > print
    < print return
    > string.rep
    < string.rep return
    > table.concat
    < table.concat return
    > debug.getinfo
    < debug.getinfo return
    > io.write
    < io.write return
  ]])

  frames("in a module of the program is the qualified one", [[
    local M = {}
    package.loaded["my.module"] = M
    local function hidden () end
    M.shown = hidden
    start()
    hidden()
  ]], [[
    > my.module.shown
    < my.module.shown return
  ]])

  frames("that is global is its name", [[
    function globally () end
    local f = globally
    start()
    f()
  ]], [[
    > globally
    < globally return
  ]])

  frames("is as declared", [[
    local Account, M, deep = {}, {}, {a = {b = {}}}
    function Account:deposit () end
    function M.parse () end
    function deep.a.b.c () end
    local function here () end
    local x, y, z, v = Account.deposit, M.parse, deep.a.b.c, here
    start()
    x() y() z() v()
  ]], [[
    > Account:deposit
    < Account:deposit return
    > M.parse
    < M.parse return
    > deep.a.b.c
    < deep.a.b.c return
    > here
    < here return
  ]])

  frames("is as declared in a string chunk too", [[
    local f = load("local M = {} function M.f () end return M.f")()
    start()
    f()
  ]], [[
    > M.f
    < M.f return
  ]])

  frames("without a declaration is the name it is called by", [[
    local list = {}
    list[1] = (function () return function () end end)()
    list[2] = (function () return function () end end)()
    list[3] = (function () return function () end end)()
    local object = {}
    start()
    local called = list[1]
    called()
    object.field = list[2]
    object.field()
    object.method = list[3]
    object:method()
  ]], [[
    > called
    < called return
    > field
    < field return
    > method
    < method return
  ]])

  frames("called as a metamethod is the event's", [[
    local list = {}
    list[1] = (function () return function () end end)()
    local mt = {}
    mt.__index = list[1]
    local t = setmetatable({}, mt)
    start()
    local x = t.x
  ]], [[
    > __index
    < __index return
  ]])

  frames("that nobody names is (anonymous function)", [[
    start()
    pcall((function () return function () end end)());
    (function () end)()
  ]], [[
    > (anonymous function)
    < (anonymous function) return
    > pcall
      > (anonymous function)
      < (anonymous function) return
    < pcall return
    > (anonymous function)
    < (anonymous function) return
  ]])

  frames("called from a coroutine or from C is the same", [[
    local M = {}
    function M.f () end
    start()
    pcall(M.f)
    coroutine.wrap(M.f)()
  ]], [[
    > pcall
      > M.f
      < M.f return
    < pcall return
    > coroutine.wrap
    < coroutine.wrap return
    > (anonymous function)
      > M.f
      < M.f return
    < (anonymous function) return
  ]])

  frames("is right for closures whose addresses are used again", [[
    local function make (i)
      if i % 2 == 0 then
        local function even () end
        return even
      end
      local function odd () end
      return odd
    end
    for i = 1, 50 do make(i) end
    local collect = collectgarbage
    start()
    for i = 1, 3 do make(i)() collect() end
  ]], [[
    > make
    < make return
    > odd
    < odd return
    > collectgarbage
    < collectgarbage return
    > make
    < make return
    > even
    < even return
    > collectgarbage
    < collectgarbage return
    > make
    < make return
    > odd
    < odd return
    > collectgarbage
    < collectgarbage return
  ]])
end)

describe("the callsite", function ()
  local frames = shown("name", "callsite")

  frames("is the caller's current line", [[
    local function g () end
    local function f ()
      g()

      g() g()
    end
    start()
    f()
    f(
    )
  ]], [[
    > f @8
      > g @3
      < g return
      > g @5
      < g return
      > g @5
      < g return
    < f return
    > f @9
      > g @3
      < g return
      > g @5
      < g return
      > g @5
      < g return
    < f return
  ]])

  frames("is absent when no Lua function calls", [[
    local function f () end
    start()
    pcall(f)
    string.gsub("x", ".", f)
    coroutine.wrap(f)()
  ]], [[
    > pcall @3
      > f
      < f return
    < pcall return
    > string.gsub @4
      > f
      < f return
    < string.gsub return
    > coroutine.wrap @5
    < coroutine.wrap return
    > (anonymous function) @5
      > f
      < f return
    < (anonymous function) return
  ]])

  frames("names the chunk that calls", [==[
    local function f () end
    local text = load("local f = ... f()")
    local named = load("local f = ...\nf()", "=named")
    local other = loadfile("other.lua")
    start()
    text(f)
    named(f)
    other(f)
  ]==], [==[
    > (main chunk) @6
      > f @[string "local f = ... f()"]:1
      < f return
    < (main chunk) return
    > (main chunk) @7
      > f @named:2
      < f return
    < (main chunk) return
    > (main chunk) @8
      > f @other.lua:3
      < f return
    < (main chunk) return
  ]==], {files = {["other.lua"] = "local f = ...\n\nf()\n"}})

  frames("is known in a frame that was open at the start", [[
    local function g () end
    local function f ()
      start()
      g()
    end
    f()
    g()
  ]], [[
    > g @4
    < g return
    > g @7
    < g return
  ]])
end)

describe("the location", function ()
  local frames = shown("name", "location")

  frames("is where the function is defined", [[
    local function f () end

    local function g ()
      f()
    end
    start()
    g()
  ]], [[
    > g ^3
      > f ^1
      < f return
    < g return
  ]])

  frames("of a string chunk's function", [==[
    local f = load("\nreturn function () end")()
    local g = load("return function () end", "=named")()
    start()
    f()
    g()
  ]==], [==[
    > f ^[string "..."]:2
    < f return
    > g ^named:1
    < g return
  ]==])
end)

describe("parameterNames", function ()
  local frames = shown("name", "parameterNames")

  frames("are the declared ones", [[
    local function none () end
    local function two (a, b) end
    local function more (a, ...) end
    local function any (...) end
    local o = {}
    function o:m (x) end
    start()
    none() two() more() any() o:m()
  ]], [[
    > none{}
    < none return
    > two{a, b}
    < two return
    > more{a, ...}
    < more return
    > any{...}
    < any return
    > o:m{self, x}
    < o:m return
  ]])
end)

describe("the depth", function ()
  local frames = shown("name", "depth")

  frames("is 0 for the outermost traced frame", [[
    local function h () end
    local function g () h() end
    local function f () start() g() end
    f()
    g()
  ]], [[
    > g d0
      > h d1
      < h return
    < g return
    > g d0
      > h d1
      < h return
    < g return
  ]])

  frames("counts through coroutines and after tail calls and errors", [[
    local function h () end
    local function t () return h() end
    local function f () t() coroutine.yield() h() error() end
    local gen = coroutine.wrap(f)
    start()
    gen()
    pcall(gen)
    h()
  ]], [[
    > gen d0
      > f d1
        > t d2
        < t tail
        > h d2
        < h return
        > coroutine.yield d2
        < coroutine.yield yield
      < f yield
    < gen return
    > pcall d0
      > gen d1
        > f resumed d2
          > coroutine.yield resumed d3
          < coroutine.yield return
          > h d3
          < h return
          > error d3
          < error throw
        < f throw
      < gen throw
    < pcall return
    > h d0
    < h return
  ]])
end)

describe("the hitCount", function ()
  local frames = shown("name", "hitCount")

  frames("counts the entries of each function", [[
    local function f () end
    local function g () f() end
    f()
    start()
    f()
    g()
    f()
  ]], [[
    > f n1
    < f return
    > g n1
      > f n2
      < f return
    < g return
    > f n3
    < f return
  ]])

  frames("is that of one of those that begin on a line", [[
    local a = function () coroutine.yield() end local b = function ()
      coroutine.yield() end
    local co = coroutine.wrap(function (f) f() end)
    start()
    pcall(a) pcall(b)
    co(b)
    co()
    pcall(a) pcall(b)
  ]], [[
    > pcall n1
      > (anonymous function) n1
        > coroutine.yield n1
        < coroutine.yield throw
      < (anonymous function) throw
    < pcall return
    > pcall n2
      > (anonymous function) n1
        > coroutine.yield n2
        < coroutine.yield throw
      < (anonymous function) throw
    < pcall return
    > co n1
      > (anonymous function) n1
        > (anonymous function) n2
          > coroutine.yield n3
          < coroutine.yield yield
        < (anonymous function) yield
      < (anonymous function) yield
    < co return
    > co n2
      > (anonymous function) resumed n1
        > (anonymous function) resumed n2
          > coroutine.yield resumed n3
          < coroutine.yield return
        < (anonymous function) return
      < (anonymous function) return
    < co return
    > pcall n3
      > (anonymous function) n2
        > coroutine.yield n4
        < coroutine.yield throw
      < (anonymous function) throw
    < pcall return
    > pcall n4
      > (anonymous function) n3
        > coroutine.yield n5
        < coroutine.yield throw
      < (anonymous function) throw
    < pcall return
  ]])

  frames("counts all closures of one definition together", [[
    local function make () return function () end end
    local a, b = make(), make()
    start()
    a()
    local a = b
    a()
  ]], [[
    > a n1
    < a return
    > a n2
    < a return
  ]])
end)

describe("the time", function ()
  it("is in milliseconds, fractional, and never goes back", function ()
    local result = conform.run([[
      local function f ()
        local x = os.clock()
        while os.clock() < x + 0.02 do end
      end
      start()
      f()
    ]], {trace = {"time", "name"}, options = {exclude = {"^os%."}}})
    local packets = result[1].packets
    assert.equal(2, #packets)
    local first, last = packets[1].time, packets[2].time
    assert.equal("float", math.type(last))
    assert.is_true(first >= 0 and first < 5000)
    assert.is_true(last - first >= 15 and last - first < 5000)
    assert.is_true(last * 1e6 % 1000000 ~= 0)   -- finer than milliseconds
  end)

  it("is that of the tracing state for every trace in it", function ()
    local result = conform.run([[
      local function f ()
        local x = os.clock()
        while os.clock() < x + 0.02 do end
      end
      start()
      f()
      start()
      f()
    ]], {trace = {"time", "name"}, options = {include = {"^f$"}}})
    local one, two = result[1].packets, result[2].packets
    assert.equal(4, #one)
    assert.equal(2, #two)
    assert.equal(one[3].time, two[1].time)
    assert.equal(one[4].time, two[2].time)
  end)
end)
