-- Large values: what a call with one of them costs, and how large a packet gets
-- without limits. Apart from other values, since it takes a while to make them.

local conform = require "spec.support.conform"
local run = require "spec.support.run"

describe("a value", function ()
  -- one call with it, a thousand times, in the given options
  local function cheap (sentence, make, options, seconds)
    it(sentence, function ()
      local result = conform.run(([[
        local value = (function () %s end)()
        local function f (v) end
        start()
        local clock = os.clock
        local from = clock()
        for i = 1, 1000 do f(value) end
        print(clock() - from)
      ]]):format(make), {options = options, trace = {"name", "arguments"},
                         timeout = 120})
      assert.is_true(result.ok, result.message)
      assert.is_true(tonumber(result.stdout) < (seconds or 1), result.stdout)
    end)
  end

  cheap("with a million keys costs no more than its limits", [[
    local t = {} for i = 1, 1000000 do t["k" .. i] = i end return t
  ]])
  cheap("with a million items costs no more than its limits", [[
    local t = {} for i = 1, 1000000 do t[i] = i end return t
  ]])
  -- Lua's own next has to walk over the holes
  cheap("with a million holes costs what next() costs", [[
    local t = {} for i = 1, 1000000 do t[i] = i end
    for i = 1, 999999 do t[i] = nil end return t
  ]], nil, 20)
  cheap("of 100 MB costs no more than its limits", [[
    return ("x"):rep(100000000)
  ]])
  cheap("nested 10,000 deep costs no more than its limits", [[
    local t = {} for i = 1, 10000 do t = {t} end return t
  ]], {valueDepth = "all"})
  cheap("in a cycle ends", [[
    local t = {} t.t = t t.u = {t} setmetatable(t, t) return t
  ]], {valueDepth = "all", valueObjects = "all", valueProperties = "all"})

  it("without limits still stays under 16 MiB a packet", function ()
    run.within(function (directory)
      local result = run.code(([[
        local tracegrip = require "tracegrip"
        local function f (...) end
        local t = {}
        for i = 1, 200 do t[i] = ("\1"):rep(100000) end
        local trace = tracegrip.start {
          trace = {"arguments"}, valueDepth = "all", valueProperties = "all",
          valueString = "all", valueObjects = "all"
        }
        f(t)
        f(("\1"):rep(20000000))          -- six bytes of JSON each
        trace:stop()
        assert(trace:export("packets", %q))
      ]]):format(directory .. "/out"))
      assert.equal(0, result.status, result.stderr)
      local lines = 0
      for line in io.lines(directory .. "/out") do
        lines = lines + 1
        assert.is_true(#line < 16 * 1024 * 1024, #line)
      end
      assert.is_true(lines >= 4)
    end)
  end)
end)
