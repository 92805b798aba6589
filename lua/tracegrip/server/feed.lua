-- feed.lua - the feed of an actor whose program is on another thread: over
-- a channel, which the C side gives the server.
--
-- Names and what runs are this side's word. A trace counts from the moment it
-- is asked for, since the program may be asleep and take the order in an hour;
-- and it counts no more from the moment it is told to stop, whatever the
-- program still records for it. What the program does is told by notices, each
-- at its place among the frames.
--
--   feed.new {
--     tab,                what the channel belongs to (tab.lua)
--     listener,           the actor's
--     wake (),            there is something to read
--     rest (ms),          lets so many ms pass, less if there is
--     stalled ()          the client was too slow for the program
--     client              optional: who that is
--     is_slow ()          optional: whether the way to it is, so that blocks
--                         are worth compressing
--   }
--
-- It is what core.feed gives, for actor.lua, but for packets(): frames come as
-- bytes, by frames(), up to mark() if that was called. And a trace that joins
-- others has begun when the program has come to it: the frames up to there are
-- there as long as joining() says so.
--
-- The tab's channel is for one client: open() gives the reason if it has
-- another.

local core = require "tracegrip.core"
local uv = require "luv"
local wire = require "tracegrip.wire"
core.own()

local PIECE = 128 << 10       -- bytes of frames at a time, about
local MAX_NAME = 1024         -- bytes of a name that a client gives
local MAX_TRACES = 256        -- of a client at a time
local JOIN_MS = 10            -- a program that runs has heard by then

local feed = {}

local Feed = {__name = "tracegrip.server.feed"}
Feed.__index = Feed

---------------------------------------------------------------------------
-- Traces that count
---------------------------------------------------------------------------

-- Its place in the list; nil if it does not count.
local function place (self, trace)
  for i, one in ipairs(self.traces) do
    if one == trace then
      return i
    end
  end
end

local function named (self, name)
  for _, trace in ipairs(self.traces) do
    if trace.name == name then
      return trace
    end
  end
end

local function stop_timer (trace)
  if trace.timer then
    trace.timer:close()
    trace.timer = nil
  end
end

local function take_out (self, trace)
  table.remove(self.traces, place(self, trace))
  self.count = #self.traces
  stop_timer(trace)
end

local function put_in (self, trace)
  table.insert(self.traces, trace)
  self.count = #self.traces
  self.known[trace.id] = trace
end

-- The program is not to record for it any more.
local function call_off (self, trace)
  self.known[trace.id] = nil
  self.channel:drop(trace.id)
  self.tab:stop(trace.id)
end

-- It is over: here at once, in the program when that hears of it. What it has
-- lost, by cause; nil: nothing.
local function finish (self, trace)
  local lost = self.channel:lost(trace.id)
  take_out(self, trace)
  call_off(self, trace)
  return lost
end

-- In the program one of that name has begun. It replaces what ran there; what
-- has yet to begin will replace it.
local function replace (self, trace)
  local old = named(self, trace.name)
  if old then
    take_out(self, old)
    if old.taken then
      self.known[old.id] = nil
      self.channel:drop(old.id)
    end
  end
  put_in(self, trace)
end

local function tell_ended (self, trace, why, lost)
  self.listener("ended", trace.name, why, lost)
end

---------------------------------------------------------------------------
-- What the program does
---------------------------------------------------------------------------

-- A program that sleeps must not outstay it, from when the trace was asked for,
-- and again from when it begins. One that runs ends the trace itself, on time.
-- Never too early: the loop's clock is that of its last turn, in whole
-- milliseconds, and a trace that ends before its time has a shorter one.
local function start_timer (self, trace)
  if not trace.duration then
    return
  end
  trace.timer = trace.timer or uv.new_timer()
  trace.due = false
  uv.update_time()
  trace.timer:start(math.ceil(trace.duration) + 1, 0, function ()
    trace.due = true
    self.wake()
  end)
end

local notices = {}

