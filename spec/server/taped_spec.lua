-- A program records on files, one after the other, while a client reads what it
-- does: the client's cursor gives blocks of a file back, on the server's thread,
-- while the program ends the recording. For `make races` above all.

local core = require "tracegrip.core"

local serving = require "spec.server.serving"

local ROUNDS, CALLS, EACH = 12, 24000, 1000

local program = ([[
  local core = require "tracegrip.core"
  local function f (i) return i end
  function g (i) return i end
  assert(require("tracegrip").listen())
  io.read()
  for round = 1, %d do
    local _, trace = assert(core.record({
      overflow = round %% 2 == 0 and "ring" or "stop", buffer = 64 << 20
    }, {path = "rec" .. round}))
    for i = 1, %d do
      f(i)
      if i %% %d == 0 then g(i) end
    end
    trace:stop()
  end
  print "done"
  io.read()
]]):format(ROUNDS, CALLS, EACH)

describe("a program that records while a client reads", function ()
  local listening, peer

  before_each(function ()
    listening = serving.start(program)
    peer = listening:peer()
  end)

  after_each(function ()
    peer:close()
    listening:close()
  end)

  it("gives each what it is to have", function ()
    peer:request "attach"
    peer:request("startTrace", {name = "t", include = {"^g$"},
                                trace = {"name", "arguments"}})
    listening:tell()
    for _ = 1, ROUNDS do
      for i = EACH, CALLS, EACH do
        local packet = peer:receive()
        assert.equal("enteredFrame", packet.type)
        assert.same({i}, packet.arguments.values)
        assert.equal("exitedFrame", peer:receive().type)
      end
    end
    listening:says "done\n"
    for round = 1, ROUNDS do
      local info = core.open(listening.directory .. "/rec" .. round):info()
      assert.equal("complete", info.state)
      assert.equal(0, (info.lost.disk or 0) + (info.lost.memory or 0))
      assert.is_true(info.events >= 2 * (CALLS + CALLS // EACH))
    end
    assert.equal("", listening.err:gsub("tracegrip: listening[^\n]*\n", ""))
  end)
end)
