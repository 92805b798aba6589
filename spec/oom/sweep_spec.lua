-- Allocation failures, one by one. Needs the test build: `make oom`.

local run = require "spec.support.run"

local found, core = pcall(require, "tracegrip.core")
local can_refuse = found and core.refuse ~= nil

describe("an allocation that is refused", function ()
  if not can_refuse then
    pending("needs the test build: make oom")
    return
  end

  it("is not noticed by the program, and what it costs is told", function ()
    local result = run.file(run.root .. "/spec/oom/sweep.lua", {
      args = {run.root .. "/spec/oom/program.lua"}, timeout = 600,
    })
    assert.equal("", result.stderr)
    assert.equal(0, result.status, result.stdout)
  end)

  it("makes no export wrong: it is whole, or says that it is not", function ()
    local result = run.file(run.root .. "/spec/oom/exports.lua", {
      args = {run.root .. "/spec/oom/program.lua",
              run.root .. "/spec/fuzz/corpus/samples"}, timeout = 600,
    })
    assert.equal("", result.stderr)
    assert.equal(0, result.status, result.stdout)
  end)
end)
