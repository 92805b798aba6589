-- Questions to a stopped trace: what was called, how often, inside what.

local scope = require "tracegrip.scope"
local profiler = scope.new()

local function square (n)
  return n * n
end

local function sum (n)
  local all = 0
  for i = 1, n do
    all = all + square(i)
  end
  return all
end

local function show (_, events)
  for _, event in ipairs(events.eventList) do
    print(event.eventID or "-", event.functionCall.name, event.hits)
  end
end

local _, started = profiler:StartProfiler {startMode = 1, windowID = 1}
sum(2)
sum(3)
local _, session = profiler:StopProfiler(started)
local id = session.sessionID

print("all that was called, added up")
show(profiler:GetEvents {
  sessionID = id, timelineID = 1, mode = scope.modes.REDUCE_UNIQUE_EVENTS
})

print("what main called")
show(profiler:GetEvents {sessionID = id, timelineID = 1, maxDepth = 1})

print("what was called inside event 1")
show(profiler:GetEvents {sessionID = id, timelineID = 1, eventID = 1})

print(profiler:json("GetEvents", "[7,1]"))

--[[ prints
all that was called, added up
-	sum	2
-	square	5
what main called
1	sum	1
4	sum	1
what was called inside event 1
2	square	1
3	square	1
3	["there is no session 7"]
--]]
