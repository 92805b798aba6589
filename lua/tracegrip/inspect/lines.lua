-- lines.lua - which lines of a source have code, and in which functions: what a
-- breakpoint needs to know before anything has run.
--
--   lines.of(text, name)   list of {first, last, active = {line, ...}, again}:
--                          the functions of a chunk, the main one (first 0)
--                          first; again: a set of those lines to which its code
--                          comes back behind others, as that of a call over
--                          several lines does; nil: it does not compile, or its
--                          form is not known
--   lines.of(text, name, true)
--                          each has 'ends' too: a set of those of its lines
--                          where it does no more than to return at its end, or
--                          to hand on functions that end there; and 'calls': a
--                          set of those where it may call something, be it a
--                          metamethod
--   lines.prints(func)     list of {first, last, print}: a function and those
--                          in it; print: a text of all that it is made of, by
--                          which it is told from another one
--   lines.of_function(func)
--                          the same of a function that exists, and of those in
--                          it
--   lines.active(functions)  the lines that have code, in order
--   lines.first(functions, line)
--                          the first line from there on that has code; nil
--   lines.compilable(text) the text of a file without what is no Lua
--
-- Lua tells the lines of functions that exist (debug.getinfo's "L"), and those
-- of a chunk do when they have been made: too late. So the chunk is compiled
-- here, for nobody, and string.dump read: its form is that of ldump.c, as 5.4
-- and 5.5 have it.

local core = require "tracegrip.core"
core.own()

local lines = {}

local ABSOLUTE = -128           -- a step that says: look in the other list

local Dump = {}
Dump.__index = Dump

function Dump:octet ()
  self.at = self.at + 1
  return string.byte(self.text, self.at - 1)
end

-- The bytes, where prints are asked for.
function Dump:skip (n)
  self.at = self.at + n
  return self.prints and string.sub(self.text, self.at - n, self.at - 1)
end

-- Something that the function in hand is made of.
function Dump:note (what)
  if self.prints then
    table.insert(self.prints, what or "")
  end
end

-- Seven bits at a time, the highest first; the last byte is the one with its
-- high bit set in 5.4, and the one without in 5.5.
function Dump:number ()
  local n = 0
  repeat
    local b = self:octet()
    n = n << 7 | b & 0x7f
  until (b & 0x80 ~= 0) == (self.version == 0x54)
  return n
end

function Dump:align (n)
  if self.version > 0x54 then
    self:skip(-(self.at - 1) % n)
  end
end

function Dump:text_of ()
  local size = self:number()
  if self.version == 0x54 then
    return self:skip(size > 0 and size - 1 or 0)
  elseif size == 0 then
    return self.saved[self:number()]    -- one that was there before
  end
  local text = self:skip(size)
  self.saved[#self.saved + 1] = text
  return text
end

local FLOAT, INTEGER, SHORT, LONG = 0x13, 0x03, 0x04, 0x14

function Dump:constants ()
  for _ = 1, self:number() do
    local kind = self:octet()
    self:note(kind)
    if kind == FLOAT then
      self:note(self:skip(8))
    elseif kind == INTEGER and self.version == 0x54 then
      self:note(self:skip(8))
    elseif kind == INTEGER then
      self:note(self:number())
    elseif kind == SHORT or kind == LONG then
      self:note(self:text_of())
    end
  end
end

-- Pairs of an instruction and its line.
function Dump:absolute ()
  local at, count = {}, self:number()
  if count > 0 then
    self:align(4)
  end
  for _ = 1, count do
    if self.version == 0x54 then
      local pc = self:number()
      at[pc] = self:number()
    else
      local pc, line = string.unpack("<i4i4", self.text, self.at)
      at[pc] = line
      self:skip(8)
    end
  end
  return at
end

-- The line of each instruction.
local function lines_of (first, steps, at)
  local line, list = first, {}
  for i = 1, #steps do
    line = steps[i] == ABSOLUTE and at[i - 1] or line + steps[i]
    list[i] = line
  end
  return list
end

-- As collectvalidlines in ldebug.c: the instruction that prepares the extra
-- arguments of a vararg function belongs to no line. And the lines again.
local function active_lines (vararg, places)
  local set, list, again, last = {}, {}, {}, nil
  for i = vararg and 2 or 1, #places do
    local line = places[i]
    if not set[line] then
      set[line] = true
      list[#list + 1] = line
    elseif line ~= last then
      again[line] = true
    end
    last = line
  end
  table.sort(list)
  return list, again
end

-- Instructions that only hand on what there is, a function that was just made
-- among it (lopcodes.h; the same numbers in 5.4 and 5.5): moves, constants,
-- upvalues, fields that are set, tables made and filled, returns, closures.
local CLOSURE, RETURN = 79, {[70] = true, [71] = true}
local handing = {}
for _, range in ipairs {{0, 10}, {15, 19}, {54, 54}, {70, 72}, {78, 80},
                        {82, 84}} do
  for number = range[1], range[2] do
    handing[number] = true
  end
end

-- A function is made where it ends, by an instruction of the one that it is in;
-- and each has a return of its own there, got to or not.
local function end_lines (one, inner, places, code)
  local busy, makes, alone = {}, {}, {}
  for i, line in ipairs(places) do
    busy[line] = busy[line] or not handing[code[i]]
    makes[line] = makes[line] or code[i] == CLOSURE
    alone[line] = alone[line] == nil and i or 0
  end
  local ends = {}
  for _, other in ipairs(inner) do
    if other.first < other.last and makes[other.last]
       and not busy[other.last] then
      ends[other.last] = true
    end
  end
  if 0 < one.first and one.first < one.last and alone[one.last] == #places
     and RETURN[code[#places]] then
    ends[one.last] = true
  end
  return ends
end

-- Instructions that call nothing, whatever they are given: moves, tables made
-- and filled, jumps, tests, "not", comparisons with a constant, loops over
-- numbers, closures. Ends of blocks and functions call where something is to be
-- closed.
local silent, leaving = {}, {[54] = true, [70] = true}
local TBC, TFORPREP = 55, 75
for _, range in ipairs {{0, 10}, {19, 19}, {51, 51}, {55, 56}, {60, 61},
                        {66, 67}, {71, 74}, {78, 84}} do
  for number = range[1], range[2] do
    silent[number] = true
  end
end

local function calling_lines (places, code)
  local calls, closes = {}, false
  for _, number in ipairs(code) do
    closes = closes or number == TBC or number == TFORPREP
  end
  for i, line in ipairs(places) do
    if not silent[code[i]] and (closes or not leaving[code[i]]) then
      calls[line] = true
    end
  end
  return calls
end

function Dump:debug (one, vararg, inner, code)
  local steps = {}
  for i = 1, self:number() do
    steps[i] = string.unpack("b", self.text, self.at)
    self:skip(1)
  end
  local places = lines_of(one.first, steps, self:absolute())
  one.active, one.again = active_lines(vararg, places)
  one.ends = code and end_lines(one, inner, places, code)
  one.calls = code and calling_lines(places, code)
  for _ = 1, self:number() do
    self:note(self:text_of())
    self:number()
    self:number()
  end
  for _ = 1, self:number() do
    self:note(self:text_of())
  end
end

-- The number of each instruction: its lowest seven bits.
function Dump:code (count)
  local code = {}
  for i = 1, count do
    code[i] = string.unpack("I4", self.text, self.at + 4 * (i - 1)) & 0x7f
  end
  return code
end

-- Adds it to the list, and those in it; returns it.
function Dump:func (list)
  if self.version == 0x54 then
    self:text_of()
  end
  local one = {first = self:number(), last = self:number()}
  local around = self.prints
  self.prints = around and {one.last - one.first}
  list[#list + 1] = one
  self:note(self:octet())
  local vararg = self:octet() & (self.version == 0x54 and 0xff or 3) ~= 0
  self:octet()
  local instructions = self:number()
  self:align(4)
  local code = self.ends and self:code(instructions)
  self:note(self:skip(4 * instructions))
  self:constants()
  self:note(self:skip(3 * self:number()))
  local inner = {}
  for i = 1, self:number() do
    inner[i] = self:func(list)
  end
  if self.version > 0x54 then
    self:text_of()
  end
  self:debug(one, vararg, inner, code)
  one.print = around and table.concat(self.prints, "\0")
  self.prints = around
  self:note(one.print)
  return one
end

-- After the header: signature, version, format, a line of bytes that must come
-- out as they are, then sizes of types and numbers that must; and how many
-- upvalues the main function has.
local header_sizes = {[0x54] = 4 + 1 + 1 + 6 + 3 + 8 + 8 + 1,
                      [0x55] = 4 + 1 + 1 + 6 + 5 + 5 + 9 + 9 + 1}

local function read (func, ends, prints)
  local dump = string.dump(func)
  local version = string.byte(dump, 5)
  if not header_sizes[version] then
    return nil
  end
  local self = setmetatable({text = dump, version = version, ends = ends,
                             prints = prints and {}, saved = {},
                             at = header_sizes[version] + 1}, Dump)
  local list = {}
  local ok = pcall(self.func, self, list)
  return ok and self.at == #dump + 1 and list or nil
end

function lines.of (text, name, ends)
  local chunk = load(text, name, "t", {})
  return chunk and read(chunk, ends)
end

function lines.prints (func)
  return read(func, false, true)
end

function lines.of_function (func)
  return read(func, false)
end

function lines.active (functions)
  local set, list = {}, {}
  for _, one in ipairs(functions) do
    for _, line in ipairs(one.active) do
      if not set[line] then
        set[line] = true
        list[#list + 1] = line
      end
    end
  end
  table.sort(list)
  return list
end

function lines.first (functions, line)
  local found
  for _, one in ipairs(functions) do
    for _, active in ipairs(one.active) do
      if active >= line and (not found or active < found) then
        found = active
      end
    end
  end
  return found
end

-- A first line that begins with '#' is no Lua (luaL_loadfilex).
function lines.compilable (text)
  text = string.gsub(text, "^\xef\xbb\xbf", "")
  return (string.gsub(text, "^#[^\n]*", ""))
end

return lines
