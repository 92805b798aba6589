-- mapping.lua - the source maps of a program's scripts: read when a script
-- comes. Once the client has breakpoints, the program stands still at the first
-- function of a script that has a map, until what is wanted in its sources is
-- set (Debugger.setInstrumentationBreakpoint).
--
--   mapping.begin(live)          maps are wanted of what comes from now on
--   mapping.arm(live)            the program stands still for them; again and
--                                again is as good as once
--   mapping.settle(live)         waits until those that have come are read
--   mapping.met(live, script)    a Debugger.scriptParsed
--   mapping.passed(live)         the program stands still for that: it goes on
--   mapping.active(live, id, request)
--                                the lines of a script that have code, as
--                                originals.lua takes them
--   mapping.skip_list(live, place)
--                                for a step from there: the lines that are one
--                                with it, as the protocol of Chrome has them
--
-- Failure: a map that cannot be had or read is told in one line, and its script
-- is shown as what it is.

local core = require "tracegrip.core"
local originals = require "tracegrip.dap.originals"
local sourcemap = require "tracegrip.dap.sourcemap"
local task = require "tracegrip.dap.task"
local wire = require "tracegrip.wire"
core.own()

local mapping = {}

function mapping.begin (live)
  live.mapping, live.armed = task.turns(), false
end

-- Where it does, each call of it is looked at, as with any breakpoint. Without
-- waiting: requests of the client's stay in their order.
function mapping.arm (live)
  if live.mapping and not live.armed then
    live.armed = true
    live.program:post("Debugger.setInstrumentationBreakpoint",
                      {instrumentation = "beforeScriptWithSourceMapExecution"})
  end
end

function mapping.settle (live)
  local _ <close> = live.mapping and live.mapping() or nil
end

-- The program reads its file: this may be another machine.
local function read (live, script)
  return sourcemap.at(script.sourceMapURL, function ()
    local result, message = live.program:try("Lua.sourceMap",
                                             {scriptId = script.scriptId})
    return result and result.text, message
  end)
end

local function refuse (live, script, problem)
  live.port.send_event("output", {
    category = "important", output = string.format(
      "tracegrip: the source map of %s is left aside: %s\n",
      script.url ~= "" and script.url or "a string", problem)
  })
end

-- A file that was compiled in the program is its own original.
local function tell_new (live, id)
  local script = live.places:source(id)
  for _, source in ipairs(live.places.originals:of_key(id)) do
    if not script or source.path ~= script.path then
      live.port.send_event("loadedSource", {reason = "new", source = source})
    end
  end
end

-- Lines of no source are run over.
local function skip_gaps (live, id)
  local positions = wire.array {}
  for i, line in ipairs(live.places.originals:gaps(id)) do
    positions[i] = {lineNumber = line - 1, columnNumber = 0}
  end
  live.program:try("Debugger.setBlackboxedRanges", {scriptId = id,
                                                    positions = positions})
end

function mapping.met (live, script)
  if not live.mapping or (script.sourceMapURL or "") == "" then
    return
  end
  local _ <close> = live.mapping()
  local id, map, problem = script.scriptId, read(live, script)
  if not map then
    return refuse(live, script, problem)
  end
  live.places.originals:add(id, map, originals.base(script.sourceMapURL)
                                     or originals.base(script.url))
  tell_new(live, id)
  skip_gaps(live, id)
  live.breaking:met(live.program, id)
end

-- A pause that was asked for meanwhile has met one that was none.
function mapping.passed (live)
  mapping.settle(live)
  live.program:post "Debugger.resume"
  if live.expects == "pause" then
    live.program:post "Debugger.pause"
  end
end

function mapping.active (live, id, request)
  local known = live.places.actives[id]
                or live.program:ask("Lua.lines", {scriptId = id}, request).lines
  live.places.actives[id] = known
  return known
end

function mapping.skip_list (live, place)
  local list = wire.array {}
  local same = live.places.originals:same(place.scriptId, place.lineNumber + 1)
  for i, line in ipairs(same[2] and same or {}) do
    local at = {lineNumber = line - 1, columnNumber = 0}
    list[i] = {scriptId = place.scriptId, start = at, ["end"] = at}
  end
  return list[1] and list
end

return mapping
