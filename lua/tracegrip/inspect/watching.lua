-- watching.lua - data breakpoints: places of the program that are watched, and
-- the breakpoints that stop it when another value is there.
--
--   watching.find(params)
--                       which place a variable is: that of params.name in an
--                       object or a scope, objectId, which 'of' gives in Lua;
--                       else what the expression 'name' says in a frame,
--                       callFrameId, or in none. {place = an id, description
--                       =}; without an id, why there is none
--   watching.set(session, params)
--                       a breakpoint for a place; its id, and the place's kind
--   watching.changes(hits, frame)
--                       values have changed, or places are gone: the ids of the
--                       breakpoints that stop the program go to the end of
--                       'hits', and what there is to say of them is returned;
--                       nil: none does
--   watching.review()   places without breakpoints are watched no longer
--
-- A place: {id =, kind =, text =, and what that kind has; cell =, by which the
-- C side knows it (csrc/inspect/cells.h); nil: it is not watched}. What it is a
-- place of is held weakly. A local's can be watched from the pause on in which
-- it was asked for: nobody knows of a frame later whether it is the same.
--
-- The breakpoints are in session.breakpoints as all others, with a place.

local core = require "tracegrip.core"
local box = require "tracegrip.inspect.box"
local conditions = require "tracegrip.inspect.conditions"
local fault = require "tracegrip.inspect.fault"
local fields = require "tracegrip.inspect.fields"
local frames = require "tracegrip.inspect.frames"
local literals = require "tracegrip.inspect.literals"
local objects = require "tracegrip.inspect.objects"
local pausing = require "tracegrip.inspect.pausing"
local peek = require "tracegrip.inspect.peek"
local sessions = require "tracegrip.inspect.sessions"
local words = require "tracegrip.inspect.words"
core.own()

local inspector = core.inspector

local watching = {}

local places, by_cell = {}, {}  -- by id; by the number of the cell
local last_place, last_breakpoint = 0, 0

local WEAK = {__mode = "v"}

---------------------------------------------------------------------------
-- Kinds of places
---------------------------------------------------------------------------

-- held: the table, function or coroutine, and the key of a field.
local kinds = {}

kinds.field = {
  gone = "the table is gone, or the key is",
  same = function (a, b) return rawequal(a.held[2], b.held[2]) end,
  watch = function (place)
    return inspector.watch_field(place.held[1], place.held[2])
  end
}

kinds.upvalue = {
  gone = "the function that has the variable is gone",
  same = function (a, b) return a.number == b.number end,
  watch = function (place)
    return inspector.watch_upvalue(place.held[1], place.number)
  end
}

kinds["local"] = {
  gone = "the function that has the variable has returned",
  same = function (a, b)
    return a.level == b.level and a.number == b.number and a.pause == b.pause
  end,
  watch = function (place)
    return place.pause == pausing.number()
           and inspector.watch_local(place.held[1], place.level, place.number)
  end
}

local function is_gone (place)
  return place.held[1] == nil or place.kind == "field" and place.held[2] == nil
end

---------------------------------------------------------------------------
-- Finding
---------------------------------------------------------------------------

-- One that is known already, if it is one.
local function keep (place)
  for id, other in next, places do
    if not other.cell and is_gone(other) then
      places[id] = nil
    elseif other.kind == place.kind
           and rawequal(other.held[1], place.held[1])
           and kinds[place.kind].same(other, place) then
      return other
    end
  end
  last_place = last_place + 1
  place.id = string.format("%d", last_place)
  places[place.id] = place
  return place
end

local function held (...)
  return setmetatable({...}, WEAK)
end

local function field_place (t, key, text)
  if type(t) ~= "table" or box.is(t) or key == nil or key ~= key then
    return nil
  end
  return {kind = "field", held = held(t, key), text = text}
end

-- Of a variable as frames.lua has it.
local function variable_place (found, text)
  if not found then
    return nil
  elseif found.kind == "upvalue" then
    return {kind = "upvalue", held = held(found.func), number = found.number,
            text = text}
  end
  return {kind = "local", held = held(found.co), level = found.level,
          number = found.number, pause = pausing.number(), text = text}
end

-- A child of what a debugger was shown; 'of': what gives that in Lua, nil: not
-- known.
local function child_place (object, name, of)
  if box.is(object) then
    return object.place and variable_place(object.place(name), name)
  elseif type(object) ~= "table" then
    return nil
  end
  local key = fields.key(object, name)
  local field = of and literals.field(key)
  return field_place(object, key, field and of .. field or name)
