-- literal.lua - a tree of tables, strings, numbers and booleans as Lua source.
-- A program that is still recorded does not see it.

require "tracegrip.core".own()

local function write (out, value)
  if type(value) ~= "table" then
    out[#out + 1] = string.format("%q", value)
    return
  end
  out[#out + 1] = "{"
  for key, item in pairs(value) do
    out[#out + 1] = string.format("[%q]=", key)
    write(out, item)
    out[#out + 1] = ","
  end
  out[#out + 1] = "}\n"
end

return function (value)
  local out = {}
  write(out, value)
  return table.concat(out)
end
