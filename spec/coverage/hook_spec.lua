-- The hook of coverage where counting begins and ends in a program that runs,
-- as in busted's helper: what others have set is there before and after.

local run = require "spec.support.run"

-- Runs this between a start and an end; what it prints.
local function within (before, inside, after)
  local result = run.code(table.concat({
    "local core = require 'tracegrip.core'",
    "local folder = assert(core.scratch 'tracegrip-spec')",
    "local function count () return #core.entries(folder) end",
    before, "assert(core.cover {directory = folder})", inside,
    "local whole = core.uncover()", after or "",
    "for _, name in ipairs(core.entries(folder)) do",
    "  os.remove(folder .. '/' .. name)",
    "end",
    "assert(os.remove(folder))",
  }, "\n"))
  assert.equal("", result.stderr)
  return result.stdout
end

describe("the hook of coverage", function ()
  it("leaves the program the one that it had before", function ()
    assert.equal("true\tl\t0\ntrue\ntrue\tl\t3\n", within([[
      local events = 0
      local function hook () events = events + 1 end
      debug.sethook(hook, "l")
    ]], [[
      print(debug.gethook() == hook, select(2, debug.gethook()))
      events = 0
      local x = 1
      local y = 2
      print(events == 3)
    ]], [[
      events = 0
      local z = 1
      z = 2
      local is, mask, n = debug.gethook() == hook, select(2, debug.gethook())
      debug.sethook()
      print(is, mask, 3)
    ]]))
  end)

  it("goes away when nothing is counted any more", function ()
    assert.equal("true\tnil\n", within("", "local x = 1", [[
      local y = 2
      print(whole, debug.gethook())
    ]]))
  end)

  it("is below that of a trace that was there before", function ()
    assert.equal("math.abs\nmath.max\nmath.min\n", within([[
      local trace = assert(require "tracegrip".start {include = {"^math"}})
      math.abs(1)
    ]], "math.max(1)", [[
      math.min(1)
      trace:stop()
      for packet in trace:packets() do
        if packet.type == "enteredFrame" then print(packet.name) end
      end
    ]]))
  end)

  it("counts again after it has ended, in another file", function ()
    assert.equal("1\n2\n", within("", "local x = 1", [[
      print(count())
      assert(core.cover {directory = folder})
      local function f () return 1 end
      f()
      core.uncover()
      print(count())
    ]]))
  end)

  it("refuses to count twice, and to count nowhere", function ()
    assert.equal("false\tcoverage is counted already\nfalse\n",
                 within("", [[
      print(pcall(core.cover, {directory = folder}))
      print((pcall(core.cover, {})))
    ]]))
  end)
end)
