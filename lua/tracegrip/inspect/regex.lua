-- regex.lua - regular expressions as front ends send them, of JavaScript: what
-- is needed to choose files and to search in them.
--
--   regex.compile(pattern, ignore_case)
--       -> function (text): whether it is found in the text, nil if that takes
--          too long to find out | nil: there is something in the pattern that
--          is not known here
--
-- Known are characters, escapes, ".", classes, groups, alternatives, "^", "$",
-- "\b", "\B", what has to follow or must not ("(?=", "(?!"), and the
-- quantifiers "*", "+", "?", "{2}", "{2,}", "{2,5}". It backtracks, for so many
-- steps and so many rounds of a group as a text's length allows.

local core = require "tracegrip.core"
core.own()

local STEPS, STEPS_EACH = 100000, 20    -- for a text, and for each byte of it
local DEEPEST = 3000                    -- rounds of a group within each other

local regex = {}

local alternatives

local function yes () return true end
local function same (c) return c end

-- A piece has 'match', a function (text, at, budget, go): whether what follows
-- ('go', a function of the place behind it) can be matched. One for a single
-- character also has 'test', whether it is that: many of these are counted, and
-- need no stack.
local function spend (budget)
  budget.steps = budget.steps - 1
  return budget.steps > 0
end

local function single (test)
  return {
    test = test,
    match = function (text, at, budget, go)
      return spend(budget) and at <= #text and test(string.sub(text, at, at))
             and go(at + 1)
    end
  }
end

-- Whether a character is in a set, as Lua's patterns have it.
local function member (set, negative, fold)
  return single(function (x)
    local found = string.find(fold(x), set)
                  or fold ~= same and string.find(string.upper(x), set)
    return (found and true or false) ~= negative
  end)
end

local classes = {d = "[%d]", D = "[^%d]", w = "[%w_]", W = "[^%w_]",
                 s = "[%s]", S = "[^%s]"}
local controls = {n = "\n", r = "\r", t = "\t", f = "\f", v = "\v"}

local function escape_at (pattern, at)
  local c = string.sub(pattern, at, at)
  if classes[c] then
    return string.sub(classes[c], 2, -2), at + 1, true
  elseif c == "" or string.find(c, "[%w]") and not controls[c] then
    return nil
  end
  return controls[c] or c, at + 1
end

local function quoted (c)
  return string.find(c, "[%w]") and c or "%" .. c
end

