-- profiler.lua - the domain Profiler: samples for the front end's Performance
-- panel, and coverage.
--
--   profiler.methods          name -> function (session, params): a result
--   profiler.leave(session)   it is gone
--
-- A profile is a trace of samples (docs/samples.md) that the program does not
-- see, exported as what V8 writes. Coverage is counted by the debugger's hook
-- (csrc/inspect/watch.h), for all who want it: to take it begins anew for all.

local core = require "tracegrip.core"
local counting = require "tracegrip.coverage"
local fault = require "tracegrip.inspect.fault"
local places = require "tracegrip.inspect.places"
local ranges = require "tracegrip.inspect.ranges"
local scripts = require "tracegrip.inspect.scripts"
local sessions = require "tracegrip.inspect.sessions"
local wire = require "tracegrip.wire"
core.own()

local methods = {}
local profiler = {methods = methods}

local FASTEST = 10000           -- samples a second
local DEPTH = 20                -- of a profile's JSON

function methods.enable ()
  return {}
end

---------------------------------------------------------------------------
-- Samples
---------------------------------------------------------------------------

function methods.setSamplingInterval (session, params)
  local interval = fault.integer(params, "interval")
  if session.profile then
    fault.raise("Cannot change sampling interval when profiling.")
  end
  session.interval = interval
  return {}
end

function methods.start (session)
  if session.profile then
    return {}
  end
  local rate = math.min(FASTEST, 1000000 // math.max(session.interval, 1))
  local ok, trace, message = pcall(core.watch, {
    trace = {"samples"}, sample = math.max(rate, 1)
  })
  if not ok or not trace then
    fault.raise("%s", message or trace)
  end
  session.profile = trace
  return {}
end

-- Its text, by way of a file: exports write those.
local function exported (trace)
  local path = os.tmpname()
  local done, message = trace:export("cpuprofile", path)
  local text = done and core.contents(path)
  os.remove(path)
  return text or fault.raise("The profile cannot be written: %s",
                             message or path)
end

-- A file's path becomes the script that the front end knows.
local function place (frame, find)
  local path = frame.url
  frame.url, frame.scriptId = "", "0"
  if string.sub(path, 1, 1) == "/" then
    local script = find(path)
    frame.url, frame.scriptId = script.url, script.id
  end
end

-- The schema has whole microseconds: none is lost, each is rounded from the
-- beginning on.
local function rounded (deltas)
  local exact, told, list = 0, 0, {}
  for i, delta in ipairs(deltas) do
    exact = exact + delta
    local now = math.floor(exact + 0.5)
    list[i], told = now - told, now
  end
  return wire.array(list)
end

function methods.stop (session)
  local trace = session.profile
                or fault.raise("No recording profiles found")
  session.profile = nil
  trace:stop()
  local profile = core.decode(exported(trace), DEPTH,
                              getmetatable(wire.array()))
  local find = places.finder()
  for _, node in ipairs(profile.nodes) do
    place(node.callFrame, find)
  end
  return {profile = {
    nodes = wire.array(profile.nodes), samples = wire.array(profile.samples),
    timeDeltas = rounded(profile.timeDeltas),
    startTime = profile.startTime, endTime = profile.endTime
  }}
end

---------------------------------------------------------------------------
-- Coverage
---------------------------------------------------------------------------

local function review ()
  local any = false
  for _, client in ipairs(sessions.clients()) do
    any = any or sessions.of(client).coverage ~= nil
  end
  core.inspector.cover(any)
end

function methods.startPreciseCoverage (session, params)
  session.coverage = {counts = params.callCount == true,
                      detailed = params.detailed == true}
  review()
  return {timestamp = os.clock()}
end

function methods.stopPreciseCoverage (session)
  session.coverage = nil
  review()
  return {}
end

local function by_source (counted)
  local sources, order = {}, {}
  for _, one in ipairs(counted) do
    if not sources[one.source] then
      sources[one.source] = {}
      order[#order + 1] = one.source
    end
    table.insert(sources[one.source], one)
  end
  return sources, order
end

local function covered (wanted)
  local sources, order = by_source(core.inspector.counts())
  local list = {}
  for _, source in ipairs(order) do
    local script = scripts.meet(source)
    local functions = counting.functions(script.functions, sources[source])
    if #functions > 0 then
      list[#list + 1] = {scriptId = script.id, url = script.url,
                         functions = ranges.of(script, functions, wanted)}
    end
  end
  return wire.array(list)
end

function methods.takePreciseCoverage (session)
  local wanted = session.coverage
                 or fault.raise("Precise coverage has not been started.")
  return {result = covered(wanted), timestamp = os.clock()}
end

-- Without counting nothing is known.
function methods.getBestEffortCoverage (session)
  return {result = covered(session.coverage
                           or {counts = false, detailed = false})}
end

---------------------------------------------------------------------------
-- The end
---------------------------------------------------------------------------

function profiler.leave (session)
  if session.profile then
    session.profile:stop()
    session.profile = nil
  end
  methods.stopPreciseCoverage(session)
end

function methods.disable (session)
  profiler.leave(session)
  return {}
end

return profiler
