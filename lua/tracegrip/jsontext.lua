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
local math, string, table, utf8 = lua.math, lua.string, lua.table, lua.utf8
local ipairs, tonumber = lua.ipairs, lua.tonumber

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

local escapes = {
  ['"'] = '\\"', ["\\"] = "\\\\", ["\n"] = "\\n", ["\r"] = "\\r",
  ["\t"] = "\\t", ["\b"] = "\\b", ["\f"] = "\\f"
}

local function escape (c)
  return escapes[c] or string.format("\\u%04x", string.byte(c))
end

local function mend (text)
  local out, from = {}, 1
  while true do
    local ok, bad = utf8.len(text, from)
    if ok then
      out[#out + 1] = string.sub(text, from)
      return table.concat(out)
    end
    out[#out + 1] = string.sub(text, from, bad - 1)
    out[#out + 1] = "\u{FFFD}"
    from = bad + 1
  end
end

local function escape_code (character)
  return string.format("\\u%04x", utf8.codepoint(character))
end

-- What a terminal obeys, or a reader does not see: C1, zero-width characters,
-- bidirectional controls, as in csrc/text/terminal.c.
local hidden = {
  "\xC2[\x80-\x9F]", "\xE2\x80[\x8B-\x8F\xA8-\xAE]", "\xE2\x81[\xA6-\xA9]"
}

local NONE = {}

-- Most texts have nothing to be escaped, and nothing that is hidden.
function jsontext.string (text)
  local foreign = string.find(text, "[\x80-\xff]")
  if foreign and not utf8.len(text) then
    text = mend(text)
  end
  if string.find(text, '[%c"\\]') then
    text = string.gsub(text, '[%c"\\]', escape)
  end
  for _, pattern in ipairs(foreign and hidden or NONE) do
    text = string.gsub(text, pattern, escape_code)
  end
  return '"' .. text .. '"'
end

return jsontext
