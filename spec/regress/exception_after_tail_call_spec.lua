-- An error right after a tail call, with no call in between, as only a hook of
-- the program can raise it: its exits had "tailCall" from the call before.

local conform = require "spec.support.conform"

describe("an error in a function that was called by a tail call", function ()
  it("is no tail call", function ()
    local result = conform.run([[
      start()
      debug.sethook(function () error("stop", 0) end, "", 10000)
      pcall(function () local function f () return f() end f() end)
      debug.sethook()
    ]], {trace = {"name"}})
    local seen = 0
    for _, packet in ipairs(result[1].packets) do
      if packet.why == "exception" then
        seen = seen + 1
        assert.is_nil(packet.tailCall)
      end
    end
    assert.is_true(seen > 0)
  end)
end)
