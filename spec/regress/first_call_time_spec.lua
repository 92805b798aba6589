-- The first call of a function was charged with the reading of its source,
-- which finds its declared name. In sources of this size that takes some
-- milliseconds. The shortest of several calls is looked at, as any one may be
-- interrupted.

local conform = require "spec.support.conform"

local source = "local function f () end\n" .. ("-- filler\n"):rep(1400000)
               .. "return f\n"

describe("the first call of a function", function ()
  it("does not include the reading of its source", function ()
    local files = {}
    for i = 1, 3 do
      files[i .. ".lua"] = source
    end
    local result = conform.run([[
      local first = {}
      for i = 1, 3 do first[i] = dofile(i .. ".lua") end
      start()
      for i = 1, 3 do first[i]() end
    ]], {trace = {"name", "time"}, files = files})
    local packets = result[1].packets
    local least = math.huge
    assert.equal(6, #packets)
    for i = 1, 6, 2 do
      assert.equal("f", packets[i].name)
      least = math.min(least, packets[i + 1].time - packets[i].time)
    end
    assert.is_true(least < 1, least)
  end)
end)
