-- To answer debug.gethook, the program's hook was put in place for a moment,
-- and with that Lua starts its count anew: a program that asked often enough
-- never saw its count hook called.

local conform = require "spec.support.conform"

describe("debug.gethook", function ()
  it("leaves the count of a count hook alone", function ()
    local _, result = conform.same([[
      local n = 0
      debug.sethook(function () n = n + 1 end, "", 100)
      for i = 1, 700 do
        debug.gethook()
      end
      debug.sethook()
      print(n > 0, n)
    ]], {trace = {"name"}})
    assert.matches("^true\t", result.stdout)
  end)
end)
