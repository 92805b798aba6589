-- timeline.lua - "Allocations on timeline" of the front end's Memory panel:
-- when the objects were made that are alive, told while the program runs.
--
--   timeline.begin(session, before, makers)
--                             from now on; its ids are others than those of
--                             earlier marks, if there are any; and who makes
--                             the objects is told, if that is wanted
--   timeline.tick(session)    time has passed: the door says so (door.lua)
--   timeline.finish(session)  the marks of all of it, for core.snapshot, nil:
--                             there are none; and the trace that tells who has
--                             made the objects, if that is wanted, which must
--                             run until then, and is then the caller's
--   timeline.leave(session)   it is gone
--
-- Each tick makes a mark among the program's objects (csrc/heap/births.h) and
-- goes through all of them, which takes a tenth of a second for a million: so
-- ticks that come too soon after that are passed over, and no more than one
-- twentieth of the time is spent. What that costs is processor time.

local core = require "tracegrip.core"
local fault = require "tracegrip.inspect.fault"
local sampling = require "tracegrip.inspect.sampling"
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

-- What is made from the first mark on the trace has, so it begins before.
function timeline.begin (session, before, makers)
  if not session.timeline then
    local of = {marks = core.birthmarks(before), begun = inspector.now(),
                passed = 0, due = 0, trace = makers and sampling.watch()}
    session.timeline = of
    local ok, problem = pcall(mark, session, of)
    if not ok then
      timeline.leave(session)
      error(problem, 0)
    end
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
  if of then
    mark(session, of)
    session.timeline = nil
    return of.marks, of.trace
  end
end

function timeline.leave (session)
  local of = session.timeline
  session.timeline = nil
  if of and of.trace then
    core.forget(of.trace)
  end
end

return timeline
