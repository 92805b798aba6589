-- conditions.lua - whether a breakpoint stops the program that has come to it:
-- what its condition says, or what it logs instead of stopping.
--
--   conditions.attach(one, text)   gives a breakpoint (breakpoints.lua) its
--                                  condition, nil: none; compiled here, once
--   conditions.check(one, where)   tells the console if it does not compile;
--                                  where: what it was set at, in words
--   conditions.hold(one, session, frame)
--                                  whether it stops the program in that frame
--
-- What is wrong with one is told in the console, with its place, and stops
-- nothing: a breakpoint that never stops would be silent for ever. The same
-- again of the same breakpoint is not.

local core = require "tracegrip.core"
local console = require "tracegrip.inspect.console"
local evaluate = require "tracegrip.inspect.evaluate"
local scripts = require "tracegrip.inspect.scripts"
core.own()

local LOGPOINT = "^/%*%* DEVTOOLS_LOGPOINT %*/ console%.log%((.*)%)$"
local TOLD = 20                 -- different failures of one that are told

local conditions = {}

---------------------------------------------------------------------------
-- What is wrong
---------------------------------------------------------------------------

local function describe (problem)
  if type(problem) ~= "string" then
    return string.format("(error object is a %s value)", type(problem))
  end
  return (string.gsub(problem, "^%(evaluated%):1: ", ""))
end

-- 'place' is a frame of a stack trace, or nil.
local function complain (one, where, place, what, problem)
  local condition = one.condition
  local text = string.format("%s at %s %s: %s",
    condition.logs and "The logpoint" or "The condition of the breakpoint",
    where, what, describe(problem))
  if condition.told[text] or condition.count == TOLD then
    return
  end
  condition.told[text], condition.count = true, condition.count + 1
  console.complain(place, text)
end

local function name_of (script)
  local name = string.match(script.source, "^[@=](.*)")
  return name or script.url ~= "" and script.url or "a chunk"
end

function conditions.check (one, where)
  local condition = one.condition
  if not condition or condition.chunk then
    return
  end
  local place
  for id, line in next, one.at do
    local script = scripts.of(id)
    where = string.format("%s:%d", name_of(script), line)
    place = {source = script.source, currentline = line, linedefined = 0,
             name = "", what = "Lua"}
  end
  complain(one, where, place, "does not compile", condition.problem)
end

---------------------------------------------------------------------------
-- Compiling and asking
---------------------------------------------------------------------------

function conditions.attach (one, text)
  if not text then
    return
  end
  local logged = string.match(text, LOGPOINT)
  local chunk, problem = evaluate.compile(logged or text)
  one.condition = {logs = logged ~= nil, chunk = chunk, problem = problem,
                   where = {fixed = not string.find(text, "...", 1, true)},
                   told = {}, count = 0}
end

-- Where the breakpoint is, as a frame of a stack trace: found out once for each
-- function.
local function place_of (one, frame)
  local place = frame.places[one]
  if not place then
    local info = frame.info
    place = {source = info.source, currentline = info.currentline,
             linedefined = info.linedefined, name = info.name,
             what = info.what, short_src = info.short_src}
    frame.places[one] = place
  end
  return place
end

local function fail (one, frame, problem)
  local place = place_of(one, frame)
  local where = string.format("%s:%d", place.short_src, place.currentline)
  complain(one, where, place, "has failed", problem)
  return false
end

local function log (one, frame, ok, ...)
  one.condition.where.frame = nil
  if ok then
    console.log(place_of(one, frame), ...)
    return false
  end
  return fail(one, frame, (...))
end

-- Whoever has the result lets go of the frame.
local function perform (condition, session, frame)
  local where = condition.where
  where.frame, where.client = frame, session.client
  return evaluate.perform(condition.chunk, where)
end

function conditions.hold (one, session, frame)
  local condition = one.condition
  if not condition then
    return true
  elseif not condition.chunk then
    return false
  elseif condition.logs then
    return log(one, frame, perform(condition, session, frame))
  end
  local ok, value = perform(condition, session, frame)
  condition.where.frame = nil
  if not ok then
    return fail(one, frame, value)
  end
  return value
end

return conditions
