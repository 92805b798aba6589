-- words.lua - Lua's values in one line of text each.
--
--   words.text(bytes)     a string as JSON can have it
--   words.value(value)    one line of it, as in messages
--   words.number(n)       as JavaScript has it where that is no number of JSON
--   words.class(value)    the class that its metatable names; nil
--   words.key(key)        a key as the name of a property
--
-- No metamethod is ever called: classes are told by a "__name" that is a
-- string, addresses by %p.

local box = require "tracegrip.inspect.box"
local core = require "tracegrip.core"
core.own()

local getmetatable, getinfo = debug.getmetatable, debug.getinfo

local words = {}

-- JSON has text and no bytes: what is not UTF-8 is written as Lua writes it.
function words.text (bytes)
  if utf8.len(bytes) then
    return bytes
  end
  return (string.gsub(bytes, "[\x80-\xff%c\\]", function (c)
    return string.format("\\x%02x", string.byte(c))
  end))
end

-- The class that a metatable names; nil.
function words.class (value)
  local meta = getmetatable(value)
  local name = type(meta) == "table" and rawget(meta, "__name")
  return type(name) == "string" and words.text(name) or nil
end

local function function_text (f)
  local info = getinfo(f, "Su")
  if info.what == "C" then
    return string.format("function () { [C] %p }", f)
  end
  local names = {}
  for i = 1, info.nparams do
    names[i] = debug.getlocal(f, i) or "?"
  end
  if info.isvararg then
    names[#names + 1] = "..."
  end
  return string.format("function (%s) { %s:%d }", table.concat(names, ", "),
                                            words.text(info.short_src),
                                            info.linedefined)
end

local function table_text (t)
  local class, n = words.class(t), rawlen(t)
  return n > 0 and string.format("%s(#%d)", class or "table", n)
         or class or "table"
end

-- Concatenation, unlike tostring, asks no metatable of numbers.
function words.number (n)
  return n ~= n and "NaN" or n == math.huge and "Infinity"
         or n == -math.huge and "-Infinity"
         or n == 0 and math.type(n) == "float" and 1 / n < 0 and "-0"
         or n .. ""
end

local texts = {number = words.number, string = words.text, table = table_text,
               ["function"] = function_text}

function words.value (value)
  local kind = type(value)
  if box.is(value) then
    return value.description
  elseif texts[kind] then
    return texts[kind](value)
  elseif value == nil or kind == "boolean" then
    return value == nil and "nil" or value and "true" or "false"
  end
  return string.format("%s: %p", words.class(value) or kind, value)
end

-- A key as the name of a property. A string that would look like another key
-- is told apart.
function words.key (key)
  if type(key) == "string" then
    local text = words.text(key)
    local alike = string.find(text, "^%-?%d+$") or string.find(text, "^%[")
    return alike and string.format("[%q]", text) or text
  elseif math.type(key) == "integer" then
    return string.format("%d", key)
  end
  return "[" .. words.value(key) .. "]"
end

return words