local function class_at (pattern, at, fold)
  local negative = string.sub(pattern, at, at) == "^"
  local list = {}
  at = at + (negative and 1 or 0)
  while string.sub(pattern, at, at) ~= "]" do
    local c, is_class = string.sub(pattern, at, at), false
    if c == "" then
      return nil
    elseif c == "\\" then
      c, at, is_class = escape_at(pattern, at + 1)
      if not c or string.sub(c, 1, 1) == "^" then
        return nil
      end
    else
      at = at + 1
    end
    local to = string.match(pattern, "^%-([^%]\\])", at)
    if to and not is_class then
      list[#list + 1] = quoted(c) .. "-" .. quoted(to)
      at = at + 2
    else
      list[#list + 1] = is_class and c or quoted(c)
    end
  end
  if #list == 0 then
    return nil
  end
  return member("[" .. table.concat(list) .. "]", negative, fold), at + 1
end

---------------------------------------------------------------------------
-- Pieces that take no character
---------------------------------------------------------------------------

local function is_word (text, at)
  return string.find(text, "^[%w_]", at) ~= nil
end

local function at_edge (wanted)
  return {match = function (text, at, _, go)
    local before = at > 1 and is_word(text, at - 1)
    return (before ~= is_word(text, at)) == wanted and go(at)
  end}
end

local edges = {["\\b"] = at_edge(true), ["\\B"] = at_edge(false)}

local anchors = {
  ["^"] = {match = function (_, at, _, go) return at == 1 and go(at) end},
  ["$"] = {match = function (text, at, _, go)
    return at == #text + 1 and go(at)
  end}
}

local function looked_ahead (inner, wanted)
  return {match = function (text, at, budget, go)
    local found = inner.match(text, at, budget, yes) and true or false
    return found == wanted and budget.steps > 0 and go(at)
  end}
end

---------------------------------------------------------------------------
-- Reading a pattern
---------------------------------------------------------------------------

local openings = {["(?:"] = 3, ["(?="] = 3, ["(?!"] = 3}

local function group_at (pattern, at, fold)
  local opening = string.sub(pattern, at, at + 2)
  local inner, stop = alternatives(pattern, at + (openings[opening] or 1), fold)
  if not inner or string.sub(pattern, stop, stop) ~= ")" then
    return nil
  elseif opening == "(?=" or opening == "(?!" then
    inner = looked_ahead(inner, opening == "(?=")
  end
  return inner, stop + 1
end

local function character_at (pattern, at, fold)
  local c, stop, is_class = string.sub(pattern, at, at), at + 1, false
  if c == "\\" then
    c, stop, is_class = escape_at(pattern, at + 1)
    if not c then
      return nil
    end
  end
  if is_class then
    return member("[" .. c .. "]", false, fold), stop
  end
  local folded = fold(c)
  return single(function (x) return fold(x) == folded end), stop
end

local function atom_at (pattern, at, fold)
  local c, two = string.sub(pattern, at, at), string.sub(pattern, at, at + 1)
  if c == "(" then
    return group_at(pattern, at, fold)
  elseif c == "[" then
    return class_at(pattern, at + 1, fold)
  elseif c == "." then
    return single(function (x) return x ~= "\n" end), at + 1
  elseif anchors[c] or edges[two] then
    return anchors[c] or edges[two], at + (anchors[c] and 1 or 2)
  elseif string.find(c, "[*+?]") or c == "" then
    return nil
  end
  return character_at(pattern, at, fold)
end

-- Of single characters, as many as there are and then fewer.
local function counted (piece, least, most)
  return {match = function (text, at, budget, go)
    local n = 0
    while n < most and at + n <= #text and spend(budget)
          and piece.test(string.sub(text, at + n, at + n)) do
      n = n + 1
    end
    for taken = n, least, -1 do
      if not spend(budget) then
        return false
      elseif go(at + taken) then
        return true
      end
    end
    return false
  end}
end

local function repeated (piece, least, most)
  local function try (text, at, budget, go, n)
    budget.depth = budget.depth + 1
    if budget.depth > DEEPEST then
      budget.steps = 0
    end
    local found = n < most and spend(budget)
                  and piece.match(text, at, budget, function (next_at)
      return (next_at > at or n < least)
             and try(text, next_at, budget, go, n + 1)
    end)
    budget.depth = budget.depth - 1
    return found or n >= least and budget.steps > 0 and go(at)
  end
  return {match = function (text, at, budget, go)
    return try(text, at, budget, go, 0)
  end}
end

local quantifiers = {["*"] = {0, math.huge}, ["+"] = {1, math.huge},
                     ["?"] = {0, 1}}

-- How often, and where that ends; nothing: once.
local function quantifier_at (pattern, at)
  local known = quantifiers[string.sub(pattern, at, at)]
  if known then
    return known[1], known[2], at + 1
  end
  local least, comma, most, stop = string.match(pattern,
                                                "^{(%d+)(,?)(%d*)}()", at)
  if not least then
    return nil
  end
  least = tonumber(least)
  most = comma == "" and least or most == "" and math.huge or tonumber(most)
  return least, most, stop
end

local function sequence (pieces)
  return {match = function (text, at, budget, go)
    local function from (i, place)
      if i > #pieces then
        return go(place)
      end
      return pieces[i].match(text, place, budget, function (next_at)
        return from(i + 1, next_at)
      end)
    end
    return from(1, at)
  end}
end

local function sequence_at (pattern, at, fold)
  local pieces = {}
  while at <= #pattern and not string.find(pattern, "^[|)]", at) do
    local piece, stop = atom_at(pattern, at, fold)
    if not piece then
      return nil
    end
    local least, most, further = quantifier_at(pattern, stop)
    if least then
      piece = (piece.test and counted or repeated)(piece, least, most)
      stop = further + (string.find(pattern, "^%?", further) and 1 or 0)
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
  until string.sub(pattern, stop, stop) ~= "|"
  return {match = function (text, place, budget, go)
    for _, one in ipairs(list) do
      if one.match(text, place, budget, go) then
        return true
      end
    end
    return false
  end}, at - 1
end

function regex.compile (pattern, ignore_case)
  local piece, stop = alternatives(pattern, 1, ignore_case and string.lower
                                               or same)
  if not piece or stop <= #pattern then
    return nil
  end
  return function (text)
    local budget = {steps = STEPS + STEPS_EACH * #text, depth = 0}
    for at = 1, #text + 1 do
      if piece.match(text, at, budget, yes) then
        return true
      elseif budget.steps <= 0 then
        return nil
      end
    end
    return false
  end
end

return regex
