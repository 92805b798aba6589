-- scope.lua - how fast the profiler service answers.
--
--   lua5.4 spec/bench/scope.lua [MILLIONS_OF_PACKETS]
--
-- A recording of about so many packets, ten million by default, is made in a
-- temporary file: a program of many functions on many stacks, with coroutines.
-- Then a session is made of it, once, and asked. Times are of the processor;
-- the first of two of the same question reads what it needs.

local core = require "tracegrip.core"
local scope = require "tracegrip.scope"

local millions = tonumber(arg[1]) or 10

local function leaf (n)
  return n + 1
end

-- Functions that call one another, 64 of them, each on other stacks.
local list = {}
for i = 1, 64 do
  list[i] = load([[
    local list, leaf, i = ...
    return function (depth, n)
      n = leaf(n)
      if depth > 0 then
        n = list[(i * 7 + depth) % 64 + 1](depth - 1, n)
        n = list[(i * 5 + n) % 64 + 1](depth - 1, n)
      end
      return n
    end
  ]], "@many" .. i .. ".lua")(list, leaf, i)
end

local function work (n)
  return list[n % 64 + 1](9, n)       -- some 4100 packets
end

local function record (path)
  local _, trace = assert(core.record({trace = {"name", "time"}},
                                      {path = path, program = "many"}))
  local rounds = millions * 1e6 // 4200
  local pipe = coroutine.wrap(function ()
    for n = 1, rounds // 4 do
      coroutine.yield(work(n))
    end
  end)
  for n = 1, rounds - rounds // 4 do
    work(n)
    if n % 3 == 0 then
      pipe()
    end
  end
  trace:stop()
end

local function resident ()
  local file = io.open("/proc/self/status")
  local text = file and file:read "a" or ""
  return (tonumber(text:match "VmRSS:%s*(%d+)") or 0) / 1024
end

local function timed (what, f, ...)
  local began = os.clock()
  local status, result = f(...)
  local ms = (os.clock() - began) * 1e3
  assert(status == 0, result and result.description)
  local events = result.eventList and ("%8d events"):format(#result.eventList)
  print(("  %-44s %9.2f ms %s"):format(what, ms, events or ""))
  return result
end

local path = os.tmpname()
record(path)
local before = resident()
local profiler = scope.new()
local session = timed("load", profiler.load, profiler, path)
local info = profiler:info(session.sessionID)
print(("  %.1f M events, %d segments, %.1f MiB"):format(
  info.events / 1e6, info.segments, resident() - before))

local middle = session.duration / 2

local function ask (what, fields)
  fields.sessionID, fields.timelineID = session.sessionID, 1
  timed(what, profiler.GetEvents, profiler, fields)
end

local function twice (what, fields)
  ask(what, fields)
  ask("  again", fields)
end

ask("REDUCE_ALL", {mode = 4})
ask("REDUCE_UNIQUE_TYPES", {mode = 2})
ask("REDUCE_UNIQUE_EVENTS", {mode = 3})
ask("REDUCE_UNIQUE_EVENTS, maxDepth 3", {mode = 3, maxDepth = 3})
ask("ALL, maxDepth 1", {maxDepth = 1})
-- An event in the middle that has others inside.
local function some_event ()
  local _, each = profiler:each {
    sessionID = session.sessionID, timelineID = 1, maxDepth = 1,
    interval = {start = middle}
  }
  for candidate in each do
    if candidate.childCount > 1 then
      return candidate.eventID
    end
  end
end

local event = some_event()
twice("REDUCE_UNIQUE_EVENTS, eventID", {mode = 3, eventID = event})
twice("ALL, eventID, maxDepth 2", {eventID = event, maxDepth = 2})
twice("REDUCE_UNIQUE_EVENTS, interval of 1 ms",
      {mode = 3, interval = {start = middle / 2, ["end"] = middle / 2 + 1}})
ask("REDUCE_UNIQUE_EVENTS, half of the time",
    {mode = 3, interval = {start = middle / 2, ["end"] = 3 * middle / 2}})
ask("REDUCE_ALL, half, maxDepth 4",
    {mode = 4, maxDepth = 4,
     interval = {start = middle / 2, ["end"] = 3 * middle / 2}})
ask("ALL, interval of 0.1 ms",
    {interval = {start = middle, ["end"] = middle + 0.1}})
os.remove(path)
