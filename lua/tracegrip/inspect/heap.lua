-- heap.lua - the domain HeapProfiler: snapshots for the front end's Memory
-- panel, and objects by the numbers that they have there.
--
--   heap.methods              name -> function (session, params): a result
--   heap.tick(session)        time has passed
--   heap.leave(session)       it is gone
--   heap.heed(session, name)  it calls that method now
--   heap.inspected(n)         the value of "$0" to "$4": objects that the panel
--                             has said are looked at, the latest first
--   heap.instances(prototype) list of objects
--
-- A snapshot is written by a copy of the process (csrc/peek/ownheap.h), and
-- told from its file, piece by piece. For one the front end switches debugging
-- off, and on again when it has it. A program that stands still must not go on
-- meanwhile: so the pause stays of a session whose panel has been opened, until
-- that asks for something that is no snapshot, such as a profile, for which
-- debugging is switched off too.

local core = require "tracegrip.core"
local fault = require "tracegrip.inspect.fault"
local objects = require "tracegrip.inspect.objects"
local sampling = require "tracegrip.inspect.sampling"
local scripts = require "tracegrip.inspect.scripts"
local timeline = require "tracegrip.inspect.timeline"
local values = require "tracegrip.inspect.values"
core.own()

local PIECE = 102400            -- bytes of a chunk, as V8 has them
local KEPT = 5                  -- objects that are looked at

local methods = {}
local heap = {methods = methods}
for name, method in next, sampling.methods do
  methods[name] = method
end

local looked_at = {}            -- {value} each, the latest first
local numbered                  -- marks by which the objects of the latest
                                -- timeline have their numbers

function methods.enable (session)
  session.heap = true
  return {}
end

function methods.disable (session)
  heap.leave(session)
  session.heap, session.suspended = false, false
  return {}
end

function heap.leave (session)
  sampling.leave(session)
  timeline.leave(session)
end

heap.tick = timeline.tick

---------------------------------------------------------------------------
-- Snapshots
---------------------------------------------------------------------------

-- A character is in one piece.
local function next_piece (text, from)
  local to = math.min(from + PIECE - 1, #text)
  while to < #text and to > from
        and string.byte(text, to + 1) & 0xC0 == 0x80 do
    to = to - 1
  end
  return string.sub(text, from, to), to + 1
end

local function send_file (session, path)
  local text = core.contents(path)
               or fault.raise("The snapshot cannot be read: %s", path)
  local from = 1
  while from <= #text do
    local piece, after = next_piece(text, from)
    session:send("HeapProfiler.addHeapSnapshotChunk", {chunk = piece})
    from = after
  end
end

local function progress (session, done, total, finished)
  session:send("HeapProfiler.reportHeapSnapshotProgress", {
    done = done, total = total, finished = finished})
end

-- The numbers by which the front end finds the source of who made an object.
local function numbers_of_files ()
  local numbers = {}
  for _, script in next, scripts.all() do
    local name = string.match(script.source, "^@(.*)")
    if name then
      numbers[name] = math.tointeger(tonumber(script.id))
    end
  end
  return numbers
end

-- The progress is told before the file, as V8 does.
local function take (session, params, marks)
  local path = os.tmpname()
  local taken, result, message = pcall(core.snapshot, path, true, marks,
                                       numbers_of_files())
  if not taken or not result then
    os.remove(path)
    message = taken and message or result
    session:note("error", "There is no snapshot: " .. tostring(message))
    fault.raise("%s", tostring(message))
  end
  if params.reportProgress == true then
    progress(session, 0, result.objects)
    progress(session, result.objects, result.objects, true)
  end
  local sent, problem = pcall(send_file, session, path)
  os.remove(path)
  if not sent then
    error(problem, 0)
  end
  return {}
end

function methods.takeHeapSnapshot (session, params)
  return take(session, params)
end

function methods.startTrackingHeapObjects (session, params)
  timeline.begin(session, numbered, params.trackAllocations == true)
  return {}
end

-- A trace that is full ends by itself, and tells of no object any more.
local function tell_of_end (session, trace)
  if trace.ended then
    session:note("warning", string.format(
      "Allocation stacks are not known: the trace that follows them has ended "
      .. "before the timeline was stopped (%s).", trace.ended))
  end
end

function methods.stopTrackingHeapObjects (session, params)
  local marks, trace = timeline.finish(session)
  if trace then
    tell_of_end(session, trace)
  end
  local taken, result = pcall(take, session, params, marks)
  if trace then
    core.forget(trace)
  end
  if not taken then
    error(result, 0)
  end
  numbered = marks or numbered
  return result
end

function methods.collectGarbage ()
  collectgarbage()
  collectgarbage()
  return {}
end

---------------------------------------------------------------------------
-- Objects by number
---------------------------------------------------------------------------

local function object_of (params, field)
  local id = math.tointeger(tonumber(fault.string(params, field)))
  local found, value = false, nil
  if id and id > 0 then
    found, value = core.heapobject(id, numbered)
  end
  if not found then
    fault.raise("Object is not available")
  end
  return value
end

function methods.getObjectByHeapObjectId (_, params)
  local value = object_of(params, "objectId")
  return {result = values.describe(value, fault.string(params, "objectGroup",
                                                       true), false)}
end

function methods.getHeapObjectId (_, params)
  local id = core.heapid((objects.get(fault.string(params, "objectId"))),
                         numbered)
  if not id then
    fault.raise("Object is not in the heap")
  end
  return {heapSnapshotObjectId = string.format("%d", id)}
end

function methods.addInspectedHeapObject (_, params)
  table.insert(looked_at, 1, {object_of(params, "heapObjectId")})
  looked_at[KEPT + 1] = nil
  return {}
end

function heap.inspected (n)
  local one = looked_at[n + 1]
  return one and one[1]
end

function heap.instances (prototype)
  local list, message = core.instances(prototype)
  return list or fault.raise("%s", message)
end

-- Nobody is there any more who could ask.
function heap.release ()
  looked_at = {}
end

function heap.heed (session, name)
  if string.find(name, "^Profiler%.") then
    session.suspended = false
  end
end

return heap
