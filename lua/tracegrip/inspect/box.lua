-- box.lua - things that a debugger shows as objects and that are none in the
-- program: the variables of a scope, a part of a large table, upvalues.
--
--   box.new {description =, class =, list =, set =, folded =}
--     list ()             the variables: a list of {name =, value =}
--     set (name, value)   optional: changes one; false if there is none
--     place (name)        optional: where one is, as watching.lua has it; nil:
--                         there is none
--     folded              optional: there is no preview of it
--   box.is(value)

local core = require "tracegrip.core"
core.own()

local Box = {__name = "tracegrip.box"}

local box = {}

function box.new (fields)
  return setmetatable(fields, Box)
end

function box.is (value)
  return type(value) == "table"
         and rawequal(debug.getmetatable(value), Box)
end

return box
