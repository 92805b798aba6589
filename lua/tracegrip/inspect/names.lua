-- names.lua - what a name means where a frame stands, as the source has it.
--
--   names.find(frame, name)   {get =, set =} of a variable; {missing = why}, if
--                             it is one of the source that cannot be had here;
--                             nil: it is a global
--   names.special(frame, name)
--                             what the front end itself asks for, by names that
--                             are JavaScript's; nil: it is none of those
--
-- The variables of the function and those that it captures are Lua's to tell
-- (frames.lua). A local variable further out that the function does not capture
-- is not in it; where the frame of the function that declares it is on the
-- stack, it is there. That has to be the activation that has made the function,
-- so it is proved: they share a captured variable, its local variable has the
-- function, or it is at the very line where it makes it. A <const> that the
-- compiler knows is nowhere but in the source.

local core = require "tracegrip.core"
local frames = require "tracegrip.inspect.frames"
local heap = require "tracegrip.inspect.heap"
local lines = require "tracegrip.inspect.lines"
local scoping = require "tracegrip.inspect.scoping"
local scripts = require "tracegrip.inspect.scripts"
core.own()

local getinfo, getlocal, setlocal = debug.getinfo, debug.getlocal,
                                    debug.setlocal
local getupvalue, match = debug.getupvalue, string.match

local LEVELS = 1000             -- of a stack that are looked at

local names = {}

---------------------------------------------------------------------------
-- The source
---------------------------------------------------------------------------

local function key_of (first, last)
  return first .. ":" .. last
end

