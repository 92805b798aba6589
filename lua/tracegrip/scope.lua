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

local core = require "tracegrip.core"
local numbers = require "tracegrip.numbers"
core.own()

local scope = {}

---------------------------------------------------------------------------
-- Numbers and messages
---------------------------------------------------------------------------

scope.status = {
  OK = 0, CONFLICT = 1, UNSUPPORTED_TYPE = 2, BAD_REQUEST = 3,
  INTERNAL_ERROR = 4, COMMAND_NOT_FOUND = 5, SERVICE_NOT_FOUND = 6,
  OUT_OF_MEMORY = 7, SERVICE_NOT_ENABLED = 8, SERVICE_ALREADY_ENABLED = 9
}

scope.commands = {
  StartProfiler = 1, StopProfiler = 2, GetEvents = 3, ReleaseSession = 4
}

scope.startModes = {IMMEDIATE = 1, URL = 2}

scope.modes = {
  ALL = 1, REDUCE_UNIQUE_TYPES = 2, REDUCE_UNIQUE_EVENTS = 3, REDUCE_ALL = 4
}

-- Those from 32 on are Lua's.
scope.eventTypes = {
  GENERIC = 1, PROCESS = 2, DOCUMENT_PARSING = 3, CSS_PARSING = 4,
  SCRIPT_COMPILATION = 5, SCRIPT_THREAD_EVALUATION = 6, REFLOW = 7,
  STYLE_RECALCULATION = 8, CSS_SELECTOR_MATCHING = 9, LAYOUT = 10, PAINT = 11,
  FUNCTION_CALL = 32, GARBAGE_COLLECTION = 33, MARKER = 34
}

-- Fields in the order of their numbers: name, kind, and whether the field is
-- required, optional or a list. A kind that is a table is an enumeration, one
-- that is another message's name is such a message.
scope.messages = {
  StartProfilerArg = {
    {"startMode", scope.startModes, "required"},
    {"windowID", "uint32", "required"}
  },
  SessionID = {
    {"sessionID", "uint32", "required"}
  },
  StopProfilerArg = {
    {"sessionID", "uint32", "required"}
  },
  Session = {
    {"sessionID", "uint32", "required"},
    {"windowID", "uint32", "optional"},
    {"timelineList", "Timeline", "list"},
    {"duration", "double", "optional"},
    {"callOverhead", "double", "optional"},
    {"returnOverhead", "double", "optional"},
    {"lost", "uint32", "optional"}
  },
  Timeline = {
    {"timelineID", "uint32", "required"},
    {"frameID", "uint32", "optional"}
  },
  GetEventsArg = {
    {"sessionID", "uint32", "required"},
    {"timelineID", "uint32", "required"},
    {"mode", scope.modes, "optional"},
    {"eventID", "uint32", "optional"},
    {"maxDepth", "uint32", "optional"},
    {"eventTypeList", scope.eventTypes, "list"},
    {"interval", "Interval", "optional"}
  },
  Interval = {
    {"start", "double", "optional"},
    {"end", "double", "optional"}
  },
  Events = {
    {"interval", "Interval", "optional"},
    {"eventList", "Event", "list"}
  },
  Event = {
    {"type", scope.eventTypes, "required"},
    {"time", "double", "required"},
    {"overhead", "double", "required"},
    {"hits", "uint32", "required"},
    {"interval", "Interval", "optional"},
    {"eventID", "uint32", "optional"},
    {"parentEventID", "uint32", "optional"},
    {"childCount", "uint32", "optional"},
    {"aggregatedTime", "double", "optional"},
    {"aggregatedOverhead", "double", "optional"},
    {"cssSelectorMatching", "none", "optional"},
    {"scriptThreadEvaluation", "ScriptThreadEvaluation", "optional"},
    {"documentParsing", "none", "optional"},
    {"cssParsing", "none", "optional"},
    {"scriptCompilation", "ScriptCompilation", "optional"},
    {"paint", "none", "optional"},
    {"functionCall", "FunctionCall", "optional"},
    {"garbageCollection", "GarbageCollection", "optional"}
  },
  ScriptThreadEvaluation = {
    {"scriptThreadType", "uint32", "required"},
    {"eventName", "string", "optional"}
  },
  ScriptCompilation = {
    {"scriptType", "uint32", "required"},
    {"url", "string", "optional"}
  },
  FunctionCall = {
    {"name", "string", "required"},
    {"source", "string", "optional"},
    {"line", "uint32", "optional"},
    {"kind", "uint32", "optional"}
  },
  GarbageCollection = {
    {"option", "string", "optional"}
  },
  ReleaseSessionArg = {
    {"sessionID", "uint32", "optional"}
  },
  Default = {},
  ErrorInfo = {
    {"description", "string", "optional"},
    {"line", "uint32", "optional"},
    {"column", "uint32", "optional"},
    {"offset", "uint32", "optional"}
  }
}

local messages, OK = scope.messages, scope.status.OK

-- Command number -> name, argument, reply.
local signatures = {
  {"StartProfiler", "StartProfilerArg", "SessionID"},
  {"StopProfiler", "StopProfilerArg", "Session"},
  {"GetEvents", "GetEventsArg", "Events"},
  {"ReleaseSession", "ReleaseSessionArg", "Default"}
}

-- What a command raises, by refuse; anything else is a real error.
local Refusal = {}

local function refuse (status, message, ...)
  error(setmetatable({status = scope.status[status],
                      description = message:format(...)}, Refusal))
