-- Chunks: loaded, stripped, required, the main one; and how a program ends.

local conform = require "spec.support.conform"
local notation = require "spec.support.notation"
local run = require "spec.support.run"

local function frames (...)
  conform.frames(it, ...)
end

local types = conform.types

-- The packets of a whole program, from its main chunk to its end.
local function whole (sentence, program, expected, how)
  it(sentence, function ()
    local options = {trace = types, valueString = 64}
    local packets, result = run.packets(program, options, how)
    assert.equal(how and how.status or 0, result.status, result.stderr)
    local text = notation.render(packets, {trace = types, file = "program.lua"})
    assert.equal(notation.expected(expected), text)
  end)
end

describe("a chunk", function ()
  frames("loaded from a string is called (main chunk)", [[
    start()
    local f = load("local a = ... return a + 1", "=chunk")
    f(2)
  ]], [[
    > load("local a = ... return a + 1", "=chunk")
    < load return #1 function (main chunk)
    > (main chunk)(2)
    < (main chunk) return 3
  ]])

  frames("with a syntax error is a return of load", [[
    start()
    local f = load("x =", "=chunk")
  ]], [[
    > load("x =", "=chunk")
    < load return nil, "chunk:1: unexpected symbol near <eof>"
  ]])

  frames("read piece by piece shows its reader", [[
    local pieces = {"return ", "7"}
    local function piece () return table.remove(pieces, 1) end
    start()
    local f = load(piece, "=chunk")
    f()
  ]], [[
    > load(#1 function piece, "=chunk")
      > piece()
        > table.remove(#1{"return ", "7"}, 1)
        < table.remove return "return "
      < piece return "return "
      > piece()
        > table.remove(#1{"7"}, 1)
        < table.remove return "7"
      < piece return "7"
      > piece()
        > table.remove(#1{}, 1)
        < table.remove return nil
      < piece return nil
    < load return #1 function (main chunk)
    > (main chunk)()
    < (main chunk) return 7
  ]])

  frames("without debug information is traced all the same", [[
    local function f (x) return x + 1 end
    local bare = load(string.dump(f, true))
    local chunk = load(string.dump(load("return ..."), true))
    start()
    bare(1)
    chunk(2)
  ]], [[
    > bare(1)
    < bare return 2
    > (main chunk)(2)
    < (main chunk) return 2
  ]])

  it("without debug information has parameters without names", function ()
    conform.check([[
      local function f (x, y) return x end
      local bare = load(string.dump(f, true))
      start()
      bare(1, 2)
    ]], [[
      > bare{?, ?}(1, 2)
      < bare return 1
    ]], {trace = {"name", "arguments", "parameterNames", "return"}})
  end)

  frames("without debug information throws and yields", [[
    local function bad () error("x") end
    local function pause () coroutine.yield(1) end
    local b = load(string.dump(bad, true), "=b", "b", {error = error})
    local p = load(string.dump(pause, true), "=p", "b", {coroutine = coroutine})
    local gen = coroutine.wrap(p)
    start()
    pcall(b)
    gen()
  ]], [[
    > pcall(#1 function (anonymous function))
      > (anonymous function)()
        > error("x")
        < error throw "x"
      < (anonymous function) throw "x"
    < pcall return false, "x"
    > gen()
      > (anonymous function)()
        > coroutine.yield(1)
        < coroutine.yield yield 1
      < (anonymous function) yield 1
    < gen return 1
  ]])

  frames("run by dofile and loadfile", [[
    start()
    dofile("other.lua")
  ]], [[
    > dofile("other.lua")
      > (main chunk)()
      < (main chunk) return 5
    < dofile return 5
  ]], {files = {["other.lua"] = "return 5\n"}})

  frames("required is called with its name and path", [[
    package.path = "./?.lua"
    start()
    local m = require "mod"
    m.get()
  ]], [[
    > (main chunk)("mod", "./mod.lua")
    < (main chunk) return #1{~}
    > mod.get()
    < mod.get return 1
  ]], {
    options = {c = false, exclude = {"p%.lua"}, valueDepth = 0},
    files = {["mod.lua"] = [[
      local M = {}
      function M.get () return 1 end
      return M
    ]]}
  })
end)

describe("a program", function ()
  whole("is a main chunk with its arguments", [[
    local a = ...
  ]], [[
    > (main chunk)("x", "y")
    < (main chunk) return
  ]], {args = {"x", "y"}})

  whole("may return values", [[
    local function f () return 1 end
    return f(), 2
  ]], [[
    > (main chunk)()
      > f()
      < f return 1
    < (main chunk) return 1, 2
  ]])

  whole("ended by os.exit leaves its frames terminated", [[
    local function f () os.exit(3) end
    f()
  ]], [[
    > (main chunk)()
      > f()
        > os.exit(3)
        < os.exit terminated
      < f terminated
    < (main chunk) terminated
  ]], {status = 3})

  whole("ended by os.exit that closes the state", [[
    local function f () os.exit(true, true) end
    pcall(f)
  ]], [[
    > (main chunk)()
      > pcall(#1 function f)
        > f()
          > os.exit(true, true)
          < os.exit terminated
        < f terminated
      < pcall terminated
    < (main chunk) terminated
  ]])

  whole("ended by os.exit in a coroutine", [[
    local function f () os.exit(true) end
    coroutine.wrap(f)()
  ]], [[
    > (main chunk)()
      > coroutine.wrap(#1 function f)
      < coroutine.wrap return #1 function (anonymous function)
      > (anonymous function)()
        > f()
          > os.exit(true)
          < os.exit terminated
        < f terminated
      < (anonymous function) terminated
    < (main chunk) terminated
  ]])

  whole("ended by os.exit leaves suspended coroutines alone", [[
    local function f () coroutine.yield() end
    local co = coroutine.create(f)
    coroutine.resume(co)
    os.exit()
  ]], [[
    > (main chunk)()
      > coroutine.create(#1 function f)
      < coroutine.create return #1 thread
      > coroutine.resume(#1 thread)
        > f()
          > coroutine.yield()
          < coroutine.yield yield
        < f yield
      < coroutine.resume return true
      > os.exit()
      < os.exit terminated
    < (main chunk) terminated
  ]])

  it("ended by an error leaves its frames with the error", function ()
    local program = "local function f () error('boom') end\nf()\n"
    local plain = run.code(program)
    local packets, result = run.packets(program)
    assert.equal(1, result.status)
    assert.equal(plain.stderr, result.stderr)
    local list = {}
    for _, p in ipairs(packets) do
      if p.why == "exception" then
        list[#list + 1] = p.throw.value
      end
    end
    local m = "program.lua:1: boom"
    assert.same({m, m, m}, list)   -- error, f, the main chunk
  end)
end)

describe("a frame", function ()
  frames("open at the start has no packets", [[
    local function h () end
    local function g () start() h() end
    local function f () g() h() end
    f()
  ]], [[
    > h()
    < h return
    > h()
    < h return
  ]])

  frames("open at the start has none when an error unwinds it", [[
    local function h () end
    local function g () start() h() error("x", 0) end
    local function f () g() end
    pcall(f)
    h()
  ]], [[
    > h()
    < h return
    > error("x", 0)
    < error throw "x"
    > h()
    < h return
  ]])

  frames("open at the stop is left open", [[
    local trace
    local function h () end
    local function g () h() trace:stop() h() end
    local function f () g() h() end
    trace = start()
    f()
  ]], [[
    > f()
      > g()
        > h()
        < h return
  ]])

  frames("open at the stop in a coroutine is left open", [[
    local trace
    local function f () trace:stop() end
    local gen = coroutine.wrap(f)
    trace = start()
    gen()
  ]], [[
    > gen()
      > f()
  ]])

  frames("of the tracer itself is never shown", [[
    local function h () end
    local trace = start()
    h()
    local second = tracegrip.start {}
    local name, active, lost = trace.name, trace.active, trace.lost
    second:stop()
    for p in second:packets() do end
    pcall(tracegrip.start, {bogus = 1})
    h()
  ]], [[
    > h()
    < h return
    > h()
    < h return
  ]], {options = {exclude = {"^pcall$"}}})
end)
