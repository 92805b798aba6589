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
-- A Trace: see frames.lua.
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
local core = require "tracegrip.core"
local frames = require "tracegrip.client.frames"
local quietpipe = require "tracegrip.quietpipe"
local wire = require "tracegrip.wire"
core.own()

local TIMEOUT = 10
local MAX_LENGTH = 256 << 20
local GRACE = 200       -- ms to read what is there before it is a timeout

local client = {}

-- What a trace has that is not told what it should have.
client.defaultTypes = {
  "name", "callsite", "time", "parameterNames", "arguments", "return",
  "throw", "yield"
}

local Connection = {__name = "tracegrip.client.connection"}
Connection.__index = Connection

local Tracer = {__name = "tracegrip.client.tracer"}
Tracer.__index = Tracer

---------------------------------------------------------------------------
-- Waiting
---------------------------------------------------------------------------

local pump, settle

-- Goes on with every coroutine that has what it waits for. One of them may
-- make others go on, so the list is looked at anew each time.
local function wake (self)
  local i = 1
  while i <= #self.waiters do
    local waiter = self.waiters[i]
    if waiter.ready() then
      table.remove(self.waiters, i)
      local ok, err = coroutine.resume(waiter.co)
      if not ok then
        error(debug.traceback(waiter.co, tostring(err)), 0)
      end
      i = 1
    else
      i = i + 1
    end
  end
end

-- Runs the loop until ready(). If 'exact' what came behind the packet that made
-- it so is left for later: who waits sees things happen in order.
local function run_until (self, ready, exact)
  self.blocking, self.awaited = true, exact and ready
  while not ready() do
    pump(self)
    if not ready() then
      uv.run "once"
    end
    if self.raised then
      local err = self.raised
      self.raised, self.blocking, self.awaited = nil, false, nil
      error(err, 0)
    end
  end
  self.blocking, self.awaited = false, nil
  if self.closed then
    settle()
  elseif #self.inbox > 0 then
    self.later:start(0, 0, function () pump(self) end)
  end
end

local function wait (self, ready, exact)
  if ready() then
    return
  elseif not uv.loop_mode() then
    run_until(self, ready, exact)
  elseif coroutine.isyieldable() then
    table.insert(self.waiters, {co = coroutine.running(), ready = ready})
    coroutine.yield()
  else
    error("the loop is running: wait in a coroutine, or give a callback", 3)
  end
end

-- Calls 'start' with the callback; without one waits for what it would get.
local function complete (self, callback, start)
  if callback then
    return start(callback)
  end
  local result
  start(function (...) result = table.pack(...) end)
  wait(self, function () return result ~= nil end, true)
  return table.unpack(result, 1, result.n)
end

---------------------------------------------------------------------------
-- The end
---------------------------------------------------------------------------

local function shut (handle)
  if handle and not handle:is_closing() then
    handle:close()
  end
end

-- Has the loop let go of handles that are closed. luv does not survive it if
-- the program ends before that.
function settle ()
  if not uv.loop_mode() then
    uv.run "nowait"
  end
end

-- Everything on this connection ends, with an error or because it was closed.
-- First all is made so, then all are told.
local function finish (self, message, code)
  if self.closed then
    return
  end
  self.closed, self.message, self.code = true, message, code
  self.inbox, self.lanes, self.owed = {}, {}, 0
  shut(self.handle)
  shut(self.timer)
  shut(self.later)
  shut(self.pipe)
  local requests, tracers = self.requests, self.tracers
  self.requests, self.tracers = {}, {}
  for _, tracer in pairs(tracers) do
    tracer.attached = false
    tracer.frames:close("closed", message, code)
  end
  for _, request in ipairs(requests) do
    request.callback(nil, message or "the connection is closed",
                     code or "closed")
  end
  wake(self)
end

local words = {
  ECONNREFUSED = "nobody listens there", ENOENT = "there is no such socket",
  EACCES = "permission denied", ETIMEDOUT = "no answer",
  ECONNRESET = "the other side has ended it", EPIPE = "the other side has "
  .. "ended it", EAI_NONAME = "there is no such host",
  EHOSTUNREACH = "there is no way to that host"
}

-- luv says "ECONNREFUSED", or that and more.
local function fail (self, what, err)
  local code = tostring(err):match("^%u[%u_]*")
  finish(self, ("%s: %s"):format(what, words[code] or err), code or "closed")
end

---------------------------------------------------------------------------
-- Requests
---------------------------------------------------------------------------

