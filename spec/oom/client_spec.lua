-- Blocks made a recording, without memory. Needs the test build:
-- `make oom`.

local run = require "spec.support.run"

local found, core = pcall(require, "tracegrip.core")
local can_refuse = found and core.refuse ~= nil

describe("an allocation that is refused to a client", function ()
  if not can_refuse then
    pending("needs the test build: make oom")
    return
  end

  it("makes no recording wrong: whole, or said that it is not", function ()
    local result = run.file(run.root .. "/spec/oom/client.lua", {
      args = {run.root .. "/spec/oom/program.lua"}, timeout = 600,
    })
    assert.equal(0, result.status, result.stdout .. result.stderr)
  end)
end)
