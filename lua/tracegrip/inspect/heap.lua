-- heap.lua - the domain HeapProfiler: snapshots of the heap, of which there are
-- none here, but a front end has a panel for them.
--
--   heap.methods              name -> function (session, params): a result
--   heap.heed(session, name)  it calls that method now
--
-- For a snapshot the front end switches debugging off, and on again when it has
-- one. A program that stands still must not go on meanwhile: so the pause stays
-- of a session whose panel has been opened, until that asks for something that
-- is no snapshot, such as a profile, for which debugging is switched off too.

local core = require "tracegrip.core"
local fault = require "tracegrip.inspect.fault"
core.own()

local methods = {}
local heap = {methods = methods}

local NONE = "Snapshots of the heap are not known of Lua here."

function methods.enable (session)
  session.heap = true
  return {}
end

function methods.disable (session)
  session.heap, session.suspended = false, false
  return {}
end

-- The front end shows nothing of an error but that there is no snapshot.
function methods.takeHeapSnapshot (session)
  session:note("error", NONE)
  fault.raise(NONE)
end

function heap.heed (session, name)
  if string.find(name, "^Profiler%.") then
    session.suspended = false
  end
end

return heap
