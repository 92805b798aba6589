-- tracegrip.start and the Trace: options, names, life and end.

local conform = require "spec.support.conform"
local run = require "spec.support.run"

-- Runs `program` with "tracegrip" and "console"; returns what it prints.
local function printed (program)
  local result = run.code([[
    local tracegrip = require "tracegrip"
    local console = require "tracegrip.console"
  ]] .. program)
  assert.equal(0, result.status, result.stderr)
  return result.stdout
end

describe("require 'tracegrip'", function ()
  it("sets no global and installs no hook", function ()
    local result = run.code [[
      local before = {}
      for k in pairs(_G) do before[k] = true end
      local tracegrip = require "tracegrip"
      require "tracegrip.console"
      for k in pairs(_G) do
        if not before[k] then print("global", k) end
      end
      print(type(tracegrip), debug.gethook())
    ]]
    assert.equal("table\t", result.stdout:match "^table\t")
    assert.is_nil(result.stdout:find "function")
  end)

  it("lists the types in the protocol's order", function ()
    assert.equal("name callsite time parameterNames arguments return throw "
                 .. "yield location depth hitCount thread\n", printed [[
      print(table.concat(tracegrip.traceTypes, " "))
    ]])
  end)
end)

describe("a list among the options", function ()
  it("has no holes and no other keys, which would be passed over", function ()
    local text = printed [[
      for _, name in ipairs {"redact", "include", "exclude", "on", "trace"} do
        for _, list in ipairs {{name = true}, {[2] = "name"}, {nil, "name"},
                               {"name", [3] = "time"}} do
          local ok, message = pcall(tracegrip.start, {[name] = list})
          print(ok, message == ("option '%s': a %s expected, got a table with "
            .. "other keys"):format(name, name == "trace"
            and "list of trace types" or "pattern or a list of patterns"))
        end
      end
      local list = table.pack("name", "time")
      print(tracegrip.start {trace = list, redact = list, include = {}}.active)
    ]]
    assert.equal(("false\ttrue\n"):rep(20) .. "true\n", text)
  end)
end)

describe("a name or a path", function ()
  it("has no zero byte, behind which it would be another one", function ()
    local text = printed [[
      local trace = tracegrip.start {name = "a"}
      for _, call in ipairs {
        {tracegrip.start, {name = "a\0b"}}, {console.startTrace, "a\0b"},
        {console.stopTrace, "a\0b"}, {tracegrip.open, "a\0b"},
        {trace.export, trace, "packets", "a\0b"}, {trace.save, trace, "a\0b"}
      } do
        local ok, message = pcall(table.unpack(call))
        print(ok, message:match "a string without zero bytes expected")
      end
      print(trace.active)
    ]]
    assert.equal(("false\ta string without zero bytes expected\n"):rep(6)
                 .. "true\n", text)
  end)
end)

