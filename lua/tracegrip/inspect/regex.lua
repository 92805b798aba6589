-- regex.lua - regular expressions as front ends send them, of JavaScript: what
-- is needed to choose files and to search in them.
--
--   regex.compile(pattern, ignore_case)
--       -> function (text): whether it is found in the text | nil: there is
--          something in the pattern that is not known here
--
-- Known are characters, escapes, ".", classes, groups, alternatives, "^", "$",
-- and the quantifiers "*", "+", "?". It backtracks; a pattern that takes too
-- long for a text is not found in it.

local core = require "tracegrip.core"
core.own()

local STEPS = 100000

local regex = {}

local alternatives

-- A piece is a function (text, at, budget, go): whether what follows ('go', a
-- function of the place behind it) can be matched.
local function spend (budget)
  budget[1] = budget[1] - 1
  return budget[1] > 0
end

local function single (test)
  return function (text, at, budget, go)
    return spend(budget) and at <= #text and test(text:sub(at, at))
           and go(at + 1)
  end
end

local classes = {d = "[%d]", D = "[^%d]", w = "[%w_]", W = "[^%w_]",
                 s = "[%s]", S = "[^%s]"}
local controls = {n = "\n", r = "\r", t = "\t", f = "\f", v = "\v"}

local function escape_at (pattern, at)
  local c = pattern:sub(at, at)
  if classes[c] then
    return classes[c]:sub(2, -2), at + 1, true
  elseif c == "" or c:find "[%w]" and not controls[c] then
    return nil
  end
  return controls[c] or c, at + 1
end

local function quoted (c)
  return c:find "[%w]" and c or "%" .. c
end

local function class_at (pattern, at)
  local negative = pattern:sub(at, at) == "^"
  local list = {}
  at = at + (negative and 1 or 0)
  while pattern:sub(at, at) ~= "]" do
    local c, is_class = pattern:sub(at, at), false
    if c == "" then
      return nil
    elseif c == "\\" then
      c, at, is_class = escape_at(pattern, at + 1)
      if not c or c:sub(1, 1) == "^" then
        return nil
      end
    else
      at = at + 1
    end
    local to = pattern:match("^%-([^%]\\])", at)
    if to and not is_class then
      list[#list + 1] = quoted(c) .. "-" .. quoted(to)
      at = at + 2
    else
      list[#list + 1] = is_class and c or quoted(c)
    end
  end
  local set = "[" .. (negative and "^" or "") .. table.concat(list) .. "]"
  if #list == 0 then
    return nil
  end
  return single(function (x) return x:find(set) ~= nil end), at + 1
end

local function atom_at (pattern, at, fold)
  local c = pattern:sub(at, at)
  if c == "(" then
    local inner, stop = alternatives(pattern, at + (pattern:sub(at + 1, at + 2)
                                     == "?:" and 3 or 1), fold)
    if not inner or pattern:sub(stop, stop) ~= ")" then
      return nil
    end
    return inner, stop + 1
  elseif c == "[" then
    return class_at(pattern, at + 1)
  elseif c == "." then
    return single(function (x) return x ~= "\n" end), at + 1
  elseif c == "^" then
    return function (_, place, _, go) return place == 1 and go(place) end,
           at + 1
  elseif c == "$" then
    return function (text, place, _, go)
      return place == #text + 1 and go(place)
    end, at + 1
  elseif c:find "[*+?{]" or c == "" then
    return nil
  end
  local stop, is_class = at + 1, false
  if c == "\\" then
    c, stop, is_class = escape_at(pattern, at + 1)
    if not c then
      return nil
    end
  end
  if is_class then
    local set = "[" .. c .. "]"
    return single(function (x) return x:find(set) ~= nil end), stop
  end
  return single(function (x) return fold(x) == fold(c) end), stop
end

local function repeated (piece, least, most)
  local function try (text, at, budget, go, n)
    if n < most and piece(text, at, budget, function (next_at)
      return next_at > at and try(text, next_at, budget, go, n + 1)
    end) then
      return true
    end
    return n >= least and go(at)
  end
  return function (text, at, budget, go)
    return spend(budget) and try(text, at, budget, go, 0)
  end
end

local quantifiers = {["*"] = {0, math.huge}, ["+"] = {1, math.huge},
                     ["?"] = {0, 1}}

local function sequence (pieces)
  return function (text, at, budget, go)
    local function from (i, place)
      if i > #pieces then
        return go(place)
      end
      return pieces[i](text, place, budget, function (next_at)
        return from(i + 1, next_at)
      end)
    end
    return from(1, at)
  end
end

local function sequence_at (pattern, at, fold)
  local pieces = {}
  while at <= #pattern and not pattern:find("^[|)]", at) do
    local piece, stop = atom_at(pattern, at, fold)
    if not piece then
      return nil
    end
    local quantifier = quantifiers[pattern:sub(stop, stop)]
    if quantifier then
      piece = repeated(piece, quantifier[1], quantifier[2])
      stop = stop + (pattern:find("^%?", stop + 1) and 2 or 1)
    end
    pieces[#pieces + 1] = piece
    at = stop
  end
  return sequence(pieces), at
end

function alternatives (pattern, at, fold)
  local list = {}
  repeat
    local one, stop = sequence_at(pattern, at, fold)
    if not one then
      return nil
    end
    list[#list + 1] = one
    at = stop + 1
  until pattern:sub(stop, stop) ~= "|"
  return function (text, place, budget, go)
    for _, one in ipairs(list) do
      if one(text, place, budget, go) then
        return true
      end
    end
    return false
  end, at - 1
end

local function yes () return true end
local function same (c) return c end

function regex.compile (pattern, ignore_case)
  local piece, stop = alternatives(pattern, 1, ignore_case and string.lower
                                               or same)
  if not piece or stop <= #pattern then
    return nil
  end
  return function (text)
    local budget = {STEPS}
    for at = 1, #text + 1 do
      if piece(text, at, budget, yes) then
        return true
      end
    end
    return false
  end
end

return regex
