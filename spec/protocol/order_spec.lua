-- Which packet comes before which.

local transcript = require "spec.support.transcript"
local said, talk = transcript.said, transcript.talk

describe("the actor sends", function ()
  it("frames when flushed, not before", function ()
    assert.same({
      "attach?", "attached", "startTrace?", "startedTrace requested Trace 1",
      "-- called", "> f", "< return", "-- flushed",
      "-- flushed", "stopTrace?", "stoppedTrace requested Trace 1",
    }, talk [[
      ask "attach"
      ask "startTrace"
      local function f () end
      f()
      mark "called"
      actor:flush()
      mark "flushed"
      actor:flush()
      mark "flushed"
      ask "stopTrace"
    ]])
  end)

  it("nothing when flushed detached or idle", function ()
    assert.same({"attach?", "attached", "detach?", "detached"}, talk [[
      local function f () end
      actor:flush()
      ask "attach"
      f()
      actor:flush()
      ask "detach"
      actor:flush()
    ]])
  end)

  it("all frames up to the stop before the stoppedTrace", function ()
    assert.same({
      "attach?", "attached", "startTrace?", "startedTrace requested a",
      "startTrace?", "> f", "< return", "startedTrace requested b",
      "stopTrace?", "> f", "< return", "stoppedTrace requested a",
      "stopTrace?", "> f", "< return", "stoppedTrace requested b",
    }, talk [[
      local function f () end
      ask "attach"
      ask("startTrace", {name = "a"})
      f()
      ask("startTrace", {name = "b"})
      f()
      ask("stopTrace", {name = "a"})
      f()
      ask "stopTrace"
      f()
      actor:flush()
    ]])
  end)

  it("on detach frames, the reply, then each trace, latest first", function ()
    assert.same({
      "attach?", "attached",
      "startTrace?", "startedTrace requested a",
      "startTrace?", "startedTrace requested b",
      "startTrace?", "startedTrace requested c",
      "startTrace?", "startedTrace requested a",
      "detach?", "> f", "< return", "detached", "stoppedTrace detached a",
      "stoppedTrace detached c", "stoppedTrace detached b",
    }, talk [[
      local function f () end
      ask "attach"
      for _, name in ipairs {"a", "b", "c", "a"} do
        ask("startTrace", {name = name, include = {"^f$"}})
      end
      f()
      ask "detach"
      f()
      actor:flush()
    ]])
  end)

  it("one reply to each request, errors included, in order", function ()
    assert.same({
      "attach?", "attached", "attach?", "wrongState",
      "startTrace?", "noSuchTraceType", "stopTrace?", "wrongState",
      "startTrace?", "startedTrace requested Trace 1",
      "stopTrace?", "> f", "< return", "noSuchTrace",
      "stopTrace?", "stoppedTrace requested Trace 1", "detach?", "detached",
    }, talk [[
      local function f () end
      ask "attach"
      ask "attach"
      ask("startTrace", {trace = {"colour"}})
      ask "stopTrace"
      ask "startTrace"
      f()
      ask("stopTrace", {name = "b"})
      ask "stopTrace"
      ask "detach"
    ]])
  end)

  it("replies in order when requests come from inside send", function ()
    assert.same({
      "attach?", "startTrace?", "stopTrace?", "detach?", "attached",
      "startedTrace requested Trace 1", "stoppedTrace requested Trace 1",
      "detached",
    }, talk [[
      client.send = function (packet)
        client.send = client.write
        ask "startTrace"
        ask "stopTrace"
        ask "detach"
        client.write(packet)
      end
      ask "attach"
    ]])
  end)

  it("frames in order when send flushes", function ()
    local frames = transcript.frames(said [[
      client.send = function (packet)
        client.write(packet)
        actor:flush()
      end
      ask "attach"
      ask "startTrace"
      local function f () end
      for _ = 1, 5 do
        f()
      end
      ask "stopTrace"
    ]])
    assert.equal(10, #frames)
    for i, frame in ipairs(frames) do
      assert.equal(i - 1, frame.sequence)
    end
  end)

  it("frames with the types of their time", function ()
    local frames = transcript.frames(said [[
      local function f () end
      ask "attach"
      ask("startTrace", {name = "a", trace = {"name"}})
      f()
      ask("startTrace", {name = "b", trace = {"time"}})
      f()
      ask("stopTrace", {name = "a"})
      f()
      ask "detach"
    ]])
    local seen = {}
    for i = 1, #frames, 2 do
      table.insert(seen, (frames[i].name or "-")
                         .. (frames[i].time and " time" or ""))
    end
    assert.same({"f", "f time", "- time"}, seen)
  end)

  it("nothing of what send itself calls", function ()
    assert.same({"attach?", "attached", "startTrace?",
                 "startedTrace requested Trace 1", "stopTrace?", "> f",
                 "< return", "stoppedTrace requested Trace 1"}, talk [[
      local function innocent () return #tostring {} end
      local function f () end
      client.send = function (packet)
        innocent()
        client.write(packet)
      end
      ask "attach"
      ask "startTrace"
      f()
      ask "stopTrace"
    ]])
  end)
end)

describe("a client that is lost", function ()
  local code = [[
    local function f () end
    local function lost ()
      client.send = function ()
        client.send = client.write
        error "connection lost"
      end
    end
    ask "attach"
    ask("startTrace", {name = "a"})
    %s
    mark(actor.state)
    mark(tostring((debug.gethook())))
    ask "attach"
    ask "stopTrace"
  ]]
  local after = {"-- detached", "-- nil", "attach?", "attached", "stopTrace?",
                 "wrongState"}

  local function rest (lines)
    return {table.unpack(lines, #lines - #after + 1)}
  end

  it("while being answered leaves the actor detached, traces stopped",
     function ()
    local lines = talk(code:format [[
      lost()
      mark(select(2, pcall(ask, "stopTrace")))
    ]])
    assert.matches("connection lost$", lines[6])
    assert.same(after, rest(lines))
  end)

  it("while being sent frames leaves the actor detached", function ()
    local lines = talk(code:format [[
      f()
      lost()
      mark(select(2, pcall(actor.flush, actor)))
    ]])
    assert.matches("connection lost$", lines[5])
    assert.same(after, rest(lines))
  end)

  it("is none of the program's business", function ()
    local lines = talk(code:format [[
      lost()
      local name = console.startTrace "b"
      mark(name .. " " .. actor.state)
      f()
      local trace = console.stopTrace "b"
      for packet in trace:packets() do
        mark(packet.name or packet.why)
      end
    ]])
    assert.same({"-- b detached", "-- f", "-- return"},
                {table.unpack(lines, 5, 7)})
    assert.same(after, rest(lines))
  end)
end)
