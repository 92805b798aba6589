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

local jsontext = {}

-- The program, or the one that a server belongs to, may have set a locale with
-- another decimal point. (tonumber reads that one, too.)
function jsontext.number (x)
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

local escapes = {
  ['"'] = '\\"', ["\\"] = "\\\\", ["\n"] = "\\n", ["\r"] = "\\r",
  ["\t"] = "\\t", ["\b"] = "\\b", ["\f"] = "\\f"
}

local function escape (c)
  return escapes[c] or ("\\u%04x"):format(c:byte())
end

local function mend (text)
  local out, from = {}, 1
  while true do
    local ok, bad = utf8.len(text, from)
    if ok then
      out[#out + 1] = text:sub(from)
      return table.concat(out)
    end
    out[#out + 1] = text:sub(from, bad - 1)
    out[#out + 1] = "\u{FFFD}"
    from = bad + 1
  end
end

function jsontext.string (text)
  if not utf8.len(text) then
    text = mend(text)
  end
  return '"' .. text:gsub('[%c"\\]', escape) .. '"'
end

return jsontext