function notices.taken (self, notice)
  local trace = self.known[notice.id]
  if not trace then
    return
  end
  trace.taken = true
  if not place(self, trace) then
    replace(self, trace)
  end
  start_timer(self, trace)
end

function notices.started (self, notice)
  replace(self, {id = notice.id, name = notice.name, taken = true})
  self.listener("started", notice.name, wire.array(notice.types))
end

function notices.stopped (self, notice)
  local trace = self.known[notice.id]
  if trace and place(self, trace) then
    take_out(self, trace)
    self.known[notice.id] = nil
    self.listener("stopped", trace.name, notice.lost)
  end
end

function notices.ended (self, notice)
  local trace = self.known[notice.id]
  self.known[notice.id] = nil
  if trace and place(self, trace) then
    take_out(self, trace)
    tell_ended(self, trace, notice.why, notice.lost)
  end
  if notice.why == "stall" then
    self.stalled()
  end
end

notices.refused = notices.ended

local function end_all (self, why)
  while self.count > 0 do
    local trace = self.traces[self.count]
    local lost = self.channel:lost(trace.id)
    take_out(self, trace)
    tell_ended(self, trace, why, lost)
  end
end

-- The state is closed.
function notices.gone (self)
  end_all(self, "terminated")
  self.tab:vanish()
end

-- There was no memory to read on. The client starts anew.
function notices.broken (self)
  self.known = {}
  self.tab:attach(true)
  end_all(self, "memory")
end

-- The time of a trace is over, and the program has not said so: all it had to
-- say is read, so it sleeps. Whether there was such a trace. Of one that comes
-- as blocks its end is told first.
local function end_due (self)
  for _, trace in ipairs(self.traces) do
    if trace.due and self.blocks and not trace.over then
      trace.over = true
      self.channel:mark(trace.duration)
      return true
    elseif trace.due then
      tell_ended(self, trace, "duration", finish(self, trace))
      return true
    end
  end
  return false
end

---------------------------------------------------------------------------
-- The interface
---------------------------------------------------------------------------

