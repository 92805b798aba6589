-- keyboard.lua - the bytes of a terminal's keyboard as keys.
--
--   local keys, rest = keyboard.read(rest .. bytes, all)
--
-- A key is the character itself (UTF-8, or a control character such as "\3"),
-- or has a name: "up", "down", "left", "right", "home", "end", "pageup",
-- "pagedown", "enter", "backspace", "delete", "escape", "f1" to "f12".
-- Sequences that are no such key are left out. 'rest' is the beginning of a
-- sequence that has not come in full; with 'all' nothing more is expected, and
-- a lone escape is the key.

local core = require "tracegrip.core"
core.own()

local keyboard = {}

-- By the last character of "ESC [" or "ESC O" and one.
local letters = {
  A = "up", B = "down", C = "right", D = "left", H = "home", F = "end",
  P = "f1", Q = "f2", R = "f3", S = "f4", M = "enter"
}

-- By the number of "ESC [ number ~", of VT220 and those that came after it.
local numbers = {
  [1] = "home", [3] = "delete", [4] = "end", [5] = "pageup",
  [6] = "pagedown", [7] = "home", [8] = "end", [11] = "f1", [12] = "f2",
  [13] = "f3", [14] = "f4", [15] = "f5", [17] = "f6", [18] = "f7",
  [19] = "f8", [20] = "f9", [21] = "f10", [23] = "f11", [24] = "f12"
}

local console = {A = "f1", B = "f2", C = "f3", D = "f4", E = "f5"}

local characters = {
  ["\r"] = "enter", ["\n"] = "enter", ["\127"] = "backspace",
  ["\8"] = "backspace"
}

-- The key of a sequence that begins at 'i', false for one that is none, and
-- where what follows it begins; nil: it is not all there.
local function sequence (text, i)
  local letter, after = text:match("^%[%[(%a)()", i + 1)
  if letter then
    return console[letter] or false, after
  end
  letter, after = text:match("^[%[O]([A-Z])()", i + 1)
  if letter then
    return letters[letter] or false, after
  end
  local number, last
  number, last, after = text:match("^[%[O](%d*)[%d;:<=>?]*([%a~@^$])()", i + 1)
  if last then
    return last == "~" and numbers[tonumber(number)] or letters[last] or false,
           after
  end
  if not text:find("^[%[O][%d;:<=>?%[]*$", i + 1) and i < #text then
    return "escape", i + 1
  end
end

-- The same of a character.
local function character (text, i)
  local one = text:match("^" .. utf8.charpattern, i)
  if one == nil then
    return false, i + 1
  elseif #one == 1 and one:byte() < 128 then
    return characters[one] or one, i + 1
  end
  local wanted = one:byte() >= 0xF0 and 4 or one:byte() >= 0xE0 and 3 or 2
  if #one < wanted and i + #one > #text then
    return nil
  end
  return utf8.len(one) == 1 and one or false, i + #one
end

function keyboard.read (text, all)
  local keys, i = {}, 1
  while i <= #text do
    local read = text:byte(i) == 27 and sequence or character
    local key, after = read(text, i)
    if key == nil then
      break
    end
    keys[#keys + 1] = key or nil
    i = after
  end
  if all and text:byte(i) == 27 then
    keys[#keys + 1] = "escape"
    i = #text + 1
  end
  return keys, text:sub(i)
end

return keyboard
