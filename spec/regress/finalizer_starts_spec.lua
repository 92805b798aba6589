-- A finalizer of the program's that starts a trace while another one begins in
-- a state that had none: there were two sessions then, and the second start
-- never came back.

local run = require "spec.support.run"

describe("a trace that a finalizer starts in the middle of a start", function ()
  -- With this pause and step each allocation is a cycle of the collector: so
  -- the n-th finalizer comes with the n-th allocation.
  it("is one of two", function ()
    local result = run.code([[
      local new = require "allocators"
      local at = {}
      for n = 1, 40 do
        local state = new()
        at[n] = state:run(([=[
          local tracegrip = require "tracegrip"
          local n, runs, inner = %d, -math.huge, nil
          local function again ()
            setmetatable({}, {__gc = function ()
              runs = runs + 1
              if runs == n then inner = tracegrip.start {name = "inner"} end
              if outer == nil then again() end
            end})
          end
          again()
          collectgarbage("incremental", 1, 1000, 40)
          collectgarbage()      -- from here on the pause is so short
          runs = 0
          outer = tracegrip.start {name = "outer"}
          collectgarbage("stop")
          local function f () end
          f()
          outer:stop()
          local seen = ""
          for packet in outer:packets() do
            local entered = packet.type == "enteredFrame"
            seen = seen .. (entered and packet.name or "")
          end
          if inner then inner:stop() end
          return (inner and "both " or "outer ")
                 .. tostring(seen:find "f" ~= nil)
        ]=]):format(n))
        state:close()
      end
      print(table.concat(at, "\n"))
    ]], {env = run.modules})
    assert.equal("", result.stderr)
    assert.equal(0, result.status)
    local both = 0
    for line in result.stdout:gmatch "[^\n]+" do
      assert.matches(" true$", line)
      both = both + (line == "both true" and 1 or 0)
    end
    assert.is_true(both > 0)
  end)
end)