end

-- What an expression says.
local function path_place (text, frame)
  local ok, container, key = peek.place(text, frame)
  if not ok then
    return nil
  elseif container ~= nil then
    return field_place(container, key, text)
  end
  local globals = frame and frames.globals(frame) or _G
  return frame and variable_place(frames.place(frame, key), key)
         or field_place(globals, key, key)
end

function watching.find (params)
  local name = fault.string(params, "name")
  local id = fault.string(params, "objectId", true)
  local frame = fault.string(params, "callFrameId", true)
  local place
  if id then
    place = child_place(objects.get(id), name, fault.string(params, "of", true))
  else
    place = path_place(name, frame and pausing.frame(frame))
  end
  if not place then
    return {description = string.format(
      "%s is no field of a table and no variable: only those can be watched",
      words.text(name))}
  end
  place = keep(place)
  return {place = place.id, description = words.text(place.text)}
end

---------------------------------------------------------------------------
-- Breakpoints
---------------------------------------------------------------------------

local function never ()
  return false
end

local MOST = 64                 -- as TG_CELLS of cells.h

local function watch (place)
  local kind, count = kinds[place.kind], 0
  for _ in next, by_cell do
    count = count + 1
  end
  if count == MOST then
    fault.raise("at most %d places are watched at once", MOST)
  end
  local cell = not is_gone(place) and kind.watch(place)
  if not cell then
    fault.raise("%s", place.kind == "local"
                and "the program has gone on since: ask for it again"
                or kind.gone)
  end
  place.cell, by_cell[cell] = cell, place
end

local function read_condition (params)
  local text = fault.string(params, "condition", true)
  return text ~= "" and text or nil
end

function watching.set (session, params)
  local place = places[fault.string(params, "place")]
                or fault.raise("There is no such place any more")
  last_breakpoint = last_breakpoint + 1
  local one = {id = string.format("5:%d", last_breakpoint), place = place,
               at = {}, matches = never}
  conditions.attach(one, read_condition(params),
                    fault.string(params, "hitCondition", true),
                    fault.string(params, "logExpressions", true))
  if not place.cell then
    watch(place)
  end
  session.breakpoints[one.id] = one
  conditions.check(one, words.text(place.text))
  return one.id, place.kind
end

-- Calls f(session, breakpoint) for those of the place.
local function each_of (place, f)
  sessions.each("debugger", function (session)
    for _, one in next, session.breakpoints do
      if one.place == place then
        f(session, one)
      end
    end
  end)
end

function watching.review ()
  local used = {}
  sessions.each("debugger", function (session)
    for _, one in next, session.breakpoints do
      used[one.place or false] = true
    end
  end)
  for cell, place in next, by_cell do
    if not used[place] then
      inspector.unwatch(cell)
      by_cell[cell], place.cell = nil, nil
    end
  end
end

---------------------------------------------------------------------------
-- Changes
---------------------------------------------------------------------------

-- Its cell goes by itself.
local function finish (place)
  by_cell[place.cell], place.cell, places[place.id] = nil, nil, nil
  local all = {}
  each_of(place, function (session, one)
    all[one] = session
  end)
  for one, session in next, all do
    session.breakpoints[one.id] = nil
    session:send("Lua.dataBreakpointOver", {
      breakpointId = one.id, message = kinds[place.kind].gone
    })
  end
end

local function told (place, change)
  return {name = words.text(place.text),
          old = change.freed and "(freed)"
                or words.text(literals.value(change.old)),
          new = words.text(literals.value(change.new))}
end

-- A condition is asked in the frame; where C alone runs it cannot be.
local function holds (one, session, frame)
  if not session.active then
    return false
  elseif not frame then
    return one.condition == nil and one.message == nil
  end
  frame.places = frame.places or {}
  return conditions.hold(one, session, frame)
end

function watching.changes (hits, frame)
  local list = {}
  for _, change in ipairs(inspector.changes()) do
    local place, before = by_cell[change.cell], #hits
    if change.over then
      finish(place)
    else
      each_of(place, function (session, one)
        if holds(one, session, frame) then
          hits[#hits + 1] = one.id
        end
      end)
      list[#list + 1] = #hits > before and told(place, change) or nil
    end
  end
  return list[1] and {kind = "data", changes = list}
end

return watching
