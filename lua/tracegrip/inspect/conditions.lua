-- conditions.lua - whether a breakpoint stops the program that has come to it:
-- what its condition says, how often that has held, or what it logs instead of
-- stopping.
--
--   conditions.attach(one, text, hits, logged)
--                                  gives a breakpoint (breakpoints.lua) its
--                                  condition, nil: none; compiled here, once.
--                                  hits: which of the times at which that
--                                  holds count, "5", ">= 5", "% 5"; logged: the
--                                  expressions to be logged then
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
local expression = require "tracegrip.inspect.expression"
local fault = require "tracegrip.inspect.fault"
local scripts = require "tracegrip.inspect.scripts"
local tests = require "tracegrip.inspect.tests"
local words = require "tracegrip.inspect.words"
core.own()

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
local function complain (condition, where, place, what, problem)
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

local function check (one, condition, where)
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
  complain(condition, where, place, "does not compile", condition.problem)
end

function conditions.check (one, where)
  check(one, one.condition, where)
  check(one, one.message, where)
end

---------------------------------------------------------------------------
-- Hits
---------------------------------------------------------------------------

local compared = {
  ["=="] = function (n, wanted) return n == wanted end,
  [">"] = function (n, wanted) return n > wanted end,
  [">="] = function (n, wanted) return n >= wanted end,
  ["<"] = function (n, wanted) return n < wanted end,
  ["<="] = function (n, wanted) return n <= wanted end,
  ["%"] = function (n, wanted) return n % wanted == 0 end
}

local function hits_of (text)
  local how, digits = string.match(text, "^%s*([=<>%%]*)%s*(%d+)%s*$")
  local test = compared[how == "" and "==" or how == "=" and "==" or how or ""]
  local wanted = math.tointeger(tonumber(digits))
  if not test or not wanted or how == "%" and wanted == 0 then
    fault.raise("No hit count: '%s' (a number, or one of = > >= < <= %% and a "
                .. "number)", words.text(text))
  end
  return {test = test, wanted = wanted, count = 0}
end

local function counts (hits)
  hits.count = hits.count + 1
  return hits.test(hits.count, hits.wanted)
end

---------------------------------------------------------------------------
-- Compiling and asking
---------------------------------------------------------------------------

local function compiled (text, logs)
  local chunk, problem = evaluate.compile(text)
  return {logs = logs, chunk = chunk, problem = problem,
          where = {fixed = not string.find(text, "...", 1, true)},
          told = {}, count = 0}
end

function conditions.attach (one, text, hits, logged)
  local only = text and expression.logged(text)
  one.hits = hits and hits_of(hits)
  one.message = (logged or only) and compiled(logged or only, true)
  one.condition = text and not only and compiled(text, false)
  if one.condition and one.condition.chunk then
    one.condition.test = tests.of(text)
  end
end

-- Where the breakpoint is, as a frame of a stack trace: found out once for each
-- function.
local function place_of (condition, frame)
  local place = frame.places[condition]
  if not place then
    local info = frame.info
    place = {source = info.source, currentline = info.currentline,
             linedefined = info.linedefined, name = info.name,
             what = info.what, short_src = info.short_src}
    frame.places[condition] = place
  end
  return place
end

local function fail (condition, frame, problem)
  local place = place_of(condition, frame)
  local where = string.format("%s:%d", place.short_src, place.currentline)
  complain(condition, where, place, "has failed", problem)
  return false
end

local function log (condition, frame, ok, ...)
  condition.where.frame = nil
  if ok then
    console.log(place_of(condition, frame), ...)
    return false
  end
  return fail(condition, frame, (...))
end

-- Whoever has the result lets go of the frame.
local function perform (condition, session, frame)
  local where = condition.where
  where.frame, where.client = frame, session.client
  return evaluate.perform(condition.chunk, where)
end

local function is_true (condition, session, frame)
  if not condition.chunk then
    return false
  end
  local ok, value = perform(condition, session, frame)
  condition.where.frame = nil
  if not ok then
    return fail(condition, frame, value)
  end
  return value
end

function conditions.hold (one, session, frame)
  if one.condition and not is_true(one.condition, session, frame)
     or one.hits and not counts(one.hits) then
    return false
  end
  local message = one.message
  if message and message.chunk then
    return log(message, frame, perform(message, session, frame))
  end
  return not message
end

return conditions
