-- error() and assert(false) were shown as throwing the function itself: what
-- they throw was read from where an absent argument would be, and there the
-- hook had put the function. It showed wherever no pcall or resume gives the
-- value away, as in a coroutine that is resumed by a wrap.
-- luacheck: no max line length

local conform = require "spec.support.conform"
local run = require "spec.support.run"

-- A message gets a position on its way through wrap.
local wrapped = run.older "5.5" and "nil" or '"p.lua:3: <no error object>"'
local kind = run.older "5.5" and '"nil"' or '"string"'

describe("an error without a value", function ()
  conform.frames(it, "goes through wrap as nil or as assert's words", [[
    local function f () error() end
    local function g () assert(false) end
    local function run (wrapped) wrapped() end
    local one, two = coroutine.wrap(f), coroutine.wrap(g)
    start()
    xpcall(run, type, one)
    xpcall(run, type, two)
  ]], ([[
    > xpcall(#1 function run, #2 function type, #3 function (anonymous function))
      > run(#1 function (anonymous function))
        > wrapped()
          > f()
            > error()
            < error throw NOTHING
          < f throw NOTHING
          > type(%1)
          < type return %2
        < wrapped throw %1
      < run throw %1
    < xpcall return false, %2
    > xpcall(#1 function run, #2 function type, #3 function (anonymous function))
      > run(#1 function (anonymous function))
        > wrapped()
          > g()
            > assert(false)
            < assert throw "p.lua:2: assertion failed!"
          < g throw "p.lua:2: assertion failed!"
          > type("p.lua:3: p.lua:2: assertion failed!")
          < type return "string"
        < wrapped throw "p.lua:3: p.lua:2: assertion failed!"
      < run throw "p.lua:3: p.lua:2: assertion failed!"
    < xpcall return false, "string"
  ]]):gsub("%%(%d)", {["1"] = wrapped, ["2"] = kind}), {})
end)
