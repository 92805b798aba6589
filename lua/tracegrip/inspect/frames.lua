-- frames.lua - the frames of a program that stands still, and their variables.
--
--   frames.of(co, first)      list of frames of a coroutine, innermost first:
--                             {co, level, func, info}; tracegrip's own are left
--                             out, and levels below 'first' (0 without)
--   frames.depth(co)          how many it has, with those
--   frames.at(co, level)      one of them; nil: it is tracegrip's
--   frames.enter(co, func, line)
--                             the innermost frame, which is of that function
--                             and at that line: the same table each time, until
--   frames.leave(frame)       when the program goes on
--   frames.innermost(co, level)
--                             the first of a Lua function, from that level on;
--                             nil: there is none
--   frames.find(frame, name)  where the variable of that name is that the frame
--                             sees: {get =, set =}; nil: it has none
--   frames.upvalue(func, name)
--                             the same of what a function has captured
--   frames.place(frame, name) which variable that is: {kind = "local", co =,
--                             level =, number =}, or of what the function has
--                             captured {kind = "upvalue", func =, number =};
--                             nil: it has none
--   frames.globals(frame)     the table of its globals, its _ENV
--   frames.this(frame)        of a method the object; nil
--   frames.varargs(frame)     its extra arguments, packed
--   frames.locals(frame), frames.upvalues(frame), frames.globals_box(frame)
--                             boxes for its scopes; the second is nil if there
--                             are none
--
-- A frame is what debug.getlocal takes, so it is good only while the program
-- stands still: 'live' of a frame is false from then on, and it has no
-- variables.

local box = require "tracegrip.inspect.box"
local core = require "tracegrip.core"
core.own()

local getinfo = debug.getinfo
local getlocal, setlocal = debug.getlocal, debug.setlocal
local getupvalue, setupvalue = debug.getupvalue, debug.setupvalue

-- Frames that are shown of a deep stack. Lua counts levels from the innermost
-- one each time (lua_getstack), so the outermost ones are few.
local INNERMOST, OUTERMOST = 180, 20

local frames = {}

---------------------------------------------------------------------------
-- Frames
---------------------------------------------------------------------------

function frames.depth (co)
  local low, high = 0, 64
  while getinfo(co, high, "l") do
    low, high = high, high * 2
  end
  while low < high do           -- the first level that is not there
    local middle = (low + high) // 2
    if getinfo(co, middle, "l") then
      low = middle + 1
    else
      high = middle
    end
  end
  return low
end

-- nil: it is one of ours. The second result: there is such a level.
local function frame_at (co, level)
  local info = getinfo(co, level, "nSltuf")
  if not info or core.inspector.own(info.func) then
    return nil, info ~= nil
  end
  return {co = co, level = level, func = info.func, info = info, live = true},
         true
end

function frames.at (co, level)
  return (frame_at(co, level))
end

