-- What the hook allocates in Lua, a list of coroutines, had the collector begin
-- its next cycle: seven times as many if many coroutines are made.

local run = require "spec.support.run"

local program = [[
  local cycles = 0
  local function sentinel ()
    setmetatable({}, {__gc = function () cycles = cycles + 1 sentinel() end})
  end
  local kept = {}
  for i = 1, 20000 do kept[i] = {i, i, i} end
  %s
  collectgarbage() collectgarbage("%s")
  sentinel()
  for _ = 1, 10000 do coroutine.wrap(function () end)() end
  print(cycles)
]]

local function cycles (before, mode)
  local result = run.code(program:format(before, mode))
  assert.equal("", result.stderr)
  return tonumber(result.stdout)
end

describe("the collector", function ()
  for _, mode in ipairs {"incremental", "generational"} do
    it("keeps its pace while coroutines are made, " .. mode, function ()
      local plain = cycles("", mode)
      local traced = cycles("local trace = require 'tracegrip'.start {}", mode)
      assert.is_true(plain > 2, plain)
      assert.is_true(traced <= plain + 2, traced .. " cycles, not " .. plain)
    end)
  end
end)
