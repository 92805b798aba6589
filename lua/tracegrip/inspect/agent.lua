-- agent.lua - what a debugger says, and what it is answered: one end of the
-- Chrome DevTools Protocol, inside of the program that is debugged.
--
-- The C side (csrc/inspect/agent.h) calls the function that this file returns,
-- on a coroutine of ours, at a safe point of 'co', with
--   "attend"                    there are messages
--   "visit"                     the same, while the program waits in C
--                               (resting.lua)
--   "wait"                      the program is to begin when a debugger says so
--   "source", source            a function of a source that was never met
--   "stop", func, source, line, hit, stepped, changed
--                               a breakpoint, the end of a step, a change of
--                               what is watched; the innermost frame is of that
--                               function, in the source of that number
--   "changed", level            what is watched was changed by the frame of
--                               that level, or by a function of C that it calls
--   "pause"                     the program asks to be stopped
--   "say"                       it has called a method of the console
--   "error", value, level, uncaught
--                               an error was raised in the frame of that level,
--                               which is still there; 'co' may be dead
--   "uncaught", value, level    the same of one that ends the program
--
-- Failure: what a debugger cannot have is an error in its reply; an error of
-- ours becomes one too, and the program goes on.

local core = require "tracegrip.core"
local adapting = require "tracegrip.inspect.adapting"
local console = require "tracegrip.inspect.console"
local debugger = require "tracegrip.inspect.debugger"
local heap = require "tracegrip.inspect.heap"
local objects = require "tracegrip.inspect.objects"
local pausing = require "tracegrip.inspect.pausing"
local profiler = require "tracegrip.inspect.profiler"
local protocol = require "tracegrip.inspect.protocol"
local requests = require "tracegrip.inspect.requests"
local resting = require "tracegrip.inspect.resting"
local runtime = require "tracegrip.inspect.runtime"
local sessions = require "tracegrip.inspect.sessions"
local values = require "tracegrip.inspect.values"
local wire = require "tracegrip.wire"
core.own()

local inspector = core.inspector
local domains = {Debugger = debugger.methods, HeapProfiler = heap.methods,
                 Lua = adapting.methods, Profiler = profiler.methods,
                 Runtime = runtime.methods}

local methods = {}
for name in next, protocol.commands do
  local domain, method = string.match(name, "^(%w+)%.(%w+)$")
  methods[name] = assert(domains[domain][method], name)
end

---------------------------------------------------------------------------
-- Messages
---------------------------------------------------------------------------

local function reply (client, message)
  inspector.send(client, wire.json(message))
end

local function handle (client, text, co)
  local request, refusal = requests.read(text, methods)
  if not request then
    reply(client, refusal)
  elseif resting.postpones(request.method, request.params) then
    resting.keep(client, text)
  else
    local session = sessions.of(client)
    values.fresh()
    heap.heed(session, request.method)
    reply(client, requests.perform(request, methods[request.method], session,
                                   co))
  end
end

local function leave (client)
  resting.forget(client)
  debugger.leave(sessions.of(client))
  console.leave(sessions.of(client))
  profiler.leave(sessions.of(client))
  heap.leave(sessions.of(client))
  sessions.remove(client)
  if #sessions.clients() == 0 then
    objects.release_all()
    heap.release()
  end
end

local hears = false

-- Once somebody listens and the main chunk is running.
local function hear_of_errors ()
  hears = hears or sessions.any "runtime" and core.inspector.uncaught()
end

-- The next message, waited for or not; false: there is none. A server that has
-- gone, as in a forked child, takes all debuggers with it.
local function serve (co, wait)
  local client, text = inspector.receive(wait)
  if type(text) == "boolean" then
    console.pace(sessions.of(client), text)
    heap.tick(sessions.of(client))
  elseif client and text then
    handle(client, text, co)
    hear_of_errors()
  elseif client then
    leave(client)
  elseif wait then
    for _, one in ipairs(sessions.clients()) do
      leave(one)
    end
  end
  return client ~= nil
end

function pausing.serve (co)
  return serve(co, true)
end

---------------------------------------------------------------------------
-- What the agent is called for
---------------------------------------------------------------------------

local calls = {}

function calls.attend (co)
  while serve(co, false) do end
end

function calls.visit (co)
  while serve(co, false) do end
  resting.finish(co)
end

-- Whether the program is to wait on.
function calls.wait (co)
  while not runtime.released and serve(co, false) do end
  if runtime.released and runtime.stops and sessions.any "debugger" then
    debugger.begin(co)
  end
  return not runtime.released
end

function calls.source (co, source)
  debugger.met(co, source)
end

function calls.say (co)
  return console.hear(co) == "assert" and debugger.asserted(co)
end

calls.stop = debugger.reached
calls.changed = debugger.changed
calls.pause = debugger.halt
calls.error = debugger.thrown
calls.uncaught = runtime.uncaught

return function (kind, co, ...)
  resting.begin(kind == "visit")
  return calls[kind](co, ...)
end