-- The functions of a script by their lines: each a list.
local function functions_of (script)
  if script.scoping == nil then
    local by_lines = {}
    local text = lines.compilable(script.text)
    for _, one in ipairs(scoping.of(text) or {}) do
      local key = key_of(one.first, one.last)
      by_lines[key] = by_lines[key] or {}
      by_lines[key][#by_lines[key] + 1] = one
    end
    script.scoping = by_lines
  end
  return script.scoping
end

-- Function -> what the source has of it; false: unknown, also where two begin
-- and end at the same lines.
local known = setmetatable({}, {__mode = "k"})

local function look_up (func)
  local info = getinfo(func, "S")
  if info.what == "C" or core.inspector.own(func) then
    return false
  end
  local all = functions_of(scripts.meet(info.source))
  local list = all[info.what == "main" and key_of(0, 0)
                   or key_of(info.linedefined, info.lastlinedefined)]
  return list and #list == 1 and list[1] or false
end

local function declared (func)
  if known[func] == nil then
    known[func] = look_up(func)
  end
  return known[func]
end

local function seen (variable, name)
  while variable and variable.name ~= name do
    variable = variable.prev
  end
  return variable
end

---------------------------------------------------------------------------
-- Variables on a stack
---------------------------------------------------------------------------

-- Which of the variables of that name a function has it is, outermost first.
local function rank_of (variable)
  local rank, one = 0, variable
  while one and one.func == variable.func do
    rank = rank + (one.name == variable.name and not one.constant and 1 or 0)
    one = one.prev
  end
  return rank
end

-- The number of a variable in a frame of its function; nil: it is not there
-- now.
local function slot_of (at, variable)
  local line = at.info.currentline
  if line < variable.line or line > variable.stop then
    return nil
  end
  local rank, i = rank_of(variable), 1
  local name = getlocal(at.co, at.level, i)
  while name do
    rank = rank - (name == variable.name and 1 or 0)
    if rank == 0 then
      return i
    end
    i = i + 1
    name = getlocal(at.co, at.level, i)
  end
end

local function value_at (at, slot)
  return select(2, getlocal(at.co, at.level, slot))
end

-- Whether an upvalue is the variable in a slot: one is changed, for a moment in
-- which nothing runs, to see it in the other.
local function is_shared (at, slot, func, upvalue)
  local mark, value = {}, value_at(at, slot)
  setlocal(at.co, at.level, slot, mark)
  local _, there = getupvalue(func, upvalue)
  setlocal(at.co, at.level, slot, value)
  return rawequal(there, mark)
end

---------------------------------------------------------------------------
-- Activations
---------------------------------------------------------------------------

-- By a variable that the function has captured; nil: it has none of that frame.
local function shares (at, func, one)
  local i, name = 1, getupvalue(func, 1)
  while name do
    local variable = seen(one.outer, name)
    local slot = variable and variable.func == one.parent
                 and not variable.constant and slot_of(at, variable)
    if slot then
      return is_shared(at, slot, func, i)
    end
    i = i + 1
    name = getupvalue(func, i)
  end
end

-- Whether a frame of the function around is the one that has made 'func'; nil:
-- it cannot be told.
local function has_made (at, func, one)
  local shared = shares(at, func, one)
  if shared ~= nil then
    return shared
  end
  local variable = one.name and seen(one.outer, one.name)
  local slot = variable and slot_of(at, variable)
  if slot then
    return rawequal(value_at(at, slot), func)
  end
  local line = at.info.currentline
  return line >= one.first and line <= one.last or nil
end

-- The frames of that function that are further out, also of coroutines that
-- have resumed this one.
local function outer_frames (frame, one)
  local list, level = {}, frame.level + 1
  for _, co in ipairs(core.inspector.chain(frame.co)) do
    local info = getinfo(co, level, "lf")
    while info and level < LEVELS do
      if declared(info.func) == one then
        list[#list + 1] = {co = co, level = level, func = info.func,
                           info = info, live = true}
      end
      level = level + 1
      info = getinfo(co, level, "lf")
    end
    level = 0
  end
  return list
end

-- A chunk runs once as a rule: the only frame of it will be the one, unless the
-- variable is anew in each round of a loop.
local function maker_of (frame, one, variable)
  local list = outer_frames(frame, one.parent)
  for _, at in ipairs(list) do
    local made = has_made(at, frame.func, one)
    if made then
      return at
    elseif made == nil and #list == 1 and one.parent.first == 0
           and not variable.looped then
      return at
    end
  end
end

---------------------------------------------------------------------------
-- Finding
---------------------------------------------------------------------------

local function constant (variable)
  return {
    get = function () return variable.value end,
    set = function ()
      error(string.format("attempt to assign to const variable '%s'",
                          variable.name), 3)
    end
  }
end

local function missing (variable)
  return {missing = string.format("%s is a local of line %d that this function "
                                  .. "does not have", variable.name,
                                  variable.line)}
end

local function found_at (at, variable)
  local slot = slot_of(at, variable)
  return slot and {
    get = function () return value_at(at, slot) end,
    set = function (value) setlocal(at.co, at.level, slot, value) end
  }
end

-- From function to function outwards, up to the one that has the variable, or
-- has captured it.
local function outside (frame, one, variable)
  local at = frame
  while at and one ~= variable.func do
    at, one = maker_of(at, one, variable), one.parent
    local found = at and one ~= variable.func
                  and frames.upvalue(at.func, variable.name)
    if found then
      return found
    end
  end
  return at and found_at(at, variable) or missing(variable)
end

-- A constant of the function itself, at the line where it stands.
local function own_constant (one, line, name)
  for i = #one.constants, 1, -1 do
    local variable = one.constants[i]
    if variable.name == name and variable.line <= line
       and line <= variable.stop then
      return variable
    end
  end
end

function names.special (frame, name)
  if name == "globalThis" then
    return frame and frames.globals(frame) or _G
  elseif name == "this" and frame then
    return frames.this(frame)
  end
  local n = type(name) == "string" and match(name, "^__inspected_(%d)$")
  if n then
    return heap.inspected(tonumber(n))
  end
  return name == "this" and _G or nil
end

function names.find (frame, name)
  local found = frames.find(frame, name)
  local one = not found and declared(frame.func)
  if not one then
    return found or nil
  end
  local line = frame.live and (frame.line or frame.info.currentline)
  local variable = line and own_constant(one, line, name)
                   or seen(one.outer, name)
  if not variable then
    return nil
  elseif variable.constant then
    return constant(variable)
  end
  return frame.live and outside(frame, one, variable) or missing(variable)
end

return names
