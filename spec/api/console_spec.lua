-- tracegrip.console: traces by name.

local run = require "spec.support.run"

local function printed (program)
  local result = run.code([[
    local tracegrip = require "tracegrip"
    local console = require "tracegrip.console"
  ]] .. program)
  assert.equal(0, result.status, result.stderr)
  return result.stdout
end

describe("console.startTrace", function ()
  it("returns the name", function ()
    assert.equal("load\n", printed [[
      print(console.startTrace("load"))
    ]])
  end)

  it("generates names that are not in use", function ()
    assert.equal("Trace 1\tTrace 2\nTrace 4\n", printed [[
      print(console.startTrace(), console.startTrace())
      console.startTrace("Trace 3")
      print(console.startTrace())
    ]])
  end)

  it("generates fifty names and stops them in reverse order", function ()
    assert.equal("50\n", printed [[
      local names, seen, n = {}, {}, 0
      for i = 1, 50 do
        names[i] = console.startTrace()
        local name = names[i]
        if not seen[name] then n = n + 1 end
        seen[name] = true
      end
      for i = 50, 1, -1 do
        assert(console.stopTrace().name == names[i])
      end
      print(n)
    ]])
  end)

  it("takes options without a name", function ()
    assert.equal("Trace 1\tnil\tfalse\n", printed [[
      local name = console.startTrace(nil, {trace = {"time"}})
      string.rep("x", 1)
      local trace = console.stopTrace()
      local p = trace:packets()()
      print(name, p.name, p.time == nil)
    ]])
  end)

  it("replaces a running trace of the same name", function ()
    assert.equal("false\t2\nload\tother\tnil\n", printed [[
      local function f () end
      local old = tracegrip.start {name = "load", include = {"^f$"}}
      f() f() f()
      console.startTrace("other")
      console.startTrace("load", {include = {"^f$"}})
      f()
      local active = old.active
      local top = console.stopTrace()
      local n = 0
      for _ in top:packets() do n = n + 1 end
      print(active, n)
      print(top.name, console.stopTrace().name, (console.stopTrace()))
    ]])
  end)

  it("refuses wrong names and options", function ()
    assert.equal("false\nfalse\nfalse\ntrue\n", printed [[
      print((pcall(console.startTrace, {})))
      print((pcall(console.startTrace, "x", 5)))
      print((pcall(console.startTrace, "x", {trace = {"none"}})))
      print(not debug.gethook())
    ]])
  end)
end)

describe("console.stopTrace", function ()
  it("returns the Trace", function ()
    assert.equal("load\tfalse\tstring.rep\n", printed [[
      console.startTrace("load", {include = {"rep"}})
      string.rep("x", 2)
      local trace = console.stopTrace("load")
      print(trace.name, trace.active, trace:packets()().name)
    ]])
  end)

  it("without a name stops the most recently started", function ()
    assert.equal("c\nb\na\n", printed [[
      for _, n in ipairs {"a", "b", "c"} do console.startTrace(n) end
      for i = 1, 3 do print(console.stopTrace().name) end
    ]])
  end)

  it("of an unknown name, or with nothing running, says so", function ()
    assert.equal("nil\tstring\twrongState\nnil\tstring\twrongState\n"
                 .. "nil\tstring\tnoSuchTrace\nnil\tstring\tnoSuchTrace\n",
                 printed [[
      local function show (trace, message, code)
        print(trace, type(message), code)
      end
      show(console.stopTrace())
      show(console.stopTrace("x"))
      console.startTrace("a")
      show(console.stopTrace("x"))
      console.startTrace("b")
      console.stopTrace("b")
      show(console.stopTrace("b"))
    ]])
  end)

  it("names the trace it does not know", function ()
    assert.equal("true\n", printed [[
      console.startTrace("a")
      local _, message = console.stopTrace("pumpkin")
      print(message:find("pumpkin", 1, true) ~= nil)
    ]])
  end)

  it("stops traces of tracegrip.start too, and the other way", function ()
    assert.equal("true\tfalse\nfalse\twrongState\n", printed [[
      local trace = tracegrip.start {name = "x"}
      local same = console.stopTrace("x")
      print(same == trace, trace.active)
      trace = tracegrip.start {name = "y"}
      trace:stop()
      print(trace.active, (select(3, console.stopTrace("y"))))
    ]])
  end)

  it("leaves no hook behind", function ()
    assert.equal("true\n", printed [[
      console.startTrace()
      console.startTrace()
      console.stopTrace()
      console.stopTrace()
      print(not debug.gethook())
    ]])
  end)
end)
