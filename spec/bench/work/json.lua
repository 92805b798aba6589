-- json: a real program, lua-dkjson in pure Lua, decodes a document of 1 MB

local dkjson = require "dkjson"

local function person (i)
  return string.format(
    '{"id": %d, "name": "Person %d \\u00e9\\t", "balance": %.2f, "tags": '
    .. '["a%d", "b"], "active": %s, "at": {"x": %d, "y": null, "z": [%d, 4]}}',
    i, i, i / 3, i % 9, i % 2 == 0, 2 * i, i)
end

local list, size = {}, 0
while size < 1000000 do
  list[#list + 1] = person(#list + 1)
  size = size + #list[#list] + 1
end
local document = "[" .. table.concat(list, ",") .. "]"

return function ()
  return #dkjson.decode(document)
end
