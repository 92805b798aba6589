-- client.lua - tracegrip.client: traces of a program that runs elsewhere, over
-- a socket (docs/protocol.md).
--
--   local client = require "tracegrip.client"
--   local connection = assert(client.connect {host = "127.0.0.1", port = 6006})
--   local tracer = assert(connection:attach())
--   local trace = assert(tracer:startTrace {trace = {"name", "time"}})
--   for packet in trace:packets() do print(packet.type, packet.name) end
--
-- connect's options:
--   host, port    of a TCP socket; the host is 127.0.0.1 if there is none
--   path          of a Unix socket instead
--   token         what the server wants to be told first
--   timeout       seconds that it may be silent while it owes an answer (10)
--   maxLength     bytes that one packet may have (256 MiB)
--
-- A Connection:
--   hello         the first packet of the server
--   listTabs()    {selected = n, tabs = {...}}: a tab for each Lua state
--   attach(tab)   Tracer. tab: one of those, its number from 1 on, or the
--                 name of an actor; without it the one that is selected
--   echo(packet)  the same packet
--   requestTypes(actor)    list of the requests that an actor knows
--   request(packet)        the reply to any packet with "to" and "type"
--   snapshot(tab, on)      a heap snapshot of the program: on.bytes(bytes) gets
--                 the file piece by piece and returns true, or nil, message to
--                 end it; on.result(result) before that. Returns the result:
--                 objects, bytes, state_bytes, garbage, stopped_ms, tries
--   run(seconds)  does what there is to do for so long, or until it is closed
--   close()
--   closed        true once it is; 'message' and 'code' if that is an error
-- A Tracer: what is attached to.
--   traceTypes    list of the types that there are
--   startTrace(fields)     Trace. fields: name, trace (types), batch, and the
--                          options of tracegrip.start
--   stopTrace(name)        the Trace; without a name the latest one
--   detach()      true; the program goes on, untraced
--   trace(name)   the active Trace of that name
--   attached      false once it is detached or the connection is closed
--   onframe, onstart, onstop   called with each frame packet in sequence; with
--                 each Trace before its first packet and when it has ended. The
--                 program starts and stops traces too (tracegrip.console).
-- A Trace: see router.lua.
--   name, types, started, active, why, message, code
--   packets()     iterator of its packets, which waits for more until it ends
--   wait()        true when it has ended
--   onframe, onstop
--
-- Each of these functions takes, as its last argument, a function to call with
-- what it would return; then it returns at once, and the event loop of luv,
-- which the program runs, does the rest. Without that function it waits: in a
-- coroutine that the loop runs by yielding, else by running the loop.
--
-- Failure: nil, message, code. The code is the server's ("wrongState",
-- "noSuchTrace" ...), or the system's ("ECONNREFUSED"), or "closed" (the
-- connection ended), "timeout", "badPacket" (what came is not this protocol),
-- "noSuchTab". A connection that fails ends everything on it: whoever waits is
-- told, and every trace ends with 'why' "closed", message and code.

local uv = require "luv"
local core = require("tracegrip.installed").core
local exchange = require "tracegrip.client.exchange"
local snapshot = require "tracegrip.client.snapshot"
local tracer = require "tracegrip.client.tracer"
core.own()

local client = {}

client.defaultTypes = tracer.defaultTypes

local Connection = {__name = "tracegrip.client.connection"}
Connection.__index = Connection

local expected = {
  host = "string", port = "number", path = "string", token = "string",
  timeout = "number", maxLength = "number"
}

local function check_options (options)
  if type(options) ~= "table" then
    error("bad argument #1 to 'connect' (table expected)", 3)
  end
  for key, value in pairs(options) do
    if not expected[key] then
      error(("unknown option '%s' (known: host, maxLength, path, port, "
             .. "timeout, token)"):format(tostring(key)), 3)
    elseif type(value) ~= expected[key] then
      error(("option '%s' must be a %s"):format(key, expected[key]), 3)
    end
  end
  local port = options.port and math.tointeger(options.port)
  if not options.path and not (port and port > 0 and port < 65536) then
    error("option 'port' must be a number from 1 to 65535, or 'path' given", 3)
  end
end