-- An answer is owed: it may take a while, but not in silence.
local function watch (self)
  self.overdue = false
  self.timer:stop()
  if self.owed == 0 then
    return
  end
  self.timer:start(math.ceil(self.timeout * 1000), GRACE, function ()
    if self.overdue then
      finish(self, ("no answer within %g seconds"):format(self.timeout),
             "timeout")
    end
    self.overdue = true     -- first look at what has come meanwhile
  end)
end

local function write (self, bytes)
  self.handle:write(bytes, function (err)
    if err then
      fail(self, "the connection is lost", err)
    end
  end)
end

-- Sends an actor's next request, if it owes no answer.
local function send_next (self, actor)
  local lane = self.lanes[actor]
  if not lane or lane.current then
    return
  end
  local request = table.remove(lane, 1)
  if request then
    lane.current = request
    self.owed = self.owed + 1
    write(self, request.bytes)
    watch(self)
  else
    self.lanes[actor] = nil
  end
end

-- Sends a packet when its turn comes. 'is_reply' tells whether a packet from
-- that actor which is no error is the answer.
local function ask (self, packet, is_reply, callback)
  if self.closed then
    return callback(nil, self.message or "the connection is closed",
                    self.code or "closed")
  end
  local request = {bytes = wire.encode(packet), is_reply = is_reply,
                   callback = callback}
  local lane = self.lanes[packet.to] or {}
  self.lanes[packet.to] = lane
  table.insert(lane, request)
  table.insert(self.requests, request)
  send_next(self, packet.to)
end

local function remove (list, item)
  for i, one in ipairs(list) do
    if one == item then
      return table.remove(list, i)
    end
  end
end

local function string_or (value, other)
  return type(value) == "string" and value or other
end

-- Takes a packet that may be an answer; false if it is none that is owed.
local function answer (self, packet)
  local lane = self.lanes[packet.from]
  local request = lane and lane.current
  if not request then
    return false
  end
  local failed = packet.error ~= nil
  if not failed and not request.is_reply(packet) then
    return false
  end
  lane.current = nil
  self.owed = self.owed - 1
  remove(self.requests, request)
  watch(self)
  if failed then
    local code = string_or(packet.error, "unknownError")
    request.callback(nil, string_or(packet.message, code), code)
  else
    request.callback(packet)
  end
  if not self.closed then
    send_next(self, packet.from)
  end
  return true
end

local function typed (name)
  return function (packet)
    return packet.type == name
  end
end

-- Notifications have the same type, but another 'why'.
local function requested (name)
  return function (packet)
    return packet.type == name and packet.why == "requested"
  end
end

