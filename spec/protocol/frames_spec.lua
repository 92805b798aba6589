-- Frame packets as a client gets them, field by field. spec/conformance has
-- every way a frame can begin and end.

local transcript = require "spec.support.transcript"
local frames, said = transcript.frames, transcript.said

-- The frame packets of a program that runs between a start and a stop. What
-- is defined before is in 'before', both as code.
local function traced (types, before, code)
  local list = {}
  for i, name in ipairs(types) do
    list[i] = ("%q"):format(name)
  end
  return frames(said(("%s ask 'attach' "
                      .. "ask('startTrace', {trace = {%s}}) "
                      .. "%s ask 'stopTrace'")
                     :format(before, table.concat(list, ", "), code)))
end

local function field (packets, key)
  local list = {}
  for i, packet in ipairs(packets) do
    list[i] = packet[key] == nil and "-" or packet[key]
  end
  return list
end

describe("a frame packet", function ()
  it("has from, type, sequence and what was asked for, and no more",
     function ()
    local list = traced({"name", "callsite", "parameterNames", "arguments",
                         "return", "throw", "yield"},
                        "local function f (x)\nreturn x\nend",
                        "\n\nf(42)")
    assert.same({
      {from = "trace1", type = "enteredFrame", sequence = 0, name = "f",
       callsite = {url = "program.lua", line = 6}, parameterNames = {"x"},
       arguments = {values = {42}, objectPool = {}}},
      {from = "trace1", type = "exitedFrame", sequence = 1, why = "return",
       ["return"] = {value = 42, objectPool = {}}},
    }, list)
  end)

  it("says who was entered: baz, bar, foo", function ()
    local list = traced({"name"}, [[
      local function foo () end
      local function bar () foo() end
      local function baz () bar() end
    ]], "baz()")
    assert.same({"baz", "bar", "foo", "-", "-", "-"}, field(list, "name"))
    assert.same({0, 1, 2, 3, 4, 5}, field(list, "sequence"))
    assert.same({"enteredFrame", "enteredFrame", "enteredFrame",
                 "exitedFrame", "exitedFrame", "exitedFrame"},
                field(list, "type"))
  end)

  it("has a time, in ms, that never goes back", function ()
    local list = traced({"time"}, [[
      local function wait ()
        local t = os.clock() + 0.02
        repeat for _ = 1, 1e5 do end until os.clock() >= t
      end
    ]], "wait()")
    local last = 0
    for _, packet in ipairs(list) do
      assert.is_number(packet.time)
      assert.is_true(packet.time >= last)
      last = packet.time
    end
    local took = last - list[1].time
    assert.is_true(took > 15 and took < 5000)
    assert.is_true(list[1].time < 5000)
  end)

  it("has the place of the call and of the definition", function ()
    local list = traced({"callsite", "location"},
                        "local function g ()\nend\n"
                        .. "local function f ()\nlocal x = 1 g()\nend",
                        "\nf()")
    local function at (line)
      return {url = "program.lua", line = line}
    end
    assert.same({at(7), at(5), "-", "-"}, field(list, "callsite"))
    assert.same({at(4), at(2), "-", "-"}, field(list, "location"))
  end)

  it("says why the frame was left", function ()
    local list = traced({"name", "throw", "return"}, [[
      local function thrower () error {} end
      local function returner () return "x" end
    ]], "pcall(thrower) returner()")
    assert.same({"> pcall", "> thrower", "> error", "< exception",
                 "< exception", "< return", "> returner", "< return"},
                transcript.lines(list))
    assert.equal("object", list[4].throw.value.type)
    assert.is_nil(list[4]["return"])
    assert.is_false(list[6]["return"].value)
    assert.equal("x", list[8]["return"].value)
    assert.is_nil(list[8].throw)
  end)

  it("says why even when no completion was asked for", function ()
    local list = traced({}, "local function f () error 'x' end", "pcall(f)")
    assert.same({"-", "-", "-", "exception", "exception", "return"},
                field(list, "why"))
    for _, packet in ipairs(list) do
      assert.is_nil(packet["return"] or packet.throw)
    end
  end)

  it("has only the completion that was asked for", function ()
    local list = traced({"throw"}, [[
      local co = coroutine.wrap(function () coroutine.yield(1) error(2) end)
    ]], "pcall(co) pcall(co)")
    for _, packet in ipairs(list) do
      assert.is_nil(packet["return"])
      assert.is_nil(packet.yield)
      assert.equal(packet.why == "exception", packet.throw ~= nil)
    end
  end)

  it("tells of yields and resumes", function ()
    local list = traced({"name", "yield"}, [[
      local resume, yield = coroutine.resume, coroutine.yield
      local co = coroutine.create(function () yield(7) end)
    ]], "resume(co) resume(co)")
    assert.same({
      "> coroutine.resume", "> (anonymous function)", "> coroutine.yield",
      "< yield", "< yield", "< return",
      "> coroutine.resume", "> (anonymous function)", "> coroutine.yield",
      "< return", "< return", "< return",
    }, transcript.lines(list))
    assert.equal(7, list[4].yield.value)
    assert.equal(7, list[5].yield.value)
    assert.is_true(list[8].resumed)
    assert.is_true(list[9].resumed)
    assert.is_nil(list[7].resumed)
  end)

  it("has a depth, the same at the exit", function ()
    local list = traced({"depth"}, [[
      local function fourth () end
      local function third () fourth() end
      local function second () third() end
      local function first () second() end
    ]], "first()")
    assert.same({0, 1, 2, 3, 3, 2, 1, 0}, field(list, "depth"))
  end)

  it("of a C function is hidden, depth and all, without c", function ()
    local list = frames(said [[
      local function noop (x) return x end
      local function f () return (("abc"):gsub(".", noop)) end
      ask "attach"
      ask("startTrace", {c = false, trace = {"name", "depth"}})
      f()
      ask "stopTrace"
    ]])
    assert.same({"> f", "> noop", "< return", "> noop", "< return", "> noop",
                 "< return", "< return"}, transcript.lines(list))
    assert.equal(0, list[1].depth)
    assert.equal(1, list[2].depth)
  end)

  it("counts hits, and from 1 again after idle", function ()
    local code = [[
      local function back () end
      local function call (f) for _ = 1, 3 do f() end end
      ask "attach"
      for _ = 1, 2 do
        ask("startTrace", {trace = {"hitCount", "name"}})
        call(back)
        ask "stopTrace"
      end
    ]]
    local list = frames(said(code))
    assert.equal(16, #list)
    for _, first in ipairs {1, 9} do
      assert.equal(0, list[first].sequence)
      local hits = field({table.unpack(list, first, first + 7)}, "hitCount")
      assert.same({1, 1, "-", 2, "-", 3, "-", "-"}, hits)
    end
  end)

  it("counts hits from when they were first asked for", function ()
    local list = frames(said [[
      local function back () end
      local function call (f) for _ = 1, 3 do f() end end
      ask "attach"
      ask("startTrace", {trace = {"name"}})
      call(back)
      ask("startTrace", {trace = {"hitCount"}})
      call(back)
      ask "detach"
    ]])
    assert.same({"-", "-", "-", "-", "-", "-", "-", "-",
                 1, 1, "-", 2, "-", 3, "-", "-"}, field(list, "hitCount"))
    assert.equal(8, list[9].sequence)
    assert.equal("call", list[9].name)
  end)

  it("has a thread", function ()
    local list = traced({"thread", "name"}, [[
      local function f () end
      local co = coroutine.wrap(f)
    ]], "f() co()")
    assert.same({1, 1, 2}, {list[1].thread, list[3].thread, list[4].thread})
  end)
end)

describe("a value", function ()
  it("comes as a grip, objects once each in a pool", function ()
    local list = traced({"return"}, [[
      local function f ()
        local t = {num = 25, str = "foo", bool = false, inf = 1/0, ninf = -1/0,
                   nan = 0/0, mzero = -0.0, list = {}}
        t.self = t
        return t
      end
    ]], "f()")
    local completion = list[2]["return"]
    assert.same({type = "object", objectId = 0}, completion.value)
    assert.equal(2, #completion.objectPool)
    local object, inner = table.unpack(completion.objectPool)
    assert.equal("table", object.class)
    assert.same({type = "null"}, object.prototype)
    local values = {}
    for key, property in pairs(object.ownProperties) do
      assert.is_true(property.enumerable and property.configurable
                     and property.writable)
      values[key] = property.value
    end
    assert.same({
      num = 25, str = "foo", bool = false, inf = {type = "Infinity"},
      ninf = {type = "-Infinity"}, nan = {type = "NaN"},
      mzero = {type = "-0"}, list = {type = "object", objectId = 1},
      self = {type = "object", objectId = 0},
    }, values)
    assert.equal("table", inner.class)
    assert.same({}, inner.ownProperties)
  end)

  it("is limited as the trace says, and cut visibly", function ()
    local list = frames(said [[
      local function f (t) return t end
      ask "attach"
      ask("startTrace", {trace = {"arguments"}, valueProperties = 2,
                         valueString = 4})
      f({1, 2, 3}) f("abcdefgh")
      ask "stopTrace"
    ]])
    local pool = list[1].arguments.objectPool
    assert.is_true(pool[1].truncated)
    local count = 0
    for _ in pairs(pool[1].ownProperties) do
      count = count + 1
    end
    assert.equal(2, count)
    assert.same({{type = "longString", initial = "abcd", length = 8}},
                list[3].arguments.values)
  end)

  it("is kept secret only if every trace keeps it secret", function ()
    local list = frames(said [[
      local function login (name, password) end
      ask "attach"
      ask("startTrace", {name = "a", trace = {"arguments"},
                         redact = {"^password$"}})
      login("me", "1234")
      ask("startTrace", {name = "b", trace = {"arguments"}})
      login("me", "1234")
      ask("stopTrace", {name = "b"})
      login("me", "1234")
      ask "stopTrace"
    ]])
    local hidden = {"me", {type = "redacted"}}
    assert.same(hidden, list[1].arguments.values)
    assert.same({"me", "1234"}, list[3].arguments.values)
    assert.same(hidden, list[5].arguments.values)
  end)

  it("has several results in values, the first in value", function ()
    local list = traced({"return"}, [[
      local function none () end
      local function one () return nil end
      local function two () return 1, "b" end
    ]], "none() one() two()")
    local nothing = {type = "undefined"}
    assert.same({value = nothing, values = {}, objectPool = {}},
                list[2]["return"])
    assert.same({value = nothing, objectPool = {}}, list[4]["return"])
    assert.same({value = 1, values = {1, "b"}, objectPool = {}},
                list[6]["return"])
  end)
end)
