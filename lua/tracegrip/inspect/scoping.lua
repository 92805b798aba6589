-- scoping.lua - which local variables a source has, and where they can be seen.
--
--   scoping.of(text)    list of the functions of a chunk, the main one first;
--                       nil: this is not known of the text. A function:
--     first, last       its lines, as debug.getinfo has them; 0 of the main one
--     parent            the function around it; nil
--     name              of a local function the variable that it is given to
--     declared          what it is given to where it is written, a variable or
--                       a field: "a.b:c"; nil: none
--     outer             the variable that was declared last where the function
--                       begins; nil: there is none. A variable:
--       name, line      and 'stop', the last line of its block
--       func            the function that it belongs to
--       looped          it is anew in each round of a loop
--       constant        what is in its place: <const> that the compiler knows
--       value           of a constant
--       prev            the one that was declared before, and is seen there
--     constants         list of those in the function itself
--
-- As Lua's own parser (lparser.c) goes through the text; that has compiled it,
-- so what is not understood here is not looked at further. 'lines' of a
-- function are those of the tokens that the parser takes for them.

local core = require "tracegrip.core"
local tokens = require "tracegrip.inspect.tokens"
core.own()

local scoping = {}

local Parser = {}
Parser.__index = Parser

local unary = {["not"] = true, ["-"] = true, ["#"] = true, ["~"] = true}
local binary = {}

for operator in string.gmatch("+ - * / // % ^ & ~ | << >> .. < <= > >= == ~= "
                              .. "and or", "%S+") do
  binary[operator] = true
end

---------------------------------------------------------------------------
-- Tokens
---------------------------------------------------------------------------

function Parser:peek (more)
  return self.kinds[self.at + (more or 0)]
end

function Parser:line ()
  return self.lines[self.at]
end

function Parser:take (kind)
  if kind and self.kinds[self.at] ~= kind then
    error(kind .. " expected", 0)
  end
  self.at = self.at + 1
  return self.texts[self.at - 1]
end

function Parser:accept (kind)
  local there = self.kinds[self.at] == kind
  self.at = self.at + (there and 1 or 0)
  return there
end

---------------------------------------------------------------------------
-- Variables and blocks
---------------------------------------------------------------------------

