-- breakpoints.lua - the breakpoints of all debuggers: to which scripts they
-- belong, at which lines they are, and whether one holds. A breakpoint:
--   id, condition
--   matches (script)      whether it is one of that script
--   line                  the one that was asked for; lines count from 1
--   at                    script id -> the line with code that it stands at
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
--   breakpoints.hits(script, line, holds)
--                         ids of those there for which holds(session,
--                         breakpoint) is true
--   breakpoints.goal(script, line)       a place where the program is to stop
--                         once; nil: none

local core = require "tracegrip.core"
local scripts = require "tracegrip.inspect.scripts"
local sessions = require "tracegrip.inspect.sessions"
core.own()

local breakpoints = {}

local goal                      -- {script =, line =}
local awaited = false           -- a new source is to be told in any case

-- Set of its lines with a breakpoint that counts.
local function lines_of (script)
  local set = {}
  sessions.each("debugger", function (session)
    for _, one in next, session.active and session.breakpoints or {} do
      if one.at[script.id] then
        set[one.at[script.id]] = true
      end
    end
  end)
  if goal and goal.script == script then
    set[goal.line] = true
  end
  return set
end

local function sorted (set)
  local list = {}
  for line in next, set do
    list[#list + 1] = line
  end
  table.sort(list)
  return list
end

local function publish_one (script)
  local lines, functions = lines_of(script), {}
  for line in next, lines do
    local _, inside = scripts.resolve(script, line)
    for _, first in ipairs(inside) do
      functions[first] = true
    end
  end
  core.inspector.breakpoints(script.source, sorted(lines), sorted(functions))
end

-- A source that is yet to be loaded may have some.
local function publish_interest ()
  local any = awaited
  sessions.each("debugger", function (session)
    any = any or session.active and next(session.breakpoints) ~= nil
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
  if one.matches(script) then
    one.at[script.id] = scripts.resolve(script, one.line)
  end
  return one.at[script.id]
end

function breakpoints.add (session, one)
  one.at = {}
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

function breakpoints.hits (script, line, holds)
  local list = {}
  sessions.each("debugger", function (session)
    for id, one in next, session.active and session.breakpoints or {} do
      if one.at[script.id] == line and holds(session, one) then
        list[#list + 1] = id
      end
    end
  end)
  return list, goal ~= nil and goal.script == script and goal.line == line
end

function breakpoints.goal (script, line)
  local old = goal
  goal = script and {script = script, line = line}
  for _, one in next, {old, goal} do
    publish_one(one.script)
  end
end

return breakpoints
