-- scope.lua - the profiler service: questions and answers about a session.
--
--   local scope = require "tracegrip.scope"
--   local profiler = scope.new()
--   profiler:StartProfiler {startMode = 1, windowID = 1}
--   work()
--   local _, session = profiler:StopProfiler {sessionID = 1}
--   local _, events = profiler:GetEvents {
--     sessionID = session.sessionID, timelineID = 1, mode = 3
--   }
--
-- It is Opera's Scope service "Profiler 1.0" over our traces: a session is a
-- trace, a timeline a coroutine, an event a call. docs/scope.md describes the
-- messages, and what was chosen where the original says nothing.
--
-- scope.new (options?) -> Profiler
--   The options are those of tracegrip.start but 'name', for the traces that
--   it makes; by default they have the types "name" and "time".
--
-- A Profiler:
--   profiler:StartProfiler(fields), :StopProfiler(fields),
--   :GetEvents(fields), :ReleaseSession(fields),
--   profiler:command(name or number, fields)
--                          -> status, message: tables of named fields. A
--                             status that is not scope.status.OK comes with
--                             the message {description = "..."}
--   profiler:json(name or number, text) -> status, text
--                          the same in the list form of JSON
--   profiler:load(what, name?) -> status, Session
--                          a session from a recording's path, a Recording (its
--                          trace of that name, or the first one) or a Trace
--   profiler:each(fields)  -> status, iterator: GetEvents, one Event at a time,
--                             for those that are too many to have at once
--   profiler:info(sessionID) -> table: how much there is; nil: no such session
--   profiler:close()       stops and releases everything
--
-- scope.status, scope.modes, scope.eventTypes, scope.startModes,
-- scope.commands, scope.messages
--   The protocol's numbers by name, and the fields of its messages.
--
-- Wrong requests are answered with a status and change nothing. What raises is
-- wrong use of this module, and wrong options of traces, at StartProfiler.

local core = require("tracegrip.installed").core
local messages = require "tracegrip.scope.messages"
core.own()

local scope = {
  status = messages.status, commands = messages.commands,
  startModes = messages.startModes, modes = messages.modes,
  eventTypes = messages.eventTypes, messages = messages.fields
}

local OK = scope.status.OK
local refuse, bad = messages.refuse, messages.bad

-- Command number -> name, argument, reply.
local signatures = {
  {"StartProfiler", "StartProfilerArg", "SessionID"},
  {"StopProfiler", "StopProfilerArg", "Session"},
  {"GetEvents", "GetEventsArg", "Events"},
  {"ReleaseSession", "ReleaseSessionArg", "Default"}
}

---------------------------------------------------------------------------
-- Sessions
---------------------------------------------------------------------------

local Profiler = {__name = "tracegrip.profiler"}
Profiler.__index = Profiler

local no_memory = "not enough memory"

-- What core gives, or a refusal that says why it does not.
local function must (ok, result, ...)
  if not ok then
    local text = tostring(result)
    if text:find(no_memory, 1, true) then
      refuse("OUT_OF_MEMORY", "%s", no_memory)
    end
    refuse("INTERNAL_ERROR", "%s", text)
  elseif result == nil and (...) then
    refuse("INTERNAL_ERROR", "%s", (...))
  end
  return result, ...
end

local function new_id (self)
  self.latest = self.latest + 1
  return self.latest
end

-- A stopped session of that number.
local function session_of (self, id)
  local session = self.sessions[id]
  if not session then
    bad("there is no session %d", id)
  elseif not session.index then
    bad("session %d is in progress", id)
  end
  return session
end

local function count_lost (trace)
  local sum = 0
  for _, n in pairs(trace.lost) do
    sum = sum + n
  end
  return sum > 0 and sum or nil
end

-- Of a trace that never came to begin.
local nothing = {}

function nothing.info ()
  return {events = 0, segments = 0, start_ms = 0, duration_ms = 0,
          callOverhead = 0, returnOverhead = 0}
end

function nothing.timelines ()
  return {1}
end

function nothing.events (_, q)
  return not q.eventID and {eventList = {}} or nil
end

function nothing.each (_, q)
  return not q.eventID and function () end or nil
end

-- Packets to be taken before others have their turn: a few milliseconds' work.
local PORTION = 10000

-- In portions, with a call of 'pause' between, if there is one.
local function index_of (trace, how, pause)
  if not pause then
    return must(pcall(core.scope, trace, how))
  end
  how.portion = PORTION
  local index = must(pcall(core.scope, trace, how))
  while must(pcall(index.advance, index)) do
    pause()
  end
  return index
end

local function finish (session, trace, how, pause)
  local index = trace and index_of(trace, how, pause) or nothing
  session.lost = trace and count_lost(trace)
  session.index = index
end

local function describe (session)
  local info, timelines = session.index:info(), {}
  for i, thread in ipairs(session.index:timelines()) do
    timelines[i] = {timelineID = i, frameID = thread}
  end
  return {
    sessionID = session.id, windowID = session.window,
    timelineList = timelines, duration = info.duration_ms,
    callOverhead = info.callOverhead, returnOverhead = info.returnOverhead,
    lost = session.lost
  }
end

---------------------------------------------------------------------------
-- Commands
---------------------------------------------------------------------------

local commands = {}

function commands.StartProfiler (self, fields)
  if self.running then
    bad("session %d is in progress", self.running.id)
  end
  local trace = self.traces.watch(self.options)
  local session = {
    id = new_id(self), window = fields.windowID, trace = trace,
    how = {fromChunk = fields.startMode == scope.startModes.URL}
  }
  self.running = session
  self.sessions[session.id] = session
  return {sessionID = session.id}
end

