-- To-be-closed variables: __close is an ordinary call, wherever Lua makes it.
-- luacheck: no max line length

local conform = require "spec.support.conform"
local run = require "spec.support.run"

-- Every program here has an object whose __close is the function "close".
-- `before`: what releases before 5.4.3 do if that is something else. There a
-- second error in a row is dropped, a __close that failed in a return is called
-- once more, a coroutine that died has forgotten why, and nothing yields.
local function frames (sentence, program, expected, before)
  conform.frames(it, sentence, [[
    local function close (o, e) end
    local object = setmetatable({}, {__close = close})
  ]] .. program, run.older "5.4.3" and before or expected)
end

describe("__close", function ()
  frames("is called before the function returns", [[
    local function f () local x <close> = object return 1, 2 end
    start()
    f()
  ]], [[
    > f()
      > close(#1{}^#2{~}, nil)
      < close return
    < f return 1, 2
  ]])

  frames("is called at the end of a block and at break and goto", [[
    local function after () end
    start()
    do local x <close> = object end
    after()
    while true do local x <close> = object break end
    do
      do local x <close> = object goto out end
      ::out::
    end
  ]], [[
    > close(#1{}^#2{~}, nil)
    < close return
    > after()
    < after return
    > close(#1{}^#2{~}, nil)
    < close return
    > close(#1{}^#2{~}, nil)
    < close return
  ]])

  frames("of a generic for is called when the loop ends", [[
    local function step (s, i) if i < 1 then return i + 1 end end
    start()
    for i in step, nil, 0, object do end
  ]], [[
    > step(nil, 0)
    < step return 1
    > step(nil, 1)
    < step return
    > close(#1{}^#2{~}, nil)
    < close return
  ]])

  frames("is called in the order opposite to the declarations", [[
    local function one () end
    local function two () end
    local a = setmetatable({}, {__close = one})
    local b = setmetatable({}, {__close = two})
    local function f () local x <close> = a local y <close> = b end
    start()
    f()
  ]], [[
    > f()
      > two()
      < two return
      > one()
      < one return
    < f return
  ]])

  frames("turns a tail call into a plain one", [[
    local function g () return 1 end
    local function f () local x <close> = object return g() end
    start()
    f()
  ]], [[
    > f()
      > g()
      < g return 1
      > close(#1{}^#2{~}, nil)
      < close return
    < f return 1
  ]])

  frames("is called by pcall when an error unwinds", [[
    local function f () local x <close> = object error("boom", 0) end
    start()
    pcall(f)
  ]], [[
    > pcall(#1 function f)
      > f()
        > error("boom", 0)
        < error throw "boom"
      < f throw "boom"
      > close(#1{}^#2{~}, "boom")
      < close return
    < pcall return false, "boom"
  ]])

  frames("is called by pcall after a runtime error", [[
    local function g () return {} + 1 end
    local function f () local x <close> = object g() end
    start()
    pcall(f)
  ]], [[
    > pcall(#1 function f)
      > f()
        > g()
        < g throw "p.lua:3: attempt to perform arithmetic on a table value"
      < f throw "p.lua:3: attempt to perform arithmetic on a table value"
      > close(#1{}^#2{~}, "p.lua:3: attempt to perform arithmetic on a table value")
      < close return
    < pcall return false, "p.lua:3: attempt to perform arithmetic on a table value"
  ]])

  frames("may replace the error", [[
    local function fail (o, e) error("two", 0) end
    local bad = setmetatable({}, {__close = fail})
    local function f ()
      local x <close> = object
      local y <close> = bad
      error("one", 0)
    end
    start()
    pcall(f)
  ]], [[
    > pcall(#1 function f)
      > f()
        > error("one", 0)
        < error throw "one"
      < f throw "one"
      > fail(#1{}^#2{~}, "one")
        > error("two", 0)
        < error throw "two"
      < fail throw "two"
      > close(#1{}^#2{~}, "two")
      < close return
    < pcall return false, "two"
  ]], [[
    > pcall(#1 function f)
      > f()
        > error("one", 0)
        < error throw "one"
      < f throw "one"
      > fail(#1{}^#2{~}, "one")
        > error("two", 0)
        < error throw "two"
      < fail throw "two"
      > close(#1{}^#2{~}, "one")
      < close return
    < pcall return false, "one"
  ]])

  frames("may fail in a return without an error", [[
    local function fail (o, e) error("late", 0) end
    local bad = setmetatable({}, {__close = fail})
    local function f () local y <close> = bad return 1 end
    start()
    pcall(f)
  ]], [[
    > pcall(#1 function f)
      > f()
        > fail(#1{}^#2{~}, nil)
          > error("late", 0)
          < error throw "late"
        < fail throw "late"
      < f throw "late"
    < pcall return false, "late"
  ]], [[
    > pcall(#1 function f)
      > f()
        > fail(#1{}^#2{~}, nil)
          > error("late", 0)
          < error throw "late"
        < fail throw "late"
      < f throw "late"
      > fail(#1{}^#2{~}, "late")
        > error("late", 0)
        < error throw "late"
      < fail throw "late"
    < pcall return false, "late"
  ]])

  frames("may catch errors of its own while one unwinds", [[
    local function bad () error("in", 0) end
    local function careful (o, e) pcall(bad) end
    local o = setmetatable({}, {__close = careful})
    local function f () local x <close> = o error("out", 0) end
    start()
    pcall(f)
  ]], [[
    > pcall(#1 function f)
      > f()
        > error("out", 0)
        < error throw "out"
      < f throw "out"
      > careful(#1{}^#2{~}, "out")
        > pcall(#1 function bad)
          > bad()
            > error("in", 0)
            < error throw "in"
          < bad throw "in"
        < pcall return false, "in"
      < careful return
    < pcall return false, "out"
  ]])

  frames("of a suspended coroutine is called by coroutine.close", [[
    local function f () local x <close> = object coroutine.yield() end
    local co = coroutine.create(f)
    coroutine.resume(co)
    start()
    coroutine.close(co)
  ]], [[
    > coroutine.close(#1 thread)
      > close(#1{}^#2{~}, nil)
      < close return
    < coroutine.close return true
  ]])

  frames("that fails makes coroutine.close return the error", [[
    local function fail (o, e) error("late", 0) end
    local bad = setmetatable({}, {__close = fail})
    local function f () local x <close> = bad coroutine.yield() end
    local co = coroutine.create(f)
    start()
    coroutine.resume(co)
    coroutine.close(co)
  ]], [[
    > coroutine.resume(#1 thread)
      > f()
        > coroutine.yield()
        < coroutine.yield yield
      < f yield
    < coroutine.resume return true
    > coroutine.close(#1 thread)
      > fail(#1{}^#2{~}, nil)
        > error("late", 0)
        < error throw "late"
      < fail throw "late"
    < coroutine.close return false, "late"
  ]])

  frames("of a coroutine that died of an error waits for its close", [[
    local function f () local x <close> = object error("boom", 0) end
    start()
    local co = coroutine.create(f)
    coroutine.resume(co)
    coroutine.close(co)
  ]], [[
    > coroutine.create(#1 function f)
    < coroutine.create return #1 thread
    > coroutine.resume(#1 thread)
      > f()
        > error("boom", 0)
        < error throw "boom"
      < f throw "boom"
    < coroutine.resume return false, "boom"
    > coroutine.close(#1 thread)
      > close(#1{}^#2{~}, "boom")
      < close return
    < coroutine.close return false, "boom"
  ]], [[
    > coroutine.create(#1 function f)
    < coroutine.create return #1 thread
    > coroutine.resume(#1 thread)
      > f()
        > error("boom", 0)
        < error throw "boom"
      < f throw "boom"
    < coroutine.resume return false, "boom"
    > coroutine.close(#1 thread)
      > close(#1{}^#2{~}, nil)
      < close return
    < coroutine.close return true
  ]])

  frames("of a wrapped coroutine is called as the error leaves it", [[
    local function f () local x <close> = object error("boom", 0) end
    local gen = coroutine.wrap(f)
    start()
    pcall(function () gen() end)
  ]], [[
    > pcall(#1 function (anonymous function))
      > (anonymous function)()
        > gen()
          > f()
            > error("boom", 0)
            < error throw "boom"
          < f throw "boom"
          > close(#1{}^#2{~}, "boom")
          < close return
        < gen throw "p.lua:6: boom"
      < (anonymous function) throw "p.lua:6: boom"
    < pcall return false, "p.lua:6: boom"
  ]], [[
    > pcall(#1 function (anonymous function))
      > (anonymous function)()
        > gen()
          > f()
            > error("boom", 0)
            < error throw "boom"
          < f throw "boom"
          > close(#1{}^#2{~}, nil)
          < close return
        < gen throw "p.lua:6: boom"
      < (anonymous function) throw "p.lua:6: boom"
    < pcall return false, "p.lua:6: boom"
  ]])

  frames("may yield", [[
    local function pause (o, e) coroutine.yield(e) end
    local o = setmetatable({}, {__close = pause})
    local function f () local x <close> = o return 5 end
    local co = coroutine.create(f)
    start()
    coroutine.resume(co)
    coroutine.resume(co)
  ]], [[
    > coroutine.resume(#1 thread)
      > f()
        > pause(#1{}^#2{~}, nil)
          > coroutine.yield(nil)
          < coroutine.yield yield nil
        < pause yield nil
      < f yield nil
    < coroutine.resume return true, nil
    > coroutine.resume(#1 thread)
      > f resumed
        > pause resumed
          > coroutine.yield resumed
          < coroutine.yield return
        < pause return
      < f return 5
    < coroutine.resume return true, 5
  ]], [[
    > coroutine.resume(#1 thread)
      > f()
        > pause(#1{}^#2{~}, nil)
          > coroutine.yield(nil)
          < coroutine.yield throw "attempt to yield across a C-call boundary"
        < pause throw "attempt to yield across a C-call boundary"
      < f throw "attempt to yield across a C-call boundary"
    < coroutine.resume return false, "attempt to yield across a C-call boundary"
    > coroutine.resume(#1 thread)
    < coroutine.resume return false, "cannot resume dead coroutine"
  ]])
end)
