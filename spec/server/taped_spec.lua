-- A program records on files, one after the other, while a client reads what
-- it does: the client's cursor gives blocks of a file back, on the server's
-- thread, when the program ends the recording. It is behind, and the program
-- waits then, so nothing else puts one before the other. For `make races`.

local core = require "tracegrip.core"
local it = require("spec.support.run").needs("luv", it, pending)

local serving = require "spec.server.serving"

local ROUNDS, CALLS = 12, 30

-- Each call fills a block.
local program = ([[
  local core = require "tracegrip.core"
  local function f (s) return #s end
  function g (i) return i end
  local large = {}
  for i = 1, 30 do large[i] = (i .. " "):rep(100000) end
  assert(require("tracegrip").listen())
  for round = 1, %d do
    io.read()
    local _, trace = assert(core.record({
      overflow = round %% 2 == 0 and "ring" or "stop", buffer = 64 << 20,
      valueString = "all"
    }, {path = "rec" .. round}))
    for i = 1, %d do f(large[i]) end
    g(round)
    trace:stop()
    print "done"
    io.flush()
  end
  io.read()
]]):format(ROUNDS, CALLS)

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
    for round = 1, ROUNDS do
      listening:tell()
      listening:says "done\n"
      local packet = peer:receive()
      assert.equal("enteredFrame", packet.type)
      assert.same({round}, packet.arguments.values)
      assert.equal("exitedFrame", peer:receive().type)
    end
    for round = 1, ROUNDS do
      local info = core.open(listening.directory .. "/rec" .. round):info()
      assert.equal("complete", info.state)
      assert.is_true(info.events >= 2 * CALLS + 2)
    end
    assert.equal("", listening.err:gsub("tracegrip: listening[^\n]*\n", ""))
  end)
end)
