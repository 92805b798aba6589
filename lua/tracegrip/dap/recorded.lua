-- recorded.lua - the back end of a debug adapter's session that debugs a
-- recording: it is walked through, forwards and backwards.
--
--   recorded.new(port)      a back end (session.lua)
--
--   session.lua ── recorded.lua ── replay (csrc/replay)
--                      ├ recorded/looking.lua: threads, frames, values
--                      ├ recorded/stops.lua: breakpoints, errors
--                      ├ recorded/changes.lua: where a table has changed
--                      ├ recorded/sources.lua: texts
--                      └ tracegrip/replay/: walks, frames, values, code, as
--                        DevTools has them, too (inspect/recorded.lua)
--
-- The program is always at some moment: between two packets. A request to go
-- on is answered at once; the search that it begins is done piece by piece, and
-- between the pieces other requests have their turn, so "pause" ends it where
-- it is. What the program has said in between (console.log) is output.
--
-- "launch" takes: recording, a path; trace, the name of one in it; stopOn:
-- "error", the first one, "entry", or "end"; stopOnEntry; pathMappings.
--
-- Failure: a file that is no recording is a problem of "launch"; one that
-- cannot be read on ends there, and the client is told.

local asked = require "tracegrip.dap.asked"
local changes = require "tracegrip.dap.recorded.changes"
local core = require "tracegrip.core"
local frames = require "tracegrip.replay.frames"
local live = require "tracegrip.dap.live"
local looking = require "tracegrip.dap.recorded.looking"
local markers = require "tracegrip.replay.markers"
local points = require "tracegrip.replay.points"
local problem = require "tracegrip.dap.problem"
local recording = require "tracegrip.cli.recording"
local references = require "tracegrip.dap.references"
local sources = require "tracegrip.dap.recorded.sources"
local stops = require "tracegrip.dap.recorded.stops"
local values = require "tracegrip.replay.values"
local walk = require "tracegrip.replay.walk"
local wire = require "tracegrip.wire"
core.own()

local MARKERS = 200             -- that are told of one way

local recorded = {}

local Recorded = {__name = "tracegrip.dap.recorded", handlers = {}}
Recorded.__index = Recorded

local handlers = Recorded.handlers
for command, handler in pairs(looking.handlers) do
  handlers[command] = handler
end

---------------------------------------------------------------------------
-- What it can do
---------------------------------------------------------------------------

local CAN = {"StepBack", "ConfigurationDoneRequest", "FunctionBreakpoints",
             "ConditionalBreakpoints", "EvaluateForHovers", "LogPoints",
             "ExceptionInfoRequest", "ExceptionFilterOptions",
             "DelayedStackTraceLoading", "LoadedSourcesRequest",
             "ClipboardContext", "CancelRequest",
             "BreakpointLocationsRequest", "DataBreakpoints"}

-- Of what a live program can do all else is taken back.
function Recorded.capabilities ()
  local can = {}
  for name, value in pairs(live.capabilities()) do
    can[name] = value ~= true and value or false
  end
  can.completionTriggerCharacters = nil
  for _, what in ipairs(CAN) do
    can["supports" .. what] = true
  end
  return can
end

---------------------------------------------------------------------------
-- Where it is
---------------------------------------------------------------------------

function Recorded:moment ()
  return self.replay:moment()
end

function Recorded:check_still ()
  if self.moving then
    problem.raise("the recording is being searched")
  end
end

local function say (self, category, text, place)
  self.port.send_event("output", {
    category = category, output = text .. "\n",
    source = place and place.source, line = place and place.line
  })
end

local categories = {warn = "stderr", error = "stderr"}

local function place_of (self, site)
  local source, line
  if site then
    source, line = self.sources:position(site.url, site.line)
  end
  return source and {source = source, line = line - 1 + self.line_from}
end

-- What the program has said between two moments.
local function tell_markers (self, from, to)
  local list, more = self.replay:markers(from, to, MARKERS)
  for _, marker in ipairs(list) do
    say(self, categories[marker.method] or "stdout", markers.text(marker),
        place_of(self, marker.callsite))
  end
  if more > 0 then
    say(self, "console", ("… and %d more that the program has said")
        :format(more))
  end
  local unkept = self.replay:moment().unkept
  if unkept > (self.unkept or 0) then
    self.unkept = unkept
    say(self, "console", ("%d that the program has said are too many to keep")
        :format(unkept))
  end
