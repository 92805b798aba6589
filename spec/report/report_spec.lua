-- Reports and trees of programs whose calls are known; their times against
-- plain Lua's.

local run = require "spec.support.run"

local function trim (text)
  local indent = text:match "^ *"
  return ("\n" .. text):gsub("\n" .. indent, "\n"):match "^\n(.-)%s*$" .. "\n"
end

-- What child.lua prints of `program`.
local function reports (sentence, program, expected)
  it(sentence, function ()
    local result = run.file(run.root .. "/spec/report/child.lua", {
      args = {run.root, "p.lua"}, files = {["p.lua"] = program}
    })
    assert.equal("", result.stderr)
    assert.equal(trim(expected), result.stdout)
  end)
end

-- What a program prints.
local function prints (sentence, program, expected)
  it(sentence, function ()
    local result = run.code(program)
    assert.equal("", result.stderr)
    assert.equal(trim(expected), result.stdout)
  end)
end

describe("a report and a tree", function ()
  reports("have nothing of nothing", "start()", "-")

  reports("count calls by function and by way", [[
    local function c () end
    local function b () c() end
    local function a () b() c() end
    start()
    a() a() c()
  ]], [[
    a 2
    b 2
    c 5
      a 2
        b 2
          c 2
        c 2
      c 1
  ]])

  reports("count recursion once", [[
    local function f (n) if n > 0 then f(n - 1) f(n - 1) end end
    start()
    f(3)
  ]], [[
    f 15
      f 1
        f 2
          f 4
            f 8
  ]])

  reports("count mutual recursion once", [[
    local b
    local function a (n) if n > 0 then b(n - 1) end end
    function b (n) if n > 0 then a(n - 1) end end
    start()
    a(3)
  ]], [[
    a 2
    b 2
      a 1
        b 1
          a 1
            b 1
  ]])

  reports("have a tail call's callee beside its caller", [[
    local function c () end
    local function b () return c() end
    local function a () b() end
    start()
    a()
  ]], [[
    a 1
    b 1
    c 1
      a 1
        b 1
        c 1
  ]])

  reports("count throws of every frame that an error leaves", [[
    local function c () error("x", 0) end
    local function b () c() end
    start()
    pcall(b)
    xpcall(c, function (m) return m end)
  ]], [[
    (anonymous function) 1
    b 1 throw1
    c 2 throw2
    error 2 throw2
    pcall 1
    xpcall 1
      pcall 1
        b 1 throw1
          c 1 throw1
            error 1 throw1
      xpcall 1
        c 1 throw1
          error 1 throw1
            (anonymous function) 1
  ]])

  reports("have one call of a coroutine that yields", [[
    local yield = coroutine.yield
    local function leaf () yield(1) yield(2) end
    local function body () leaf() end
    local function driver (gen) gen() gen() end
    local gen = coroutine.wrap(body)
    start()
    driver(gen)
    gen()
  ]], [[
    body 1 yield2
    coroutine.yield 2 yield2
    driver 1
    gen 3
    leaf 1 yield2
      driver 1
        gen 2
          body 1 yield2
            leaf 1 yield2
              coroutine.yield 2 yield2
      gen 1
        body 0
          leaf 0
            coroutine.yield 0
  ]])

  reports("count recursion across coroutines once", [[
    local wrap = coroutine.wrap
    local function f (n) if n > 0 then wrap(f)(n - 1) end end
    start {include = {"^f$"}}
    f(3)
  ]], [[
    f 4
      f 1
        f 1
          f 1
            f 1
  ]])

  reports("have frames of before a trace's start only when resumed", [[
    local yield, resume = coroutine.yield, coroutine.resume
    local function body () yield(1) yield(2) end
    local co = coroutine.create(body)
    resume(co)
    local function outer ()
      start()
      resume(co)
    end
    outer()
  ]], [[
    body 0 yield1
    coroutine.resume 1
    coroutine.yield 1 yield1
      coroutine.resume 1
        body 0 yield1
          coroutine.yield 1 yield1
  ]])

  reports("close what is open at the end", [[
    local trace
    local function inner () trace:stop() end
    local function outer () inner() end
    trace = start()
    outer()
    outer()
  ]], [[
    inner 1
    outer 1
      outer 1
        inner 1
  ]])

  reports("have calls that wait at the end", [[
    local function body () coroutine.yield() end
    start()
    for i = 1, 3 do coroutine.wrap(body)() end
  ]], [[
    (anonymous function) 3
    body 3 yield3
    coroutine.wrap 3
    coroutine.yield 3 yield3
      (anonymous function) 3
        body 3 yield3
          coroutine.yield 3 yield3
      coroutine.wrap 3
  ]])

  reports("have one row for a chunk that was loaded twice", [[
    local text = "local function f () end f() return f"
    local one, two = load(text, "=text"), load(text, "=text")
    start()
    one() two()
  ]], [[
    (main chunk) 2
    f 2
      (main chunk) 2
        f 2
  ]])

  reports("are of each trace its own", [[
    local function f () end
    local one = start()
    f()
    start {exclude = {"^g$"}}
    local function g () f() end
    g()
    one:stop()
    f()
  ]], [[
    f 2
    g 1
    start 1
      f 1
      g 1
        f 1
      start 1
    f 2
      f 2
  ]])
end)

