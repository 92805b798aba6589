-- Frame packets packed in "traces".

local transcript = require "spec.support.transcript"
local said, talk = transcript.said, transcript.talk

-- What comes after the reply to attach, without requests.
local function answers (code)
  local lines = transcript.lines(said('ask "attach"; ' .. code))
  return {table.unpack(lines, 2)}
end

describe("a batch", function ()
  it("has from; its events are frame packets without", function ()
    local list = said [[
      local function f () end
      ask "attach"
      ask("startTrace", {trace = {"name"}, batch = 10})
      f()
      ask "stopTrace"
    ]]
    assert.same({
      from = "trace1", type = "traces", traces = {
        {type = "enteredFrame", sequence = 0, name = "f"},
        {type = "exitedFrame", sequence = 1, why = "return"},
      },
    }, list[3])
    assert.equal("stoppedTrace", list[4].type)
    assert.equal(4, #list)
  end)

  it("holds at most as many frames as was asked for", function ()
    assert.same({
      "startedTrace requested Trace 1",
      "[> f, < return, > f]", "[< return, > f, < return]", "[> f, < return]",
      "stoppedTrace requested Trace 1",
    }, answers [[
      local function f () end
      ask("startTrace", {batch = 3})
      f() f() f() f()
      ask "stopTrace"
    ]])
  end)

  it("may be of one", function ()
    assert.same({
      "startedTrace requested Trace 1", "[> f]", "[< return]",
      "stoppedTrace requested Trace 1",
    }, answers [[
      local function f () end
      ask("startTrace", {batch = 1})
      f()
      ask "stopTrace"
    ]])
  end)

  it("is sent before it is full when flushed, and never empty", function ()
    assert.same({
      "attach?", "attached", "startTrace?", "startedTrace requested Trace 1",
      "-- called", "[> f, < return]", "-- flushed", "-- flushed",
      "stopTrace?", "stoppedTrace requested Trace 1",
    }, talk [[
      local function f () end
      ask "attach"
      ask("startTrace", {batch = 1000})
      f()
      mark "called"
      actor:flush()
      mark "flushed"
      actor:flush()
      mark "flushed"
      ask "stopTrace"
    ]])
  end)

  it("keeps the sequence going over batches and single packets", function ()
    local numbers = {}
    for _, packet in ipairs(said [[
      local function f () end
      ask "attach"
      ask("startTrace", {name = "a"})
      f()
      ask("startTrace", {name = "b", batch = 4})
      for _ = 1, 3 do f() end
      ask "stopTrace"
      f()
      ask "stopTrace"
    ]]) do
      for _, event in ipairs(packet.traces or {packet}) do
        table.insert(numbers, event.sequence)
      end
    end
    assert.same({0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, numbers)
  end)

  it("has the smallest size that a running trace asks for", function ()
    assert.same({
      "startedTrace requested a", "startedTrace requested b",
      "startedTrace requested c",
      "[> f, < return]", "[> f, < return]", "stoppedTrace requested b",
      "[> f, < return, > f]", "[< return]", "stoppedTrace requested a",
      "> f", "< return", "stoppedTrace requested c",
    }, answers [[
      local function f () end
      ask("startTrace", {name = "a", batch = 3})
      ask("startTrace", {name = "b", batch = 2})
      ask("startTrace", {name = "c"})
      f() f()
      ask("stopTrace", {name = "b"})
      f() f()
      ask("stopTrace", {name = "a"})
      f()
      ask "stopTrace"
    ]])
  end)

  it("comes before a notification about a trace", function ()
    assert.same({
      "startedTrace requested a", "[> f, < return]",
      "startedTrace console.startTrace b", "[> f, < return]",
      "detached", "stoppedTrace detached b", "stoppedTrace detached a",
    }, answers [[
      local function f () end
      ask("startTrace", {name = "a", batch = 50})
      f()
      console.startTrace "b"
      f()
      ask "detach"
    ]])
  end)
end)
