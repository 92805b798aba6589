-- router.lua - a client's traces: an actor's frame packets put in order and
-- dealt out to the traces that they belong to.
--
-- An actor sends one packet for each frame however many traces run, with the
-- union of what they ask for. Here each trace gets the frames from its start
-- to its stop, with its own types, a sequence and depths of its own, and no
-- exits of frames that were open when it began.
--
-- client.lua feeds it; it knows no sockets. What it calls (onframe, onstart,
-- onstop) is its user's and may do as it likes.

local core = require "tracegrip.core"
core.own()

local EARLY = 100000    -- packets that may wait for one that is missing

---------------------------------------------------------------------------
-- A queue
---------------------------------------------------------------------------

local function queue ()
  return {first = 1, last = 0}
end

local function put (q, item)
  q.last = q.last + 1
  q[q.last] = item
end

local function take (q)
  local item = q[q.first]
  if item ~= nil then
    q[q.first] = nil
    q.first = q.first + 1
  end
  return item
end

---------------------------------------------------------------------------
-- Traces
---------------------------------------------------------------------------

local Trace = {__name = "tracegrip.client.trace"}
Trace.__index = Trace

local is_type = {}
for _, name in ipairs(core.allTypes) do
  is_type[name] = true
end

local function set (list)
  local members = {}
  for _, name in ipairs(list) do
    members[name] = true
  end
  return members
end

local function new_trace (router, name, types, why)
  return setmetatable({
    name = name,
    types = types,          -- list of the types that it asked for
    started = why,          -- "requested" or "console.startTrace"
    active = true,
    why = nil,              -- once it has ended: why; with 'message' and
                            -- 'code' if that is an error
    lost = {},              -- once it has ended: what is missing, by cause
    onframe = nil,          -- called with each of its packets; false: they are
                            -- not wanted; nil: they are kept for packets()
    onblocks = nil,         -- called with bytes, if it comes as blocks
    onstop = nil,           -- called with it when it has ended
    router = router,
    wanted = set(types),
    kept = queue(),
    sequence = 0,           -- of its next packet
    depth = 0,              -- of its frames, those that are open
  }, Trace)
end

-- A packet of this trace's own, with what it has asked for.
local function narrowed (trace, packet)
  local own = {}
  for key, value in pairs(packet) do
    if not is_type[key] or trace.wanted[key] then
      own[key] = value
    end
  end
  return own
end

local function hand (trace, packet)
  local onframe = trace.onframe
  if onframe then
    onframe(packet)
  elseif onframe == nil then
    put(trace.kept, packet)
  end
end

-- Gives the trace a packet, which nobody else will see.
local function deliver (trace, packet)
  local sequence, depth = trace.sequence, trace.depth
  if packet.type == "enteredFrame" then
    trace.depth = depth + 1
  elseif depth == 0 then
    return
  else
    depth = depth - 1
    trace.depth = depth
  end
  trace.sequence = sequence + 1
  packet.sequence = sequence
  if packet.depth then
    packet.depth = depth
  end
  hand(trace, packet)
end

-- Its packets, from the first that has not been read on. Waits for more as
-- long as it is active. At the end nil, and the error if it ended by one.
function Trace:packets ()
  return function ()
    local packet = take(self.kept)
    while not packet and self.active do
      self.router.wait(function ()
        return not self.active or self.kept.first <= self.kept.last
      end)
      packet = take(self.kept)
    end
    if packet then
      return packet
    end
    return nil, self.message, self.code
  end
end

-- Waits for its end: true | nil, message, code if it ended by an error.
function Trace:wait ()
  self.router.wait(function () return not self.active end)
  if self.message then
    return nil, self.message, self.code
  end
  return true
end

---------------------------------------------------------------------------
-- All of an actor's
---------------------------------------------------------------------------

local Router = {__name = "tracegrip.client.router"}
Router.__index = Router

local module = {}

-- 'wait (ready)' returns when ready() is true, as the connection sees to.
function module.new (wait)
  return setmetatable({
    wait = wait,
    traces = {},            -- active ones, the most recently started last
    expected = 0,           -- sequence of the packet that comes next
    early = {},             -- by sequence: packets that came before their turn
    waiting = 0,            -- how many
    missing = 0,            -- packets that never came
    late = 0,               -- packets that had come already, or too late
    onframe = nil,          -- called with each packet, in sequence
    onstart = nil,          -- called with a trace before its first packet
    onstop = nil,           -- called with a trace that has ended
  }, Router)
