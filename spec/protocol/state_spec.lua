-- States, the form of replies, and errors.

local transcript = require "spec.support.transcript"
local said, talk = transcript.said, transcript.talk

local types = {"name", "callsite", "time", "parameterNames", "arguments",
               "return", "throw", "yield", "location", "depth", "hitCount",
               "thread"}

describe("an actor's states", function ()
  it("are detached, idle and tracing, and readable", function ()
    assert.same({
      "-- detached",
      "attach?", "attached", "-- idle",
      "startTrace?", "startedTrace requested a", "-- tracing",
      "startTrace?", "startedTrace requested b", "-- tracing",
      "stopTrace?", "stoppedTrace requested b", "-- tracing",
      "stopTrace?", "stoppedTrace requested a", "-- idle",
      "detach?", "detached", "-- detached",
      "attach?", "attached", "-- idle",
    }, talk [[
      mark(actor.state)
      ask "attach"                       mark(actor.state)
      ask("startTrace", {name = "a"})    mark(actor.state)
      ask("startTrace", {name = "b"})    mark(actor.state)
      ask "stopTrace"                    mark(actor.state)
      ask "stopTrace"                    mark(actor.state)
      ask "detach"                       mark(actor.state)
      ask "attach"                       mark(actor.state)
    ]])
  end)

  it("never show a hook to the program", function ()
    assert.same({
      "-- nil", "attach?", "attached", "-- nil",
      "startTrace?", "startedTrace requested a", "-- nil",
      "stopTrace?", "stoppedTrace requested a", "-- nil",
      "startTrace?", "startedTrace requested b",
      "detach?", "detached", "stoppedTrace detached b", "-- nil",
    }, talk [[
      local function hook ()
        mark(tostring((debug.gethook())))
      end
      hook()
      ask "attach"
      hook()
      ask("startTrace", {name = "a", include = {"^none$"}})
      hook()
      ask "stopTrace"
      hook()
      ask("startTrace", {name = "b", include = {"^none$"}})
      ask "detach"
      hook()
    ]])
  end)
end)

describe("a reply", function ()
  it("has from, type and what belongs to it, and no more", function ()
    assert.same({
      {from = "trace1", type = "attached", traceTypes = types},
      {from = "trace1", type = "startedTrace", why = "requested", name = "a"},
      {from = "trace1", type = "stoppedTrace", why = "requested", name = "a"},
      {from = "trace1", type = "startedTrace", why = "requested", name = "b"},
      {from = "trace1", type = "detached"},
      {from = "trace1", type = "stoppedTrace", why = "detached", name = "b"},
    }, said [[
      ask "attach"
      ask("startTrace", {name = "a"})
      ask "stopTrace"
      ask("startTrace", {name = "b"})
      ask "detach"
    ]])
  end)

  it("to attach lists all types each time, whoever changed the list",
     function ()
    local list = said [[
      client.send = function (packet)
        client.write(packet)
        table.remove(packet.traceTypes or {})
      end
      ask "attach"
      ask "detach"
      ask "attach"
    ]]
    assert.same(types, list[1].traceTypes)
    assert.same(types, list[3].traceTypes)
  end)
end)

