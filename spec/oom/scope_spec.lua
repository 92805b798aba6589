-- Allocation failures in the profiler service. Needs the test build: make oom.

local run = require "spec.support.run"

local found, core = pcall(require, "tracegrip.core")
local can_refuse = found and core.refuse ~= nil

describe("a session without memory", function ()
  if not can_refuse then
    pending("needs the test build: make oom")
    return
  end

  it("is told of by its status, and the next one is whole", function ()
    local result = run.file(run.root .. "/spec/oom/scope.lua", {
      args = {run.root .. "/spec/oom/program.lua"}, timeout = 600,
    })
    assert.equal("", result.stderr)
    assert.equal(0, result.status, result.stdout)
  end)
end)