-- Connection | nil, message, code
function client.connect (options, callback)
  check_options(options)
  local self = exchange.new(options, Connection)
  return exchange.complete(self, callback, function (done)
    exchange.open(self, done)
  end)
end

---------------------------------------------------------------------------
-- The connection's requests
---------------------------------------------------------------------------

-- Any request; the next packet from its actor that is no notification is taken
-- for the reply.
function Connection:request (packet, callback)
  if type(packet) ~= "table" or type(packet.to) ~= "string" then
    error("bad argument #1 to 'request' (packet with a 'to' expected)", 2)
  end
  return exchange.complete(self, callback, function (done)
    exchange.ask(self, packet, exchange.anything, done)
  end)
end

function Connection:listTabs (callback)
  return exchange.complete(self, callback, function (done)
    exchange.ask(self, {to = "root", type = "listTabs"}, function (packet)
      return tracer.is_list(packet.tabs)
    end, done)
  end)
end

function Connection:echo (packet, callback)
  local copy = {}
  for key, value in pairs(packet) do
    copy[key] = value
  end
  copy.to, copy.type = "root", "echo"
  return self:request(copy, callback)
end

function Connection:requestTypes (actor, callback)
  return exchange.complete(self, callback, function (done)
    local request = {to = actor or "root", type = "requestTypes"}
    exchange.ask(self, request, function (reply)
      return tracer.is_list(reply.requestTypes)
    end, function (packet, ...)
      done(packet and packet.requestTypes, ...)
    end)
  end)
end

local function attach_actor (self, actor, done)
  if type(actor) ~= "string" then
    return done(nil, "there is no such tab", "noSuchTab")
  end
  exchange.ask(self, {to = actor, type = "attach"}, tracer.typed "attached",
      function (packet, message, code)
    if not packet then
      return done(nil, message, code)
    end
    self.tracers[actor] = tracer.new(self, actor, packet.traceTypes)
    done(self.tracers[actor])
  end)
end

-- The tab in a list of them: the number from 1 on, or the one selected.
local function choose (reply, number)
  local selected = math.tointeger(reply.selected) or 0
  local tab = reply.tabs[number or selected + 1]
  return type(tab) == "table" and tab.traceActor or nil
end

-- Tracer | nil, message, code
function Connection:attach (tab, callback)
  if type(tab) == "function" then
    tab, callback = nil, tab
  end
  return exchange.complete(self, callback, function (done)
    if type(tab) == "string" then
      return attach_actor(self, tab, done)
    elseif type(tab) == "table" then
      return attach_actor(self, tab.traceActor, done)
    end
    self:listTabs(function (reply, message, code)
      if not reply then
        return done(nil, message, code)
      end
      attach_actor(self, choose(reply, tab), done)
    end)
  end)
end

-- result | nil, message, code. tab: as listTabs has it.
function Connection:snapshot (tab, on, callback)
  if type(tab) ~= "table" then
    error("bad argument #1 to 'snapshot' (a tab of listTabs expected)", 2)
  elseif type(on) ~= "table" or type(on.bytes) ~= "function" then
    error("bad argument #2 to 'snapshot' (a table with a function 'bytes' "
          .. "expected)", 2)
  end
  return exchange.complete(self, callback, function (done)
    if type(tab.heapActor) ~= "string" then
      return done(nil, "the server there takes no heap snapshots: it is "
                  .. "another's, or an older tracegrip's", "noSuchActor")
    end
    snapshot.take(self, tab.heapActor, on, done)
  end)
end

-- Does what there is to do for so many seconds; without a number, until the
-- connection is closed. true | nil, message, code if it is.
function Connection:run (seconds)
  local over = false
  local timer
  if seconds then
    timer = uv.new_timer()
    timer:start(math.ceil(seconds * 1000), 0, function ()
      over = true
      timer:close()
      exchange.wake(self)
    end)
  end
  exchange.wait(self, function () return over or self.closed end)
  exchange.shut(timer)
  if self.closed then
    exchange.settle()
    return nil, self.message or "the connection is closed",
           self.code or "closed"
  end
  return true
end

-- Ends it. Traces that run stop, in the program too.
function Connection:close ()
  exchange.finish(self)
  exchange.settle()
end

Connection.__close = Connection.close

return client
