-- tokens.lua - the words of a source.
--
--   tokens.of(text)     {kinds =, texts =, lines =}: lists, the last entry of
--                       which has the kind "eof". The kind of a keyword or an
--                       operator is its text; else "name", "number", "string".
--                       Raises a string where the text is no Lua.
--
-- Comments and spaces are left out.

local core = require "tracegrip.core"
core.own()

local find, sub, match = string.find, string.sub, string.match

local tokens = {}

local keywords = {}

for word in string.gmatch("and break do else elseif end false for function "
                          .. "goto if in local nil not or repeat return then "
                          .. "true until while", "%a+") do
  keywords[word] = true
end

local operators = {["..."] = true, ["=="] = true, ["~="] = true, ["<="] = true,
                   [">="] = true, ["//"] = true, ["::"] = true, ["<<"] = true,
                   [">>"] = true, [".."] = true}

local function newlines (text)
  local _, n = string.gsub(text, "\n", "")
  return n
end

-- Behind a long bracket that begins there; nil: none does.
local function after_long (text, at)
  local level = match(text, "^%[(=*)%[", at)
  if not level then
    return nil
  end
  local _, last = find(text, "]" .. level .. "]", at, true)
  return (last or error("unfinished long bracket", 0)) + 1
end

local function after_comment (text, at)
  return after_long(text, at + 2) or find(text, "\n", at, true) or #text + 1
end

-- Behind a string in quotes. What follows a backslash is part of it.
local function after_string (text, at)
  local mark = "[\\" .. sub(text, at, at) .. "]"
  at = find(text, mark, at + 1)
  while at and sub(text, at, at) == "\\" do
    at = find(text, mark, at + 2)
  end
  return (at or error("unfinished string", 0)) + 1
end

local function after_number (text, at)
  local _, last = find(text, "^0[xX][%x.]*", at)
  local exponent = "^[pP][+-]?%d+"
  if not last then
    _, last = find(text, "^%d*%.?%d*", at)
    exponent = "^[eE][+-]?%d+"
  end
  local _, further = find(text, exponent, last + 1)
  return (further or last) + 1
end

local function after_operator (text, at)
  for size = 3, 2, -1 do
    if operators[sub(text, at, at + size - 1)] then
      return at + size
    end
  end
  return at + 1
end

-- The kind of what begins there, and where it ends.
local function read (text, at)
  local c = sub(text, at, at)
  if find(c, "[%a_]") then
    local _, last = find(text, "^[%w_]*", at)
    local word = sub(text, at, last)
    return keywords[word] and word or "name", last + 1
  elseif find(text, "^%.?%d", at) then
    return "number", after_number(text, at)
  elseif c == '"' or c == "'" then
    return "string", after_string(text, at)
  elseif c == "[" and find(text, "^%[=*%[", at) then
    return "string", after_long(text, at)
  end
  local stop = after_operator(text, at)
  return sub(text, at, stop - 1), stop
end

function tokens.of (text)
  local kinds, texts, lines, n, line = {}, {}, {}, 0, 1
  local from, at = 1, find(text, "%S")
  while at do
    line = line + newlines(sub(text, from, at - 1))
    if find(text, "^%-%-", at) then
      from = at
      at = after_comment(text, at)
    else
      n, from = n + 1, at
      kinds[n], at = read(text, at)
      texts[n] = sub(text, from, at - 1)
      line = line + newlines(texts[n])
      lines[n], from = line, at
    end
    at = find(text, "%S", at)
  end
  kinds[n + 1], texts[n + 1], lines[n + 1] = "eof", "", line
  return {kinds = kinds, texts = texts, lines = lines}
end

return tokens
