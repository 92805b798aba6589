-- Filters and the depth limit: frames are hidden, never broken.

local conform = require "spec.support.conform"

local types = {"name", "depth", "arguments", "return", "throw", "yield"}

local function frames (sentence, options, program, expected)
  conform.frames(it, sentence, program, expected,
                 {trace = types, options = options})
end

local nested = [[
  local function c (x) return x end
  local function b (x) local y = c(x + 1) return y end
  local function a (x) local y = b(x + 1) local z = tostring(y) return z end
  start()
  a(1)
]]

describe("exclude", function ()
  frames("hides functions by name, and shows what they call",
         {exclude = {"^b$"}}, nested, [[
    > a(1) d0
      > c(3) d1
      < c return 3
      > tostring(3) d1
      < tostring return "3"
    < a return "3"
  ]])

  frames("hides functions by source", {exclude = {"p%.lua"}}, nested, [[
    > tostring(3) d0
    < tostring return "3"
  ]])

  frames("takes several patterns", {exclude = {"^a$", "^c$", "tostr"}},
         nested, [[
    > b(2) d0
    < b return 3
  ]])

  frames("keeps errors and tail calls in order", {exclude = {"^hidden"}}, [[
    local function last () error("x", 0) end
    local function hidden2 () return last() end
    local function shown () hidden2() end
    local function hidden1 () shown() end
    local function tail () return hidden1() end
    start()
    pcall(tail)
  ]], [[
    > pcall(#1 function tail) d0
      > tail() d1
      < tail tail
      > shown() d1
        > last() d2
          > error("x", 0) d3
          < error throw "x"
        < last throw "x"
      < shown throw "x"
    < pcall return false, "x"
  ]])

  frames("keeps coroutines in order", {exclude = {"^hidden", "^coroutine"}}, [[
    local function leaf () coroutine.yield(1) end
    local function hidden () leaf() end
    local function body () hidden() return 2 end
    local co = coroutine.create(body)
    start()
    coroutine.resume(co)
    coroutine.resume(co)
  ]], [[
    > body() d0
      > leaf() d1
      < leaf yield 1
    < body yield 1
    > body resumed d0
      > leaf resumed d1
      < leaf return
    < body return 2
  ]])

  frames("hides what catches an error", {exclude = {"^pcall$", "^error$"}}, [[
    local function bad () error("x", 0) end
    local function after () end
    start()
    pcall(bad)
    after()
  ]], [[
    > bad() d0
    < bad throw "x"
    > after() d0
    < after return
  ]])
end)

describe("include", function ()
  frames("shows only what it names", {include = {"^b$", "^tostring$"}},
         nested, [[
    > b(2) d0
    < b return 3
    > tostring(3) d0
    < tostring return "3"
  ]])

  frames("by source", {include = {"p%.lua"}}, nested, [[
    > a(1) d0
      > b(2) d1
        > c(3) d2
        < c return 3
      < b return 3
    < a return "3"
  ]])

  frames("gives way to exclude", {include = {"p%.lua"}, exclude = {"^b$"}},
         nested, [[
    > a(1) d0
      > c(3) d1
      < c return 3
    < a return "3"
  ]])
end)

describe("c = false", function ()
  frames("hides C functions and shows what they call", {c = false}, [[
    local function f (x) return x .. x end
    local function bad () error("x", 0) end
    local function body () coroutine.yield(1) end
    start()
    local s = string.gsub("a", ".", f)
    pcall(bad)
    coroutine.wrap(body)()
  ]], [[
    > f("a") d0
    < f return "aa"
    > bad() d0
    < bad throw "x"
    > body() d0
    < body yield 1
  ]])
end)

describe("maxDepth", function ()
  frames("shows so many levels", {maxDepth = 2}, nested, [[
    > a(1) d0
      > b(2) d1
      < b return 3
      > tostring(3) d1
      < tostring return "3"
    < a return "3"
  ]])

  frames("1 shows the outermost", {maxDepth = 1}, nested, [[
    > a(1) d0
    < a return "3"
  ]])

  frames("counts shown frames only", {
    maxDepth = 2, exclude = {"^a$", "^b$"}
  }, [[
    local function d () end
    local function c () d() end
    local function b () c() end
    local function a () b() end
    start()
    a()
  ]], [[
    > c() d0
      > d() d1
      < d return
    < c return
  ]])

  frames("with include, exclude and c", {
    maxDepth = 2, include = {"p%.lua", "gsub"}, exclude = {"^mid"}, c = true
  }, [[
    local function deep () end
    local function cb () deep() end
    local function mid () string.gsub("x", ".", cb) deep() end
    local function top () mid() tostring(1) end
    start()
    top()
    cb()
  ]], [[
    > top() d0
      > string.gsub("x", ".", #1 function cb) d1
      < string.gsub return "x", 1
      > deep() d1
      < deep return
    < top return
    > cb() d0
      > deep() d1
      < deep return
    < cb return
  ]])

  frames("holds through errors, tail calls and coroutines", {maxDepth = 2}, [[
    local function leaf () error("x", 0) end
    local function t () return leaf() end
    local function body () coroutine.yield(1) t() end
    local function run (gen) gen() gen() end
    local gen = coroutine.wrap(body)
    start()
    pcall(run, gen)
  ]], [[
    > pcall(#1 function run, #2 function (anonymous function)) d0
      > run(#1 function (anonymous function)) d1
      < run throw "p.lua:4: x"
    < pcall return false, "p.lua:4: x"
  ]])

  frames("never leaves a frame open in deep recursion", {maxDepth = 3}, [[
    local function f (n) if n > 0 then f(n - 1) end end
    start()
    f(1000)
    f(0)
  ]], [[
    > f(1000) d0
      > f(999) d1
        > f(998) d2
        < f return
      < f return
    < f return
    > f(0) d0
    < f return
  ]])
end)

describe("minDuration", function ()
  it("leaves short calls out of an export", function ()
    local run = require "spec.support.run"
    local text = run.within(function (directory)
      local result = run.code(([[
        local tracegrip = require "tracegrip"
        local function short () end
        local function wait (s)
          local clock = os.clock
          local from = clock()
          while clock() < from + s do short() end
        end
        local function outer () wait(0.6) short() end
        local trace = tracegrip.start {trace = {"name"}, minDuration = 500}
        outer()
        trace:stop()
        assert(trace:export("packets", %q))
      ]]):format(directory .. "/out"))
      assert.equal(0, result.status, result.stderr)
      return run.read(directory .. "/out")
    end)
    local names = {}
    for i, p in ipairs(run.decode(text)) do
      assert.equal(i - 1, p.sequence)
      names[i] = p.name or "<"
    end
    assert.equal("outer wait < <", table.concat(names, " ", 1,
                                                math.min(#names, 20)))
  end)
end)
