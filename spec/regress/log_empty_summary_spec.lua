-- A program that was not there left "── 0 calls, 0.000 ms" behind Lua's own
-- message. A log without a call has nothing to sum up.

local run = require "spec.support.run"

local tracegrip = run.build .. "/bin/tracegrip"

describe("the log of a program that is not there", function ()
  it("is empty", function ()
    local result = run.command {tracegrip, "run", "missing.lua"}
    assert.equal(1, result.status)
    assert.same(run.command {run.lua, "missing.lua"}, result)
  end)
end)