describe("an option", function ()
  local known = {
    "name", "trace", "include", "exclude", "c", "maxDepth", "minDuration",
    "valueDepth", "valueProperties", "valueString", "valueObjects", "redact",
    "redactPreset", "redactIgnoreCase",
    "buffer", "overflow", "maxEvents", "duration", "on", "calls"
  }

  it("that is unknown is an error which names it and the others", function ()
    local text = printed [[
      print(pcall(tracegrip.start, {bogus = 1}))
      print(pcall(console.startTrace, "x", {bogus = 1}))
    ]]
    for line in text:gmatch "[^\n]+" do
      assert.is_truthy(line:find "^false\t")
      assert.is_truthy(line:find "bogus")
      for _, name in ipairs(known) do
        assert.is_truthy(line:find(name, 1, true) or name == "name", name)
      end
    end
  end)

  it("is accepted in every form that the manual gives", function ()
    assert.equal("fine\n", printed [[
      local forms = {
        {}, {name = "n"}, {trace = {}}, {trace = {"time", "time"}},
        {include = {"a", "b"}}, {exclude = {"a"}}, {c = false}, {c = true},
        {maxDepth = 1}, {maxDepth = 100000}, {minDuration = 0},
        {minDuration = 1.5}, {valueDepth = 0}, {valueDepth = "all"},
        {valueProperties = 0}, {valueProperties = "all"}, {valueString = 0},
        {valueString = "all"}, {valueObjects = 1}, {valueObjects = "all"},
        {redact = {"password"}}, {redactPreset = "secrets"},
        {redact = "^a", redactIgnoreCase = true}, {redactIgnoreCase = false},
        {buffer = 1 << 20}, {overflow = "stop"},
        {overflow = "ring"}, {overflow = "wait"}, {maxEvents = 10},
        {duration = 1000}, {duration = 0.5}, {on = "f"}, {on = {"f", "g"}},
        {on = "f", calls = 1}, {on = "f", calls = "all"}
      }
      for i, options in ipairs(forms) do
        local ok, trace = pcall(tracegrip.start, options)
        if not ok then print(i, trace) else trace:stop() end
      end
      tracegrip.start():stop()
      tracegrip.start(nil):stop()
      print "fine"
    ]])
  end)

  it("of a wrong type or range is an error that names it", function ()
    local text = printed [[
      local wrong = {
        {name = 5}, {name = {}}, {trace = "name"}, {trace = {5}},
        {include = 5}, {include = {5 == 5}}, {exclude = true}, {c = "no"},
        {maxDepth = "deep"}, {maxDepth = -1}, {maxDepth = 1.5},
        {minDuration = "long"}, {minDuration = -1}, {valueDepth = -1},
        {valueDepth = "some"}, {valueDepth = 1.5}, {valueProperties = {}},
        {valueProperties = -1}, {valueString = "x"}, {valueString = -5},
        {valueObjects = false}, {valueObjects = -1}, {redact = 7},
        {buffer = "big"}, {buffer = -1}, {overflow = "burst"},
        {overflow = 1}, {maxEvents = -1}, {maxEvents = "x"},
        {duration = -1}, {duration = "x"}, {on = 5}, {on = {"["}},
        {calls = 0}, {calls = "some"}, {calls = 2}, {include = {"["}},
        {redact = {"%"}},
      }
      for i, options in ipairs(wrong) do
        local ok, message = pcall(tracegrip.start, options)
        local key = next(options)
        if ok then
          print("accepted", i, key, options[key])
          message:stop()
        elseif not message:find(key, 1, true) then
          print("unnamed", key, message)
        end
      end
      print(pcall(tracegrip.start, 5) or "refused")
      print(pcall(tracegrip.start, {[1] = "name"}) or "refused")
      print(debug.gethook())
    ]]
    assert.equal("refused\nrefused\n", text:match "^(.-\n.-\n)", text)
    assert.is_nil(text:find "accepted" or text:find "unnamed")
  end)

  it("table is read without metamethods and left alone", function ()
    assert.equal("true\n", printed [[
      local options = setmetatable({trace = {"name"}}, {
        __index = function (_, k) print("read", k) end,
        __pairs = function () print "pairs" end,
        __newindex = function (_, k) print("wrote", k) end
      })
      tracegrip.start(options):stop()
      print(next(options) == "trace" and next(options, "trace") == nil)
    ]])
  end)
end)

describe("an unknown trace type", function ()
  it("raises an error that names it and changes nothing", function ()
    assert.equal("false\ttrue\nfalse\ttrue\ntrue\ttrue\n", printed [[
      local kept = tracegrip.start {name = "kept"}
      local ok, m = pcall(tracegrip.start,
                          {name = "kept", trace = {"name", "nonsense"}})
      print(ok, m:find("nonsense", 1, true) ~= nil)
      ok, m = pcall(console.startTrace, "kept", {trace = {"nonsense"}})
      print(ok, m:find("nonsense", 1, true) ~= nil)
      print(kept.active, console.stopTrace("kept") ~= nil)
    ]])
  end)

  it("installs no hook", function ()
    assert.equal("true\n", printed [[
      pcall(tracegrip.start, {trace = {"nonsense"}})
      print(not debug.gethook())
    ]])
  end)
end)

