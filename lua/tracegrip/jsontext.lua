-- jsontext.lua - numbers and strings as JSON has them. Whoever writes documents
-- of a layout of their own takes these from here: wire.lua, cli/json.lua and
-- scope/messages.lua.
--
--   jsontext.number(x)     the shortest text that is read as the same number; x
--                          is finite
--   jsontext.string(text)  with its quotes; what is not UTF-8 becomes U+FFFD, a
--                          byte each, since other ends refuse such text

local core = require "tracegrip.core"
core.own()

local lua = core.lua          -- the program may have changed its own libraries
local math, string, tonumber = lua.math, lua.string, lua.tonumber

local jsontext = {}

-- The program, or the one that a server belongs to, may have set a locale with
-- another decimal point. (tonumber reads that one, too.)
function jsontext.number (x)
  if math.type(x) == "integer" then
    return string.format("%d", x)
  end
  for digits = 15, 17 do
    local text = string.format("%." .. digits .. "g", x)
    if tonumber(text) == x then
      return (string.gsub(text, "[^%de+-]+", "."))
    end
  end
end

jsontext.string = core.quoted

return jsontext
