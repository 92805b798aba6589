-- connection.lua - one client of the server: its packets in, its packets out.
--
-- What it asks for is worked on by a coroutine of its own, one request after
-- the other. send waits there until the client has taken most of what was sent
-- before: a client that does not read is not read from, and nothing is encoded
-- for it. Between requests the coroutine asks the client's actors whether there
-- is something to tell, often while one is tracing. However much there is to
-- do, it works for some milliseconds at a time: then the loop turns, and others
-- have theirs.
--
--   connection.new(server, handle, options)   a connection, greeted. options:
--                           token; patience, ms that it may take nothing of
--                           what was sent
--   connection:wake()       there may be something to do
--   connection:finish(ms, telling)    answers no more and ends, in 'ms' at the
--                           latest, nil: as long as the client takes what was
--                           sent; 'telling': when all traces are told
--   connection:take_turns() called in the middle of long work for it: lets the
--                           others have theirs
--   connection:is_idle(now)     whether it has been silent for long, and has
--                           neither a trace nor a session
--   connection:close()      ends at once
--
-- The server (server.lua) has: tabs, host, and the functions watch, lost and
-- complain.
--
-- Failure: a client that breaks the rules, says something half, keeps silent
-- before its token or does not read, is hung up on; its traces stop. No error
-- gets out into the loop.

local core = require "tracegrip.core"
local rootactor = require "tracegrip.server.rootactor"
local uv = require "luv"
local wire = require "tracegrip.wire"
core.own()

local MAX_LENGTH = 1 << 20      -- bytes of a request
local MAX_FIRST = 4 << 10       -- bytes of the one that has the token
local MAX_DEPTH = 32            -- levels of objects and arrays in one
local HIGH_WATER = 1 << 20      -- bytes sent and not taken: the client waits
local LOW_WATER = 768 << 10     -- until there are so few
local SLICE_NS = 2000000        -- of work, then others have their turn
local PACKET_MS = 10000         -- for a packet to be complete, for the token
local IDLE_MS = 10000           -- of silence
local SHORTEST, LONGEST = 1, 10 -- ms between looks at what a trace has
local SLOW = 32 << 20           -- bytes a second: less is worth compressing
local FULL = 32 << 10           -- bytes after which to look again at once

local connection = {}

local Connection = {__name = "tracegrip.server.connection"}
Connection.__index = Connection

-- What ends the coroutine when the client is lost.
local Lost = setmetatable({}, {__tostring = function ()
  return "the client has gone"
end})

-- For the loop, which does not survive errors.
local function safely (self, f)
  return function (...)
    local ok, err = pcall(f, ...)
    if not ok then
      self:close()
      if err ~= Lost then
        self.server:complain(err)
      end
    end
  end
end

---------------------------------------------------------------------------
-- The coroutine
---------------------------------------------------------------------------

local function go_on (self)
  self.waiting = nil
  local ok, err = coroutine.resume(self.co)
  if not ok then
    self.server:complain(debug.traceback(self.co, tostring(err)))
  end
end

-- Waits for 'what' ("work", "room" or "turn"); raises if the connection is
-- closed. A slice of work begins.
local function wait (self, what)
  self.waiting = what
  coroutine.yield()
  if self.closed then
    error(Lost)
  end
  self.slice_end = uv.hrtime() + SLICE_NS
end

local function turned (self)
  return function ()
    self.idle:stop()
    go_on(self)
  end
end

-- There is more to do; the loop turns first if this has taken a while. A timer
-- of no time would not do: libuv calls those set by timers in the same turn.
function Connection:take_turns ()
  if uv.hrtime() >= self.slice_end then
    self.idle:start(self.on_turn)
    wait(self, "turn")
  end
end

-- In 'ms' milliseconds at the latest there is something to do; nil: when there
-- is. Called by the coroutine only.
function Connection:rest (ms)
  if ms then
    self.timer:start(ms, 0, function () self:wake() end)
  end
  wait(self, "work")
  self.timer:stop()
end

function Connection:wake ()
  if self.waiting == "work" then
    go_on(self)
  else
    self.woken = true
  end
end

---------------------------------------------------------------------------
-- Out
---------------------------------------------------------------------------

-- From now on somebody looks whether the client takes what was sent.
local function await_progress (self)
  self.left, self.moved = self.handle:get_write_queue_size(), uv.now()
  self.server:watch()
end

-- Since when it has taken nothing. Bytes count, not packets.
local function note_progress (self, now)
  local left = self.handle:get_write_queue_size()
  if left ~= self.left then
    self.left, self.moved = left, now
  end