describe("a Trace", function ()
  it("has a name, is active, and stops once", function ()
    assert.equal("load\ttrue\ttable\nfalse\tload\nfalse\n", printed [[
      local trace = tracegrip.start {name = "load"}
      print(trace.name, trace.active, type(trace.lost))
      trace:stop()
      print(trace.active, trace.name)
      trace:stop()
      trace:stop()
      print(trace.active)
    ]])
  end)

  it("has lost nothing when nothing was lost", function ()
    assert.equal("nil\n", printed [[
      local trace = tracegrip.start()
      string.rep("x", 3)
      trace:stop()
      for cause, n in pairs(trace.lost) do
        assert(type(cause) == "string" and n == 0, cause)
      end
      print(nil)
    ]])
  end)

  it("can be read as often as one likes, also before its end", function ()
    assert.equal("2\t2\t4\t4\t4\n", printed [[
      local function f () end
      local function count (trace)
        local n = 0
        for p in trace:packets() do
          assert(p.sequence == n)
          n = n + 1
        end
        return n
      end
      local trace = tracegrip.start {include = {"^f$"}}
      f()
      local a, b = count(trace), count(trace)
      f()
      local c = count(trace)
      trace:stop()
      print(a, b, c, count(trace), count(trace))
    ]])
  end)

  it("two readers of which do not disturb each other", function ()
    assert.equal("0 0 1 2 1 2\n", printed [[
      local function f () end
      local trace = tracegrip.start {include = {"^f$"}}
      f() f()
      trace:stop()
      local a, b = trace:packets(), trace:packets()
      local list = {}
      for i, next in ipairs {a, b, a, a, b, b} do
        list[i] = next().sequence
      end
      print(table.concat(list, " "))
    ]])
  end)

  it("ends at the end of its block", function ()
    assert.equal("true\tfalse\ttrue\n", printed [[
      local kept, was
      do
        local trace <close> = tracegrip.start()
        kept, was = trace, trace.active
      end
      print(was, kept.active, not debug.gethook())
    ]])
  end)

  it("ends when an error leaves its block", function ()
    assert.equal("false\tfalse\ttrue\n", printed [[
      local kept
      local ok = pcall(function ()
        local trace <close> = tracegrip.start()
        kept = trace
        error "x"
      end)
      print(ok, kept.active, not debug.gethook())
    ]])
  end)

  it("ends when nobody has it any more", function ()
    assert.equal("true\n", printed [[
      do tracegrip.start {name = "dropped"} end
      for i = 1, 4 do collectgarbage() end
      print(not debug.gethook())
    ]])
  end)

  it("of the console does not end when nobody has it", function ()
    assert.equal("load\ttrue\n", printed [[
      local name = console.startTrace("load")
      for i = 1, 4 do collectgarbage() end
      local trace = console.stopTrace("load")
      local n = 0
      for p in trace:packets() do n = n + 1 end
      print(trace.name, n >= 8)
    ]])
  end)

  it("refuses what it cannot do", function ()
    assert.equal("false\nfalse\nfalse\tnil\n", printed [[
      local trace = tracegrip.start()
      trace:stop()
      print((pcall(trace.stop)))
      print((pcall(trace.packets, {})))
      local ok = pcall(function () trace.name = "other" end)
      print(ok, trace.nothing)
    ]])
  end)

  it("says why it cannot write a file", function ()
    local text = printed [[
      local trace = tracegrip.start()
      trace:stop()
      local ok, message, code = trace:export("packets", "/nonexistent/x")
      print(ok, type(message), message:find("/nonexistent/x", 1, true) ~= nil,
            code ~= nil)
    ]]
    assert.equal("nil\tstring\ttrue\ttrue\n", text)
  end)

  it("refuses an unknown export format by name", function ()
    assert.equal("false\ttrue\n", printed [[
      local trace = tracegrip.start()
      trace:stop()
      local ok, message = pcall(trace.export, trace, "pumpkin", "/tmp/x")
      print(ok, tostring(message):find("pumpkin", 1, true) ~= nil)
    ]])
  end)

  it("takes its packets along when the state closes", function ()
    local result = run.code [[
      local tracegrip = require "tracegrip"
      trace = tracegrip.start()
      reader = trace:packets()
      string.rep("x", 2)
      reader()
    ]]
    assert.same({"", "", 0}, {result.stdout, result.stderr, result.status})
  end)
end)