function frames.of (co, first)
  local list, depth = {}, frames.depth(co)
  for level = first or 0, depth - 1 do
    if level < INNERMOST or level >= depth - OUTERMOST then
      list[#list + 1] = (frame_at(co, level))
    end
  end
  return list
end

local entered = setmetatable({}, {__mode = "k"})    -- function -> frame

-- What it is, is asked for if somebody wants to know.
local Entered = {}

function Entered.__index (frame, key)
  if key == "info" and frame.live then
    frame.info = getinfo(frame.co, frame.level, "nSltuf")
    return frame.info
  end
end

function frames.enter (co, func, line)
  local frame = entered[func]
  if not frame then
    frame = setmetatable({level = 0, func = func, places = {}}, Entered)
    entered[func] = frame
  end
  frame.co, frame.line, frame.live = co, line, true
  return frame
end

function frames.leave (frame)
  frame.co, frame.live, frame.info = nil, false, nil
end

-- An error is raised by a C function more often than not: error itself.
function frames.innermost (co, level)
  local frame, there = frame_at(co, level)
  while there and (not frame or frame.info.what == "C") do
    level = level + 1
    frame, there = frame_at(co, level)
  end
  return frame
end

---------------------------------------------------------------------------
-- Variables
---------------------------------------------------------------------------

-- Calls f(index, name, value) for each that has a name of its own: Lua's own
-- are in parentheses.
local function each_local (frame, f)
  local i = 1
  local name, value = getlocal(frame.co, frame.level, i)
  while name do
    if string.byte(name) ~= 40 then             -- "("
      f(i, name, value)
    end
    i = i + 1
    name, value = getlocal(frame.co, frame.level, i)
  end
end

-- The last of that name is the one that is seen.
local function find_local (frame, wanted)
  local at = core.inspector.variable(frame.co, frame.level, wanted)
  return at and {
    get = function () return select(2, getlocal(frame.co, frame.level, at)) end,
    set = function (value) setlocal(frame.co, frame.level, at, value) end
  }
end

function frames.upvalue (func, wanted)
  local i = 1
  local name = getupvalue(func, i)
  while name do
    if name == wanted then
      return {
        get = function () return select(2, getupvalue(func, i)) end,
        set = function (value) setupvalue(func, i, value) end
      }
    end
    i = i + 1
    name = getupvalue(func, i)
  end
end

function frames.find (frame, name)
  return frame.live and find_local(frame, name)
         or frames.upvalue(frame.func, name)
end

local function upvalue_place (func, wanted)
  local i = 1
  local name = getupvalue(func, i)
  while name and name ~= wanted do
    i = i + 1
    name = getupvalue(func, i)
  end
  return name and {kind = "upvalue", func = func, number = i}
end

local function local_place (frame, name)
  local at = frame.live
             and core.inspector.variable(frame.co, frame.level, name)
  return at and {kind = "local", co = frame.co, level = frame.level,
                 number = at}
end

function frames.place (frame, name)
  return local_place(frame, name) or upvalue_place(frame.func, name)
end

function frames.globals (frame)
  local env = frames.find(frame, "_ENV")
  return env and env.get() or _G
end

-- What a method calls "self" is what "this" is elsewhere.
function frames.this (frame)
  if not frame.live then
    return nil
  end
  local name, value = getlocal(frame.co, frame.level, 1)
  return name == "self" and value or nil
end

function frames.varargs (frame)
  local list, n = {n = 0}, 0
  if not frame.live then
    return list
  end
  local name, value = getlocal(frame.co, frame.level, -1)
  while name do
    n = n + 1
    list[n] = value
    name, value = getlocal(frame.co, frame.level, -n - 1)
  end
  list.n = n
  return list
end

---------------------------------------------------------------------------
-- Scopes
---------------------------------------------------------------------------

-- A name that is hidden by a later one says so.
local function list_locals (frame)
  local list, latest = {}, {}
  if not frame.live then
    return list
  end
  each_local(frame, function (_, name, value)
    local hidden = latest[name]
    if hidden then
      hidden.name = string.format("%s (hidden, #%d)", name, hidden.number)
    end
    list[#list + 1] = {name = name, value = value, number = #list + 1}
    latest[name] = list[#list]
  end)
  local extra = frames.varargs(frame)
  for i = 1, extra.n do
    list[#list + 1] = {name = string.format("(vararg %d)", i), value = extra[i]}
  end
  return list
end

local function set_vararg (frame, name, value)
  local digits = string.match(name, "^%(vararg (%d+)%)$")
  local number = math.tointeger(tonumber(digits))
  return number and setlocal(frame.co, frame.level, -number, value) ~= nil
end

function frames.locals (frame)
  return box.new {
    description = "Local", class = "Local",
    list = function () return list_locals(frame) end,
    place = function (name) return local_place(frame, name) end,
    set = function (name, value)
      local found = frame.live and find_local(frame, name)
      if found then
        found.set(value)
      end
      return found ~= nil and found ~= false or set_vararg(frame, name, value)
    end
  }
end

local function list_upvalues (func)
  local list, i = {}, 1
  local name, value = getupvalue(func, i)
  while name do
    if name ~= "_ENV" then
      list[#list + 1] = {name = name, value = value}
    end
    i = i + 1
    name, value = getupvalue(func, i)
  end
  return list
end

function frames.upvalues (frame)
  if frame.info.what == "C" or #list_upvalues(frame.func) == 0 then
    return nil
  end
  return box.new {
    description = "Upvalues", class = "Upvalues",
    list = function () return list_upvalues(frame.func) end,
    place = function (name) return upvalue_place(frame.func, name) end,
    set = function (name, value)
      local found = frames.upvalue(frame.func, name)
      if found then
        found.set(value)
      end
      return found ~= nil
    end
  }
end

return frames
