-- scope.lua PROGRAM - traces a program once, makes sessions of it and asks
-- them, again and again, with the first, second, ... allocation refused, until
-- none is. Each answer must be the whole one, or the status that says that
-- there was no memory; the service goes on as if nothing had been. Prints what
-- went wrong. Its own process, as a crash is one of the outcomes.

local core = require "tracegrip.core"
local scope = require "tracegrip.scope"

local really = print
local program = assert(loadfile(arg[1], "t",
                                setmetatable({print = function () end},
                                             {__index = _G})))
local refused, wrong = 0, 0
local OK, MEMORY = scope.status.OK, scope.status.OUT_OF_MEMORY

local profiler = scope.new()
local trace = core.start {trace = {"time", "arguments"}}
program()
trace:stop()

local questions = {
  {mode = 1}, {mode = 2}, {mode = 3}, {mode = 4}, {mode = 1, maxDepth = 2},
  {mode = 3, eventID = 2}, {mode = 3, interval = {start = 0.2}},
}

-- The hits of all events: times are not the same from session to session.
local function hits_of (events)
  local sum = 0
  for _, event in ipairs(events.eventList) do
    sum = sum + event.hits
  end
  return sum
end

local function complain (nth, ...)
  wrong = wrong + 1
  really(("refused %d: %s"):format(nth, table.concat({...}, " ")))
end

-- A session and an answer, with the n-th allocation refused. Whether it came to
-- that.
local function attempt (q, whole, nth)
  core.refuse(nth)
  local status, session = profiler:load(trace, nil, {stride = 20})
  local asked, events
  if status == OK then
    q.sessionID, q.timelineID = session.sessionID, 1
    asked, events = profiler:GetEvents(q)
  end
  local requests = core.refuse(0)
  if status ~= OK and status ~= MEMORY then
    complain(nth, "load", status, session.description)
  elseif status == OK and asked ~= OK and asked ~= MEMORY then
    complain(nth, "events", asked, events.description)
  elseif asked == OK and whole and hits_of(events) ~= whole then
    complain(nth, "another answer", hits_of(events), whole)
  end
  profiler:ReleaseSession()
  return requests >= nth, asked == OK and hits_of(events)
end

-- StopProfiler that has failed may be tried again.
local function stop_again (nth)
  profiler:StartProfiler {startMode = 1, windowID = 1}
  program()
  local id = profiler.running.id
  core.refuse(nth)
  local status = profiler:StopProfiler {sessionID = id}
  local requests = core.refuse(0)
  if status == MEMORY then
    status = profiler:StopProfiler {sessionID = id}
  end
  if status ~= OK then
    complain(nth, "stop", status)
  end
  profiler:ReleaseSession()
  return requests >= nth
end

for _, q in ipairs(questions) do
  local _, whole = attempt(q, nil, 0)
  local nth = 1
  while attempt(q, whole, nth) do
    refused = refused + 1
    nth = nth + 1
  end
end
local nth = 1
while stop_again(nth) do
  refused = refused + 1
  nth = nth + 7
end
really(("%d allocations refused, %d complaints"):format(refused, wrong))
os.exit(wrong == 0 and refused > 0)