describe("the hook", function ()
  it("is gone everywhere after the last stop", function ()
    assert.equal("0\n", printed [[
      local function f () while true do coroutine.yield() end end
      local list = {}
      for i = 1, 4 do
        list[i] = coroutine.create(f)
        if i > 1 then coroutine.resume(list[i]) end
      end
      local trace = tracegrip.start()
      for i = 5, 9 do list[i] = coroutine.create(f) end
      for i = 1, 8 do coroutine.resume(list[i]) end
      local other = tracegrip.start()
      trace:stop()
      coroutine.resume(list[2])
      other:stop()
      local n = debug.gethook() and 1 or 0
      for _, co in ipairs(list) do
        if debug.gethook(co) then n = n + 1 end
        coroutine.resume(co)
        if debug.gethook(co) then n = n + 1 end
      end
      print(n)
    ]])
  end)

  it("is really gone, as far as the debug library can tell", function ()
    -- a hook set with the C API shows as "external hook", counted above; a
    -- stand-in for debug.gethook must be gone as well
    assert.equal("true\ttrue\ttrue\n", printed [[
      local gethook, sethook = debug.gethook, debug.sethook
      local resume = coroutine.resume
      tracegrip.start():stop()
      print(gethook == debug.gethook, sethook == debug.sethook,
            resume == coroutine.resume)
    ]])
  end)

  it("is gone when a trace is stopped inside a coroutine", function ()
    assert.equal("true\ttrue\n", printed [[
      local trace = tracegrip.start()
      local co = coroutine.create(function ()
        coroutine.wrap(function () trace:stop() end)()
        coroutine.yield()
      end)
      coroutine.resume(co)
      print(not debug.gethook(), not debug.gethook(co))
    ]])
  end)
end)

