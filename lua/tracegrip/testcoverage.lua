-- testcoverage.lua - coverage by busted's helper (busted.lua): its options, and
-- when a suite's counts are written.
--
--   testcoverage.options             their descriptions (options.lua)
--   testcoverage.check(settings)     raises a text if there are options of
--                                    coverage without it, or of recordings
--                                    without these
--   testcoverage.begin(busted, settings)
--                                    counts from now on; raises a text. Returns
--                                    a function that is called when all others
--                                    have subscribed to what busted does

local core = require "tracegrip.core"
core.own()

local testcoverage = {}

-- A test may put anything in the place of a library's function.
local stderr, stdout, exit = io.stderr, io.stdout, os.exit
local find, format = string.find, string.format

testcoverage.options = {
  {name = "coverage", list = true},
  {name = "coverageInclude", kind = "pattern", list = true},
  {name = "coverageExclude", kind = "pattern", list = true},
  {name = "coverageUntested", list = true},
  {name = "coverageFailUnder", kind = "percent"},
}

local others = {helper = true, words = true, traces = true}

function testcoverage.check (settings)
  local traces = (settings.traces or "") ~= ""
  for name in pairs(settings) do
    local ours = find(name, "^coverage")
    if ours and not settings.coverage then
      error(format("option '%s' is for coverage: 'coverage' is missing", name),
            0)
    elseif not ours and not traces and not others[name] then
      error(format("option '%s' is for recordings: 'traces' is missing", name),
            0)
    end
  end
end

-- Too little coverage ends a suite that passed with status 1. When busted says
-- that it exits all has been told of the tests, so it cannot be told there.
local function finish (suite, failed)
  stdout:flush()
  local ok, message = suite.finish()
  if not ok then
    stderr:write("tracegrip: " .. core.escaped(message) .. "\n")
    if not failed() then
      exit(1, true)
    end
  end
end

function testcoverage.begin (busted, settings)
  local suite = require "tracegrip.coverage.suite"
  local any = false
  suite.begin(settings)
  for _, kind in ipairs {"failure", "error"} do
    busted.subscribe({kind}, function ()
      any = true
      return nil, true
    end)
  end
  return function ()
    busted.subscribe({"exit"}, function ()
      finish(suite, function () return any end)
      return nil, true
    end)
  end
end

return testcoverage
