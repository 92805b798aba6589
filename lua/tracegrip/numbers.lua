-- numbers.lua - numbers as JSON has them.
--
--   numbers.text(x)     the shortest text that is read as the same number; x is
--                       finite

local core = require "tracegrip.core"
core.own()

local numbers = {}

-- The program, or the one that a server belongs to, may have set a locale with
-- another decimal point. (tonumber reads that one, too.)
function numbers.text (x)
  if math.type(x) == "integer" then
    return ("%d"):format(x)
  end
  for digits = 15, 17 do
    local text = ("%." .. digits .. "g"):format(x)
    if tonumber(text) == x then
      return (text:gsub("[^%de+-]+", "."))
    end
  end
end

return numbers