describe("several traces", function ()
  it("have each its own types and an unbroken sequence", function ()
    local result = conform.run([[
      local function g (x) return x end
      local function f (x) g(x) end
      local a = start {trace = {"name"}}
      f(1)
      local b = start {trace = {"arguments"}}
      f(2)
      a:stop()
      f(3)
      local c = start {trace = {"name", "return"}}
      f(4)
      b:stop()
      c:stop()
    ]])
    assert.is_true(result.ok, result.message)
    local function value (v)
      return type(v) == "table" and "t" or v
    end
    local function shape (packets)
      local list = {}
      for i, p in ipairs(packets) do
        assert.equal(i - 1, p.sequence)
        list[i] = (p.name or "?")
                  .. value(p.arguments and p.arguments.values[1] or "")
                  .. (p["return"] and "=" or "")
      end
      return table.concat(list, " ")
    end
    -- "start" here is a Lua function of the spec
    assert.equal("f g ? ? start ? f g ? ?", shape(result[1].packets))
    assert.equal("?2 ?2 ? ? ?3 ?3 ? ? ?t ? ?4 ?4 ? ?",
                 shape(result[2].packets))
    assert.equal("f g ?= ?=", shape(result[3].packets))
  end)

  it("that begin inside a call see what comes from there", function ()
    local result = conform.run([[
      local function h () end
      local b
      local function g () h() b = start() h() end
      local function f () g() h() end
      local a = start()
      f()
      b:stop()
    ]], {trace = {"name", "depth"}})
    local function shape (packets)
      local list = {}
      for i, p in ipairs(packets) do
        list[i] = p.type == "enteredFrame" and p.name .. p.depth or "<"
      end
      return table.concat(list, " ")
    end
    local one, two = shape(result[1].packets), shape(result[2].packets)
    assert.equal("h0 < h0 <", two)
    -- "start" here is a Lua function of the spec
    assert.equal("f0 g1 h2 < start2 < h2 < < h1 < <", one)
  end)

  it("can be twenty, started and stopped in any order", function ()
    local seed = 20240601
    local result = conform.run(([[
      math.randomseed(%d)
      local traces, order, log = {}, {}, {}
      local function f (n) end
      local n = 0
      local function work () n = n + 1 f(n) end
      for i = 1, 20 do order[i] = i end
      for i = 20, 2, -1 do
        local j = math.random(i)
        order[i], order[j] = order[j], order[i]
      end
      local random = math.random
      for i = 1, 20 do
        work()
        traces[i] = tracegrip.start {name = "t" .. i, include = {"^f$"},
                           trace = i %% 2 == 0 and {"arguments"} or {"name"}}
        log[i] = {from = n + 1}
        work()
      end
      for _, i in ipairs(order) do
        work()
        traces[i]:stop()
        log[i].to = n
        work()
      end
      for i = 1, 20 do
        local expect, k = log[i].from, 0
        for p in traces[i]:packets() do
          assert(p.sequence == k, "sequence")
          if k %% 2 == 0 then
            assert(p.type == "enteredFrame")
            if i %% 2 == 0 then
              assert(p.name == nil and p.arguments.values[1] == expect)
            else
              assert(p.name == "f" and p.arguments == nil)
            end
            expect = expect + 1
          end
          k = k + 1
        end
        assert(expect == log[i].to + 1, "count")
        assert(k == 2 * (log[i].to - log[i].from + 1))
      end
      print(not debug.gethook())
    ]]):format(seed))
    assert.is_true(result.ok, ("seed %d: %s"):format(seed, result.message))
    assert.equal("true\n", result.stdout)
  end)

  it("of which the wider limits and filters are recorded once", function ()
    local result = conform.run([[
      local function g (t) end
      local function f (t) g(t) end
      local a = start {trace = {"name", "arguments"}, valueDepth = 2,
                       include = {"^f$"}}
      local b = start {trace = {"name", "arguments"}, valueDepth = 0,
                       include = {"^g$"}}
      local c = start {trace = {"name", "arguments"}, redact = {"t"}}
      f({x = {y = 1}})
      a:stop() b:stop() c:stop()
    ]])
    local notation = require "spec.support.notation"
    local types = {trace = {"name", "arguments"}}
    assert.equal("> f(#1{x = #2{y = 1}})\n< f return",
                 notation.render(result[1].packets, types))
    assert.equal("> g(#1{~})\n< g return",
                 notation.render(result[2].packets, types))
    assert.equal("> f(redacted)\n  > g(redacted)\n  < g return\n< f return",
                 notation.render(result[3].packets, types))
  end)
end)

describe("hit counts", function ()
  it("begin when they are requested", function ()
    local result = conform.run([[
      local function f () end
      local a = start {trace = {"name"}, include = {"^f$"}}
      f()
      local b = start {trace = {"hitCount"}, include = {"^f$"}}
      f() f()
      b:stop()
      local c = start {trace = {"hitCount"}, include = {"^f$"}}
      f()
      c:stop()
      a:stop()
    ]])
    assert.equal(1, result[2].packets[1].hitCount)
    assert.equal(2, result[2].packets[3].hitCount)
    assert.equal(1, result[3].packets[1].hitCount)
    assert.is_nil(result[1].packets[1].hitCount)
  end)
end)
