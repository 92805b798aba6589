-- peek.lua - expressions whose value a debugger wants without any side effect,
-- while they are typed or pointed at.
--
--   peek.values(text, frame)    true, values; false: it is no such expression,
--                               or one that calls a function or a metamethod,
--                               or that fails
--   peek.place(text, frame)     true, value, key of an expression that gives a
--                               field of that; true, nil, name of one that is a
--                               name; false, as above
--
-- Nothing is run: the operators are Lua's on values that have no metamethod for
-- them. Precedence is that of lparser.c. A part that 'and' or 'or' leaves out
-- is read and not worked out.

local core = require "tracegrip.core"
local frames = require "tracegrip.inspect.frames"
local names = require "tracegrip.inspect.names"
local tokens = require "tracegrip.inspect.tokens"
core.own()

local getmetatable = debug.getmetatable

local peek = {}

local function refuse ()
  error("not without side effects", 0)
end

local function metamethod (value, event)
  local meta = getmetatable(value)
  return type(meta) == "table" and rawget(meta, event) or nil
end

---------------------------------------------------------------------------
-- Operators
---------------------------------------------------------------------------

local arithmetic = {
  ["+"] = function (a, b) return a + b end,
  ["-"] = function (a, b) return a - b end,
  ["*"] = function (a, b) return a * b end,
  ["/"] = function (a, b) return a / b end,
  ["//"] = function (a, b) return a // b end,
  ["%"] = function (a, b) return a % b end,
  ["^"] = function (a, b) return a ^ b end,
  ["&"] = function (a, b) return a & b end,
  ["|"] = function (a, b) return a | b end,
  ["~"] = function (a, b) return a ~ b end,
  ["<<"] = function (a, b) return a << b end,
  [">>"] = function (a, b) return a >> b end
}

local order = {
  ["<"] = function (a, b) return a < b end,
  ["<="] = function (a, b) return a <= b end,
  [">"] = function (a, b) return a > b end,
  [">="] = function (a, b) return a >= b end
}

local function equal (a, b)
  if not rawequal(a, b) and type(a) == type(b)
     and (metamethod(a, "__eq") or metamethod(b, "__eq")) then
    refuse()
  end
  return rawequal(a, b)
end

local function joined (a, b)
  for _, one in ipairs {type(a), type(b)} do
    if one ~= "string" and one ~= "number" then
      refuse()
    end
  end
  return a .. b
end

local function compute (operator, a, b)
  if arithmetic[operator] then
    return math.type(a) and math.type(b) and arithmetic[operator](a, b)
           or refuse()
  elseif order[operator] then
    local kind = type(a) == type(b) and type(a)
    if kind ~= "number" and kind ~= "string" then
      refuse()
    end
    return order[operator](a, b)
  elseif operator == ".." then
    return joined(a, b)
  end
  return equal(a, b) == (operator == "==")
end

local function length (value)
  if type(value) == "string" then
    return #value
  elseif type(value) ~= "table" or metamethod(value, "__len") then
    refuse()
  end
  return rawlen(value)
end

local unary = {
  ["not"] = function (a) return not a end,
  ["#"] = length,
  ["-"] = function (a) return math.type(a) and -a or refuse() end,
  ["~"] = function (a) return math.type(a) and ~a or refuse() end
}

-- A field, also of the tables that "__index" leads to.
local function field (value, key)
  local found
  if type(value) == "table" then
    found = rawget(value, key)
  end
  local index = found == nil and metamethod(value, "__index")
  if index then
    return type(index) == "table" and field(index, key) or refuse()
  elseif type(value) ~= "table" then
    refuse()
  end
  return found
end

---------------------------------------------------------------------------
-- Expressions
---------------------------------------------------------------------------

local Reader = {}
Reader.__index = Reader

local POWER, UNARY = 14, 12