end

-- So many bytes are with the system.
local function written (self, size, err)
  self.unsent = self.unsent - size
  if err then
    self:close()
  elseif self.waiting == "room" and self.unsent <= LOW_WATER then
    go_on(self)
  end
end

-- What the system takes at once is kept all the same until the loop turns.
local function write (self, bytes)
  local size = #bytes
  self.sent, self.unsent = self.sent + size, self.unsent + size
  local ok = self.handle:write(bytes, function (err)
    written(self, size, err)
  end)
  if not ok then
    self:close()
    error(Lost)
  end
end

-- Sends a packet, or bytes of packets. Waits if there is much on its way;
-- raises if the client is lost. Called by the coroutine only.
function Connection:send (packet)
  if self.closed then
    error(Lost)
  end
  write(self, type(packet) == "string" and packet or wire.encode(packet))
  if self.unsent > HIGH_WATER then
    await_progress(self)
    local before, unsent = uv.hrtime(), self.unsent
    wait(self, "room")
    self.slow = (unsent - self.unsent) * 1e9 < SLOW * (uv.hrtime() - before)
  end
end

---------------------------------------------------------------------------
-- In
---------------------------------------------------------------------------

-- A packet that has begun has to end, as long as it is read.
local function expect_rest (self)
  if self.decoder:pending() then
    self.due = self.due or uv.now() + PACKET_MS
    self.server:watch()
  end
end