end

local function bad (message, ...)
  refuse("BAD_REQUEST", message, ...)
end

---------------------------------------------------------------------------
-- Fields of requests
---------------------------------------------------------------------------

-- JSON's null as decoders give it: a null light userdata.
local function is_null (value)
  return value == nil
         or type(value) == "userdata" and string.format("%p", value) == "(null)"
end

local function whole (value, where)
  local n = math.type(value) and math.tointeger(value)
  if not n or n < 0 or n > 0xFFFFFFFF then
    bad("'%s' must be a whole number from 0 to 2^32 - 1", where)
  end
  return n
end

local function among (enum, value, where)
  local n = whole(value, where)
  for _, number in pairs(enum) do
    if n == number then
      return n
    end
  end
  bad("'%s' cannot be %d", where, n)
end

local read_message         -- function, defined below

local readers = {
  uint32 = whole,
  double = function (value, where)
    if not math.type(value) or value ~= value then
      bad("'%s' must be a number", where)
    end
    return value + 0.0
  end
}

local function read_value (kind, value, where)
  if type(kind) == "table" then
    return among(kind, value, where)
  elseif readers[kind] then
    return readers[kind](value, where)
  end
  if type(value) ~= "table" then
    bad("'%s' must be a message, not a %s", where, type(value))
  end
  return read_message(kind, value, where .. ".")
end

local function read_list (kind, value, where)
  local list = {}
  if type(value) ~= "table" then
    bad("'%s' must be a list", where)
  end
  for key, item in pairs(value) do
    if math.type(key) ~= "integer" or key < 1 or key > #value then
      bad("'%s' must be a list", where)
    end
    list[key] = read_value(kind, item, where)
  end
  return list
end

local function check_known (name, fields, where)
  local known = {}
  for i, field in ipairs(messages[name]) do
    known[field[1]], known[i] = true, field[1]
  end
  for key in pairs(fields) do
    if not known[key] or math.type(key) then
      bad("unknown field '%s%s' (known: %s)", where, tostring(key),
          table.concat(known, ", "))
    end
  end
end

-- The fields of a message, checked; lists are there, if only empty.
function read_message (name, fields, where)
  local message = {}
  check_known(name, fields, where)
  for _, field in ipairs(messages[name]) do
    local key, kind, rule = table.unpack(field)
    local value = fields[key]
    if rule == "list" then
      message[key] = is_null(value) and {}
                     or read_list(kind, value, where .. key)
    elseif not is_null(value) then
      message[key] = read_value(kind, value, where .. key)
    elseif rule == "required" then
      bad("'%s%s' is missing", where, key)
    end
  end
  return message
end

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
-- The list form of JSON
---------------------------------------------------------------------------

local escapes = {['"'] = '\\"', ["\\"] = "\\\\", ["\n"] = "\\n",
                 ["\r"] = "\\r", ["\t"] = "\\t"}

local function quoted (text)
  return '"' .. text:gsub('[%c"\\]', function (c)
    return escapes[c] or string.format("\\u%04x", c:byte())
  end) .. '"'
end

local write_message        -- function, defined below

local function write_value (kind, value)
  if type(value) == "string" then
    return quoted(value)
  elseif type(value) == "number" then
    return numbers.text(value)
  end
  return write_message(kind, value)
end

local function write_list (kind, list)
  local parts = {}
  for i, item in ipairs(list) do
    parts[i] = write_value(kind, item)
  end
  return "[" .. table.concat(parts, ",") .. "]"
end

-- What is missing is null, but at the end it is left out.
function write_message (name, message)
  local parts = {}
  for i, field in ipairs(messages[name]) do
    local key, kind, rule = table.unpack(field)
    local value = message[key]
    if value ~= nil then
      for j = #parts + 1, i - 1 do
        parts[j] = "null"
      end
      parts[i] = rule == "list" and write_list(kind, value)
                 or write_value(kind, value)
    end
  end
  return "[" .. table.concat(parts, ",") .. "]"
end

local named                -- function, defined below

local function named_value (kind, rule, value)
  if type(value) ~= "table" or type(kind) == "table" then
    return value
  elseif rule == "list" then
    local list = {}
    for i, item in ipairs(value) do
      list[i] = named_value(kind, "optional", item)
    end
    return list
  end
  return messages[kind] and named(kind, value) or value
end

-- A message's list with its fields by name. Further ones are those of a later
-- version, and mean nothing here.
function named (name, list)
  local fields = {}
  for i, field in ipairs(messages[name]) do
    fields[field[1]] = named_value(field[2], field[3], list[i])
  end
  return fields
end

local is_array = {}        -- metatable of arrays that are empty

-- The fields that a request has in the list form.
local function parse (name, text)
  if text == nil or text == "" then
    return {}
  end
  local list, message = core.decode(text, 8, is_array)
  if type(list) ~= "table" then
    bad("not a list: %s", message or text)
  elseif list[1] == nil and next(list) then
    bad("not a list but an object")
  end
  return named(name, list)
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
  elseif getmetatable(result) == Refusal then
    return result.status, {description = result.description}
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
  local message = read_message(signature[2], fields or {}, "")
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
    local fields = parse(signature[2], text)
    return write_message(signature[3], execute(self, signature, fields))
  end)
  if status ~= OK then
    result = write_message("ErrorInfo", result)
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
    return ask(self, read_message("GetEventsArg", fields or {}, ""), "each")
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
