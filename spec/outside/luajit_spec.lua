-- tracegrip dump of LuaJIT: against what programs say of themselves.

local jits = require "spec.support.jits"
local lookedat = require "spec.support.lookedat"
local randomstacks = require "spec.support.randomstacks"
local stackwords = require "spec.support.stackwords"

local here = jits.here()

for _, interpreter in ipairs(here) do
  describe("a process of LuaJIT " .. interpreter.release, function ()
    it("shows the stacks and variables that it says it has", function ()
      for seed = 1, tonumber(os.getenv "SEEDS") or 6 do
        local code = randomstacks.program(seed)
        local ok, message = pcall(lookedat.with, interpreter.path, code,
                                  stackwords.compare)
        assert(ok, ("seed %d: %s\n%s"):format(seed, tostring(message), code))
      end
    end)
  end)
end

if #here == 0 then
  describe("a process of LuaJIT", function ()
    pending "shows its stacks and variables: there is no luajit here"
  end)
end