end

-- Indices are those of a moment: whoever is called may start and stop traces.
local function deal_to_all (self, packet)
  local list = table.move(self.traces, 1, #self.traces, 1, {})
  if self.onframe then
    self.onframe(packet)
  end
  for _, trace in ipairs(list) do
    if trace.active then
      deliver(trace, narrowed(trace, packet))
    end
  end
end

local function deal (self, packet)
  local traces = self.traces
  if not self.onframe and #traces == 1 then
    deliver(traces[1], packet)
  else
    deal_to_all(self, packet)
  end
end

-- All that are next, one after the other.
local function deal_early (self)
  local packet = self.early[self.expected]
  while packet do
    self.early[self.expected] = nil
    self.waiting = self.waiting - 1
    self.expected = self.expected + 1
    deal(self, packet)
    packet = self.early[self.expected]
  end
end

-- What waits for packets that will not come any more.
local function flush (self)
  while self.waiting > 0 do
    while not self.early[self.expected] do
      self.expected = self.expected + 1
      self.missing = self.missing + 1
    end
    deal_early(self)
  end
end

local function find (self, name)
  for i, trace in ipairs(self.traces) do
    if trace.name == name then
      return i
    end
  end
end

local function finish (self, trace, why, message, code)
  trace.active, trace.why = false, why
  trace.message, trace.code = message, code
  if trace.onstop then
    trace.onstop(trace)
  end
  if self.onstop then
    self.onstop(trace)
  end
end

-- Takes one enteredFrame or exitedFrame. Returns true, or nil and what is
-- wrong with it: then the actor is not to be trusted any more.
function Router:frame (packet)
  local expected = self.expected
  if packet.sequence == expected then
    self.expected = expected + 1
    deal(self, packet)
    if self.waiting > 0 then
      deal_early(self)
    end
    return true
  end
  local sequence = math.tointeger(packet.sequence)
  if not sequence or sequence < 0 then
    return nil, "a frame without a sequence"
  elseif sequence < expected or self.early[sequence] then
    self.late = self.late + 1
  elseif self.waiting == EARLY or sequence - expected > 2 * EARLY then
    return nil, "too many frames before their turn"
  else
    self.early[sequence] = packet
    self.waiting = self.waiting + 1
  end
  return true
end

-- By the type of what is no frame: what a trace has asked for that has it.
local asked = {marker = "markers", memory = "memory",
               allocations = "allocations"}

-- Takes what is no frame, for the traces that asked for it. It has no sequence:
-- it is between the frames before it and those after it on the connection.
function Router:marker (packet)
  local list = table.move(self.traces, 1, #self.traces, 1, {})
  if self.onframe then
    self.onframe(packet)
  end
  for _, trace in ipairs(list) do
    if trace.active and trace.wanted[asked[packet.type]] then
      local own = narrowed(trace, packet)
      own.arguments = packet.arguments
      own.depth = own.depth and trace.depth
      hand(trace, own)
    end
  end
end

-- Takes bytes of a blockstream, for the trace that runs. Those of a trace that
-- has ended here are late.
function Router:blocks (bytes)
  local trace = self.traces[#self.traces]
  if trace and trace.onblocks then
    trace.onblocks(bytes)
  else
    self.late = self.late + 1
  end
end

-- A trace has started: from here on frames are its. One of that name that
-- runs is discarded, with what it has.
function Router:start (name, types, why)
  flush(self)
  local old = find(self, name)
  if old then
    local trace = table.remove(self.traces, old)
    trace.kept = queue()
    finish(self, trace, "replaced")
  elseif #self.traces == 0 then
    self.expected = 0
  end
  local trace = new_trace(self, name, types, why)
  table.insert(self.traces, trace)
  if self.onstart then
    self.onstart(trace)
  end
  return trace
end

-- A trace has ended, and has lost so much by these causes (nil: nothing);
-- returns it, nil if there is none of that name.
function Router:stop (name, why, lost)
  flush(self)
  local i = find(self, name)
  local trace = i and table.remove(self.traces, i)
  if trace then
    trace.lost = lost or {}
    finish(self, trace, why)
  end
  return trace
end

-- All end, the most recently started one first.
function Router:close (why, message, code)
  flush(self)
  while #self.traces > 0 do
    finish(self, table.remove(self.traces), why, message, code)
  end
end

return module
