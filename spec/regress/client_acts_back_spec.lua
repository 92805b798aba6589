-- What takes an actor's packets is the program's own code, and so are
-- finalizers: either may start, stop and replace traces, close actors and raise
-- errors while the program is told of a trace. That crashed, or gave a client
-- what another trace had left behind.

local run = require "spec.support.run"
local transcript = require "spec.support.transcript"
local talk = transcript.talk

-- Runs a program with: actor(id, function (packet)), attached, whose packets
-- are printed as "id type name".
local function said (code)
  local result = run.code([[
    local tracegrip = require "tracegrip"
    local console = require "tracegrip.console"
    local function actor (id, react)
      local self
      self = require "tracegrip.actor".new {id = id, send = function (packet)
        print(table.concat({id, packet.type, packet.name}, " "))
        if react then react(packet, self) end
      end}
      self:receive {to = id, type = "attach"}
      return self
    end
  ]] .. code)
  assert.same({"", 0}, {result.stderr, result.status})
  local lines = {}
  for line in result.stdout:gmatch "[^\n]+" do
    if not line:find " attached$" then
      lines[#lines + 1] = line
    end
  end
  return lines
end

describe("a client that acts while it is told", function ()
  it("may stop the trace that was started", function ()
    assert.same({"t1 startedTrace x", "t1 stoppedTrace x", "x", "nil"}, said [[
      actor("t1", function (packet)
        if packet.type == "startedTrace" then console.stopTrace "x" end
      end)
      print(console.startTrace "x")
      print((console.stopTrace "x"))
    ]])
  end)

  it("keeps what it has stopped from the clients told later", function ()
    assert.same({
      "t2 startedTrace x", "t2 stoppedTrace x", "x",
      "t2 startedTrace y", "t1 startedTrace y", "t2 enteredFrame f",
      "t2 exitedFrame", "t1 enteredFrame f", "t1 exitedFrame"
    }, said [[
      local first = actor "t1"
      local second = actor("t2", function (packet)
        if packet.type == "startedTrace" and packet.name == "x" then
          console.stopTrace "x"
        end
      end)
      print(console.startTrace "x")
      console.startTrace "y"
      local function f () end
      f()
      second:flush()
      first:flush()
    ]])
  end)

  it("may replace the trace that was started", function ()
    assert.same({
      "t2 startedTrace x", "t2 startedTrace x", "t1 startedTrace x",
      "t2 stoppedTrace x", "t1 stoppedTrace x", "tracegrip.trace: x (stopped)"
    }, said [[
      actor "t1"
      local times = 0
      actor("t2", function (packet)
        times = times + 1
        if times == 2 then console.startTrace "x" end
      end)
      console.startTrace "x"
      print(console.stopTrace "x")
    ]])
  end)

  it("may start the trace again that was stopped", function ()
    assert.same({
      "t2 startedTrace x", "t1 startedTrace x",
      "t2 stoppedTrace x", "t2 startedTrace x", "t1 startedTrace x",
      "t2 stoppedTrace x", "t1 stoppedTrace x",
      "tracegrip.trace: x (stopped)", "tracegrip.trace: x (active)"
    }, said [[
      actor "t1"
      local times = 0
      actor("t2", function (packet)
        times = times + (packet.type == "stoppedTrace" and 1 or 0)
        if times == 1 and packet.type == "stoppedTrace" then
          console.startTrace "x"
        end
      end)
      console.startTrace "x"
      local first = console.stopTrace "x"
      local second = tracegrip.start {name = "x"}
      print(first)
      print(second)
    ]])
  end)

  it("may stop what is about to be replaced", function ()
    assert.same({
      "t1 startedTrace x", "t1 enteredFrame f", "t1 exitedFrame",
      "t1 stoppedTrace x", "tracegrip.trace: x (active)"
    }, said [[
      actor("t1", function (packet)
        if packet.type == "enteredFrame" then console.stopTrace "x" end
      end)
      console.startTrace "x"
      local function f () end
      f()
      print(tracegrip.start {name = "x"})
    ]])
  end)

  it("may leave, and the others are told all the same", function ()
    assert.same({
      "t2 startedTrace x", "t2 detached", "t2 stoppedTrace x",
      "t1 startedTrace x", "t1 stoppedTrace x"
    }, said [[
      actor "t1"
      actor("t2", function (packet, self)
        if packet.type == "startedTrace" then
          self:receive {to = "t2", type = "detach"}
        end
      end)
      console.startTrace "x"
      console.stopTrace "x"
    ]])
  end)

  it("is lost by an error, and the others are told all the same", function ()
    assert.same({
      "t2 startedTrace x", "t1 startedTrace x", "t1 stoppedTrace x", "detached"
    }, said [[
      actor "t1"
      local lost = actor("t2", function (packet)
        assert(packet.type ~= "startedTrace")
      end)
      console.startTrace "x"
      local state = lost.state
      console.stopTrace "x"
      print(state)
    ]])
  end)

  it("does not see the end of a replaced trace in its place", function ()
    assert.same({
      "attach?", "attached", "startedTrace console.startTrace x",
      "> f", "< return", "startedTrace console.startTrace x", "> g", "< return",
      "stoppedTrace console.stopTrace x"
    }, talk [[
      local function f () end
      local function g () end
      ask "attach"
      console.startTrace "x"
      f()
      console.startTrace "x"
      g()
      console.stopTrace "x"
    ]])
  end)
end)

describe("a listener that raises an error", function ()
  it("does not disturb the program", function ()
    local result = run.code [[
      local console = require "tracegrip.console"
      local core = require "tracegrip.core"
      local feed = core.feed(function () error "listener" end)
      feed:open()
      print(console.startTrace "x", feed.count)
      print(console.stopTrace "x", feed.count)
    ]]
    assert.same({"x\t1\ntracegrip.trace: x (stopped)\t0\n", "", 0},
                {result.stdout, result.stderr, result.status})
  end)
end)

describe("clients and finalizers that do anything", function ()
  for seed = 1, 3 do
    it("do not crash the program, seed " .. seed, function ()
      local path = run.root .. "/spec/support/acting.lua"
      local result = run.command {run.lua, path, seed}
      assert.same({"done\n", "", 0},
                  {result.stdout, result.stderr, result.status})
    end)
  end
end)
