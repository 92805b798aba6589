-- frames.lua - the frames of a moment of a recording: their lines, what is to
-- be seen in each, the names that code has there.
--
--   frames.line(walk, thread, i, frame)
--                        the line at which the i-th frame of a coroutine is,
--                        the innermost is 1; frame: as replay:frames has it
--   frames.scopes(walk, thread, i)
--                        list of {kind, name, items, pool}: "arguments",
--                        "locals", "ended" (what the call has given that has
--                        just ended, of the innermost frame), "ends" (what the
--                        frame gives that ends next), "moment"; items:
--                        list of {name, grip, expression}, of which the last is
--                        what has that value in code, or nil
--   frames.moment(walk) the last of these alone
--   frames.names(walk, thread, i, tells)
--                        for code.lua; tells: also of what has ended, or ends
--   frames.error(walk)   the error that is about to unwind frames: what was
--                        thrown, as grip and pool, and the packet; nil
--
-- A frame is at the line of the call that it makes next, if that is known; else
-- of the call that it has made last; else where its function begins.

local code = require "tracegrip.replay.code"
local core = require "tracegrip.core"
local units = require "tracegrip.cli.units"
local values = require "tracegrip.replay.values"
core.own()

local frames = {}

---------------------------------------------------------------------------
-- Lines
---------------------------------------------------------------------------

-- The line of the call that the frame is about to make, if it is innermost. One
-- that has just been entered is still where it is defined, unless that call was
-- what one wanted to stop before.
local function next_line (walk, thread, frame)
  local last, coming = walk.replay:last(), walk.replay:coming()
  local entered = last and last.type == "enteredFrame" and not last.resumed
                  and last.entry == frame.entry and not walk.at_line
  local site = coming and coming.type == "enteredFrame"
               and not coming.resumed and coming.thread == thread
               and coming.callsite
  return not entered and site and site.url == frame.url and site.line or nil
end

function frames.line (walk, thread, i, frame)
  return i == 1 and next_line(walk, thread, frame)
         or frame.reached or frame.line or 1
end

---------------------------------------------------------------------------
-- Errors
---------------------------------------------------------------------------

-- Only before the first of the frames that it unwinds.
function frames.error (walk)
  local coming = walk.replay:coming()
  if not coming or coming.why ~= "exception" or not walk:moment().stands then
    return nil
  end
  local thrown = coming.throw
  if not thrown then
    return {type = "undefined"}, {}, coming
  end
  return thrown.value, thrown.objectPool, coming
end

---------------------------------------------------------------------------
-- Scopes
---------------------------------------------------------------------------

-- The items of a list, and that there were more, if there were.
local function told (items, list)
  if list.truncated then
    items[#items + 1] = {name = "[[truncated]]", grip = true}
  end
  return items
end

-- Values in a list as {name, grip}: by the names of parameters, if there are
-- any.
local function items_of (list, names)
  local items = {}
  local fixed = names and names[#names] == "..." and #names - 1
                or names and #names or 0
  for i, grip in ipairs(list.values or {list.value}) do
    local name = names and names[i] ~= "..." and names[i]
                 or names and ("(vararg %d)"):format(i - fixed)
                 or tostring(i)
    items[i] = {name = name, grip = grip,
                expression = names and i <= fixed and names[i] or nil}
  end
  return told(items, list)
end

-- The same of values that have their names; the later one of two that have the
-- same is what code means by it.
local function named_items (list)
  local items, latest = {}, {}
  for i, one in ipairs(list.values) do
    latest[one.name] = i
  end
  for i, one in ipairs(list.values) do
    local name = type(one.name) == "string" and one.name
                 or values.text(one.name, list.objectPool)
    items[i] = {name = name, grip = one.value,
                expression = latest[one.name] == i and name or nil}
  end
  return told(items, list)
end

local function add (list, kind, name, items, pool)
  list[#list + 1] = {kind = kind, name = name, items = items, pool = pool}
end

local function add_arguments (list, call)
  local given = call and call.arguments
  if given then
    add(list, "arguments", "Arguments", items_of(given, call.parameterNames),
        given.objectPool)
  end
end

-- Those of the innermost frame where it makes the call that comes next, or
-- returns; of another one where it has made the call that it is in.
local function locals_of (walk, thread, i)
  if i > 1 then
    return walk.replay:locals(thread, i)
  end
  local coming = walk.replay:coming()
  if coming and coming.thread == thread and walk:moment().stands then
    return coming.locals
  end
end

local function add_locals (list, given)
  if given then
    add(list, "locals", "Locals", named_items(given), given.objectPool)
  end
end

local endings = {
  {"return", "Results of %s", "Returns"}, {"throw", "Error of %s", "Error"},
  {"yield", "Yielded by %s", "Yields"}
}

-- What a packet gave that ended a frame; 'which': 2, of a call that has ended,
-- 3, of the frame itself, which ends next.
local function add_ending (list, packet, which)
  for _, ending in ipairs(endings) do
    local given = packet[ending[1]]
    if given then
      add(list, which == 2 and "ended" or "ends",
          ending[which]:format(packet.name or "?"), items_of(given),
          given.objectPool)
    end
  end
end

-- What the innermost frame has had from the call that it made, and what it is
-- about to give.
local function add_endings (walk, list, thread)
  local last, coming = walk.replay:last(), walk.replay:coming()
  if last and last.type == "exitedFrame" and last.thread == thread then
    add_ending(list, last, 2)
  end
  if coming and coming.type == "exitedFrame" and coming.thread == thread
     and walk:moment().stands then
    add_ending(list, coming, 3)
  end
end

function frames.moment (walk)
  local moment = walk:moment()
  local of = moment.total and " of " .. moment.total or ""
  local time = moment.time_ms and units.span(moment.time_ms) or "unknown"
  return {kind = "moment", name = "Moment", pool = {}, items = {
    {name = "number", grip = moment.number .. of}, {name = "time", grip = time}
  }}
end

function frames.scopes (walk, thread, i)
  local list = {}
  add_arguments(list, walk.replay:arguments(thread, i))
  add_locals(list, locals_of(walk, thread, i))
  if i == 1 then
    add_endings(walk, list, thread)
    list[#list + 1] = frames.moment(walk)
  end
  return list
end

---------------------------------------------------------------------------
-- Code
---------------------------------------------------------------------------

function frames.names (walk, thread, i, tells)
  local call = walk.replay:arguments(thread, i)
  local variables = locals_of(walk, thread, i)
  if not tells then
    return code.names(call, nil, variables)
  end
  local last, coming = walk.replay:last(), walk.replay:coming()
  local ends = coming and coming.type == "exitedFrame"
               and coming.thread == thread and coming
  local ended = last and last.type == "exitedFrame" and last.thread == thread
                and last
  return code.names(call, ends or ended or nil, variables)
end

return frames