describe("the error", function ()
  -- Every error: from, error, message, and nothing else.
  local function errors (code)
    local list = {}
    for _, packet in ipairs(said(code)) do
      if packet.error then
        assert.equal("trace1", packet.from)
        assert.is_string(packet.message)
        assert.is_true(packet.message ~= "")
        assert.is_nil(packet.type)
        table.insert(list, packet.error)
      end
    end
    return list
  end

  it("wrongState answers what does not fit the state", function ()
    assert.same({
      "detach?", "wrongState", "startTrace?", "wrongState",
      "stopTrace?", "wrongState", "-- detached",
      "attach?", "attached", "attach?", "wrongState",
      "stopTrace?", "wrongState", "stopTrace?", "wrongState", "-- idle",
      "startTrace?", "startedTrace requested a", "attach?", "wrongState",
      "-- tracing",
      "detach?", "detached", "stoppedTrace detached a",
      "detach?", "wrongState", "stopTrace?", "wrongState",
    }, talk [[
      ask "detach"
      ask "startTrace"
      ask "stopTrace"
      mark(actor.state)
      ask "attach"
      ask "attach"
      ask "stopTrace"
      ask("stopTrace", {name = "a"})
      mark(actor.state)
      ask("startTrace", {name = "a"})
      ask "attach"
      mark(actor.state)
      ask "detach"
      ask "detach"
      ask("stopTrace", {name = "a"})
    ]])
  end)

  it("carries a message with every code", function ()
    assert.same({"wrongState", "wrongState", "noSuchTraceType",
                 "badParameterType", "noSuchTrace", "unrecognizedPacketType",
                 "missingParameter"}, errors [[
      ask "detach"
      ask "attach"
      ask "attach"
      ask("startTrace", {trace = {"name", "colour"}})
      ask("startTrace", {trace = "name"})
      ask("startTrace", {trace = {"name"}})
      ask("stopTrace", {name = "nobody"})
      ask "makeCoffee"
      actor:receive {to = "trace1"}
    ]])
  end)

  it("noSuchTraceType names the type and leaves all as it was", function ()
    local list = said [[
      ask "attach"
      ask("startTrace", {trace = {"name", "colour"}})
      mark(actor.state)
      ask("startTrace", {name = "a", trace = {"time"}})
      ask("startTrace", {name = "a", trace = {"name", "colour"}})
      local function f () end
      f()
      ask "stopTrace"
    ]]
    assert.equal("noSuchTraceType", list[2].error)
    assert.matches("colour", list[2].message)
    assert.equal("noSuchTraceType", list[4].error)
    local frames = transcript.frames(list)
    assert.equal(2, #frames)
    assert.is_number(frames[1].time)
    assert.is_nil(frames[1].name)
    assert.equal("stoppedTrace", list[#list].type)
    assert.equal("a", list[#list].name)
  end)

  it("noSuchTrace names the trace and stops none", function ()
    local list = said [[
      ask "attach"
      ask("startTrace", {name = "a"})
      ask("stopTrace", {name = "b"})
      ask "stopTrace"
      ask("startTrace", {name = "c"})
      ask("stopTrace", {name = "a"})
    ]]
    assert.equal("noSuchTrace", list[3].error)
    assert.matches("'?b'?", list[3].message)
    assert.equal("a", list[4].name)
    assert.equal("noSuchTrace", list[6].error)
  end)

  it("missingParameter answers a packet without to or type", function ()
    local list = said [[
      actor:receive {type = "attach"}
      actor:receive {to = "trace1"}
      actor:receive {}
    ]]
    assert.equal(3, #list)
    for _, packet in ipairs(list) do
      assert.equal("missingParameter", packet.error)
      assert.equal("trace1", packet.from)
    end
    assert.matches("'to'", list[1].message)
    assert.matches("'type'", list[2].message)
  end)

  it("badParameterType answers every field of the wrong type", function ()
    local list = errors [[
      ask "attach"
      actor:receive {to = 1, type = "detach"}
      actor:receive {to = "trace1", type = 1}
      actor:receive {to = "trace1", type = {}}
      ask("startTrace", {name = 1})
      ask("startTrace", {name = {}})
      ask("startTrace", {name = true})
      ask("startTrace", {name = "a\0b"})
      ask("startTrace", {trace = "name"})
      ask("startTrace", {trace = 8})
      ask("startTrace", {trace = {1}})
      ask("startTrace", {trace = {"name", {}}})
      ask("startTrace", {trace = {name = true}})
      ask("startTrace", {trace = {"name", x = "time"}})
      ask("startTrace", {batch = 0})
      ask("startTrace", {batch = -1})
      ask("startTrace", {batch = 1.5})
      ask("startTrace", {batch = "10"})
      ask("startTrace", {batch = {}})
      ask("startTrace", {batch = 0/0})
      ask("startTrace", {maxDepth = "deep"})
      ask("startTrace", {valueDepth = -1})
      ask("startTrace", {overflow = "flood"})
      ask("startTrace", {include = 1})
      ask("startTrace", {colour = "red"})
      ask("startTrace", {name = "a"})
      ask("stopTrace", {name = 1})
      ask("stopTrace", {name = {}})
    ]]
    assert.equal(26, #list)
    for _, code in ipairs(list) do
      assert.equal("badParameterType", code)
    end
  end)

  it("badParameterType says which option it means", function ()
    local list = said [[
      ask "attach"
      ask("startTrace", {colour = "red"})
      ask("startTrace", {maxDepth = "deep"})
      ask("startTrace", {name = 1})
      ask("startTrace", {batch = 0})
      ask("startTrace", {trace = 1})
    ]]
    for i, what in ipairs {"colour", "maxDepth", "name", "batch", "trace"} do
      assert.matches(what, list[i + 1].message)
    end
  end)

  it("unrecognizedPacketType answers any other type", function ()
    assert.same({"unrecognizedPacketType", "unrecognizedPacketType",
                 "unrecognizedPacketType"}, errors [[
      ask "makeCoffee"
      ask "attached"
      ask "__index"
    ]])
  end)

  it("noSuchActor answers a packet to another, in the other's name",
     function ()
    local list = said [[
      actor:receive {to = "trace2", type = "attach"}
      mark(actor.state)
      ask "attach"
    ]]
    assert.equal("noSuchActor", list[1].error)
    assert.equal("trace2", list[1].from)
    assert.matches("trace2", list[1].message)
    assert.equal("attached", list[2].type)
  end)

  it("is raised for what is no packet, and by nothing else", function ()
    local lines = talk [[
      for _, what in ipairs {1, "attach", true} do
        local ok, message = pcall(actor.receive, actor, what)
        mark(tostring(ok) .. " " .. message:match "table expected, got %a+")
      end
      mark(tostring(pcall(actor.receive, actor)))
    ]]
    assert.same({"-- false table expected, got number",
                 "-- false table expected, got string",
                 "-- false table expected, got boolean"},
                {lines[1], lines[2], lines[3]})
    assert.matches("false", lines[4])
  end)
end)

describe("making an actor", function ()
  it("raises on wrong options, and names them", function ()
    local lines = talk [[
      local new = require("tracegrip.actor").new
      local function try (options)
        mark(select(2, pcall(new, options)))
      end
      try(nil)
      try {send = print}
      try {id = "", send = print}
      try {id = "a"}
      try {id = "a", send = "print"}
      try {id = "a", send = print, batch = 1}
    ]]
    for i, what in ipairs {"table expected", "'id'", "'id'", "'send'",
                           "'send'", "'batch'.*known: feed, id, send"} do
      assert.matches(what, lines[i])
    end
  end)

  it("gives each its own client, states and traces", function ()
    local lines = talk [[
      local function make (id)
        return require("tracegrip.actor").new {
          id = id,
          send = function (packet)
            mark(packet.from .. " " .. (packet.error or packet.type) .. " "
                 .. (packet.name or ""))
          end
        }
      end
      local a, b = make "a", make "b"
      a:receive {to = "a", type = "attach"}
      b:receive {to = "b", type = "stopTrace"}
      b:receive {to = "b", type = "attach"}
      a:receive {to = "a", type = "startTrace", name = "one"}
      mark(a.state .. " " .. b.state)
      b:receive {to = "b", type = "startTrace", name = "two"}
      b:receive {to = "b", type = "stopTrace", name = "one"}
      local function f () end
      f()
      a:receive {to = "a", type = "detach"}
      b:receive {to = "b", type = "detach"}
    ]]
    assert.same({
      "-- a attached ", "-- b wrongState ", "-- b attached ",
      "-- a startedTrace one", "-- tracing idle", "-- b startedTrace two",
      "-- b noSuchTrace ",
      "-- a enteredFrame f", "-- a exitedFrame ", "-- a detached ",
      "-- a stoppedTrace one",
      "-- b enteredFrame f", "-- b exitedFrame ", "-- b detached ",
      "-- b stoppedTrace two",
    }, lines)
  end)
end)
