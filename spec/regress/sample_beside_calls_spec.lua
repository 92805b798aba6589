-- A tick while samples are set up beside a trace of calls: Lua's functions are
-- called then, whose hook took the tick and asked the trace that was about to
-- begin what it had. The process crashed, once in a hundred starts.

local run = require "spec.support.run"

describe("samples that begin while calls are traced", function ()
  it("are not asked what they have before they begin", function ()
    local result = run.code [[
      local tracegrip = require "tracegrip"
      local function work ()
        for i = 1, 2000 do local _ = i % 3 end
      end
      local calls = tracegrip.start {name = "calls", overflow = "ring"}
      for _ = 1, 4000 do
        local samples = tracegrip.start {name = "samples", sample = 10000}
        work()
        samples:stop()
      end
      calls:stop()
      print "goes on"
    ]]
    assert.equal("goes on\n", result.stdout)
  end)
end)