function commands.StopProfiler (self, fields)
  local session = self.running
  if not session then
    bad("no session is in progress")
  elseif session.id ~= fields.sessionID then
    bad("session %d is not in progress", fields.sessionID)
  end
  finish(session, session.trace:stop(), session.how, self.pause)
  if self.running == session then       -- and nobody has closed it meanwhile
    self.traces.forget(session.trace)
    self.running = nil
  end
  session.trace = nil
  return describe(session)
end

local function type_mask (list)
  local mask = 0
  for _, number in ipairs(list) do
    mask = mask | 1 << number
  end
  return mask
end

-- The session's index and a question to it.
local function question (self, fields)
  local index = session_of(self, fields.sessionID).index
  if fields.timelineID < 1 or fields.timelineID > #index:timelines() then
    bad("there is no timeline %d", fields.timelineID)
  elseif fields.maxDepth == 0 then
    bad("'maxDepth' must be 1 at least")
  elseif fields.eventID == 0 then
    bad("there is no event 0")
  end
  local interval = fields.interval or {}
  return index, {
    timeline = fields.timelineID, mode = fields.mode,
    eventID = fields.eventID, maxDepth = fields.maxDepth,
    types = type_mask(fields.eventTypeList),
    start = interval.start, ["end"] = interval["end"]
  }
end

-- What a method of the index answers to the fields of GetEvents.
local function ask (self, fields, method, ...)
  local index, q = question(self, fields)
  local answer, more = must(pcall(index[method], index, q, ...))
  if not answer then
    bad("there is no event %d on timeline %d", fields.eventID,
        fields.timelineID)
  end
  return answer, more
end

function commands.GetEvents (self, fields)
  local answer, more = ask(self, fields, "events", self.limit)
  if more then
    bad("there are more than %d events: ask for less of them, or for sums",
        self.limit)
  end
  return answer
end

function commands.ReleaseSession (self, fields)
  if fields.sessionID then
    self.sessions[session_of(self, fields.sessionID).id] = nil
    return {}
  end
  for id, session in pairs(self.sessions) do
    if session ~= self.running then
      self.sessions[id] = nil
    end
  end
  return {}
end

---------------------------------------------------------------------------
-- The interface
---------------------------------------------------------------------------

-- Calls f; what it gives with the status OK, or a refusal as a status and a
-- message.
local function guarded (f, ...)
  local ok, result = pcall(f, ...)
  if ok then
    return OK, result
  end
  local refusal = messages.refusal(result)
  if refusal then
    return refusal.status, {description = refusal.description}
  end
  error(result, 0)
end

local function signature_of (which)
  if type(which) == "string" then
    which = scope.commands[which]
  end
  local signature = signatures[which]
  if not signature then
    refuse("COMMAND_NOT_FOUND", "no such command")
  end
  return signature
end

local function execute (self, signature, fields)
  if fields ~= nil and type(fields) ~= "table" then
    error(("a table of fields expected, got %s"):format(type(fields)), 0)
  end
  local message = messages.read(signature[2], fields or {})
  return commands[signature[1]](self, message)
end

function Profiler:command (which, fields)
  return guarded(function ()
    return execute(self, signature_of(which), fields)
  end)
end

for name in pairs(scope.commands) do
  Profiler[name] = function (self, fields)
    return self:command(name, fields)
  end
end

function Profiler:json (which, text)
  if text ~= nil and type(text) ~= "string" then
    error(("JSON text expected, got %s"):format(type(text)), 2)
  end
  local status, result = guarded(function ()
    local signature = signature_of(which)
    local fields = messages.parse(signature[2], text)
    return messages.write(signature[3], execute(self, signature, fields))
  end)
  if status ~= OK then
    result = messages.write("ErrorInfo", result)
  end
  return status, result
end

-- The trace that 'what' is or has.
local function trace_in (what, name)
  if type(what) == "string" then
    local recording, message = core.open(what)
    if not recording then
      bad("%s", message)
    end
    what = recording
  elseif type(what) ~= "userdata" then
    error(("a path, a Recording or a Trace expected, got %s")
          :format(type(what)), 0)
  end
  if not what.trace then
    return what
  end
  local trace, message = what:trace(name)
  if not trace then
    bad("%s", message)
  end
  return trace
end

-- 'how': see csrc/trace/scopesession.h.
function Profiler:load (what, name, how)
  return guarded(function ()
    local trace, session = trace_in(what, name), {}
    finish(session, trace, how)
    session.id = new_id(self)
    self.sessions[session.id] = session
    return describe(session)
  end)
end

function Profiler:each (fields)
  return guarded(function ()
    return ask(self, messages.read("GetEventsArg", fields or {}), "each")
  end)
end

function Profiler:info (id)
  local session = self.sessions[id]
  return session and session.index and session.index:info()
end

function Profiler:close ()
  if self.running then
    self.traces.forget(self.running.trace)
  end
  self.running, self.sessions = nil, {}
end

Profiler.__close = Profiler.close

function scope.new (options)
  if options ~= nil and type(options) ~= "table" then
    error(("bad argument #1 to 'new' (table expected, got %s)")
          :format(type(options)), 2)
  end
  local mine = {trace = {"name", "time"}}
  for key, value in pairs(options or {}) do
    mine[key] = value
  end
  if mine.name ~= nil then
    error("option 'name': the traces of a profiler have none", 2)
  end
  return setmetatable({
    options = mine,
    sessions = {},         -- by number
    latest = 0,            -- number of the latest session
    running = nil,         -- the session in progress
    traces = core,         -- whose watch and forget make traces
    limit = nil,           -- events of an answer at most
    pause = nil,           -- function () that is called in the middle of long
                           -- work
  }, Profiler)
end

return scope
