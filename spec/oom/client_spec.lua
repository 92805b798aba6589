-- Packets and blocks made a recording, without memory. Needs the test build:
-- `make oom`.

local run = require "spec.support.run"

local found, core = pcall(require, "tracegrip.core")
local can_refuse = found and core.refuse ~= nil

describe("an allocation that is refused to a client", function ()
  if not can_refuse then
    pending("needs the test build: make oom")
    return
  end

  for _, name in ipairs {"replay", "receive"} do
    it(("makes no recording wrong: it is whole, or says that it is not (%s)")
       :format(name), function ()
      local result = run.file(run.root .. "/spec/oom/client.lua", {
        args = {name, run.root .. "/spec/oom/program.lua"}, timeout = 600,
      })
      assert.equal(0, result.status, result.stdout .. result.stderr)
    end)
  end
end)