local function is_list (value)
  return type(value) == "table" and (#value > 0 or next(value) == nil)
end

---------------------------------------------------------------------------
-- Packets that come
---------------------------------------------------------------------------

-- What an attached actor says of its own accord, by type: each returns nil and
-- what is wrong with a packet that makes no sense.
local notices = {}

function notices.enteredFrame (tracer, packet)
  packet.from = nil
  return tracer.frames:frame(packet)
end

notices.exitedFrame = notices.enteredFrame

local function is_frame (packet)
  return type(packet) == "table" and (packet.type == "enteredFrame"
                                      or packet.type == "exitedFrame")
end

function notices.traces (tracer, packet)
  if not is_list(packet.traces) then
    return nil, "a batch without frames"
  end
  for _, event in ipairs(packet.traces) do
    local ok, problem = is_frame(event), "a batch of something else"
    if ok then
      ok, problem = tracer.frames:frame(event)
    end
    if not ok then
      return nil, problem
    end
  end
  return true
end

-- Anything may be there.
local function why_of (packet)
  return type(packet.why) == "string" and packet.why or nil
end

function notices.startedTrace (tracer, packet)
  if type(packet.name) ~= "string" then
    return nil, "a trace without a name"
  end
  local types = is_list(packet.tracing) and packet.tracing
                or client.defaultTypes
  tracer.frames:start(packet.name, types, why_of(packet))
  return true
end

-- One that nobody knows has ended before: by detach, which is told first.
function notices.stoppedTrace (tracer, packet)
  if type(packet.name) ~= "string" then
    return nil, "a trace without a name"
  end
  tracer.frames:stop(packet.name, why_of(packet))
  return true
end

local function is_notice (packet)
  return notices[packet.type] and packet.error == nil
         and packet.why ~= "requested"
end

local function handle (self, packet)
  local tracer = self.tracers[packet.from]
  if tracer and is_notice(packet) then
    local ok, problem = notices[packet.type](tracer, packet)
    if not ok then
      return finish(self, "the server sent " .. problem, "badPacket")
    end
  elseif not answer(self, packet) then
    self.strays = self.strays + 1
  end
end

-- Deals with what has come, up to what somebody waits for.
function pump (self)
  local inbox = self.inbox
  while self.at <= #inbox do
    if self.awaited and self.awaited() then
      return
    end
    local packet = inbox[self.at]
    inbox[self.at] = false
    self.at = self.at + 1
    handle(self, packet)
    wake(self)
    if self.closed then
      return
    end
  end
  self.inbox, self.at = {}, 1
end

-- Errors of callbacks do not belong into the loop while somebody waits: they
-- are his.
local function guarded_pump (self)
  if not self.blocking then
    return pump(self)
  end
  local ok, err = pcall(pump, self)
  if not ok then
    self.raised = err
  end
end

local function receive (self, bytes)
  local list, problem, whole = self.decoder:feed(bytes)
  table.move(list or whole, 1, #(list or whole), #self.inbox + 1, self.inbox)
  if self.owed > 0 then
    watch(self)
  end
  guarded_pump(self)
  if problem and not self.closed then
    finish(self, "the server sent " .. problem, "badPacket")
  end
end

local function on_read (self)
  return function (err, bytes)
    if self.closed then
      return
    elseif err then
      fail(self, "the connection is lost", err)
    elseif bytes then
      receive(self, bytes)
    else
      finish(self, "the server has closed the connection", "closed")
    end
  end
end

---------------------------------------------------------------------------
-- Connecting
---------------------------------------------------------------------------

local function anything ()
  return true
end

-- The server speaks first: its greeting is an answer that is owed from the
-- beginning. With a token the first thing that it hears is that.
local function greet (self, callback)
  local function done (reply, message, code)
    if not reply then
      finish(self, message, code)
    end
    callback(reply and self, message, code)
  end
  local function greeted (hello, message, code)
    self.hello = hello
    if not hello or not self.token then
      return done(hello, message, code)
    end
    ask(self, {to = "root", type = "authenticate", token = self.token},
        typed "authenticated", done)
  end
  local owed = {callback = greeted, is_reply = anything}
  self.lanes.root, self.requests, self.owed = {current = owed}, {owed}, 1
end

local function connected (self)
  return function (err)
    if self.closed then
      return
    elseif err then
      return fail(self, "cannot connect to " .. self.address, err)
    end
    if not self.path then
      self.handle:nodelay(true)
      self.handle:keepalive(true, 60)
    end
    self.handle:read_start(on_read(self))
  end
end

-- Whether luv took the order; if not, that is how it ends.
local function ordered (self, ok, err)
  if not ok then
    fail(self, "cannot connect to " .. self.address, err)
  end
end

-- One address after the other: "localhost" may be two.
local function try (self, list, i)
  self.handle = uv.new_tcp()
  ordered(self, self.handle:connect(list[i].addr, self.port, function (err)
    if err and list[i + 1] and not self.closed then
      shut(self.handle)
      return try(self, list, i + 1)
    end
    connected(self)(err)
  end))
end

local function connect_tcp (self)
  ordered(self, uv.getaddrinfo(self.host, nil, {socktype = "stream"},
                               function (err, list)
    if self.closed then
      return
    elseif err then
      return fail(self, "cannot connect to " .. self.address, err)
    end
    try(self, list, 1)
  end))
end

local function connect_unix (self)
  self.handle = uv.new_pipe(false)
  ordered(self, self.handle:connect(self.path, connected(self)))
end

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

local function new_connection (options)
  local host = options.host or "127.0.0.1"
  return setmetatable({
    host = host, port = math.tointeger(options.port or 0), path = options.path,
    address = options.path and "unix:" .. options.path
              or ("%s:%d"):format(host, options.port),
    token = options.token,
    timeout = options.timeout or TIMEOUT,
    handle = nil,             -- the socket
    timer = uv.new_timer(),
    later = uv.new_timer(),   -- to go on with what is in the inbox
    pipe = quietpipe(),
    decoder = wire.decoder {maxLength = options.maxLength or MAX_LENGTH},
    inbox = {}, at = 1,       -- packets that came; the next one
    lanes = {},               -- by actor: requests to it, 'current' answered
                              -- next, the others not yet sent
    requests = {},            -- all of them, in order
    owed = 0,                 -- how many answers
    tracers = {},             -- by actor: what is attached
    waiters = {},             -- coroutines
    strays = 0,               -- packets that nobody asked for
    closed = false,
  }, Connection)
end

-- Connection | nil, message, code
function client.connect (options, callback)
  check_options(options)
  local self = new_connection(options)
  return complete(self, callback, function (done)
    greet(self, done)
    watch(self)
    local start = self.path and connect_unix or connect_tcp
    start(self)
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
  return complete(self, callback, function (done)
    ask(self, packet, anything, done)
  end)
end

function Connection:listTabs (callback)
  return complete(self, callback, function (done)
    ask(self, {to = "root", type = "listTabs"}, function (packet)
      return is_list(packet.tabs)
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
  return complete(self, callback, function (done)
    ask(self, {to = actor or "root", type = "requestTypes"}, function (packet)
      return is_list(packet.requestTypes)
    end, function (packet, ...)
      done(packet and packet.requestTypes, ...)
    end)
  end)
end

local function new_tracer (connection, actor, types)
  local tracer = {
    connection = connection,
    actor = actor,
    traceTypes = is_list(types) and types or {},
    attached = true,
  }
  local function call (name)
    return function (...)
      if tracer[name] then
        tracer[name](...)
      end
    end
  end
  tracer.frames = frames.new(function (ready)
    wait(connection, ready, false)
  end)
  tracer.frames.onstart, tracer.frames.onstop = call "onstart", call "onstop"
  return setmetatable(tracer, Tracer)
end

-- Frames are only dealt out twice if somebody wants them twice.
Tracer.__newindex = function (self, key, value)
  if key == "onframe" then
    self.frames.onframe = value
  else
    rawset(self, key, value)
  end
end

local function attach_actor (self, actor, done)
  if type(actor) ~= "string" then
    return done(nil, "there is no such tab", "noSuchTab")
  end
  ask(self, {to = actor, type = "attach"}, typed "attached",
      function (packet, message, code)
    if not packet then
      return done(nil, message, code)
    end
    local tracer = new_tracer(self, actor, packet.traceTypes)
    self.tracers[actor] = tracer
    done(tracer)
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
  return complete(self, callback, function (done)
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
      wake(self)
    end)
  end
  wait(self, function () return over or self.closed end)
  shut(timer)
  if self.closed then
    settle()
    return nil, self.message or "the connection is closed",
           self.code or "closed"
  end
  return true
end

-- Ends it. Traces that run stop, in the program too.
function Connection:close ()
  finish(self)
  settle()
end

Connection.__close = Connection.close

---------------------------------------------------------------------------
-- The tracer's requests
---------------------------------------------------------------------------

local function request_of (self, kind, fields)
  local packet = {}
  for key, value in pairs(fields or {}) do
    packet[key] = value
  end
  packet.to, packet.type = self.actor, kind
  if type(packet.trace) == "table" and #packet.trace == 0 then
    packet.trace = wire.array()
  end
  return packet
end

-- Trace | nil, message, code
function Tracer:startTrace (fields, callback)
  if type(fields) == "function" then
    fields, callback = nil, fields
  end
  local packet = request_of(self, "startTrace", fields)
  return complete(self.connection, callback, function (done)
    ask(self.connection, packet, requested "startedTrace",
        function (reply, message, code)
      if not reply then
        return done(nil, message, code)
      end
      local types = packet.trace or client.defaultTypes
      done(self.frames:start(tostring(reply.name), types, "requested"))
    end)
  end)
end

-- Trace, which has ended | nil, message, code
function Tracer:stopTrace (name, callback)
  if type(name) == "function" then
    name, callback = nil, name
  end
  local packet = request_of(self, "stopTrace", {name = name})
  return complete(self.connection, callback, function (done)
    ask(self.connection, packet, requested "stoppedTrace",
        function (reply, message, code)
      if not reply then
        return done(nil, message, code)
      end
      local trace = self.frames:stop(tostring(reply.name), "requested")
      done(trace, not trace and "a trace that nobody started" or nil,
           not trace and "badPacket" or nil)
    end)
  end)
end

-- true | nil, message, code. Every trace has ended then.
function Tracer:detach (callback)
  return complete(self.connection, callback, function (done)
    ask(self.connection, request_of(self, "detach"), typed "detached",
        function (reply, message, code)
      if not reply then
        return done(nil, message, code)
      end
      self.attached = false
      self.frames:close("detached")
      done(true)
    end)
  end)
end

-- The active trace of that name.
function Tracer:trace (name)
  for _, trace in ipairs(self.frames.traces) do
    if trace.name == name then
      return trace
    end
  end
end

return client