describe("a report", function ()
  prints("has what it promises", [[
    local tracegrip = require "tracegrip"
    local function f () end
    local trace = tracegrip.start {name = "one"}
    f() print(1)
    trace:stop()
    local report = trace:report()
    print(report.events, report.lost, #report.functions)
    local function show (t)
      local keys = {integer = {}, float = {}, string = {}, table = {}}
      for key, value in pairs(t) do
        table.insert(keys[math.type(value) or type(value)], key)
      end
      for _, kind in ipairs {"string", "integer", "float", "table"} do
        table.sort(keys[kind])
        print(table.concat({kind .. ":", table.unpack(keys[kind])}, " "))
      end
    end
    table.sort(report.functions, function (a, b) return a.name < b.name end)
    show(report)
    show(report.functions[1])
    show(report.functions[2])
    print(report.functions[1].name, report.functions[1].url,
          report.functions[1].line, report.functions[2].url)
    show(trace:tree())
    print(trace:tree().name, trace:tree().calls)
  ]], [[
    1
    4	0	2
    string:
    integer: events lost
    float: duration_ms
    table: functions
    string: name url
    integer: calls line throws yields
    float: max_ms mean_ms min_ms self_error_ms self_ms total_ms
    table:
    string: name url
    integer: calls throws yields
    float: max_ms mean_ms min_ms self_error_ms self_ms total_ms
    table:
    f	program.lua	2	[C]
    string: name
    integer: calls levels throws yields
    float: self_error_ms self_ms total_ms
    table: children
    one	0
  ]])

  prints("of a running trace is of what there is", [[
    local tracegrip = require "tracegrip"
    local function f () end
    local trace <close> = tracegrip.start()
    f()
    local function events () return trace:report().events end
    f() f()
    local report = trace:report()
    print(report.events)
    for i = 1, 2000000 do end
    local tree = trace:tree()
    local again = trace:report()
    print(again.duration_ms > report.duration_ms)
    print(again.duration_ms - again.functions[1].self_ms > tree.self_ms / 2)
  ]], [[
    6
    true
    true
  ]])

  prints("says how much was lost", [[
    local tracegrip = require "tracegrip"
    local function f () end
    local stop = tracegrip.start {buffer = 4096}
    local ring = tracegrip.start {buffer = 4096, overflow = "ring"}
    for i = 1, 100000 do f() end
    stop:stop() ring:stop()
    for _, trace in ipairs {stop, ring} do
      local report = trace:report()
      -- a ring may begin inside a call, whose exit is neither here nor lost
      local rest = 200000 - report.events - report.lost
      print(report.lost > 100000, rest == 0 or trace == ring and rest == 1,
            report.functions[1].calls == (report.events + 1) // 2)
    end
  ]], [[
    true	true	true
    true	true	true
  ]])

  prints("is of the time that a ring has kept", [[
    local tracegrip = require "tracegrip"
    local function f () end
    local whole = tracegrip.start()
    local ring = tracegrip.start {buffer = 1 << 20, overflow = "ring"}
    for i = 1, 200000 do f() end
    ring:stop() whole:stop()
    local report, tree = ring:report(), ring:tree()
    local sum = report.functions[1].self_ms + tree.self_ms
    print(report.lost > 0, report.duration_ms < whole:report().duration_ms,
          math.abs(sum - report.duration_ms) < 1e-6)
  ]], [[
    true	true	true
  ]])

  -- Calls of Lua functions take C stack in 5.4.0, which has 2000 levels of it.
  local deep = run.older "5.4.1" and 1900 or 190000

  prints("takes a tree as deep as a stack", ([[
    local tracegrip = require "tracegrip"
    local function f (n) if n > 0 then return 1 + f(n - 1) end return 0 end
    local trace = tracegrip.start {trace = {}}
    f(DEEP)
    trace:stop()
    local node, depth = trace:tree(), 0
    while node.children[1] do
      assert(#node.children == 1 and node.children[1].calls == 1)
      node, depth = node.children[1], depth + 1
    end
    print(depth, #trace:report().functions)
  ]]):gsub("DEEP", deep), ([[
    %d	1
  ]]):format(deep + 1))

  prints("of a trace that is consumed as it goes is refused", [[
    local core = require "tracegrip.core"
    local trace = core.log({}, {path = "log"})
    local ok, message = pcall(trace.report, trace)
    print(ok, message)
    trace:stop()
  ]], [[
    false	the packets of this trace are read as they come
  ]])
end)
