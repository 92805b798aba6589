-- The values that random programs throw are right or absent.
--
-- TRACEGRIP_FUZZ=N tries N times ten programs, TRACEGRIP_SEED=S from another
-- seed on.

local run = require "spec.support.run"

local count = 10 * (tonumber(os.getenv "TRACEGRIP_FUZZ") or 30)
local first = tonumber(os.getenv "TRACEGRIP_SEED") or 1

describe("what errors of random programs throw", function ()
  it("is right or not known", function ()
    local result = run.file(run.root .. "/spec/transparency/throwing.lua", {
      args = {tostring(first), tostring(first + count - 1)},
      env = run.modules
    })
    assert.matches("^0 wrong, %d+ known, %d+ unknown\n$", result.stdout)
    assert.equal(0, result.status)
    assert.is_true(tonumber(result.stdout:match "(%d+) known") > count)
  end)
end)
