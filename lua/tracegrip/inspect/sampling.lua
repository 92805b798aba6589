-- sampling.lua - the part of the domain HeapProfiler that is "Allocation
-- sampling" in the front end's Memory panel: who has made what is alive.
--
--   sampling.methods          name -> function (session, params): a result
--   sampling.leave(session)   it is gone
--   sampling.watch(every)     such a trace; every: bytes to a block that it
--                             meets, nil: it meets all
--
-- A trace of calls with memory (docs/memory.md), which the program does not
-- see: so the way to a block is exact, and which blocks are met is a matter of
-- chance (memoryEvery). Frames that were open before have no calls: samples of
-- the stack tell which they are.
--
-- What is told is what is alive, or with one of the flags for objects that were
-- collected all that was made: Lua has one collector, so both flags say the
-- same.

local core = require "tracegrip.core"
local fault = require "tracegrip.inspect.fault"
local places = require "tracegrip.inspect.places"
local wire = require "tracegrip.wire"
core.own()

local methods = {}
local sampling = {methods = methods}

local INTERVAL = 32768          -- bytes, as V8 has it
local LARGEST = 1 << 30         -- bytes that the trace takes
local DEPTH, DEEPEST = 128, 1000
local STACKS = 1000             -- samples a second of frames that were open

local NOT_STARTED = "V8 sampling heap profiler was not started."

---------------------------------------------------------------------------
-- The trace
---------------------------------------------------------------------------

-- A number as the front end gives it, within bounds, as an integer.
local function bounded (value, default, most)
  return math.floor(math.max(1, math.min(value or default, most)))
end

function sampling.watch (every)
  local ok, trace, message = pcall(core.watch, {
    trace = {"name", "samples", "allocations"}, sample = STACKS,
    memoryEvery = every
  })
  if not ok or not trace then
    fault.raise("%s", message or trace)
  end
  return trace
end

function methods.startSampling (session, params)
  local interval = params.samplingInterval or INTERVAL
  if interval <= 0 then
    fault.raise("Invalid sampling interval")
  elseif session.sampling then
    return {}
  end
  session.sampling = {
    trace = sampling.watch(bounded(interval, INTERVAL, LARGEST)),
    levels = bounded(params.stackDepth, DEPTH, DEEPEST),
    field = (params.includeObjectsCollectedByMajorGC
             or params.includeObjectsCollectedByMinorGC)
            and "self_bytes" or "self_live_bytes",
    ids = {count = 1}           -- of nodes, in all profiles of this trace
  }
  return {}
end

---------------------------------------------------------------------------
-- The profile
---------------------------------------------------------------------------

-- A moment that samples show as a frame, with the frames that came meanwhile.
local function is_pause (node)
  return node.url == "[C]" and node.name == "(garbage collector)"
end

-- Absent of a trace that has met nothing.
local function bytes_of (of, node)
  return node[of.field] or 0
end

-- "@app.lua", or nil of what has no text: C, and chunks that have no name.
local function source_of (node)
  local url = node.url
  if url and url ~= "[C]" and string.sub(url, 1, 8) ~= "[string " then
    return "@" .. url
  end
end

local function identity (node)
  return string.format("%s:%s:%d", node.name, node.url or "", node.line or 0)
end

-- The number of a way: the same in each profile.
local function number_of (ids, parent, what)
  local key = string.format("%d:%s", parent, what)
  if not ids[key] then
    ids.count = ids.count + 1
    ids[key] = ids.count
  end
  return ids[key]
end

-- A frame that was open before the trace is shown until a sample finds it gone,
-- which none does inside of a call. If the function is called again meanwhile,
-- then by whoever had called it before, and not by what has returned.
local function caller_of (into, node, what)
  local at = into
  while node.calls > 0 and at.old do
    if at.what == what then
      return at.up
    end
    at = at.up
  end
  return into
end

local function child_of (of, into, node)
  local what = identity(node)
  local up = caller_of(into, node, what)
  local id = number_of(of.ids, up.id, what)
  local child = up.known[id]
  if not child then
    child = {callFrame = places.frame(node.name, source_of(node), node.line),
             selfSize = 0, id = id, children = wire.array(), known = {},
             up = up, what = what, old = true}
    up.known[id] = child
    up.children[#up.children + 1] = child
  end
  child.old = child.old and node.calls == 0
  return child
end

local add_children              -- function, defined below

local function add_child (of, into, node)
  local child = is_pause(node) and into or child_of(of, into, node)
  child.selfSize = child.selfSize + bytes_of(of, node)
  add_children(of, child, node)
end

function add_children (of, into, node)
  for _, child in ipairs(node.children or {}) do
    add_child(of, into, child)
  end
end

-- Ways on which nothing has been made are none. Returns whether there is any.
local function finish (node, samples)
  local kept = wire.array()
  node.known, node.up, node.what, node.old = nil, nil, nil, nil
  if node.selfSize > 0 then
    samples[#samples + 1] = {size = node.selfSize, nodeId = node.id,
                             ordinal = node.id}
  end
  for _, child in ipairs(node.children) do
    if finish(child, samples) then
      kept[#kept + 1] = child
    end
  end
  node.children = kept
  return node.selfSize > 0 or #kept > 0
end

-- Recursion here is as deep as the levels that were asked for. What was made in
-- no frame is the root's own.
local function profile_of (of)
  local tree, message = of.trace:tree {levels = of.levels}
  if not tree then
    fault.raise("%s", message)
  end
  local head = {callFrame = places.frame "(root)",
                selfSize = bytes_of(of, tree), id = 1,
                children = wire.array(), known = {}}
  local samples = wire.array()
  add_children(of, head, tree)
  finish(head, samples)
  return {profile = {head = head, samples = samples}}
end

-- A trace that is full ends by itself: what came later is not in the profile.
local function tell_of_end (session)
  local ended = session.sampling.trace.ended
  if ended then
    session:note("warning", string.format(
      "Allocation sampling has ended before it was stopped (%s): the "
      .. "profile has what was alive then.", ended))
  end
end

function methods.getSamplingProfile (session)
  return profile_of(session.sampling or fault.raise(NOT_STARTED))
end

function methods.stopSampling (session)
  local of = session.sampling or fault.raise(NOT_STARTED)
  tell_of_end(session)
  sampling.leave(session)
  return profile_of(of)
end

function sampling.leave (session)
  if session.sampling then
    session.sampling.trace:stop()
    session.sampling = nil
  end
end

return sampling
