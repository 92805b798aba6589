-- console.lua - what the program says by tracegrip.console, told to debuggers
-- as Runtime.consoleAPICalled.
--
--   console.hear(co)               it has said something; the last method
--   console.log(place, ...)        says it for the program; place: a frame of a
--                                  stack trace
--   console.complain(place, text)  an error of a debugger's own; place: nil if
--                                  it is not known
--   console.replay(session)        tells it what was said before it came
--   console.pace(session, behind)  it does not read what it is sent, or does
--                                  again
--   console.clear()                all is forgotten
--   console.leave(session)         it wants to hear no more, or is gone
--
-- The last messages are kept with their values, as V8 keeps them: a debugger
-- that comes later is shown them, and can open what is in them. What a message
-- has shown is let go of with it.
--
-- A program never waits for a debugger that reads too slowly: such a one misses
-- messages, and is told how many.

local core = require "tracegrip.core"
local objects = require "tracegrip.inspect.objects"
local sessions = require "tracegrip.inspect.sessions"
local stacktrace = require "tracegrip.inspect.stacktrace"
local values = require "tracegrip.inspect.values"
local wire = require "tracegrip.wire"
core.own()

local CONTEXT = 1
local GROUP = "console"
local KEPT = 1000               -- messages, and bytes of strings in them, as V8
local KEPT_BYTES = 10 << 20
local FRAMES = 200              -- of a message's stack, as in V8

local console = {}

local types = {
  log = "log", info = "info", debug = "debug", warn = "warning",
  error = "error", assert = "assert", table = "table", trace = "trace",
  group = "startGroup", groupCollapsed = "startGroupCollapsed",
  groupEnd = "endGroup", count = "count", timeLog = "log", timeEnd = "timeEnd"
}

-- What V8 has such a method say if it is given nothing.
local unsaid = {assert = true, trace = true, group = true,
                groupCollapsed = true, groupEnd = true}

-- A queue: messages[first] to messages[last].
local messages, first, last, bytes = {}, 1, 0, 0

---------------------------------------------------------------------------
-- Telling
---------------------------------------------------------------------------

local function describe (message, value)
  if message.type ~= "table" then
    return values.text(value, GROUP)
  end
  local object = values.table(value, GROUP)
  return wire.json(object), object.objectId
end

-- The arguments as remote objects, whose ids are noted: they go with the
-- message, or with the debugger.
local function arguments (message, client)
  local list, ids = {}, message.ids[client] or {}
  values.fresh()
  for i = 1, message.n do
    list[i], ids[#ids + 1] = describe(message, message[i])
  end
  message.ids[client] = ids
  return table.concat(list, ",")
end

-- Most of such an event is the same each time, and a program may log a hundred
-- thousand times a second: its text is put together of those of its parts.
local EVENT = '{"method":"Runtime.consoleAPICalled","params":{"args":[%s],'
              .. '"executionContextId":%d,"stackTrace":%s,'
              .. '"timestamp":%d.%03d,"type":"%s"}}'

local function send (session, message)
  local ms = math.floor(message.time * 1000)    -- microseconds, in fact
  return core.inspector.send(session.client, string.format(
    EVENT, arguments(message, session.client), CONTEXT,
    stacktrace.text(message.stack), ms // 1000, ms % 1000, message.type), true)
end

local function missed (n)
  local text = "%d messages of the console were left out: "
               .. "the debugger did not read them in time"
  return {type = "warning", time = core.inspector.now(), stack = {}, ids = {},
          n = 1, string.format(text, n)}
end

local function tell (session, message)
  if session.missed > 0 and not session.behind
     and send(session, missed(session.missed)) then
    session.missed = 0
  end
  if session.missed > 0 or session.behind or not send(session, message) then
    session.missed = session.missed + 1
  end
end

function console.pace (session, behind)
  session.behind = behind
  if not behind and session.missed > 0
     and send(session, missed(session.missed)) then
    session.missed = 0
  end
end

---------------------------------------------------------------------------
-- Keeping
---------------------------------------------------------------------------

local function forget_oldest ()
  local message = messages[first]
  messages[first] = nil
  first, bytes = first + 1, bytes - message.bytes
  for _, ids in next, message.ids do
    for _, id in ipairs(ids) do
      objects.release(id)
    end
  end
end

local function keep (message)
  last = last + 1
  messages[last], bytes = message, bytes + message.bytes
  while last - first >= KEPT or bytes > KEPT_BYTES and first < last do
    forget_oldest()
  end
end

-- A message as C has made it (csrc/inspect/console.h).
local function take (message, stack)
  if message.n == 0 and unsaid[message.method] then
    message.n, message[1] = 1, "console." .. message.method
  end
  message.type, message.ids = types[message.method], {}
  message.stack = stack
  keep(message)
  sessions.each("runtime", function (session)
    tell(session, message)
  end)
end

-- What was said while nobody listened has a place and no stack.
local function stack_of (message, co)
  return message.source and {message}
         or co and stacktrace.capture(co, FRAMES) or {}
end

function console.hear (co)
  local message, method = core.inspector.said(), nil
  while message do
    take(message, stack_of(message, co))
    method = message.method
    message = core.inspector.said()
  end
  return method
end

function console.log (place, ...)
  local message = table.pack(...)
  message.method, message.bytes = "log", 0
  message.time = core.inspector.now()
  take(message, {place})
end

function console.complain (place, text)
  take({text, n = 1, bytes = #text, method = "error",
        time = core.inspector.now()}, {place})
end

-- Before it is one of those who are told of the rest.
function console.replay (session)
  console.hear()
  for i = first, last do
    tell(session, messages[i])
  end
  core.inspector.listened(true)
end

function console.clear ()
  console.hear()
  while first <= last do
    forget_oldest()
  end
end

function console.leave (session)
  for i = first, last do
    for _, id in ipairs(messages[i].ids[session.client] or {}) do
      objects.release(id)
    end
    messages[i].ids[session.client] = nil
  end
  session.runtime = false
  core.inspector.listened(sessions.any "runtime")
end

return console
