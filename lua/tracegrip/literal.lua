-- literal.lua - a value as Lua has it, for another state or process to load.
--
--   literal(value)   of a table of plain values, without circles; numbers,
--                    strings, booleans, nil

local core = require "tracegrip.core"
core.own()

local lua = core.lua          -- the program may have changed its own libraries
local string, table = lua.string, lua.table
local pairs, type = lua.pairs, lua.type

local function literal (value)
  if type(value) ~= "table" then
    return string.format("%q", value)
  end
  local fields = {}
  for k, v in pairs(value) do
    fields[#fields + 1] = string.format("[%s]=%s", literal(k), literal(v))
  end
  return "{" .. table.concat(fields, ",") .. "}"
end

return literal
