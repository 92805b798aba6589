-- Packets made events again, without memory. Needs the test build: `make oom`.

local run = require "spec.support.run"

local found, core = pcall(require, "tracegrip.core")
local can_refuse = found and core.refuse ~= nil

describe("an allocation that is refused to a replay", function ()
  if not can_refuse then
    pending("needs the test build: make oom")
    return
  end

  it("makes no recording wrong: it is whole, or says that it is not",
     function ()
    local result = run.file(run.root .. "/spec/oom/replay.lua", {
      args = {run.root .. "/spec/oom/program.lua"}, timeout = 600,
    })
    assert.equal(0, result.status, result.stdout .. result.stderr)
  end)
end)
