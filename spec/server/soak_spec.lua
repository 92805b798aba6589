-- A short run of soak.lua; `make soak` is the long one.

local run = require "spec.support.run"

local it = run.needs("luv", it, pending)

describe("a program that listens", function ()
  local function soak (seconds, rounds)
    return run.command({run.lua, run.root .. "/spec/server/soak.lua", seconds,
                        rounds, "1"}, {timeout = 100})
  end

  -- On a busy machine a hundred rounds may end while several clients are
  -- there. What is kept of each grows with their number: then more are asked.
  it("keeps nothing of clients that come and go", function ()
    local result = soak("3", "100")
    if result.status ~= 0 then
      result = soak("12", "500")
    end
    assert.equal(0, result.status, result.stdout .. result.stderr)
  end)
end)
