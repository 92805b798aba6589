-- tests.lua - conditions of breakpoints as the hook can ask them itself
-- (csrc/inspect/tests.h): expressions of variables, fields and operators, which
-- call nothing.
--
--   tests.of(text)     {function, operators, path...}: the function takes what
--                      the paths lead to as its arguments; a path is a name,
--                      its keys, and false. nil: the text is no such expression
--
--   "t.n > limit and not done"      text of a condition
--   "local p1, p2, p3 = ... return p1 > p2 and not p3", READS,
--   "t", "n", false, "limit", false, "done", false
--
-- Whether the text is an expression at all Lua's own compiler says.

local core = require "tracegrip.core"
local tokens = require "tracegrip.inspect.tokens"
core.own()

local tests = {}

local COMPUTES, READS = 1, 2    -- as tests.h has them
local OTHER = 4                 -- what no test has
local MOST = 16                 -- arguments

local operators = {["=="] = 0, ["~="] = 0, ["and"] = 0, ["or"] = 0,
                   ["not"] = 0, ["nil"] = 0, ["true"] = 0, ["false"] = 0,
                   ["("] = 0, [")"] = 0, number = 0, string = 0,
                   ["<"] = READS, ["<="] = READS, [">"] = READS, [">="] = READS,
                   ["#"] = READS, [".."] = READS}

for operator in string.gmatch("+ - * / // % ^ & | ~ << >>", "%S+") do
  operators[operator] = COMPUTES
end

-- What makes a call, or a field, of what stands before it.
local behind = {["("] = true, ["."] = true, [":"] = true, ["["] = true,
                ["{"] = true, string = true}
local operands = {name = true, number = true, string = true, ["nil"] = true,
                  ["true"] = true, ["false"] = true, [")"] = true}

local function value_of (text)
  return load("return " .. text, "=key", "t", {})()
end

-- The name at a place and its keys go to the end of the test; the place behind.
local function read_path (test, words, at)
  local kinds, texts = words.kinds, words.texts
  test[#test + 1] = texts[at]
  at = at + 1
  while kinds[at] == "." or kinds[at] == "[" do
    local dotted = kinds[at] == "."
    local key = dotted and kinds[at + 1] == "name" and texts[at + 1]
                or not dotted and kinds[at + 2] == "]"
                and (kinds[at + 1] == "number" or kinds[at + 1] == "string")
                and value_of(texts[at + 1])
    if not key then
      return nil
    end
    test[#test + 1] = key
    at = at + (dotted and 2 or 3)
  end
  test[#test + 1] = false
  return at
end

-- The sign of a number computes nothing.
local function is_sign (kinds, at)
  return kinds[at] == "-" and kinds[at + 1] == "number"
         and not operands[kinds[at - 1]]
end

-- The words of the function's expression; the bits of its operators.
local function read (test, words)
  local kinds, texts, list, bits = words.kinds, words.texts, {}, 0
  local at, count, strings = 1, 0, false
  while kinds[at] ~= "eof" do
    local kind = kinds[at]
    if kind == "name" then
      count, at = count + 1, read_path(test, words, at)
      list[#list + 1] = "p" .. count
    else
      bits = bits | (is_sign(kinds, at) and 0 or operators[kind] or OTHER)
      strings = strings or kind == "string" or kind == ".."
      list[#list + 1], at = texts[at], at + 1
    end
    if not at or operands[kind] and behind[kinds[at]] then
      return nil
    end
  end
  if bits & OTHER ~= 0 or strings and bits & COMPUTES ~= 0 then
    return nil
  end
  return list, bits, count
end

local function parameters (count)
  local names = {}
  for i = 1, count do
    names[i] = "p" .. i
  end
  return count > 0 and "local " .. table.concat(names, ", ") .. " = ... " or ""
end

function tests.of (text)
  local ok, words = pcall(tokens.of, text)
  local test = {false, 0}
  local list, bits, count = nil, 0, 0
  if ok then
    list, bits, count = read(test, words)
  end
  if not list or count > MOST then
    return nil
  end
  test[1] = load(parameters(count) .. "return " .. table.concat(list, " "),
                 "=(evaluated)", "t", {})
  test[2] = bits
  return test[1] and test
end

return tests
