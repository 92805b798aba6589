-- A metatable's __name is its class only if it is a string. One that is a table
-- with a metatable crashed the capture of whole values.

local conform = require "spec.support.conform"

describe("a __name that is a table", function ()
  conform.frames(it, "is a field like any other", [[
    local name = setmetatable({1}, {__index = {}})
    local object = setmetatable({x = 2}, {__name = name})
    local function f (value) return value end
    start()
    f(object)
  ]], [[
    > f(#1{x = 2}^#2{__name = #3{1}^#4{__index = #5{}}})
    < f return #1{x = 2}^#2{__name = #3{1}^#4{__index = #5{}}}
  ]], {options = {valueDepth = "all"}})
end)
