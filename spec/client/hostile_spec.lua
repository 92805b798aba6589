-- Packets that make no sense do a client no harm: hostile.lua.

local run = require "spec.support.run"

describe("packets from anywhere", function ()
  for seed = 1, 3 do
    it(("make no crash, with seed %d"):format(seed), function ()
      local result = run.file(run.root .. "/spec/client/hostile.lua",
                              {args = {tostring(seed), "100"}})
      assert.equal(0, result.status, result.stderr)
    end)
  end
end)
