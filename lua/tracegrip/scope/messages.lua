-- messages.lua - the messages of Opera's profiler service: its numbers, the
-- fields of each message, and a message's two forms, a table of named fields
-- and the list form of JSON. docs/scope.md describes them.
--
--   messages.status, .commands, .startModes, .modes, .eventTypes
--                          the protocol's numbers by name
--   messages.fields        the fields of each message
--   messages.read(name, fields)    a message's fields, checked
--   messages.parse(name, text)     those that a request has in the list form;
--                                  not yet checked
--   messages.write(name, message)  the list form
--   messages.refuse(status, message, ...), .bad(message, ...)
--                          raise a refusal, with a status by name or
--                          BAD_REQUEST
--   messages.refusal(err)  {status, description} if that was raised, or nil
--
-- What is wrong with a request is raised as a refusal, which tells the field;
-- anything else that is raised is an error of ours.

local core = require "tracegrip.core"
local jsontext = require "tracegrip.jsontext"
core.own()

local messages = {}

---------------------------------------------------------------------------
-- Numbers and messages
---------------------------------------------------------------------------

messages.status = {
  OK = 0, CONFLICT = 1, UNSUPPORTED_TYPE = 2, BAD_REQUEST = 3,
  INTERNAL_ERROR = 4, COMMAND_NOT_FOUND = 5, SERVICE_NOT_FOUND = 6,
  OUT_OF_MEMORY = 7, SERVICE_NOT_ENABLED = 8, SERVICE_ALREADY_ENABLED = 9
}

messages.commands = {
  StartProfiler = 1, StopProfiler = 2, GetEvents = 3, ReleaseSession = 4
}

messages.startModes = {IMMEDIATE = 1, URL = 2}

messages.modes = {
  ALL = 1, REDUCE_UNIQUE_TYPES = 2, REDUCE_UNIQUE_EVENTS = 3, REDUCE_ALL = 4
}

-- Those from 32 on are Lua's.
messages.eventTypes = {
  GENERIC = 1, PROCESS = 2, DOCUMENT_PARSING = 3, CSS_PARSING = 4,
  SCRIPT_COMPILATION = 5, SCRIPT_THREAD_EVALUATION = 6, REFLOW = 7,
  STYLE_RECALCULATION = 8, CSS_SELECTOR_MATCHING = 9, LAYOUT = 10, PAINT = 11,
  FUNCTION_CALL = 32, GARBAGE_COLLECTION = 33, MARKER = 34
}

-- Fields in the order of their numbers: name, kind, and whether the field is
-- required, optional or a list. A kind that is a table is an enumeration, one
-- that is another message's name is such a message.
messages.fields = {
  StartProfilerArg = {
    {"startMode", messages.startModes, "required"},
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
    {"mode", messages.modes, "optional"},
    {"eventID", "uint32", "optional"},
    {"maxDepth", "uint32", "optional"},
    {"eventTypeList", messages.eventTypes, "list"},
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
    {"type", messages.eventTypes, "required"},
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

---------------------------------------------------------------------------
-- Refusals
---------------------------------------------------------------------------

-- What a command raises, by refuse; anything else is a real error.
local Refusal = {}

-- Ends a command with a status.
local function refuse (status, message, ...)
  error(setmetatable({status = messages.status[status],
                      description = message:format(...)}, Refusal))
end

local function bad (message, ...)
  refuse("BAD_REQUEST", message, ...)
end

function messages.refusal (err)
  return getmetatable(err) == Refusal and err or nil
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
  for i, field in ipairs(messages.fields[name]) do
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
  for _, field in ipairs(messages.fields[name]) do
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
-- The list form of JSON
---------------------------------------------------------------------------

local write_message        -- function, defined below

local function write_value (kind, value)
  if type(value) == "string" then
    return jsontext.string(value)
  elseif type(value) == "number" then
    return jsontext.number(value)
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
  for i, field in ipairs(messages.fields[name]) do
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
  return messages.fields[kind] and named(kind, value) or value
end

-- A message's list with its fields by name. Further ones are those of a later
-- version, and mean nothing here.
function named (name, list)
  local fields = {}
  for i, field in ipairs(messages.fields[name]) do
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

messages.refuse, messages.bad = refuse, bad
messages.parse, messages.write = parse, write_message

function messages.read (name, fields)
  return read_message(name, fields, "")
end

return messages