end

-- What the event "stopped" has, of how a search ended.
local function stop_of (self, found, met, reason)
  local body = met or {reason = reason}
  local at = self:moment()
  if found == "edge" or at.number == 0 then
    body = {reason = "pause", description = ("The %s of the recording"):format(
      at.number == 0 and "beginning" or "end")}
  end
  body.threadId, body.allThreadsStopped = at.running, true
  if body.reason == "exception" then
    body.description = "Paused on error"
    body.text = values.said(frames.error(self.walk))
  end
  if body.hitBreakpointIds then
    wire.array(body.hitBreakpointIds)
  end
  return body
end

---------------------------------------------------------------------------
-- Going somewhere
---------------------------------------------------------------------------

-- What a logpoint prints: the first of it is its mark.
local function print_log (self, one, results, message)
  local parts = {}
  for i = 2, results and results.n or 0 do
    parts[#parts + 1] = values.said(values.grip(results[i]))
  end
  say(self, "console", message or table.concat(parts), one.lines and one)
end

-- Whether one would stop at a candidate; a change that was found is told first.
local function met_at (self, why, forwards)
  local here = points.here(self.replay, why, function (...)
    if forwards then
      print_log(self, ...)
    end
  end)
  local body = self.stops:meets(here)
  local change = why.moment
                 and self.changes:meets(self:moment().number, here)
  if body and change then
    table.move(body.hitBreakpointIds or {}, 1, #(body.hitBreakpointIds or {}),
               #change.hitBreakpointIds + 1, change.hitBreakpointIds)
  end
  return change or body
end

-- What is read for data breakpoints comes before the search.
local function search (self, move, thread, errors)
  self.walk.pausing = false
  if not self.changes:read(self.go_on) then
    return "paused"
  end
  local moments = self.changes:moments()
  self.stops:arm(self.replay, errors, moments)
  local stopping = errors or moments ~= nil or self.stops:any()
  return self.walk:step(move, thread, stopping and function (...)
    return met_at(self, ...)
  end or nil)
end

-- Searches, and tells the client where that has led.
local function move_on (self, move, thread, reason, errors)
  local from = self:moment().number
  self.moving = true
  self.references:clear()
  local ok, found, met, message = pcall(search, self, move, thread, errors)
  if self.over then
    return
  end
  self.moving = false
  if not ok then
    found, message = "edge", found
  end
  if message then
    say(self, "stderr", "the recording cannot be read on: " .. message)
  elseif found == "paused" then
    found, met = "found", {reason = "pause"}
  end
  local to = self:moment().number
  if to > from then
    tell_markers(self, from, to)
  end
  self.port.send_event("stopped", stop_of(self, found, met, reason))
end

local function mover (move, reason)
  return function (self, arguments, request)
    self:check_still()
    request:after(function ()
      move_on(self, move, arguments.threadId, reason)
    end)
  end
end

handlers.next = mover("over", "step")
handlers.stepIn = mover("in", "step")
handlers.stepOut = mover("out", "step")
handlers.stepBack = mover("backOver", "step")
handlers.reverseContinue = mover("back", "pause")
handlers.stepBackIn = mover("backIn", "step")
handlers.stepBackOut = mover("backOut", "step")

local go_on = mover("on", "pause")

handlers["continue"] = function (...)
  go_on(...)
  return {allThreadsContinued = true}
end

-- The search notices it before its next piece.
function handlers.pause (self)
  self.walk:pause()
end

---------------------------------------------------------------------------
-- The beginning
---------------------------------------------------------------------------

local function open (self, arguments)
  local path = arguments.recording
  local cwd = arguments.cwd
  if cwd and path:sub(1, 1) ~= "/" then
    path = cwd .. "/" .. path
  end
  local opened, message = core.open(path)
  if not opened then
    problem.show("cannot open the recording: %s", message)
  end
  local trace
  trace, message = opened:trace(arguments.trace)
  if not trace then
    problem.show("%s: %s", path, message)
  end
  self.path, self.info, self.trace = path, opened:info(true), trace
end

local start_words = {error = true, entry = true, ["end"] = true}

local function check (arguments)
  local word = arguments.stopOn
  if word ~= nil and not start_words[word] then
    problem.show("'stopOn' has to be \"error\", \"entry\" or \"end\"")
  elseif arguments.trace ~= nil and type(arguments.trace) ~= "string" then
    problem.show("'trace' has to be the name of a trace in the recording")
  end
end

local function name_bodies (functions)
  local names = {}
  for _, f in ipairs(functions) do
    names[f.id] = f.name
  end
  return names
end

local function tell_what_it_is (self)
  say(self, "console", recording.told(self.path, self.info))
  local losses = recording.losses(self.trace.lost)
  if losses ~= "none" then
    say(self, "console", "the recording lacks " .. losses)
  end
  for _, one in ipairs(self.sources.refused) do
    say(self, "important", ("tracegrip: the source map of %s is left aside: %s")
        :format(one.url, one.problem))
  end
end

function handlers.launch (self, arguments, request)
  check(arguments)
  open(self, arguments)
  self.arguments = arguments
  self.replay = core.replay(self.trace)
  self.walk = walk.new(self.replay, self.port.breathe)
  local functions = self.replay:functions()
  self.names = name_bodies(functions)
  self.sources = sources.new(self.trace, self.info, functions,
                             arguments)
  self.stops = stops.new(self.sources, functions, self.line_from)
  self.changes = changes.new(self.replay, function ()
    return self.stops:numbered()
  end, function (text) say(self, "console", text) end)
  request:after(function ()
    tell_what_it_is(self)
    self.port.send_event("initialized")
  end)
end

-- To the first error of all, caught or not, unless something else was asked
-- for.
local function begin (self)
  local word = self.arguments.stopOnEntry and "entry" or self.arguments.stopOn
               or "error"
  if word == "entry" then
    return move_on(self, "in", 1, "entry")
  end
  move_on(self, "on", 1, "pause", word == "error")
end

function handlers.configurationDone (self, _, request)
  self:check_still()
  request:after(function () begin(self) end)
end

---------------------------------------------------------------------------
-- Where it stops
---------------------------------------------------------------------------

-- From the next search on.
function handlers.setBreakpoints (self, arguments)
  return {breakpoints = wire.array(self.stops:lines(
    asked.source(arguments), asked.breakpoints(arguments)))}
end

function handlers.setFunctionBreakpoints (self, arguments)
  return {breakpoints = wire.array(self.stops:named(
    asked.functions(arguments)))}
end

function handlers.setDataBreakpoints (self, arguments)
  return {breakpoints = wire.array(self.changes:set(arguments))}
end

function handlers.breakpointLocations (self, arguments)
  local source = asked.source(arguments)
  local first, last = asked.range(arguments)
  return {breakpoints = wire.array(self.stops:possible(source, first, last))}
end

function handlers.setExceptionBreakpoints (self, arguments)
  self.stops:exceptions(asked.errors(arguments))
end

---------------------------------------------------------------------------
-- Sources
---------------------------------------------------------------------------

function handlers.source (self, arguments)
  local number = arguments.source and arguments.source.sourceReference
                 or arguments.sourceReference
  return {content = self.sources:text(number), mimeType = "text/x-lua"}
end

function handlers.loadedSources (self)
  return {sources = wire.array(self.sources:all())}
end

---------------------------------------------------------------------------
-- The end
---------------------------------------------------------------------------

function handlers.disconnect ()
end

function Recorded:close ()
  self.over = true
  if self.walk then
    self.walk:pause()
  end
end

function recorded.new (port)
  local self = setmetatable({
    port = port,
    line_from = port.client.linesStartAt1 == false and 0 or 1,
    column_from = port.client.columnsStartAt1 == false and 0 or 1,
    references = references.new(),
    walk = nil,           -- once there is a recording
    moving = false,       -- a search is under way
    over = false,         -- the session is
  }, Recorded)
  function self.go_on ()
    port.breathe()
    return not self.walk.pausing
  end
  return self
end

return recorded
