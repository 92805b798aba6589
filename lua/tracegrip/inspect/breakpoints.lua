-- breakpoints.lua - the breakpoints of all debuggers: to which scripts they
-- belong, at which lines they are, and whether one holds. A breakpoint:
--   id
--   condition             of conditions.lua; nil: none
--   matches (script)      whether it is one of that script
--   line                  the one that was asked for; lines count from 1
--   name                  or a name: where functions of that name begin
--   at                    script id -> the line with code that it stands at
--   entries               script id -> where these functions are defined, as
--                         scripts.named has it; of one with a name
--
--   breakpoints.add(session, fields)     puts it into all known scripts
--   breakpoints.remove(session, id)
--   breakpoints.clear(session)
--   breakpoints.meet(script, on_resolved)
--                         a new script: those that belong to it are put there;
--                         on_resolved(session, breakpoint)
--   breakpoints.publish(script)          the hook is told (all of them: nil)
--   breakpoints.await(wanted)            the next new source is to be told,
--                                        breakpoints or not; or no more
--   breakpoints.script(number)           of the source that has this number
--                         in the hook; nil: not known yet
--   breakpoints.hits(number, line, first, holds, frame)
--                         ids of those in the source of that number, at the
--                         line (nil: of no line) and where the function begins
--                         that is defined at line 'first' (nil: it does not),
--                         for which holds(breakpoint, session, frame) is true;
--                         whether the program is to stop there once
--   breakpoints.goal(script, line)       a place where the program is to stop
--                         once; nil: none

local core = require "tracegrip.core"
local neighbours = require "tracegrip.inspect.neighbours"
local scripts = require "tracegrip.inspect.scripts"
local sessions = require "tracegrip.inspect.sessions"
core.own()

local breakpoints = {}

local published = {}            -- number of a source -> {script =, stops =,
                                -- entries =}
local goal                      -- {script =, line =}
local awaited = false           -- a new source is to be told in any case

local function add_stop (stops, line, session, one, numbers)
  stops[line] = stops[line] or {}
  table.insert(stops[line], {session = session, one = one, numbers = numbers})
end

-- Its breakpoints that count, by their lines, and by those where functions are
-- defined that have one where they begin: line -> list of {session =, one =},
-- and the 'numbers' of these functions, if there are others at the line.
local function stops_of (script)
  local stops, entries = {}, {}
  sessions.each("debugger", function (session)
    for _, one in next, session.active and session.breakpoints or {} do
      if not one.name and one.at[script.id] then
        add_stop(stops, one.at[script.id], session, one)
      end
      for _, entry in ipairs(one.name and one.entries[script.id] or {}) do
        add_stop(entries, entry.first, session, one, entry.numbers)
      end
    end
  end)
  if goal and goal.script == script then
    stops[goal.line] = stops[goal.line] or {}
  end
  return stops, entries
end

local function sorted (set)
  local list = {}
  for line in next, set do
    list[#list + 1] = line
  end
  table.sort(list)
  return list
end

local function is_goal (script, line)
  return goal ~= nil and goal.script == script and goal.line == line
end

-- Those by which the hook itself can say that none of these stops counts; nil:
-- of one it cannot.
local function tests_of (list)
  local all = {}
  for i, stop in ipairs(list) do
    all[i] = stop.one.condition and stop.one.condition.test
    if not all[i] then
      return nil
    end
  end
  return all
end

local function publish_one (script)
  local functions, tests = {}, {}
  local stops, entries = stops_of(script)
  for line, list in next, stops do
    tests[line] = not is_goal(script, line) and tests_of(list) or nil
    local _, inside = scripts.resolve(script, line)
    for _, first in ipairs(inside) do
      functions[first] = true
    end
  end
  for first, list in next, entries do
    functions[first], tests[-first] = true, tests_of(list)
  end
  local number = core.inspector.breakpoints(script.source, sorted(stops),
                                            sorted(entries), sorted(functions))
  published[number] = {script = script, stops = stops, entries = entries}
  core.inspector.tests(number, tests)
end

-- A source that is yet to be loaded may have some.
local function publish_interest ()
  local any = awaited
  sessions.each("debugger", function (session)
    any = any or session.instrumented
          or session.active and next(session.breakpoints) ~= nil
  end)
  core.inspector.curious(any)
end

function breakpoints.publish (script)
  publish_interest()
  if script then
    return publish_one(script)
  end
  for _, one in ipairs(scripts.all()) do
    publish_one(one)
  end
end

function breakpoints.await (wanted)
  awaited = wanted
  publish_interest()
end

local function place (script, one)
  if one.name then
    local entries = scripts.named(script, one.name)
    one.at[script.id] = entries[1] and entries[1].line
    one.entries[script.id] = entries
  elseif one.matches(script) then
    one.at[script.id] = scripts.resolve(script, one.line)
  end
  return one.at[script.id]
end

function breakpoints.add (session, one)
  one.at, one.entries = {}, {}
  session.breakpoints[one.id] = one
  publish_interest()
  for _, script in ipairs(scripts.all()) do
    if place(script, one) then
      publish_one(script)
    end
  end
  return one
end

function breakpoints.remove (session, id)
  local one = session.breakpoints[id]
  session.breakpoints[id] = nil
  publish_interest()
  for script in next, one and one.at or {} do
    publish_one(scripts.of(script))
  end
end

function breakpoints.clear (session)
  session.breakpoints = {}
  breakpoints.publish()
end

function breakpoints.meet (script, on_resolved)
  sessions.each("debugger", function (session)
    for _, one in next, session.breakpoints do
      if place(script, one) then
        on_resolved(session, one)
      end
    end
  end)
  publish_one(script)
end

function breakpoints.script (number)
  return published[number] and published[number].script
end

local NONE = {}

-- Those of a list of stops for which that is true, behind 'found'; first: the
-- line of the function that begins, if they are of functions.
local function holding (stops, holds, frame, found, script, first)
  for _, stop in ipairs(stops or NONE) do
    if (not stop.numbers
        or neighbours.is(script, first, stop.numbers, frame))
       and holds(stop.one, stop.session, frame) then
      found = found == NONE and {} or found
      found[#found + 1] = stop.one.id
    end
  end
  return found
end

function breakpoints.hits (number, line, first, holds, frame)
  local known = published[number]
  local list = holding(line and known.stops[line], holds, frame, NONE)
  list = holding(first and known.entries[first], holds, frame, list,
                 known.script, first)
  return list, is_goal(known.script, line)
end

function breakpoints.goal (script, line)
  local old = goal
  goal = script and {script = script, line = line}
  for _, one in next, {old, goal} do
    publish_one(one.script)
  end
end

return breakpoints
