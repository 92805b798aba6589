-- The packets of maxEvents were counted for the whole tracing state. A trace
-- that starts inside a call, while another runs, does not see that call's exit:
-- it ended too early. One with filters of its own did not end at all.

local conform = require "spec.support.conform"

describe("maxEvents beside another trace", function ()
  it("is exact for a trace that starts inside a call", function ()
    local result = conform.run([[
      local function h () end
      local function g () h() end
      local function inner () start {trace = {"name"}, maxEvents = 10} h() end
      local function outer () inner() g() end
      start {trace = {"name"}}
      outer()
      for i = 1, 20 do g() end
    ]])
    assert.is_true(result.ok, result.message)
    local names = {}
    for i, packet in ipairs(result[2].packets) do
      names[i] = packet.name or packet.why
    end
    assert.equal("h return g h return return g h return return",
                 table.concat(names, " "))
  end)

  it("ends a trace that hides what the other shows", function ()
    local result = conform.run([[
      local function h () end
      local function g () h() end
      local trace
      local function inner ()
        trace = start {trace = {"name"}, maxEvents = 7, include = {"^h$"}}
      end
      start {trace = {"name"}}
      inner()
      for i = 1, 20 do g() end
      print(trace.active)
    ]])
    assert.is_true(result.ok, result.message)
    assert.equal("false\n", result.stdout)
    assert.equal(7, #result[2].packets)
  end)
end)
