-- A client's end of a blockstream: see blocks.lua.

local run = require "spec.support.run"

describe("what a client gets as blocks", function ()
  for seed = 1, 3 do
    it(("is the trace, and does no harm if it is damaged (seed %d)")
       :format(seed), function ()
      local result = run.file(run.root .. "/spec/client/blocks.lua",
                              {args = {tostring(seed), "80"}, timeout = 120})
      assert.equal("", result.stderr or "")
      assert.equal(0, result.status)
    end)
  end
end)