function Parser:declare (name, more)
  local one = more or {}
  one.name, one.line, one.func = name, self.lines[self.at - 1], self.func
  one.prev, one.looped = self.seen, self.loops > 0
  self.seen = one
  if one.constant then
    self.func.constants[#self.func.constants + 1] = one
  end
end

-- A block as 'read' reads it; its variables are seen in it alone.
function Parser:block (read, loops)
  local before = self.seen
  self.loops = self.loops + (loops and 1 or 0)
  read(self)
  self.loops = self.loops - (loops and 1 or 0)
  while self.seen ~= before do
    self.seen.stop = self:line()
    self.seen = self.seen.prev
  end
end

---------------------------------------------------------------------------
-- Expressions
---------------------------------------------------------------------------

-- names: of what they are given to; nil: nothing.
function Parser:expressions (names)
  local count = 0
  repeat
    count = count + 1
    self.named[self.at] = names and names[count] or nil
    self:expression()
  until not self:accept ","
end

function Parser:constructor ()
  self:take "{"
  while self:peek() ~= "}" do
    if self:accept "[" then
      self:expression()
      self:take "]"
      self:take "="
    elseif self:peek() == "name" and self:peek(1) == "=" then
      self.named[self.at + 2] = self.texts[self.at]
      self.at = self.at + 2
    end
    self:expression()
    if not self:accept "," then
      self:accept ";"
    end
  end
  self:take "}"
end

function Parser:parameters ()
  self:take "("
  while self:peek() ~= ")" do
    if not self:accept "..." then
      self:declare(self:take "name")
    elseif self:peek() == "name" then           -- of 5.5
      self:declare(self:take())
    end
    self:accept ","
  end
  self:take ")"
end

-- From its parameters to its end.
function Parser:body (line, name, method, declared)
  local func = {first = line or self:line(), parent = self.func, name = name,
                declared = declared, outer = self.seen, constants = {}}
  self.list[#self.list + 1] = func
  local loops = self.loops
  self.func, self.loops = func, 0
  self:block(function ()
    if method then
      self:declare "self"
    end
    self:parameters()
    self:statements()
  end)
  func.last = self:line()
  self:take "end"
  self.func, self.loops = func.parent, loops
end

function Parser:operand ()
  local kind = self:peek()
  if kind == "function" then
    local declared = self.named[self.at]
    self:take()
    self:body(nil, nil, nil, declared)
  elseif kind == "{" then
    self:constructor()
  elseif self:accept "(" then
    self:expression()
    self:take ")"
  else
    self:take()
  end
end

-- What follows an operand: fields, calls.
function Parser:suffixes ()
  while true do
    local kind = self:peek()
    if kind == "." or kind == ":" then
      self.at = self.at + 2
    elseif self:accept "[" then
      self:expression()
      self:take "]"
    elseif self:accept "(" then
      if self:peek() ~= ")" then
        self:expressions()
      end
      self:take ")"
    elseif kind == "string" then
      self:take()
    elseif kind == "{" then
      self:constructor()
    else
      return
    end
  end
end

function Parser:expression ()
  repeat
    while unary[self:peek()] do
      self:take()
    end
    self:operand()
    self:suffixes()
    local further = binary[self:peek()]
    self.at = self.at + (further and 1 or 0)
  until not further
end

---------------------------------------------------------------------------
-- Constants
---------------------------------------------------------------------------

local literals = {number = true, ["nil"] = true, ["true"] = true,
                  ["false"] = true, ["("] = true, [")"] = true}
local folded = {["not"] = true}

for operator in string.gmatch("+ - * / // % ^ & ~ | << >>", "%S+") do
  folded[operator] = true
end

local function known (seen, name)
  while seen and seen.name ~= name do
    seen = seen.prev
  end
  return seen and seen.constant and math.type(seen.value) and seen
end

-- The text of an expression of numbers, or of one literal; nil: it is none.
function Parser:constant_text (from, to)
  if from + 1 == to and self.kinds[from] == "string" then
    return self.texts[from]
  end
  local list = {}
  for i = from, to - 1 do
    local kind, text = self.kinds[i], self.texts[i]
    local one = kind == "name" and known(self.seen, text)
    if one then
      text = string.format("(%q)", one.value)
    elseif not literals[kind] and not folded[kind] then
      return nil
    end
    list[#list + 1] = text
  end
  return table.concat(list, " ")
end

-- What a constant is: {constant = true, value =}; nil: the compiler does not
-- know it either.
function Parser:constant (from, to)
  local text = self:constant_text(from, to)
  local chunk = text and load("return " .. text, "=constant", "t", {})
  local ok, value = pcall(chunk or error)
  return ok and {constant = true, value = value} or nil
end

---------------------------------------------------------------------------
-- Statements
---------------------------------------------------------------------------

function Parser:attribute ()
  local is_const = false
  if self:accept "<" then
    is_const = self:take "name" == "const"
    self:take ">"
  end
  return is_const
end

-- Only the last of as many variables as there are values is a constant: so it
-- is in localstat of lparser.c.
function Parser:declaration ()
  local names, all = {}, self:attribute()       -- the second is of 5.5
  local is_const
  repeat
    names[#names + 1] = self:take "name"
    is_const = self:attribute() or all
  until not self:accept ","
  local from, to = nil, nil
  if self:accept "=" then
    local count = 0
    repeat
      from, count = self.at, count + 1
      self.named[from] = names[count]
      self:expression()
    until not self:accept ","
    to = count == #names and self.at
  end
  local constant = is_const and to and self:constant(from, to) or nil
  for i, name in ipairs(names) do
    self:declare(name, i == #names and constant or nil)
  end
end

local statements = {}

statements["local"] = function (self)
  if not self:accept "function" then
    return self:declaration()
  end
  local name = self:take "name"
  self:declare(name)
  self:body(nil, name, false, name)
end

statements["function"] = function (self)
  local line, from, method = self.lines[self.at - 1], self.at, false
  self:take "name"
  while self:peek() == "." or self:peek() == ":" do
    method = self:take() == ":"
    self:take "name"
  end
  self:body(line, nil, method, self:text_from(from))
end

statements["do"] = function (self)
  self:block(self.statements)
  self:take "end"
end

statements["while"] = function (self)
  self:expression()
  self:take "do"
  self:block(self.statements, true)
  self:take "end"
end

statements["if"] = function (self)
  repeat
    self:expression()
    self:take "then"
    self:block(self.statements)
  until not self:accept "elseif"
  if self:accept "else" then
    self:block(self.statements)
  end
  self:take "end"
end

-- The condition sees the variables of the block.
statements["repeat"] = function (self)
  self:block(function ()
    self:statements()
    self:take "until"
    self:expression()
  end, true)
end

statements["for"] = function (self)
  local names = {}
  repeat
    names[#names + 1] = self:take "name"
  until not self:accept ","
  self:take()                                   -- "=" or "in"
  self:expressions()
  self:take "do"
  self:block(function ()
    for _, name in ipairs(names) do
      self:declare(name)
    end
    self:statements()
  end, true)
  self:take "end"
end

statements["return"] = function (self)
  local kind = self:peek()
  if kind ~= "end" and kind ~= "eof" and kind ~= ";" and kind ~= "else"
     and kind ~= "elseif" and kind ~= "until" then
    self:expressions()
  end
end

statements["goto"] = function (self)
  self:take "name"
end

statements["::"] = function (self)
  self:take "name"
  self:take "::"
end

statements["break"] = function () end
statements[";"] = statements["break"]

local closing = {["end"] = true, ["else"] = true, ["elseif"] = true,
                 ["until"] = true, eof = true}

-- What was read since then, without spaces.
function Parser:text_from (at)
  return table.concat(self.texts, "", at, self.at - 1)
end

-- Of variables and fields; false: another expression.
function Parser:names ()
  local list = {}
  repeat
    local from = self.at
    self:expression()
    local text = self:text_from(from)
    list[#list + 1] = string.find(text, "^[%a_][%w_.]*$") and text or false
  until not self:accept ","
  return list
end

-- Assignments and calls begin with an expression.
function Parser:statements ()
  while not closing[self:peek()] do
    local statement = statements[self:peek()]
    if statement then
      self:take()
      statement(self)
    else
      local names = self:names()
      if self:accept "=" then
        self:expressions(names)
      end
    end
  end
end

function scoping.of (text)
  local ok, list = pcall(function ()
    local self = setmetatable(tokens.of(text), Parser)
    local main = {first = 0, last = 0, constants = {}}
    self.at, self.list, self.func, self.loops = 1, {main}, main, 0
    self.named = {}       -- where an expression begins -> what is given that
    self:block(self.statements)
    self:take "eof"
    return self.list
  end)
  return ok and list or nil
end

return scoping
