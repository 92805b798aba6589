-- timeline.lua - "Allocations on timeline" of the front end's Memory panel:
-- when the objects were made that are alive, told while the program runs.
--
--   timeline.begin(session, before)
--                             from now on; its ids are others than those of
--                             earlier marks, if there are any
--   timeline.tick(session)    time has passed: the door says so (door.lua)
--   timeline.finish(session)  the marks of all of it, for core.snapshot; nil:
--                             there are none
--   timeline.leave(session)   it is gone
--
-- Each tick makes a mark among the program's objects (csrc/heap/births.h) and
-- goes through all of them, which takes a tenth of a second for a million: so
-- ticks that come too soon after that are passed over, and no more than one
-- twentieth of the time is spent. What that costs is processor time.

local core = require "tracegrip.core"
local fault = require "tracegrip.inspect.fault"
local wire = require "tracegrip.wire"
core.own()

local timeline = {}

local SHARE = 20

local inspector = core.inspector

-- Time does not go back.
local function elapsed (of)
  of.passed = math.max(of.passed, inspector.now() - of.begun)
  return of.passed
end

local function mark (session, of)
  local from, worked = elapsed(of), os.clock()
  local changes, last = of.marks:mark(math.floor(from * 1000))
  if not changes then
    fault.raise("%s", last)
  end
  if #changes > 0 then
    session:send("HeapProfiler.heapStatsUpdate",
                 {statsUpdate = wire.array(changes)})
  end
  session:send("HeapProfiler.lastSeenObjectId",
               {lastSeenObjectId = last, timestamp = of.begun + from})
  of.due = from + SHARE * 1000 * (os.clock() - worked)
end

function timeline.begin (session, before)
  if not session.timeline then
    local of = {marks = core.birthmarks(before), begun = inspector.now(),
                passed = 0, due = 0}
    mark(session, of)
    session.timeline = of
  end
end

-- Without memory there is one mark less.
function timeline.tick (session)
  local of = session.timeline
  if of and elapsed(of) >= of.due then
    pcall(mark, session, of)
  end
end

function timeline.finish (session)
  local of = session.timeline
  session.timeline = nil
  if of then
    mark(session, of)
    return of.marks
  end
end

function timeline.leave (session)
  session.timeline = nil
end

return timeline