-- From now on it is this client's. The problem, if it cannot be: whose it is,
-- and for how long.
function Feed:open ()
  if self.tab:claim(self) then
    self.opened, self.since = true, uv.now()
    return nil
  end
  local owner = self.tab.owner
  local who = owner.client and (" (%s, for %d s)"):format(
    owner.client, (uv.now() - owner.since) // 1000)
  return "Already attached to a client" .. (who or "")
end

-- The traces that ran, most recent first: {name =, lost =}.
function Feed:close ()
  local list = {}
  for i = #self.traces, 1, -1 do
    local trace = self.traces[i]
    list[#list + 1] = {name = trace.name, lost = self.channel:lost(trace.id)}
    stop_timer(trace)
  end
  self.traces, self.known, self.count, self.joins = {}, {}, 0, nil
  if self.opened then
    self.opened = false
    self.tab:release()
  end
  return list
end

-- A name that is not in use, neither here nor in the program; its number.
local function new_name (self)
  local used = {}
  for _, name in ipairs(self.channel:names()) do
    used[name] = true
  end
  local number = self.tab.names
  while true do
    number = number + 1
    local name = "Trace " .. number
    if not used[name] and not named(self, name) then
      return name, number
    end
  end
end

-- Why the trace cannot run beside others, nil if it can: one that comes as
-- blocks is alone.
local function conflict (self, asked)
  if self.count == 0 then
    self.blocks, self.compress = asked.blocks, asked.compress == "zstd"
  elseif self.blocks or asked.blocks then
    return "A trace that comes as blocks is the only one"
  end
end

-- The name | nil, message, code; raises what is wrong with the options. It is
-- started before the one that it replaces stops: so the sequence goes on.
function Feed:start (asked)
  local name = asked.name or ""
  if #name > MAX_NAME then
    error(("'name' must not have more than %d bytes"):format(MAX_NAME), 0)
  elseif type(asked.blocks or false) ~= "boolean" then
    error("'blocks' must be true or false", 0)
  elseif type(asked.makers or false) ~= "boolean" then
    error("'makers' must be true or false", 0)
  elseif asked.compress ~= nil and asked.compress ~= "zstd" then
    error("'compress' must be \"zstd\"", 0)
  elseif self.count >= MAX_TRACES and not named(self, name) then
    return nil, ("%d traces are running"):format(self.count), "tooManyTraces"
  end
  local problem = conflict(self, asked)
  if problem then
    return nil, problem, "wrongState"
  end
  local options, number = self.tab:options(asked), nil
  if not asked.blocks then    -- a client of blocks knows markers
    options.trace = options.trace or core.protocolTypes
  end
  if not options.name then
    options.name, number = new_name(self)
  end
  local trace = {id = self.tab:next_id(), name = options.name}
  trace.duration = self.tab:start(trace.id, options)
  self.tab.names = number or self.tab.names
  self.joins = self.count > 0 and trace or nil
  uv.update_time()          -- reading may have taken longer than that
  self.join_end = uv.now() + JOIN_MS
  trace.replaces = named(self, trace.name)
  if trace.replaces then
    take_out(self, trace.replaces)
  end
  put_in(self, trace)
  start_timer(self, trace)
  return trace.name
end

-- Whether the trace just started, beside others, may have frames before it. A
-- program that runs begins it before its next event, or nearly so. One that
-- does not say so in time sleeps, and begins it before it has anything to show:
-- then it is not waited for.
function Feed:joining ()
  local trace = self.joins
  if trace and not trace.taken and place(self, trace) then
    return true
  end
  self.joins = nil
  return false
end

-- There is nothing to read: waits for more, if there is time.
function Feed:await_join ()
  local ms = self.join_end - uv.now()
  if ms > 0 then
    self.rest(ms)
  else
    self.joins = nil
  end
end

-- The trace has joined: the one that it replaced is over.
function Feed:joined (name)
  local trace = named(self, name)
  local old = trace and trace.replaces
  if old then
    trace.replaces = nil
    call_off(self, old)
  end
end

-- The name, and what it has lost | nil, message, code. What was recorded before
-- has been read.
function Feed:stop (name)
  local trace = self.traces[#self.traces]
  if not trace then
    return nil, "No trace is running", "wrongState"
  elseif name then
    trace = named(self, name)
  end
  if not trace then
    return nil, "No active trace with name: " .. name, "noSuchTrace"
  end
  return trace.name, finish(self, trace)
end

-- Those are told of by the listener.
function Feed:ended ()
  return {}
end

-- frames() will end at what is recorded now.
function Feed:mark ()
  self.marked = true
  self.channel:mark()
end

-- A notice may be where the mark was.
local function hear (self, notice)
  notices[notice.kind](self, notice)
  if self.opened and self.marked then
    self.channel:mark()
  end
end

-- The next frames, as bytes; nil if there are none now. The listener is told of
-- what happened before them.
function Feed:frames (from, batch)
  while self.opened and not (self.joins and self.joins.taken) do
    local packs = self.compress and self.is_slow and self.is_slow()
    local bytes = self.channel:read(from, batch, PIECE, packs)
    if bytes then
      return bytes
    end
    local notice = self.channel:notice()
    if notice then
      hear(self, notice)
    elseif not end_due(self) then
      break
    end
  end
  self.marked = false
end

function feed.new (how)
  return setmetatable({
    tab = how.tab,
    channel = how.tab.channel,
    listener = how.listener,
    wake = how.wake,
    rest = how.rest,
    stalled = how.stalled,
    client = how.client,
    is_slow = how.is_slow,
    traces = {},            -- that count, by time of start
    known = {},             -- by id; also those that will count once taken
    count = 0,              -- how many count
    opened = false,
    marked = false,
    blocks = false,         -- the one that runs comes as blocks...
    compress = false,       -- ...which may be compressed
    joins = nil,            -- a trace that the program has yet to begin
    join_end = 0,           -- until when it is waited for, by uv.now()
  }, Feed)
end

return feed
