-- lines.lua - which lines of a source have code, and in which functions: what a
-- breakpoint needs to know before anything has run.
--
--   lines.of(text, name)   list of {first, last, active = {line, ...}}: the
--                          functions of a chunk, the main one (first 0) first;
--                          nil: it does not compile, or its form is not known
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

function Dump:skip (n)
  self.at = self.at + n
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
    self:skip(size > 0 and size - 1 or 0)
  elseif size == 0 then
    self:number()               -- one that was there before
  else
    self:skip(size)
  end
end

local FLOAT, INTEGER, SHORT, LONG = 0x13, 0x03, 0x04, 0x14

function Dump:constants ()
  for _ = 1, self:number() do
    local kind = self:octet()
    if kind == FLOAT then
      self:skip(8)
    elseif kind == INTEGER and self.version == 0x54 then
      self:skip(8)
    elseif kind == INTEGER then
      self:number()
    elseif kind == SHORT or kind == LONG then
      self:text_of()
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

-- As collectvalidlines in ldebug.c: the instruction that prepares the extra
-- arguments of a vararg function belongs to no line.
local function active_lines (first, vararg, steps, at)
  local line, set, list = first, {}, {}
  for i = 1, #steps do
    line = steps[i] == ABSOLUTE and at[i - 1] or line + steps[i]
    if not (vararg and i == 1) and not set[line] then
      set[line] = true
      list[#list + 1] = line
    end
  end
  table.sort(list)
  return list
end

function Dump:debug (one, vararg)
  local steps = {}
  for i = 1, self:number() do
    steps[i] = string.unpack("b", self.text, self.at)
    self:skip(1)
  end
  one.active = active_lines(one.first, vararg, steps, self:absolute())
  for _ = 1, self:number() do
    self:text_of()
    self:number()
    self:number()
  end
  for _ = 1, self:number() do
    self:text_of()
  end
end

function Dump:func (list)
  if self.version == 0x54 then
    self:text_of()
  end
  local one = {first = self:number(), last = self:number()}
  list[#list + 1] = one
  self:octet()
  local vararg = self:octet() & (self.version == 0x54 and 0xff or 3) ~= 0
  self:octet()
  local instructions = self:number()
  self:align(4)
  self:skip(4 * instructions)
  self:constants()
  self:skip(3 * self:number())
  for _ = 1, self:number() do
    self:func(list)
  end
  if self.version > 0x54 then
    self:text_of()
  end
  self:debug(one, vararg)
end

-- After the header: signature, version, format, a line of bytes that must come
-- out as they are, then sizes of types and numbers that must; and how many
-- upvalues the main function has.
local header_sizes = {[0x54] = 4 + 1 + 1 + 6 + 3 + 8 + 8 + 1,
                      [0x55] = 4 + 1 + 1 + 6 + 5 + 5 + 9 + 9 + 1}

function lines.of (text, name)
  local chunk = load(text, name, "t", {})
  if not chunk then
    return nil
  end
  local dump = string.dump(chunk)
  local version = string.byte(dump, 5)
  if not header_sizes[version] then
    return nil
  end
  local self = setmetatable({text = dump, version = version,
                             at = header_sizes[version] + 1}, Dump)
  local list = {}
  local ok = pcall(self.func, self, list)
  return ok and self.at == #dump + 1 and list or nil
end

return lines