-- What was whole before a rule was broken is still worked on.
local function receive (self, bytes)
  self.heard = uv.now()
  local list, problem, whole = self.decoder:feed(bytes)
  table.move(list or whole, 1, #(list or whole), #self.inbox + 1, self.inbox)
  self.ended = self.ended or problem ~= nil
  if #self.inbox > 0 or problem then
    self.handle:read_stop()
    self.reading, self.due = false, nil
  else
    expect_rest(self)
  end
  self:wake()
end

-- A client that has shut its end may still want the answers, and a trace that
-- nobody can stop any more is not one of them.
local function on_read (self)
  return safely(self, function (err, bytes)
    if self.closed then
      return
    elseif err then
      self:close()
    elseif bytes then
      receive(self, bytes)
    else
      self.ended = true
      self:wake()
    end
  end)
end

local function read_on (self)
  self.inbox, self.at = {}, 1
  if not self.reading and not self.ended then
    self.reading = true
    self.handle:read_start(self.on_read)
    expect_rest(self)
  end
end

local function next_packet (self)
  local packet = self.inbox[self.at]
  if packet then
    self.inbox[self.at] = false
    self.at = self.at + 1
  end
  return packet
end

---------------------------------------------------------------------------
-- Work
---------------------------------------------------------------------------

-- The actor of that name, made when it is first asked for.
function Connection:actor (id)
  local known = self.actors[id]
  if known then
    return known.actor
  end
  for _, tab in ipairs(self.server.tabs) do
    local actor = tab:actor(id, self)
    if actor then
      self.actors[id] = {actor = actor, tab = tab}
      return actor
    end
  end
end

-- A tab is no more.
function Connection:forget (tab)
  for id, known in pairs(self.actors) do
    if known.tab == tab then
      self.actors[id] = nil
      known.actor:close()
    end
  end
end

-- Whatever happens to a request, it gets a reply.
local function answer (self, packet)
  local ok, err = pcall(rootactor.receive, self, packet)
  if not ok then
    if self.closed or err == Lost then
      error(Lost)
    end
    local to = type(packet.to) == "string" and packet.to or "root"
    self:send {from = to, error = "unknownError", message = tostring(err)}
  end
end

-- Nothing is said to a client but the greeting before it has said the token.
local function let_in (self, packet)
  local reply, right = rootactor.authenticate(self, packet)
  self:send(reply)
  if not right then
    return self:finish(1000)
  end
  self.token_given, self.deadline = true, nil
  self.decoder:allow(MAX_LENGTH)
end

-- All actors may say something; whether one did, and whether one will.
local function advance (self)
  local some, tracing = false, false
  for _, known in pairs(self.actors) do
    some = known.actor:advance() or some
    tracing = tracing or known.actor.state == "tracing"
  end
  return some, tracing
end

-- Tells what there is to tell; when to look again: soon, but not before there
-- is enough for a write.
local function tell (self)
  local before = self.sent
  local some, tracing = advance(self)
  if some then
    self.pause = SHORTEST
    return self.sent - before >= FULL and 0 or SHORTEST
  elseif not tracing then
    return nil
  end
  self.pause = math.min(self.pause * 2, LONGEST)
  return self.pause
end

local function work_off (self)
  local packet = next_packet(self)
  while packet do
    if self.token_given then
      answer(self, packet)
    else
      let_in(self, packet)
    end
    self:take_turns()
    packet = not self.finishing and next_packet(self)
  end
end

local function live (self)
  self:send(rootactor.hello(self))
  while not self.finishing do
    work_off(self)
    if self.ended then
      break
    end
    read_on(self)
    self.woken = false
    local ms = tell(self)
    if self.woken or ms == 0 then
      self:take_turns()
    elseif not self.finishing then
      self:rest(ms)
    end
  end
  while self.telling and advance(self) do end
end

function Connection:is_idle (now)
  for _, known in pairs(self.actors) do
    if known.actor.state ~= "detached" then
      return false
    end
  end
  return self.waiting == "work" and now - self.heard >= IDLE_MS
end

---------------------------------------------------------------------------
-- The end
---------------------------------------------------------------------------

local function close_actors (self)
  local actors = self.actors
  self.actors = {}
  for _, known in pairs(actors) do
    pcall(known.actor.close, known.actor)
  end
end

-- At once. If the coroutine waits, it ends.
function Connection:close ()
  if self.closed then
    return
  end
  self.closed = true
  self.server.host:drop(self.fd)
  self.handle:close()
  self.timer:close()
  self.idle:close()
  self.server:lost(self)
  close_actors(self)
  if self.waiting then
    go_on(self)
  end
end

-- Nothing more is asked or told, but what was told still arrives.
local function part (self)
  close_actors(self)
  self.parting = true
  await_progress(self)
  self.handle:shutdown(function () self:close() end)
end

-- It has to be over in so many milliseconds; nil: it takes as long as it takes.
function Connection:limit (ms)
  self.deadline = ms and uv.now() + ms
  self.server:watch()
end

function Connection:finish (ms, telling)
  if not self.closed then
    self.finishing, self.telling = true, telling
    self:limit(ms)
    self:wake()
  end
end

-- The client was too slow for the program. What it has been told of that is
-- the last it gets, at its own pace.
function Connection:give_up ()
  self:finish()
end

local function is_late (self, now)
  if self.waiting == "room" or self.parting then
    note_progress(self, now)
    if now - self.moved >= self.patience then
      return true
    end
  end
  return now >= (self.deadline or math.huge) or now >= (self.due or math.huge)
end

-- Looks for what takes too long: whether it has to be looked after.
function Connection:check (now)
  if is_late(self, now) then
    self:close()
    return false
  end
  return self.waiting == "room" or self.parting or self.deadline ~= nil
         or self.due ~= nil
end

local function run (self)
  local ok, err = pcall(live, self)
  if not ok and err ~= Lost then
    self.server:complain(err)
  end
  if self.closed then
    return
  elseif ok then
    part(self)
  else
    self:close()
  end
end

function connection.new (server, handle, options)
  local token = options.token
  local self = setmetatable({
    server = server,
    handle = handle,          -- the socket
    fd = handle:fileno(),
    token = token,            -- nil: none is wanted
    patience = options.patience,
    token_given = token == nil,
    timer = uv.new_timer(),   -- to look what a trace has
    idle = uv.new_idle(),     -- for when the loop has turned
    decoder = wire.decoder {maxLength = token and MAX_FIRST or MAX_LENGTH,
                            maxDepth = MAX_DEPTH},
    inbox = {}, at = 1,       -- packets that came; the next one
    reading = false,
    ended = false,            -- nothing more comes
    finishing = false,        -- nothing more is asked
    telling = false,          -- but all there is to tell is told
    parting = false,          -- and it is on its way
    closed = false,
    actors = {},              -- by name: {actor, tab}
    waiting = nil,            -- what the coroutine waits for
    woken = false,            -- while it was not waiting for work
    pause = LONGEST,          -- ms between looks
    slice_end = 0,            -- when others have their turn, by uv.hrtime()
    deadline = nil,           -- of it all, by uv.now()
    due = nil,                -- of a packet that has begun
    sent = 0, unsent = 0,     -- bytes; of them, not with the system
    slow = false,             -- they went slowly when they were last waited for
    left = 0, moved = 0,      -- bytes not taken; when that last changed
    heard = uv.now(),         -- when something last came
  }, Connection)
  self.on_turn, self.on_read = turned(self), on_read(self)
  self.co = coroutine.create(run)
  server.host:keep(self.fd)
  if token then
    self:limit(PACKET_MS)
  end
  coroutine.resume(self.co, self)
  return self
end

return connection
