-- literals.lua - Lua's values in one line of Lua each, as a debug adapter shows
-- variables.
--
--   literals.value(value)       {1, 2, x = 3, …} or "text"
--   literals.full(value)        the same without an end: of a string all of it,
--                               of a table what fits in a page
--   literals.kind(value)        its type, or the class that its metatable names
--   literals.field(key)         what is written behind a table to get there:
--                               ".name", "[1]"; nil: no text does that
--
-- No metamethod is ever called.

local box = require "tracegrip.inspect.box"
local core = require "tracegrip.core"
local words = require "tracegrip.inspect.words"
core.own()

local getinfo, getlocal = debug.getinfo, debug.getlocal

local literals = {}

local BRIEF = {text = 1000, line = 80, deep = 1, fields = 8}
local FULL = {text = 1 << 20, line = 1 << 16, deep = 6, fields = 1000}

---------------------------------------------------------------------------
-- Scalars
---------------------------------------------------------------------------

-- The least of 15, 16 or 17 digits that is read as the same number.
local function float (n)
  if n ~= n then
    return "nan"
  elseif n == math.huge or n == -math.huge then
    return n > 0 and "math.huge" or "-math.huge"
  end
  local text
  for digits = 15, 17 do
    text = string.gsub(string.format("%." .. digits .. "g", n), ",", ".")
    if tonumber(text) == n then
      break
    end
  end
  return string.find(text, "[.e]") and text or text .. ".0"
end

local escapes = {["\n"] = "\\n", ["\r"] = "\\r", ["\t"] = "\\t",
                 ["\""] = "\\\"", ["\\"] = "\\\\"}

-- Digits may follow, so a byte has three.
local function escape (c)
  return escapes[c] or string.format("\\%03d", string.byte(c))
end

-- Where a text ends that is to have so many bytes: not within a character.
local function boundary (bytes, last)
  local at = last
  while at > last - 4 and at > 0
        and string.find(bytes, "^[\x80-\xbf]", at + 1) do
    at = at - 1
  end
  return at
end

local function quoted (bytes, limits)
  local cut = #bytes > limits.text
              and string.sub(bytes, 1, boundary(bytes, limits.text)) or bytes
  local pattern = utf8.len(cut) and "[%c\"\\]" or "[\x80-\xff%c\"\\]"
  local text = '"' .. string.gsub(cut, pattern, escape) .. '"'
  return #cut < #bytes and string.format("%s… (%d bytes)", text, #bytes)
         or text
end

local function signature (f)
  local info = getinfo(f, "Su")
  if info.what == "C" then
    return string.format("function: builtin: %p", f)
  end
  local names = {}
  for i = 1, info.nparams do
    names[i] = getlocal(f, i) or "?"
  end
  if info.isvararg then
    names[#names + 1] = "..."
  end
  return string.format("function (%s) %s:%d", table.concat(names, ", "),
                       words.text(info.short_src), info.linedefined)
end

---------------------------------------------------------------------------
-- Tables
---------------------------------------------------------------------------

local WORD = "^[%a_][%w_]*$"
local reserved = {}
for word in string.gmatch([[and break do else elseif end false for function
    global goto if in local nil not or repeat return then true until while]],
    "%l+") do
  reserved[word] = true
end

local function is_word (key)
  return type(key) == "string" and string.find(key, WORD) ~= nil
         and not reserved[key]
end

function literals.field (key)
  if is_word(key) then
    return "." .. key
  elseif type(key) == "string" then
    return "[" .. quoted(key, FULL) .. "]"
  elseif math.type(key) == "integer" then
    return string.format("[%d]", key)
  elseif type(key) == "number" then
    return "[" .. float(key) .. "]"
  elseif type(key) == "boolean" then
    return key and "[true]" or "[false]"
  end
end

local text_of

local function key_text (key, limits)
  if is_word(key) then
    return key
  end
  return literals.field(key)
         or "[" .. text_of(key, limits, limits.deep) .. "]"
end

-- The list first, then the rest as "next" has it. Whether that is all.
local function contents (t, limits, level)
  local list, size, n = {}, 0, rawlen(t)
  local function add (text)
    list[#list + 1] = text
    size = size + #text + 2
    return #list < limits.fields and size < limits.line
  end
  for i = 1, n do
    if not add(text_of(rawget(t, i), limits, level + 1)) then
      return list, i == n and next(t, n) == nil
    end
  end
  for key, value in next, t do
    if not (math.type(key) == "integer" and key >= 1 and key <= n) then
      if #list >= limits.fields or size >= limits.line then
        return list, false
      end
      add(key_text(key, limits) .. " = "
          .. text_of(value, limits, level + 1))
    end
  end
  return list, true
end

local function table_text (t, limits, level)
  local class = words.class(t)
  local before = class and class .. " " or ""
  if next(t) == nil then
    return before .. "{}"
  elseif level >= limits.deep then
    return before .. "{…}"
  end
  local list, all = contents(t, limits, level)
  list[#list + 1] = not all and "…" or nil
  return before .. "{" .. table.concat(list, ", ") .. "}"
end

function text_of (value, limits, level)
  local kind = type(value)
  if kind == "string" then
    return quoted(value, level > 0 and limits == BRIEF
                         and {text = 40} or limits)
  elseif kind == "table" then
    return box.is(value) and value.description
           or table_text(value, limits, level)
  elseif math.type(value) == "float" then
    return float(value)
  elseif kind == "number" then
    return string.format("%d", value)
  elseif kind == "function" then
    return signature(value)
  elseif kind == "thread" then
    return string.format("thread: %p (%s)", value, coroutine.status(value))
  end
  return words.value(value)
end

function literals.value (value)
  return text_of(value, BRIEF, 0)
end

function literals.full (value)
  return text_of(value, FULL, 0)
end

function literals.kind (value)
  return box.is(value) and "" or words.class(value) or type(value)
end

return literals
