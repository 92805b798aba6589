-- A short run of soak.lua; `make soak` is the long one.

local run = require "spec.support.run"

local it = run.needs("luv", it, pending)

describe("a program that listens", function ()
  it("keeps nothing of clients that come and go", function ()
    local result = run.command({run.lua, run.root .. "/spec/server/soak.lua",
                                "3", "100", "1"}, {timeout = 100})
    assert.equal(0, result.status, result.stdout .. result.stderr)
  end)
end)