-- How strongly operators bind to what is left and right of them.
local left = {
  ["or"] = 1, ["and"] = 2, ["<"] = 3, [">"] = 3, ["<="] = 3, [">="] = 3,
  ["~="] = 3, ["=="] = 3, ["|"] = 4, ["~"] = 5, ["&"] = 6, ["<<"] = 7,
  [">>"] = 7, [".."] = 9, ["+"] = 10, ["-"] = 10, ["*"] = 11, ["/"] = 11,
  ["//"] = 11, ["%"] = 11, ["^"] = POWER
}
local right = {[".."] = 8, ["^"] = POWER - 1}

function Reader:peek ()
  return self.kinds[self.at]
end

function Reader:take (kind)
  if kind and self.kinds[self.at] ~= kind then
    refuse()
  end
  self.at = self.at + 1
  return self.texts[self.at - 1]
end

function Reader:name (name)
  local found = self.frame and names.find(self.frame, name)
  if found and found.missing then
    refuse()
  elseif found then
    return found.get()
  end
  local globals = self.frame and frames.globals(self.frame) or _G
  local value = field(globals, name)
  if value == nil then
    value = names.special(self.frame, name)
  end
  return value
end

-- How operands are read, by their kind; with 'off', not worked out.
local operands = {
  ["nil"] = function () return nil end,
  ["true"] = function () return true end,
  ["false"] = function () return false end,
  number = function (_, text) return tonumber(text) end,
  string = function (_, text)
    return load("return " .. text, "=string", "t", {})()
  end
}

function operands.name (self, text, off)
  if off then
    return nil
  end
  return self:name(text)
end

operands["("] = function (self, _, off)
  local value = self:expression(0, off)
  self:take ")"
  return value
end

-- What stands behind an operand, up to its key.
function Reader:key (off)
  local key
  if self:take() == "." then
    return self:take "name"
  end
  key = self:expression(0, off)
  self:take "]"
  return key
end

function Reader:has_key ()
  return self:peek() == "." or self:peek() == "["
end

function Reader:operand (off)
  local operand = operands[self:peek()] or refuse()
  return operand(self, self:take(), off)
end

function Reader:path (off)
  local value = self:operand(off)
  while self:has_key() do
    local key = self:key(off)
    if not off then
      value = field(value, key)
    end
  end
  return value
end

function Reader:unary (off)
  local operator = unary[self:peek()]
  if not operator then
    return self:path(off)
  end
  self:take()
  local value = self:expression(UNARY, off)
  if off then
    return nil
  end
  return operator(value)
end

function Reader:binary (operator, value, off)
  local limit = right[operator] or left[operator]
  if operator == "and" or operator == "or" then
    local over = (operator == "and") == not value
    local other = self:expression(limit, off or over)
    if over then
      return value
    end
    return other
  end
  local other = self:expression(limit, off)
  if off then
    return nil
  end
  return compute(operator, value, other)
end

function Reader:expression (limit, off)
  local value = self:unary(off)
  local operator = self:peek()
  while left[operator] and left[operator] > limit do
    self:take()
    value = self:binary(operator, value, off)
    operator = self:peek()
  end
  return value
end

local function reader_of (text, frame)
  local self = setmetatable(tokens.of(text), Reader)
  self.at, self.frame = 1, frame
  return self
end

local function read (text, frame)
  local self, list, n = reader_of(text, frame), {}, 0
  repeat
    if n > 0 then
      self:take ","
    end
    n = n + 1
    list[n] = self:expression(0, false)
  until self:peek() ~= ","
  self:take "eof"
  return list, n
end

function peek.values (text, frame)
  local ok, list, n = pcall(read, text, frame)
  if not ok then
    return false
  end
  return true, table.unpack(list, 1, n)
end

local function read_place (text, frame)
  local self = reader_of(text, frame)
  if self:peek() == "name" and self.kinds[2] == "eof" then
    return nil, self:take()
  end
  local value, key = self:operand(false), nil
  repeat
    value = key == nil and value or field(value, key)
    key = self:key(false)
  until not self:has_key()
  self:take "eof"
  return value, key
end

function peek.place (text, frame)
  local ok, container, key = pcall(read_place, text, frame)
  if not ok then
    return false
  end
  return true, container, key
end

return peek
