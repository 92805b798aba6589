-- What an attached client is told of the program's own traces.

local transcript = require "spec.support.transcript"
local said, talk = transcript.said, transcript.talk

describe("a console trace", function ()
  it("is announced with its types and its end", function ()
    assert.same({
      {from = "trace1", type = "attached"},
      {from = "trace1", type = "startedTrace", why = "console.startTrace",
       name = "load", tracing = {"name", "depth"}},
      {from = "trace1", type = "stoppedTrace", why = "console.stopTrace",
       name = "load"},
    }, said [[
      client.send = function (packet)
        packet.traceTypes = nil
        client.write(packet)
      end
      ask "attach"
      console.startTrace("load", {trace = {"name", "depth"}})
      console.stopTrace "load"
    ]])
  end)

  it("is announced with its generated name and the default types", function ()
    local list = said [[
      ask "attach"
      local name = console.startTrace()
      mark(name)
    ]]
    assert.equal("Trace 1", list[2].name)
    assert.same({"name", "callsite", "time", "parameterNames", "arguments",
                 "return", "throw", "yield"}, list[2].tracing)
  end)

  it("is announced in order with the frames", function ()
    assert.same({
      "attach?", "attached",
      "startedTrace console.startTrace a", "-- tracing",
      "> f", "< return",
      "startedTrace console.startTrace b",
      "> f", "< return",
      "stoppedTrace console.stopTrace a", "-- tracing",
      "> f", "< return",
      "stoppedTrace console.stopTrace b", "-- idle",
    }, talk [[
      local function f () end
      ask "attach"
      console.startTrace "a"
      mark(actor.state)
      f()
      console.startTrace "b"
      f()
      console.stopTrace "a"
      mark(actor.state)
      f()
      console.stopTrace()
      mark(actor.state)
      f()
      actor:flush()
    ]])
  end)

  it("counts into the union and the sequence of the client's", function ()
    local list = transcript.frames(said [[
      local function f () end
      ask "attach"
      ask("startTrace", {trace = {"name"}})
      f()
      console.startTrace("a", {trace = {"depth"}})
      f()
      console.stopTrace "a"
      f()
      ask "stopTrace"
    ]])
    local seen = {}
    for i = 1, #list, 2 do
      table.insert(seen, list[i].sequence .. (list[i].depth and " d" or ""))
    end
    assert.same({"0", "2 d", "4"}, seen)
  end)

  it("is not announced when no client is attached", function ()
    assert.same({"attach?", "attached", "detach?", "detached"}, talk [[
      local function f () end
      console.startTrace "a"
      f()
      console.stopTrace "a"
      ask "attach"
      ask "detach"
      console.startTrace "b"
      f()
      console.stopTrace "b"
    ]])
  end)

  it("that is older than the attach stays the program's", function ()
    assert.same({
      "attach?", "attached", "-- idle",
      "stopTrace?", "wrongState",
      "startTrace?", "startedTrace requested b",
      "stopTrace?", "> f", "< return", "noSuchTrace",
      "-- a stopped",
      "stopTrace?", "stoppedTrace requested b",
    }, talk [[
      local function f () end
      console.startTrace "a"
      ask "attach"
      mark(actor.state)
      ask "stopTrace"
      ask("startTrace", {name = "b"})
      f()
      ask("stopTrace", {name = "a"})
      console.stopTrace "a"
      mark "a stopped"
      ask "stopTrace"
    ]])
  end)

  it("is told of as detached on detach, but goes on in the program",
     function ()
    assert.same({
      "attach?", "attached",
      "startedTrace console.startTrace a",
      "startTrace?", "startedTrace requested b",
      "detach?", "> f", "< return", "detached",
      "stoppedTrace detached b", "stoppedTrace detached a",
      "-- f", "-- return", "-- f", "-- return",
    }, talk [[
      local function f () end
      ask "attach"
      console.startTrace "a"
      ask("startTrace", {name = "b"})
      f()
      ask "detach"
      f()
      for packet in console.stopTrace("a"):packets() do
        mark(packet.name or packet.why)
      end
    ]])
  end)

  it("can be stopped by the client", function ()
    assert.same({
      "attach?", "attached",
      "startedTrace console.startTrace a",
      "stopTrace?", "> f", "< return", "stoppedTrace requested a", "-- idle",
    }, talk [[
      local function f () end
      ask "attach"
      console.startTrace "a"
      f()
      ask("stopTrace", {name = "a"})
      mark(actor.state)
    ]])
  end)

  it("that replaces another is announced as a start", function ()
    assert.same({
      "attach?", "attached",
      "startedTrace console.startTrace a",
      "> f", "< return",
      "startedTrace console.startTrace a",
      "stoppedTrace console.stopTrace a", "-- idle",
    }, talk [[
      local function f () end
      ask "attach"
      console.startTrace "a"
      f()
      console.startTrace "a"
      console.stopTrace "a"
      mark(actor.state)
    ]])
  end)

  it("that cannot be started or stopped is not announced", function ()
    assert.same({"attach?", "attached", "-- wrongState", "-- false",
                 "-- idle"}, talk [[
      ask "attach"
      mark(select(3, console.stopTrace "a"))
      mark(tostring((pcall(console.startTrace, "a", {trace = {"colour"}}))))
      mark(actor.state)
    ]])
  end)

  it("is announced to every client", function ()
    assert.same({
      "attach?", "attached", "-- other attached",
      "startedTrace console.startTrace a", "-- other startedTrace",
      "stoppedTrace console.stopTrace a", "-- other stoppedTrace",
    }, (function (lines)
      -- which client hears first is nobody's promise
      for i = 4, #lines, 2 do
        if lines[i]:find "^%-%-" then
          lines[i], lines[i + 1] = lines[i + 1], lines[i]
        end
      end
      return lines
    end)(talk [[
      local other = require("tracegrip.actor").new {
        id = "trace2",
        send = function (packet)
          mark("other " .. packet.type)
        end
      }
      ask "attach"
      other:receive {to = "trace2", type = "attach"}
      console.startTrace "a"
      console.stopTrace "a"
    ]]))
  end)
end)
