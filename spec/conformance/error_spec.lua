-- Errors: which frames they unwind, with what value, and where they end.
-- luacheck: no max line length

local conform = require "spec.support.conform"

local function frames (...)
  conform.frames(it, ...)
end

describe("an error", function ()
  frames("unwinds every frame up to pcall, innermost first", [[
    local function g () error("boom") end
    local function f () g() end
    start()
    pcall(f)
  ]], [[
    > pcall(#1 function f)
      > f()
        > g()
          > error("boom")
          < error throw "p.lua:1: boom"
        < g throw "p.lua:1: boom"
      < f throw "p.lua:1: boom"
    < pcall return false, "p.lua:1: boom"
  ]])

  frames("may be a table, which keeps its identity", [[
    local function f () error({code = 7}) end
    start()
    pcall(f)
  ]], [[
    > pcall(#1 function f)
      > f()
        > error(#1{code = 7})
        < error throw #1{code = 7}
      < f throw #1{code = 7}
    < pcall return false, #1{code = 7}
  ]])

  frames("may be nil, a number, a boolean, a function", [[
    local function f (...) error(...) end
    start()
    pcall(f)
    pcall(f, nil)
    pcall(f, false)
    pcall(f, 42, 0)
    pcall(f, print)
  ]], [[
    > pcall(#1 function f)
      > f()
        > error()
        < error throw NOTHING
      < f throw NOTHING
    < pcall return false, NOTHING
    > pcall(#1 function f, nil)
      > f(nil)
        > error(nil)
        < error throw NOTHING
      < f throw NOTHING
    < pcall return false, NOTHING
    > pcall(#1 function f, false)
      > f(false)
        > error(false)
        < error throw false
      < f throw false
    < pcall return false, false
    > pcall(#1 function f, 42, 0)
      > f(42, 0)
        > error(42, 0)
        < error throw 42
      < f throw 42
    < pcall return false, 42
    > pcall(#1 function f, #2 function print)
      > f(#1 function print)
        > error(#1 function print)
        < error throw #1 function print
      < f throw #1 function print
    < pcall return false, #1 function print
  ]])

  frames("has the position that its level asks for", [[
    local function g ()
      error("one", 1)
    end
    local function h ()
      error("two", 2)
    end
    local function k ()
      error("none", 0)
    end
    local function f (x)
      x()
      return
    end
    start()
    pcall(f, g)
    pcall(f, h)
    pcall(f, k)
  ]], [[
    > pcall(#1 function f, #2 function g)
      > f(#1 function g)
        > g()
          > error("one", 1)
          < error throw "p.lua:2: one"
        < g throw "p.lua:2: one"
      < f throw "p.lua:2: one"
    < pcall return false, "p.lua:2: one"
    > pcall(#1 function f, #2 function h)
      > f(#1 function h)
        > h()
          > error("two", 2)
          < error throw "p.lua:11: two"
        < h throw "p.lua:11: two"
      < f throw "p.lua:11: two"
    < pcall return false, "p.lua:11: two"
    > pcall(#1 function f, #2 function k)
      > f(#1 function k)
        > k()
          > error("none", 0)
          < error throw "none"
        < k throw "none"
      < f throw "none"
    < pcall return false, "none"
  ]])

  frames("raised by Lua itself has no frame of its own", [[
    local function f () local x = nil + 1 end
    start()
    pcall(f)
  ]], [[
    > pcall(#1 function f)
      > f()
      < f throw "p.lua:1: attempt to perform arithmetic on a nil value"
    < pcall return false, "p.lua:1: attempt to perform arithmetic on a nil value"
  ]])

  frames("of calling what cannot be called", [[
    local t = {}
    local function f () t.missing() end
    start()
    pcall(f)
    pcall(nil)
  ]], [[
    > pcall(#1 function f)
      > f()
      < f throw "p.lua:2: attempt to call a nil value (field 'missing')"
    < pcall return false, "p.lua:2: attempt to call a nil value (field 'missing')"
    > pcall(nil)
    < pcall return false, "attempt to call a nil value"
  ]])

  frames("of assert is its message, with a position as error has", [[
    local function f (...) assert(...) end
    start()
    pcall(f, false, "why")
    pcall(f, nil)
    pcall(f, nil, {})
    pcall(f, 1, 2)
  ]], [[
    > pcall(#1 function f, false, "why")
      > f(false, "why")
        > assert(false, "why")
        < assert throw "p.lua:1: why"
      < f throw "p.lua:1: why"
    < pcall return false, "p.lua:1: why"
    > pcall(#1 function f, nil)
      > f(nil)
        > assert(nil)
        < assert throw "p.lua:1: assertion failed!"
      < f throw "p.lua:1: assertion failed!"
    < pcall return false, "p.lua:1: assertion failed!"
    > pcall(#1 function f, nil, #2{})
      > f(nil, #1{})
        > assert(nil, #1{})
        < assert throw #1{}
      < f throw #1{}
    < pcall return false, #1{}
    > pcall(#1 function f, 1, 2)
      > f(1, 2)
        > assert(1, 2)
        < assert return 1, 2
      < f return
    < pcall return true
  ]])

  frames("of a C function's argument check", [[
    local function f () local s = string.rep() end
    start()
    pcall(f)
  ]], [[
    > pcall(#1 function f)
      > f()
        > string.rep()
        < string.rep throw "p.lua:1: bad argument #1 to 'rep' (string expected, got no value)"
      < f throw "p.lua:1: bad argument #1 to 'rep' (string expected, got no value)"
    < pcall return false, "p.lua:1: bad argument #1 to 'rep' (string expected, got no value)"
  ]])

  frames("unwinds C functions between", [[
    local function f (c) error("boom", 0) end
    start()
    pcall(string.gsub, "x", ".", f)
    pcall(table.sort, {2, 1}, f)
  ]], [[
    > pcall(#1 function string.gsub, "x", ".", #2 function f)
      > string.gsub("x", ".", #1 function f)
        > f("x")
          > error("boom", 0)
          < error throw "boom"
        < f throw "boom"
      < string.gsub throw "boom"
    < pcall return false, "boom"
    > pcall(#1 function table.sort, #2{2, 1}, #3 function f)
      > table.sort(#1{2, 1}, #2 function f)
        > f(1)
          > error("boom", 0)
          < error throw "boom"
        < f throw "boom"
      < table.sort throw "boom"
    < pcall return false, "boom"
  ]])

  frames("thrown by error called directly from pcall", [[
    start()
    pcall(error)
    pcall(error, "x")
  ]], [[
    > pcall(#1 function error)
      > error()
      < error throw NOTHING
    < pcall return false, NOTHING
    > pcall(#1 function error, "x")
      > error("x")
      < error throw "x"
    < pcall return false, "x"
  ]])

  frames("in a metamethod unwinds through it", [[
    local function index (t, k) error("no " .. k, 0) end
    local t = setmetatable({}, {__index = index})
    local function f () return t.x + 1 end
    start()
    pcall(f)
  ]], [[
    > pcall(#1 function f)
      > f()
        > index(#1{}^#2{~}, "x")
          > error("no x", 0)
          < error throw "no x"
        < index throw "no x"
      < f throw "no x"
    < pcall return false, "no x"
  ]])

  frames("after a tail call unwinds what is left", [[
    local function g () error("boom", 0) end
    local function f () return g() end
    start()
    pcall(f)
  ]], [[
    > pcall(#1 function f)
      > f()
      < f tail
      > g()
        > error("boom", 0)
        < error throw "boom"
      < g throw "boom"
    < pcall return false, "boom"
  ]])

  frames("with a metatable runs none of its metamethods", [[
    local function loud () print("ran") end
    local e = setmetatable({}, {__tostring = loud, __index = loud,
                                __name = "Failure", __close = loud,
                                __pairs = loud, __len = loud, __eq = loud})
    local function f () error(e) end
    start()
    pcall(f)
  ]], [[
    > pcall(#1 function f)
      > f()
        > error(#1 Failure{}^#2{~})
        < error throw #1 Failure{}^#2{~}
      < f throw #1 Failure{}^#2{~}
    < pcall return false, #1 Failure{}^#2{~}
  ]])
end)

describe("pcall", function ()
  frames("nested catches the inner error only", [[
    local function bad () error("in", 0) end
    local function ok () return 1 end
    local function f () pcall(bad) ok() error("out", 0) end
    start()
    pcall(f)
    ok()
  ]], [[
    > pcall(#1 function f)
      > f()
        > pcall(#1 function bad)
          > bad()
            > error("in", 0)
            < error throw "in"
          < bad throw "in"
        < pcall return false, "in"
        > ok()
        < ok return 1
        > error("out", 0)
        < error throw "out"
      < f throw "out"
    < pcall return false, "out"
    > ok()
    < ok return 1
  ]])

  frames("passes an error on", [[
    local function bad () error("x", 0) end
    local function f ()
      local _, e = pcall(bad)
      error(e, 0)
    end
    start()
    pcall(f)
  ]], [[
    > pcall(#1 function f)
      > f()
        > pcall(#1 function bad)
          > bad()
            > error("x", 0)
            < error throw "x"
          < bad throw "x"
        < pcall return false, "x"
        > error("x", 0)
        < error throw "x"
      < f throw "x"
    < pcall return false, "x"
  ]])

  frames("of pcall", [[
    start()
    pcall(pcall, error, "e", 0)
  ]], [[
    > pcall(#1 function pcall, #2 function error, "e", 0)
      > pcall(#1 function error, "e", 0)
        > error("e", 0)
        < error throw "e"
      < pcall return false, "e"
    < pcall return true, false, "e"
  ]])

  frames("returns all results of what it called", [[
    local function f (...) return ... end
    start()
    pcall(f, 1, nil, 3)
  ]], [[
    > pcall(#1 function f, 1, nil, 3)
      > f(1, nil, 3)
      < f return 1, nil, 3
    < pcall return true, 1, nil, 3
  ]])

  frames("that was open at the start catches what unwinds later frames", [[
    local function bad () error("x", 0) end
    local function f () start() bad() end
    local function after () end
    pcall(f)
    after()
  ]], [[
    > bad()
      > error("x", 0)
      < error throw "x"
    < bad throw "x"
    > after()
    < after return
  ]])

  frames("catches two errors in a row", [[
    local function bad () error("x", 0) end
    start()
    for i = 1, 2 do pcall(bad) end
  ]], [[
    > pcall(#1 function bad)
      > bad()
        > error("x", 0)
        < error throw "x"
      < bad throw "x"
    < pcall return false, "x"
    > pcall(#1 function bad)
      > bad()
        > error("x", 0)
        < error throw "x"
      < bad throw "x"
    < pcall return false, "x"
  ]])
end)

describe("xpcall", function ()
  frames("calls its handler before anything is unwound", [[
    local function handler (m) return "handled" end
    local function f () error("boom", 0) end
    start()
    xpcall(f, handler)
  ]], [[
    > xpcall(#1 function f, #2 function handler)
      > f()
        > error("boom", 0)
          > handler("boom")
          < handler return "handled"
        < error throw "boom"
      < f throw "boom"
    < xpcall return false, "handled"
  ]])

  frames("shows the value thrown by Lua, not what the handler made of it", [[
    local function handler (m) return {m} end
    local function f () local x = {} .. "" end
    start()
    xpcall(f, handler)
  ]], [[
    > xpcall(#1 function f, #2 function handler)
      > f()
        > handler("p.lua:2: attempt to concatenate a table value")
        < handler return #1{"p.lua:2: attempt to concatenate a table value"}
      < f throw "p.lua:2: attempt to concatenate a table value"
    < xpcall return false, #1{"p.lua:2: attempt to concatenate a table value"}
  ]])

  frames("with a handler that returns nothing or tail calls", [[
    local function g (m) return m .. "!" end
    local function tail (m) return g(m) end
    local function nothing (m) end
    local function f () error("x", 0) end
    start()
    xpcall(f, nothing)
    xpcall(f, tail)
  ]], [[
    > xpcall(#1 function f, #2 function nothing)
      > f()
        > error("x", 0)
          > nothing("x")
          < nothing return
        < error throw "x"
      < f throw "x"
    < xpcall return false, NOTHING
    > xpcall(#1 function f, #2 function tail)
      > f()
        > error("x", 0)
          > tail("x")
          < tail tail
          > g("x")
          < g return "x!"
        < error throw "x"
      < f throw "x"
    < xpcall return false, "x!"
  ]])

  frames("without an error passes arguments and results", [[
    local function handler (m) return m end
    local function f (a, b) return b, a end
    start()
    xpcall(f, handler, 1, 2)
  ]], [[
    > xpcall(#1 function f, #2 function handler, 1, 2)
      > f(1, 2)
      < f return 2, 1
    < xpcall return true, 2, 1
  ]])

  frames("with a C function as handler", [[
    local function f () error("x", 0) end
    start()
    xpcall(f, string.upper)
  ]], [[
    > xpcall(#1 function f, #2 function string.upper)
      > f()
        > error("x", 0)
          > string.upper("x")
          < string.upper return "X"
        < error throw "x"
      < f throw "x"
    < xpcall return false, "X"
  ]])

  frames("whose handler fails once handles that error too", [[
    local n = 0
    local function handler (m)
      n = n + 1
      if n == 1 then error("again", 0) end
      return m .. "?"
    end
    local function f () error("boom", 0) end
    start()
    xpcall(f, handler)
  ]], [[
    > xpcall(#1 function f, #2 function handler)
      > f()
        > error("boom", 0)
          > handler("boom")
            > error("again", 0)
              > handler("again")
              < handler return "again?"
            < error throw "again"
          < handler throw "again"
        < error throw "again"
      < f throw "again"
    < xpcall return false, "again?"
  ]])

  frames("whose handler catches errors of its own", [[
    local function bad () error("in", 0) end
    local function handler (m) pcall(bad) return m end
    local function f () error("boom", 0) end
    start()
    xpcall(f, handler)
  ]], [[
    > xpcall(#1 function f, #2 function handler)
      > f()
        > error("boom", 0)
          > handler("boom")
            > pcall(#1 function bad)
              > bad()
                > error("in", 0)
                < error throw "in"
              < bad throw "in"
            < pcall return false, "in"
          < handler return "boom"
        < error throw "boom"
      < f throw "boom"
    < xpcall return false, "boom"
  ]])

  it("whose handler always fails nests and ends", function ()
    local text, result = conform.text([[
      local function handler (m) error(m, 0) end
      local function f () error("boom", 0) end
      local function after () end
      start()
      local ok, e = xpcall(f, handler)
      after()
      print(ok, type(e))
    ]])
    assert.matches("\n> after%(%)\n< after return\n", text)
    assert.matches("\n< xpcall return false, ", text)
    assert.equal("false\tstring\n", result.stdout)
  end)
end)

describe("a C function that catches errors itself", function ()
  frames("ends the error where load calls its reader", [[
    local function piece () error("boom", 0) end
    local function after () end
    start()
    local f, m = load(piece)
    after()
  ]], [[
    > load(#1 function piece)
      > piece()
        > error("boom", 0)
        < error throw "boom"
      < piece throw "boom"
    < load return nil, "boom"
    > after()
    < after return
  ]])

  -- What load returns is what a message handler of its callers has made of it,
  -- if there is one: lua.c has one.
  frames("and a runtime error under it, of which nothing is known", [[
    local function piece () return #nil end
    start()
    local f, m = load(piece)
  ]], [[
    > load(#1 function piece)
      > piece()
      < piece throw ?
    < load return nil, "p.lua:1: attempt to get length of a nil value"
  ]])
end)
