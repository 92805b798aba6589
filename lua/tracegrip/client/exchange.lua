-- exchange.lua - one connection of a client: requests go out, packets come in,
-- and whoever needs an answer waits for it.
--
-- A connection is one table, which exchange.new makes and client.lua gives its
-- methods. Each actor answers in order, so a request waits until those before
-- it to the same actor are answered. What comes goes into the inbox first:
-- who waits sees things happen one after the other.
--
--   exchange.new(options, class)      the table, not yet connected
--   exchange.open(self, callback)     connects and greets
--   exchange.ask(self, packet, is_reply, callback)
--                          sends it when its turn comes; callback(reply) or
--                          callback(nil, message, code)
--   exchange.wait(self, ready, exact) until ready() is true or it is closed
--   exchange.complete(self, callback, start)
--                          calls 'start' with the callback; without one waits
--   exchange.wake(self)    looks again whether somebody's wait is over
--   exchange.finish(self, message, code)    the end of it
--   exchange.shut(handle)  closes a handle of luv's, once
--   exchange.settle()      lets the loop let go of what is closed
--   exchange.anything      an 'is_reply': the next packet is the answer
--
-- self.tracers, by actor: what is attached. tracer:notice(packet) says whether
-- a packet was one of its own, or nil and what is wrong with it; tracer:lose(
-- message, code) tells it that the connection is closed.
--
-- Runs in luv's loop, on one thread. A failure ends the connection, with its
-- message and code.

local uv = require "luv"
local core = require "tracegrip.core"
local quietpipe = require "tracegrip.quietpipe"
local wire = require "tracegrip.wire"
core.own()

local TIMEOUT = 10
local MAX_LENGTH = 256 << 20
local GRACE = 200       -- ms to read what is there before it is a timeout

local exchange = {}

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
  self.inbox, self.queues, self.owed = {}, {}, 0
  shut(self.handle)
  shut(self.timer)
  shut(self.later)
  shut(self.pipe)
  local requests, tracers = self.requests, self.tracers
  self.requests, self.tracers = {}, {}
  for _, tracer in pairs(tracers) do
    tracer:lose(message, code)
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
  local queue = self.queues[actor]
  if not queue or queue.current then
    return
  end
  local request = table.remove(queue, 1)
  if request then
    queue.current = request
    self.owed = self.owed + 1
    write(self, request.bytes)
    watch(self)
  else
    self.queues[actor] = nil
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
  local queue = self.queues[packet.to] or {}
  self.queues[packet.to] = queue
  table.insert(queue, request)
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
  local queue = self.queues[packet.from]
  local request = queue and queue.current
  if not request then
    return false
  end
  local failed = packet.error ~= nil
  if not failed and not request.is_reply(packet) then
    return false
  end
  queue.current = nil
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

---------------------------------------------------------------------------
-- Packets that come
---------------------------------------------------------------------------

local function handle (self, packet)
  local tracer = self.tracers[packet.from]
  local taken, problem = false, nil
  if tracer then
    taken, problem = tracer:notice(packet)
  end
  if problem then
    finish(self, "the server sent " .. problem, "badPacket")
  elseif not taken and not answer(self, packet) then
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

function exchange.anything ()
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
        function (packet) return packet.type == "authenticated" end, done)
  end
  local owed = {callback = greeted, is_reply = exchange.anything}
  self.queues.root, self.requests, self.owed = {current = owed}, {owed}, 1
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

-- A connection that has nothing to do yet; 'options' are connect's, checked.
function exchange.new (options, class)
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
    decoder = wire.decoder {maxLength = options.maxLength or MAX_LENGTH,
                            bulk = true},
    inbox = {}, at = 1,       -- packets that came; the next one
    queues = {},               -- by actor: requests to it, 'current' answered
                              -- next, the others not yet sent
    requests = {},            -- all of them, in order
    owed = 0,                 -- how many answers
    tracers = {},             -- by actor: what is attached
    waiters = {},             -- coroutines
    strays = 0,               -- packets that nobody asked for
    closed = false,
  }, class)
end

function exchange.open (self, callback)
  greet(self, callback)
  watch(self)
  local start = self.path and connect_unix or connect_tcp
  start(self)
end

exchange.wake, exchange.wait, exchange.complete = wake, wait, complete
exchange.finish, exchange.settle, exchange.shut = finish, settle, shut
exchange.ask = ask

return exchange
