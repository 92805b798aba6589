-- Coroutines: a yield closes the frames of the suspended one, a resume opens
-- them again, and all of it nests in the resumer.
-- luacheck: no max line length

local conform = require "spec.support.conform"

local function frames (...)
  conform.frames(it, ...)
end

describe("a coroutine", function ()
  frames("starts, yields, goes on and ends", [[
    local function f (a) local b = coroutine.yield(a + 1) return b * 2 end
    start()
    local co = coroutine.create(f)
    coroutine.resume(co, 1)
    coroutine.resume(co, 10)
    coroutine.resume(co)
  ]], [[
    > coroutine.create(#1 function f)
    < coroutine.create return #1 thread
    > coroutine.resume(#1 thread, 1)
      > f(1)
        > coroutine.yield(2)
        < coroutine.yield yield 2
      < f yield 2
    < coroutine.resume return true, 2
    > coroutine.resume(#1 thread, 10)
      > f resumed
        > coroutine.yield resumed
        < coroutine.yield return 10
      < f return 20
    < coroutine.resume return true, 20
    > coroutine.resume(#1 thread)
    < coroutine.resume return false, "cannot resume dead coroutine"
  ]])

  frames("yields no value, or several", [[
    local function f ()
      coroutine.yield()
      local a, b = coroutine.yield(1, nil, "x")
    end
    local co = coroutine.create(f)
    local resume = coroutine.resume
    start()
    resume(co)
    resume(co)
    resume(co, 1, 2)
  ]], [[
    > coroutine.resume(#1 thread)
      > f()
        > coroutine.yield()
        < coroutine.yield yield
      < f yield
    < coroutine.resume return true
    > coroutine.resume(#1 thread)
      > f resumed
        > coroutine.yield resumed
        < coroutine.yield return
        > coroutine.yield(1, nil, "x")
        < coroutine.yield yield 1, nil, "x"
      < f yield 1, nil, "x"
    < coroutine.resume return true, 1, nil, "x"
    > coroutine.resume(#1 thread, 1, 2)
      > f resumed
        > coroutine.yield resumed
        < coroutine.yield return 1, 2
      < f return
    < coroutine.resume return true
  ]])

  frames("yields from several levels and opens them again in order", [[
    local function h (x) local y = coroutine.yield(x) return y end
    local function g (x) local y = h(x) return y end
    local function f (x) local y = g(x) return y end
    local co = coroutine.create(f)
    start()
    coroutine.resume(co, 1)
    coroutine.resume(co, 2)
  ]], [[
    > coroutine.resume(#1 thread, 1)
      > f(1)
        > g(1)
          > h(1)
            > coroutine.yield(1)
            < coroutine.yield yield 1
          < h yield 1
        < g yield 1
      < f yield 1
    < coroutine.resume return true, 1
    > coroutine.resume(#1 thread, 2)
      > f resumed
        > g resumed
          > h resumed
            > coroutine.yield resumed
            < coroutine.yield return 2
          < h return 2
        < g return 2
      < f return 2
    < coroutine.resume return true, 2
  ]])

  frames("yields the same table on every frame", [[
    local function g () coroutine.yield({1}) end
    local function f () g() end
    local co = coroutine.create(f)
    start()
    coroutine.resume(co)
  ]], [[
    > coroutine.resume(#1 thread)
      > f()
        > g()
          > coroutine.yield(#1{1})
          < coroutine.yield yield #1{1}
        < g yield #1{1}
      < f yield #1{1}
    < coroutine.resume return true, #1{1}
  ]])

  frames("wrapped is called like a function", [[
    local function f (a) coroutine.yield(a) end
    local gen = coroutine.wrap(f)
    start()
    gen(1)
    gen()
  ]], [[
    > gen(1)
      > f(1)
        > coroutine.yield(1)
        < coroutine.yield yield 1
      < f yield 1
    < gen return 1
    > gen()
      > f resumed
        > coroutine.yield resumed
        < coroutine.yield return
      < f return
    < gen return
  ]])

  frames("wrapped during the trace is seen from its first call", [[
    local function f (a) return a end
    start()
    coroutine.wrap(f)(1)
  ]], [[
    > coroutine.wrap(#1 function f)
    < coroutine.wrap return #1 function (anonymous function)
    > (anonymous function)(1)
      > f(1)
      < f return 1
    < (anonymous function) return 1
  ]])

  frames("wrapped drives a for loop", [[
    local function f () for i = 1, 2 do coroutine.yield(i) end end
    local gen = coroutine.wrap(f)
    local function each (i) end
    local function loop () for i in gen do each(i) end end
    start()
    loop()
  ]], [[
    > loop()
      > for iterator(nil, nil)
        > f()
          > coroutine.yield(1)
          < coroutine.yield yield 1
        < f yield 1
      < for iterator return 1
      > each(1)
      < each return
      > for iterator(nil, 1)
        > f resumed
          > coroutine.yield resumed
          < coroutine.yield return nil, 1
          > coroutine.yield(2)
          < coroutine.yield yield 2
        < f yield 2
      < for iterator return 2
      > each(2)
      < each return
      > for iterator(nil, 2)
        > f resumed
          > coroutine.yield resumed
          < coroutine.yield return nil, 2
        < f return
      < for iterator return
    < loop return
  ]])

  frames("yields across pcall", [[
    local function g () coroutine.yield(1) return 2 end
    local function f () pcall(g) end
    local co = coroutine.create(f)
    start()
    coroutine.resume(co)
    coroutine.resume(co)
  ]], [[
    > coroutine.resume(#1 thread)
      > f()
        > pcall(#1 function g)
          > g()
            > coroutine.yield(1)
            < coroutine.yield yield 1
          < g yield 1
        < pcall yield 1
      < f yield 1
    < coroutine.resume return true, 1
    > coroutine.resume(#1 thread)
      > f resumed
        > pcall resumed
          > g resumed
            > coroutine.yield resumed
            < coroutine.yield return
          < g return 2
        < pcall return true, 2
      < f return
    < coroutine.resume return true
  ]])

  frames("fails after a yield across pcall", [[
    local function g () coroutine.yield(1) error("boom", 0) end
    local function f () pcall(g) return "on" end
    local co = coroutine.create(f)
    start()
    coroutine.resume(co)
    coroutine.resume(co)
  ]], [[
    > coroutine.resume(#1 thread)
      > f()
        > pcall(#1 function g)
          > g()
            > coroutine.yield(1)
            < coroutine.yield yield 1
          < g yield 1
        < pcall yield 1
      < f yield 1
    < coroutine.resume return true, 1
    > coroutine.resume(#1 thread)
      > f resumed
        > pcall resumed
          > g resumed
            > coroutine.yield resumed
            < coroutine.yield return
            > error("boom", 0)
            < error throw "boom"
          < g throw "boom"
        < pcall return false, "boom"
      < f return "on"
    < coroutine.resume return true, "on"
  ]])

  frames("yields across xpcall and its handler is called after", [[
    local function handler (m) return m .. "!" end
    local function g () coroutine.yield() local x = nil .. "" end
    local function f () xpcall(g, handler) end
    local co = coroutine.create(f)
    start()
    coroutine.resume(co)
    coroutine.resume(co)
  ]], [[
    > coroutine.resume(#1 thread)
      > f()
        > xpcall(#1 function g, #2 function handler)
          > g()
            > coroutine.yield()
            < coroutine.yield yield
          < g yield
        < xpcall yield
      < f yield
    < coroutine.resume return true
    > coroutine.resume(#1 thread)
      > f resumed
        > xpcall resumed
          > g resumed
            > coroutine.yield resumed
            < coroutine.yield return
            > handler("p.lua:2: attempt to concatenate a nil value")
            < handler return "p.lua:2: attempt to concatenate a nil value!"
          < g throw "p.lua:2: attempt to concatenate a nil value"
        < xpcall return false, "p.lua:2: attempt to concatenate a nil value!"
      < f return
    < coroutine.resume return true
  ]])

  frames("yields in a metamethod and in an iterator", [[
    local function index (t, k) local v = coroutine.yield(k) return v end
    local function step (s, i) coroutine.yield(i) end
    local t = setmetatable({}, {__index = index})
    local function f ()
      local x = t.key
      for i in step, nil, 1 do end
      return x
    end
    local gen = coroutine.wrap(f)
    start()
    gen()
    gen("v")
    gen()
  ]], [[
    > gen()
      > f()
        > index(#1{}^#2{~}, "key")
          > coroutine.yield("key")
          < coroutine.yield yield "key"
        < index yield "key"
      < f yield "key"
    < gen return "key"
    > gen("v")
      > f resumed
        > index resumed
          > coroutine.yield resumed
          < coroutine.yield return "v"
        < index return "v"
        > step(nil, 1)
          > coroutine.yield(1)
          < coroutine.yield yield 1
        < step yield 1
      < f yield 1
    < gen return 1
    > gen()
      > f resumed
        > step resumed
          > coroutine.yield resumed
          < coroutine.yield return
        < step return
      < f return "v"
    < gen return "v"
  ]])

  frames("resumes another inside", [[
    local function inner () coroutine.yield("i") end
    local co = coroutine.wrap(inner)
    local function outer ()
      co()
      coroutine.yield("o")
      co()
    end
    local gen = coroutine.wrap(outer)
    start()
    gen()
    gen()
  ]], [[
    > gen()
      > outer()
        > co()
          > inner()
            > coroutine.yield("i")
            < coroutine.yield yield "i"
          < inner yield "i"
        < co return "i"
        > coroutine.yield("o")
        < coroutine.yield yield "o"
      < outer yield "o"
    < gen return "o"
    > gen()
      > outer resumed
        > coroutine.yield resumed
        < coroutine.yield return
        > co()
          > inner resumed
            > coroutine.yield resumed
            < coroutine.yield return
          < inner return
        < co return
      < outer return
    < gen return
  ]])

  frames("tail calls", [[
    local function g () coroutine.yield(1) return 3 end
    local function f () return g() end
    local gen = coroutine.wrap(f)
    start()
    gen()
    gen()
  ]], [[
    > gen()
      > f()
      < f tail
      > g()
        > coroutine.yield(1)
        < coroutine.yield yield 1
      < g yield 1
    < gen return 1
    > gen()
      > g resumed
        > coroutine.yield resumed
        < coroutine.yield return
      < g return 3
    < gen return 3
  ]])

  frames("returns what a yield in tail position was resumed with", [[
    local function f (x) return coroutine.yield(x) end
    local gen = coroutine.wrap(f)
    start()
    gen(1)
    gen(2)
  ]], [[
    > gen(1)
      > f(1)
        > coroutine.yield(1)
        < coroutine.yield yield 1
      < f yield 1
    < gen return 1
    > gen(2)
      > f resumed
        > coroutine.yield resumed
        < coroutine.yield return 2
      < f return 2
    < gen return 2
  ]])

  frames("may be a C function, or yield itself", [[
    local a = coroutine.create(math.max)
    local b = coroutine.create(coroutine.yield)
    local resume = coroutine.resume
    start()
    resume(a, 1, 2)
    resume(b, 7)
    resume(b, 8)
  ]], [[
    > coroutine.resume(#1 thread, 1, 2)
      > math.max(1, 2)
      < math.max return 2
    < coroutine.resume return true, 2
    > coroutine.resume(#1 thread, 7)
      > coroutine.yield(7)
      < coroutine.yield yield 7
    < coroutine.resume return true, 7
    > coroutine.resume(#1 thread, 8)
      > coroutine.yield resumed
      < coroutine.yield return 8
    < coroutine.resume return true, 8
  ]])

  frames("that never yields calls deep and comes back", [[
    local function g (n) if n > 0 then g(n - 1) end end
    local gen = coroutine.wrap(g)
    start()
    gen(2)
  ]], [[
    > gen(2)
      > g(2)
        > g(1)
          > g(0)
          < g return
        < g return
      < g return
    < gen return
  ]])

  frames("closed or abandoned while suspended gets no more frames", [[
    local function f () coroutine.yield() end
    local a, b = coroutine.create(f), coroutine.create(f)
    start()
    coroutine.resume(a)
    coroutine.resume(b)
    coroutine.close(a)
    b = nil
    collectgarbage()
  ]], [[
    > coroutine.resume(#1 thread)
      > f()
        > coroutine.yield()
        < coroutine.yield yield
      < f yield
    < coroutine.resume return true
    > coroutine.resume(#1 thread)
      > f()
        > coroutine.yield()
        < coroutine.yield yield
      < f yield
    < coroutine.resume return true
    > coroutine.close(#1 thread)
    < coroutine.close return true
    > collectgarbage()
    < collectgarbage return 0
  ]])

  frames("tells its state like any C function", [[
    local function f ()
      local y = coroutine.isyieldable()
      local co, main = coroutine.running()
      local s = coroutine.status(co)
    end
    local gen = coroutine.wrap(f)
    start()
    gen()
    local y = coroutine.isyieldable()
  ]], [[
    > gen()
      > f()
        > coroutine.isyieldable()
        < coroutine.isyieldable return true
        > coroutine.running()
        < coroutine.running return #1 thread, false
        > coroutine.status(#1 thread)
        < coroutine.status return "running"
      < f return
    < gen return
    > coroutine.isyieldable()
    < coroutine.isyieldable return false
  ]])

  frames("cannot yield where Lua does not allow it", [[
    local function sub () coroutine.yield() end
    local function f () pcall(string.gsub, "x", ".", sub) end
    local gen = coroutine.wrap(f)
    start()
    pcall(coroutine.yield, 1)
    gen()
  ]], [[
    > pcall(#1 function coroutine.yield, 1)
      > coroutine.yield(1)
      < coroutine.yield throw "attempt to yield from outside a coroutine"
    < pcall return false, "attempt to yield from outside a coroutine"
    > gen()
      > f()
        > pcall(#1 function string.gsub, "x", ".", #2 function sub)
          > string.gsub("x", ".", #1 function sub)
            > sub()
              > coroutine.yield()
              < coroutine.yield throw "attempt to yield across a C-call boundary"
            < sub throw "attempt to yield across a C-call boundary"
          < string.gsub throw "attempt to yield across a C-call boundary"
        < pcall return false, "attempt to yield across a C-call boundary"
      < f return
    < gen return
  ]])

  frames("that resumes itself or its resumer gets an error", [[
    local main = coroutine.running()
    local function f ()
      coroutine.resume(main)
      coroutine.resume(coroutine.running())
    end
    local gen = coroutine.wrap(f)
    start()
    gen()
  ]], [[
    > gen()
      > f()
        > coroutine.resume(#1 thread)
        < coroutine.resume return false, "cannot resume non-suspended coroutine"
        > coroutine.running()
        < coroutine.running return #1 thread, false
        > coroutine.resume(#1 thread, false)
        < coroutine.resume return false, "cannot resume non-suspended coroutine"
      < f return
    < gen return
  ]])
end)

describe("an error in a coroutine", function ()
  frames("ends at resume", [[
    local function g () error("boom", 0) end
    local function f () g() end
    local co = coroutine.create(f)
    start()
    coroutine.resume(co)
    coroutine.status(co)
  ]], [[
    > coroutine.resume(#1 thread)
      > f()
        > g()
          > error("boom", 0)
          < error throw "boom"
        < g throw "boom"
      < f throw "boom"
    < coroutine.resume return false, "boom"
    > coroutine.status(#1 thread)
    < coroutine.status return "dead"
  ]])

  frames("raised by Lua ends at resume", [[
    local function f () return 1 < "x" end
    local co = coroutine.create(f)
    start()
    coroutine.resume(co)
  ]], [[
    > coroutine.resume(#1 thread)
      > f()
      < f throw "p.lua:1: attempt to compare number with string"
    < coroutine.resume return false, "p.lua:1: attempt to compare number with string"
  ]])

  frames("goes on through wrap, which adds a position to a message", [[
    local function f () error("boom") end
    local gen = coroutine.wrap(f)
    local function call () gen() end
    start()
    pcall(call)
  ]], [[
    > pcall(#1 function call)
      > call()
        > gen()
          > f()
            > error("boom")
            < error throw "p.lua:1: boom"
          < f throw "p.lua:1: boom"
        < gen throw "p.lua:3: p.lua:1: boom"
      < call throw "p.lua:3: p.lua:1: boom"
    < pcall return false, "p.lua:3: p.lua:1: boom"
  ]])

  frames("goes on through wrap as it is when it is no string", [[
    local function f () error({1}) end
    local gen = coroutine.wrap(f)
    local function call () gen() end
    start()
    pcall(call)
  ]], [[
    > pcall(#1 function call)
      > call()
        > gen()
          > f()
            > error(#1{1})
            < error throw #1{1}
          < f throw #1{1}
        < gen throw #1{1}
      < call throw #1{1}
    < pcall return false, #1{1}
  ]])

  frames("after a yield ends at the second resume", [[
    local function f () coroutine.yield() error("boom", 0) end
    local co = coroutine.create(f)
    start()
    coroutine.resume(co)
    coroutine.resume(co)
  ]], [[
    > coroutine.resume(#1 thread)
      > f()
        > coroutine.yield()
        < coroutine.yield yield
      < f yield
    < coroutine.resume return true
    > coroutine.resume(#1 thread)
      > f resumed
        > coroutine.yield resumed
        < coroutine.yield return
        > error("boom", 0)
        < error throw "boom"
      < f throw "boom"
    < coroutine.resume return false, "boom"
  ]])

  frames("two levels down passes through both wraps", [[
    local function f () error({}) end
    local inner = coroutine.wrap(f)
    local function g () inner() end
    local outer = coroutine.wrap(g)
    start()
    pcall(outer)
  ]], [[
    > pcall(#1 function (anonymous function))
      > (anonymous function)()
        > g()
          > inner()
            > f()
              > error(#1{})
              < error throw #1{}
            < f throw #1{}
          < inner throw #1{}
        < g throw #1{}
      < (anonymous function) throw #1{}
    < pcall return false, #1{}
  ]])

  frames("of a dead wrapped coroutine is raised by the wrap itself", [[
    local function f () end
    local gen = coroutine.wrap(f)
    gen()
    start()
    pcall(function () gen() end)
  ]], [[
    > pcall(#1 function (anonymous function))
      > (anonymous function)()
        > gen()
        < gen throw "p.lua:5: cannot resume dead coroutine"
      < (anonymous function) throw "p.lua:5: cannot resume dead coroutine"
    < pcall return false, "p.lua:5: cannot resume dead coroutine"
  ]])
end)

describe("a coroutine older than the trace", function ()
  frames("and not started is traced from its first call", [[
    local function f (x) return x end
    local co = coroutine.create(f)
    start()
    coroutine.resume(co, 1)
  ]], [[
    > coroutine.resume(#1 thread, 1)
      > f(1)
      < f return 1
    < coroutine.resume return true, 1
  ]])

  frames("and suspended enters its frames again", [[
    local function h (x) return x end
    local function g () local x = coroutine.yield() h(x) return 2 end
    local function f () g() h(3) end
    local co = coroutine.create(f)
    coroutine.resume(co)
    start()
    coroutine.resume(co, 1)
  ]], [[
    > coroutine.resume(#1 thread, 1)
      > f resumed
        > g resumed
          > coroutine.yield resumed
          < coroutine.yield return 1
          > h(1)
          < h return 1
        < g return 2
        > h(3)
        < h return 3
      < f return
    < coroutine.resume return true
  ]])

  frames("and suspended in pcall fails and is caught inside", [[
    local function g () coroutine.yield() error("x", 0) end
    local function f () pcall(g) return 1 end
    local gen = coroutine.wrap(f)
    gen()
    start()
    gen()
  ]], [[
    > gen()
      > f resumed
        > pcall resumed
          > g resumed
            > coroutine.yield resumed
            < coroutine.yield return
            > error("x", 0)
            < error throw "x"
          < g throw "x"
        < pcall return false, "x"
      < f return 1
    < gen return 1
  ]])

  frames("enters its frames again when the program sets a hook on it", [[
    local function g () coroutine.yield() coroutine.yield(1) return 2 end
    local function f () g() end
    local co = coroutine.create(f)
    coroutine.resume(co)
    local function hook () end
    start()
    debug.sethook(co, hook, "c")
    debug.sethook(co, hook, "r")
    coroutine.resume(co)
    debug.sethook(co)
    coroutine.resume(co)
  ]], [[
    > debug.sethook(#1 thread, #2 function hook, "c")
    < debug.sethook return
    > debug.sethook(#1 thread, #2 function hook, "r")
    < debug.sethook return
    > coroutine.resume(#1 thread)
      > f resumed
        > g resumed
          > coroutine.yield resumed
          < coroutine.yield return
          > coroutine.yield(1)
          < coroutine.yield yield 1
        < g yield 1
      < f yield 1
    < coroutine.resume return true, 1
    > debug.sethook(#1 thread)
    < debug.sethook return
    > coroutine.resume(#1 thread)
      > f resumed
        > g resumed
          > coroutine.yield resumed
          < coroutine.yield return
        < g return 2
      < f return
    < coroutine.resume return true
  ]])

  frames("holds others that are older, on every level", [[
    local function c () coroutine.yield("c") return "C" end
    local wc = coroutine.wrap(c)
    local function b () wc() coroutine.yield("b") local v = wc() return v end
    local wb = coroutine.wrap(b)
    local function a () wb() coroutine.yield("a") local v = wb() return v end
    local wa = coroutine.wrap(a)
    wa()
    start()
    wa()
  ]], [[
    > wa()
      > a resumed
        > coroutine.yield resumed
        < coroutine.yield return
        > wb()
          > b resumed
            > coroutine.yield resumed
            < coroutine.yield return
            > wc()
              > c resumed
                > coroutine.yield resumed
                < coroutine.yield return
              < c return "C"
            < wc return "C"
          < b return "C"
        < wb return "C"
      < a return "C"
    < wa return "C"
  ]])

  frames("goes on yielding", [[
    local function f () while true do coroutine.yield(1) end end
    local gen = coroutine.wrap(f)
    gen()
    start()
    gen()
    gen()
  ]], [[
    > gen()
      > f resumed
        > coroutine.yield resumed
        < coroutine.yield return
        > coroutine.yield(1)
        < coroutine.yield yield 1
      < f yield 1
    < gen return 1
    > gen()
      > f resumed
        > coroutine.yield resumed
        < coroutine.yield return
        > coroutine.yield(1)
        < coroutine.yield yield 1
      < f yield 1
    < gen return 1
  ]])

  frames("and waiting in another is traced when it goes on", [[
    local function h () end
    local function g () start() h() end
    local function f () coroutine.wrap(g)() h() end
    local co = coroutine.create(f)
    coroutine.resume(co)
    h()
  ]], [[
    > h()
    < h return
    > h()
    < h return
    > h()
    < h return
  ]])
end)

describe("a trace started inside a coroutine", function ()
  frames("sees its resumers too, and nothing of frames open at the start", [[
    local function h (x) return x end
    local function f ()
      start()
      h(1)
      coroutine.yield(2)
      h(3)
    end
    local co = coroutine.create(f)
    coroutine.resume(co)
    h(4)
    coroutine.resume(co)
  ]], [[
    > h(1)
    < h return 1
    > coroutine.yield(2)
    < coroutine.yield yield 2
    > h(4)
    < h return 4
    > coroutine.resume(#1 thread)
      > coroutine.yield resumed
      < coroutine.yield return
      > h(3)
      < h return 3
    < coroutine.resume return true
  ]])

  frames("and an error that leaves it", [[
    local function h () end
    local function bad () error("x", 0) end
    local function f () start() bad() end
    local co = coroutine.create(f)
    coroutine.resume(co)
    h()
  ]], [[
    > bad()
      > error("x", 0)
      < error throw "x"
    < bad throw "x"
    > h()
    < h return
  ]])

  frames("and what another coroutine does after it was left", [[
    local function h (x) end
    local function g () coroutine.yield() h("g") end
    local gen = coroutine.wrap(g)
    gen()
    local function f () start() h("f") end
    coroutine.wrap(f)()
    gen()
  ]], [[
    > h("f")
    < h return
    > gen()
      > g resumed
        > coroutine.yield resumed
        < coroutine.yield return
        > h("g")
        < h return
      < g return
    < gen return
  ]])
end)

describe("the type thread", function ()
  frames("numbers coroutines by appearance, 1 for the main one", [[
    local function f () coroutine.yield() end
    local a, b = coroutine.wrap(f), coroutine.wrap(f)
    local function main () end
    start()
    main()
    b()
    a()
    b()
    main()
  ]], [[
    > main() t1
    < main return
    > b() t1
      > f() t2
        > coroutine.yield() t2
        < coroutine.yield yield
      < f yield
    < b return
    > a() t1
      > f() t3
        > coroutine.yield() t3
        < coroutine.yield yield
      < f yield
    < a return
    > b() t1
      > f resumed t2
        > coroutine.yield resumed t2
        < coroutine.yield return
      < f return
    < b return
    > main() t1
    < main return
  ]], {trace = {"name", "arguments", "return", "yield", "thread"}})

  frames("is 1 for the main coroutine also when the trace starts in another", [[
    local function h () end
    local function f () start() h() end
    coroutine.wrap(f)()
    h()
  ]], [[
    > h() t2
    < h return
    > h() t1
    < h return
  ]], {trace = {"name", "arguments", "return", "thread"}})
end)
