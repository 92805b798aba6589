-- Traces of a client: names, replacement, the union of types, the sequence,
-- traces that end by themselves.

local transcript = require "spec.support.transcript"
local said, talk = transcript.said, transcript.talk
local frames = transcript.frames

-- What comes after the reply to attach.
local function after_attach (code)
  local lines = talk('ask "attach"; ' .. code)
  return {table.unpack(lines, 3)}
end

local function names (packets, kind)
  local list = {}
  for i, packet in ipairs(transcript.select(packets, kind)) do
    list[i] = packet.name
  end
  return list
end

describe("trace names", function ()
  it("are echoed, replaced and stopped from the top", function ()
    local list = said [[
      ask "attach"
      for _, name in ipairs {"foo", "foo", "bar", "baz"} do
        ask("startTrace", {name = name, trace = {}, include = {"^none$"}})
      end
      ask("stopTrace", {name = "bar"})
      ask "stopTrace"
      ask "stopTrace"
      ask "stopTrace"
    ]]
    assert.same({"foo", "foo", "bar", "baz"}, names(list, "startedTrace"))
    assert.same({"bar", "baz", "foo"}, names(list, "stoppedTrace"))
    assert.equal("wrongState", list[#list].error)
  end)

  it("are generated, distinct, and stopped in reverse", function ()
    local list = said [[
      ask "attach"
      for _ = 1, 50 do ask("startTrace", {trace = {}}) end
      for _ = 1, 50 do ask "stopTrace" end
    ]]
    local started, stopped = names(list, "startedTrace"),
                             names(list, "stoppedTrace")
    assert.equal(50, #started)
    assert.equal(50, #stopped)
    local seen = {}
    for i, name in ipairs(started) do
      assert.is_nil(seen[name])
      seen[name] = true
      assert.matches("^Trace %d+$", name)
      assert.equal(name, stopped[51 - i])
    end
    assert.equal("Trace 1", started[1])
  end)

  it("are never generated twice while in use", function ()
    local started = names(said [[
      ask "attach"
      for i = 1, 9 do
        ask("startTrace", {name = "Trace " .. i, trace = {}})
      end
      ask("startTrace", {trace = {}})
    ]], "startedTrace")
    assert.equal(10, #started)
    for i = 1, 9 do
      assert.equal("Trace " .. i, started[i])
      assert.not_equal("Trace " .. i, started[10])
    end
    assert.matches("^Trace %d+$", started[10])
  end)

  local null = require("spec.support.run").needs("cjson", it, pending)
  null("count as absent when empty or null", function ()
    local list = said [[
      local null = require("cjson").null
      ask "attach"
      ask("startTrace", {name = "", trace = null, batch = null, c = null})
      ask("startTrace", {name = null, trace = {}, maxDepth = null})
      ask("startTrace", {name = "a", trace = {}})
      ask("stopTrace", {name = ""})
      ask("stopTrace", {name = null})
    ]]
    local started = names(list, "startedTrace")
    assert.equal("Trace 1", started[1])
    assert.matches("^Trace %d+$", started[2])
    assert.same({"a", started[2]}, names(list, "stoppedTrace"))
  end)

  it("may be any text", function ()
    local list = said [[
      ask "attach"
      for _, name in ipairs {"a b", "%s", "ä\n", "Trace"} do
        ask("startTrace", {name = name, trace = {}, include = {"^none$"}})
        ask("stopTrace", {name = name})
      end
    ]]
    local expected = {"a b", "%s", "ä\n", "Trace"}
    assert.same(expected, names(list, "startedTrace"))
    assert.same(expected, names(list, "stoppedTrace"))
  end)
end)

describe("a trace that replaces another", function ()
  it("gets no stoppedTrace for the old one, and is the most recent",
     function ()
    assert.same({
      "startTrace?", "startedTrace requested a",
      "startTrace?", "startedTrace requested b",
      "startTrace?", "startedTrace requested a",
      "stopTrace?", "stoppedTrace requested a",
      "stopTrace?", "stoppedTrace requested b",
    }, after_attach [[
      ask("startTrace", {name = "a"})
      ask("startTrace", {name = "b"})
      ask("startTrace", {name = "a"})
      ask "stopTrace"
      ask "stopTrace"
    ]])
  end)

  it("gives back the old one's types", function ()
    local list = frames(said [[
      local function f () end
      ask "attach"
      ask("startTrace", {name = "a", trace = {"name", "time"}})
      f()
      ask("startTrace", {name = "a", trace = {"depth"}})
      f()
      ask "detach"
    ]])
    assert.equal("f", list[1].name)
    assert.is_number(list[1].time)
    assert.is_nil(list[3].name)
    assert.is_nil(list[3].time)
    assert.equal(0, list[3].depth)
  end)
end)

describe("the types of the frame packets", function ()
  local function keys (packet)
    local list = {}
    for key in pairs(packet) do
      if key ~= "from" and key ~= "type" and key ~= "sequence"
         and key ~= "why" then
        table.insert(list, key)
      end
    end
    table.sort(list)
    return table.concat(list, " ")
  end

  it("are the union over the running traces", function ()
    local list = frames(said [[
      local function f (x) return x end
      ask "attach"
      ask("startTrace", {name = "a", trace = {"name"}})
      f(1)
      ask("startTrace", {name = "b", trace = {"name", "return"}})
      f(1)
      ask("startTrace", {name = "c", trace = {"parameterNames"}})
      f(1)
      ask("stopTrace", {name = "a"})
      f(1)
      ask("stopTrace", {name = "b"})
      f(1)
      ask "stopTrace"
    ]])
    local seen = {}
    for i, packet in ipairs(list) do
      seen[i] = keys(packet)
    end
    assert.same({"name", "", "name", "return", "name parameterNames", "return",
                 "name parameterNames", "return", "parameterNames", ""}, seen)
  end)

  it("are eight by default", function ()
    local list = frames(said [[
      ask "attach"
      local function f (x) return x end
      ask "startTrace"
      f(1)
      ask "stopTrace"
    ]])
    assert.equal("arguments callsite name parameterNames time", keys(list[1]))
    assert.equal("return time", keys(list[2]))
  end)

  it("are none when none are asked for", function ()
    local list = frames(said [[
      ask "attach"
      local function f (x) return x end
      ask("startTrace", {trace = {}})
      f(1)
      ask "stopTrace"
    ]])
    assert.same({
      {from = "trace1", type = "enteredFrame", sequence = 0},
      {from = "trace1", type = "exitedFrame", sequence = 1, why = "return"},
    }, list)
  end)

  it("may be asked for twice in one request", function ()
    local list = frames(said [[
      ask "attach"
      local function f () end
      ask("startTrace", {name = "a", trace = {"name", "name"}})
      ask("startTrace", {name = "b", trace = {"depth"}})
      ask("stopTrace", {name = "a"})
      f()
      ask "stopTrace"
    ]])
    assert.equal("depth", keys(list[1]))
  end)
end)

describe("the sequence", function ()
  local function sequences (list)
    local numbers = {}
    for i, packet in ipairs(frames(list)) do
      numbers[i] = packet.sequence
    end
    return numbers
  end

  it("runs from 0 without holes while tracing, whoever starts or stops",
     function ()
    assert.same({0, 1, 2, 3, 4, 5, 6, 7}, sequences(said [[
      local function f () end
      ask "attach"
      ask("startTrace", {name = "a"})
      f()
      ask("startTrace", {name = "b"})
      f()
      ask("stopTrace", {name = "a"})
      f()
      ask("startTrace", {name = "b"})
      f()
      ask "stopTrace"
    ]]))
  end)

  it("starts again after idle, as do time and hit counts", function ()
    local list = frames(said [[
      local function f () end
      ask "attach"
      for _ = 1, 5 do
        ask("startTrace", {trace = {"hitCount", "time"}})
        f()
        f()
        ask "stopTrace"
        local t = os.clock() + 0.2
        while os.clock() < t do end
      end
    ]])
    local counts, least = sequences(list), math.huge
    assert.equal(20, #list)
    for i = 1, 20, 4 do
      assert.same({0, 1, 2, 3}, table.move(counts, i, i + 3, 1, {}))
      assert.equal(1, list[i].hitCount)
      assert.equal(2, list[i + 2].hitCount)
      least = math.min(least, i > 4 and list[i].time or least)
    end
    assert.is_true(least < 150, least)    -- of several: others work here, too
  end)

  it("starts again after a detach", function ()
    assert.same({0, 1, 0, 1}, sequences(said [[
      local function f () end
      for _ = 1, 2 do
        ask "attach"
        ask "startTrace"
        f()
        ask "detach"
      end
    ]]))
  end)

  it("has no holes where filters hide frames", function ()
    local list = frames(said [[
      local function g () end
      local function hidden () g() end
      local function f () hidden() end
      ask "attach"
      ask("startTrace", {exclude = {"^hidden$"}, trace = {"name", "depth"}})
      f()
      ask "stopTrace"
    ]])
    assert.same({0, 1, 2, 3}, sequences(list))
    assert.same({"> f", "> g", "< return", "< return"},
                transcript.lines(list))
    assert.equal(1, list[2].depth)
  end)

  it("is independent of the traces that the program keeps itself", function ()
    local list = said [[
      local tracegrip = require "tracegrip"
      local function f () end
      local mine = tracegrip.start {name = "a"}
      f()
      ask "attach"
      ask("startTrace", {name = "b"})
      f()
      mine:stop()
      f()
      ask "stopTrace"
    ]]
    assert.same({0, 1, 2, 3}, sequences(list))
    assert.same({"b"}, names(list, "stoppedTrace"))
  end)
end)

describe("frames", function ()
  it("that were open when tracing began are silent", function ()
    assert.same({
      "startTrace?", "startedTrace requested Trace 1",
      "stopTrace?", "> g", "< return", "stoppedTrace requested Trace 1",
    }, after_attach [[
      local function g () end
      local function f ()
        ask "startTrace"
        g()
      end
      f()
      ask "stopTrace"
    ]])
  end)

  it("that are open when tracing ends get no exit", function ()
    assert.same({
      "startTrace?", "startedTrace requested Trace 1",
      "stopTrace?", "> f", "> g", "stoppedTrace requested Trace 1",
      "startTrace?", "startedTrace requested again",
      "stopTrace?", "> g", "< return", "stoppedTrace requested again",
    }, after_attach [[
      local function g (stop)
        if stop then ask "stopTrace" end
      end
      local function f ()
        g(true)
        ask("startTrace", {name = "again"})
      end
      ask "startTrace"
      f()
      g()
      ask "stopTrace"
    ]])
  end)
end)

describe("a trace that ends by itself", function ()
  it("is told of with why maxEvents after its frames", function ()
    assert.same({
      "startTrace?", "startedTrace requested a", "-- tracing",
      "> f", "< return", "> f", "< return", "stoppedTrace maxEvents a",
      "-- idle", "stopTrace?", "wrongState",
    }, after_attach [[
      local function f () end
      ask("startTrace", {name = "a", maxEvents = 4})
      f() f() f()
      mark(actor.state)
      actor:flush()
      mark(actor.state)
      ask "stopTrace"
    ]])
  end)

  it("tells what it has lost that no packet tells", function ()
    local ended = {}
    for _, packet in ipairs(said [[
      local hard = {include = {(".-"):rep(20) .. "!!"}, c = false}
      local function call (name)
        load(("function %s () end %s()"):format(name, name))()
      end
      ask "attach"
      ask("startTrace", {name = "easy", trace = {}})
      for _, name in ipairs {"left", "asked"} do
        hard.name = name
        ask("startTrace", hard)
      end
      console.startTrace("own", {include = hard.include, c = false})
      call(("a"):rep(300))
      ask("stopTrace", {name = "asked"})
      console.stopTrace "own"
      hard.name, hard.duration = "short", 1000
      ask("startTrace", hard)
      call(("b"):rep(300))
      os.execute "sleep 1.1"
      client.actor:flush()
      ask "detach"
    ]]) do
      if packet.type == "stoppedTrace" then
        ended[#ended + 1] = {packet.why, packet.name, packet.lost}
      end
    end
    for i = 1, 4 do
      assert.is_true(ended[i][3].patterns > 0)
      ended[i][3].patterns = nil
    end
    assert.same({
      {"requested", "asked", {}}, {"console.stopTrace", "own", {}},
      {"duration", "short", {}}, {"detached", "left", {}}, {"detached", "easy"},
    }, ended)
  end)

  it("leaves the others running", function ()
    local lines = after_attach [[
      local function f () end
      ask("startTrace", {name = "a"})
      ask("startTrace", {name = "b", maxEvents = 2})
      f() f() f()
      ask("stopTrace", {name = "b"})
      ask "stopTrace"
    ]]
    assert.same({
      "startTrace?", "startedTrace requested a",
      "startTrace?", "startedTrace requested b", "stopTrace?",
      "> f", "< return", "> f", "< return", "> f", "< return",
      "stoppedTrace maxEvents b", "noSuchTrace",
      "stopTrace?", "stoppedTrace requested a",
    }, lines)
  end)

  it("is told of with why duration", function ()
    local lines = after_attach [[
      local function f () end
      ask("startTrace", {name = "a", duration = 10})
      local t = os.clock() + 0.05
      repeat for _ = 1, 1e5 do end until os.clock() >= t
      f()
      actor:flush()
    ]]
    assert.equal("stoppedTrace duration a", lines[#lines])
  end)

  it("is told of with why overflow", function ()
    local lines = after_attach [[
      local function f () end
      ask("startTrace", {name = "a", buffer = 65536, overflow = "stop"})
      for _ = 1, 20000 do f() end
      actor:flush()
    ]]
    assert.equal("stoppedTrace overflow a", lines[#lines])
  end)

  it("can be started again under the same name", function ()
    assert.same({
      "startTrace?", "startedTrace requested a",
      "startTrace?", "> f", "< return", "stoppedTrace maxEvents a",
      "startedTrace requested a",
      "stopTrace?", "> f", "< return", "stoppedTrace requested a",
    }, after_attach [[
      local function f () end
      ask("startTrace", {name = "a", maxEvents = 2})
      f()
      f()
      ask("startTrace", {name = "a"})
      f()
      ask "stopTrace"
    ]])
  end)
end)
