-- actor.lua - the TraceActor: one client's traces of this Lua state.
--
--   local actor = require("tracegrip.actor").new {
--     id = "trace1", send = function (packet) end
--   }
--   actor:receive {to = "trace1", type = "attach"}
--   actor:flush()
--
-- It owns a feed (tracegrip.core), which is the client's view of the stream,
-- and turns requests and what the feed tells into packets: Lua tables, ready
-- to be written as JSON. docs/protocol.md describes them.
--
-- Called by whoever carries the packets: on the traced program's thread, or on
-- the server's, where the feed is another one (server/feed.lua), whose frames
-- are bytes for the wire already. There send may yield. Frame packets leave
-- when asked for: by flush, by a request, and before a trace starts or stops.
--
-- Failure: a wrong request is answered by an error packet and changes nothing.
-- A send that raises has lost its client: the client's traces stop, the actor
-- is detached, and the error goes on to the caller of receive or flush. It
-- never reaches the program through console.startTrace.

local core = require("tracegrip.installed").core
core.own(true)

local Actor = {__name = "tracegrip.actor"}
Actor.__index = Actor

-- What a request handler raises, by refuse; anything else is a real error.
local Refusal = {}

local function refuse (code, message, ...)
  error(setmetatable({error = code, message = message:format(...)}, Refusal))
end

---------------------------------------------------------------------------
-- Fields of requests
---------------------------------------------------------------------------

-- JSON's null as decoders give it (cjson.null): a null light userdata. A full
-- userdata has an address, so this runs no metamethod and takes no guess.
local function is_null (value)
  return type(value) == "userdata" and string.format("%p", value) == "(null)"
end

-- The field, nil if it is absent.
local function field (packet, key, expected)
  local value = packet[key]
  if value == nil or is_null(value) then
    return nil
  end
  if type(value) ~= expected then
    refuse("badParameterType", "'%s' must be a %s, not a %s",
           key, expected, type(value))
  end
  return value
end

local function required (packet, key, expected)
  local value = field(packet, key, expected)
  if value == nil then
    refuse("missingParameter", "'%s' is missing", key)
  end
  return value
end

-- The empty name is no name, as in every TraceActor there was. A zero would
-- end it on the C side.
local function name_field (packet)
  local name = field(packet, "name", "string")
  if name and name:find("\0", 1, true) then
    refuse("badParameterType", "'name' must not contain a zero")
  end
  return name ~= "" and name or nil
end

local known_types = {}
for _, name in ipairs(core.allTypes) do
  known_types[name] = true
end

local function check_type (name)
  if type(name) ~= "string" then
    refuse("badParameterType", "'trace' must be a list of strings")
  end
  if not known_types[name] then
    refuse("noSuchTraceType", "No such trace type: %s (known: %s)", name,
           table.concat(core.allTypes, ", "))
  end
end

local function types_field (packet)
  local types = field(packet, "trace", "table")
  for key in pairs(types or {}) do
    if math.type(key) ~= "integer" or key < 1 or key > #types then
      refuse("badParameterType", "'trace' must be a list of strings")
    end
  end
  for _, name in ipairs(types or {}) do
    check_type(name)
  end
  return types
end

-- A decoder may give 5 as 5.0.
local function batch_field (packet)
  local value = field(packet, "batch", "number")
  local limit = value and math.tointeger(value)
  if value and not (limit and limit > 0) then
    refuse("badParameterType", "'batch' must be a positive integer")
  end
  return limit
end

local not_options = {to = true, type = true, batch = true}

-- The options of a startTrace request, in the words of tracegrip.start. The
-- feed checks those that mean nothing here.
local function options_of (packet)
  local options = {}
  for key, value in pairs(packet) do
    if not not_options[key] and not is_null(value) then
      options[key] = value
    end
  end
  options.name = name_field(packet)
  options.trace = types_field(packet)
  return options
end

---------------------------------------------------------------------------
-- What leaves
---------------------------------------------------------------------------

local function send (self, packet)
  packet.from = packet.from or self.id
  self.deliver(packet)
end

-- A client that asks for batches in any of its traces can read them; it gets
-- no more frames in one than the most modest of those traces said.
local function batch_limit (self)
  local limit
  for _, n in pairs(self.batches) do
    limit = limit and math.min(limit, n) or n
  end
  return limit
end

-- A full batch is let go before it is sent: send may come back here.
local function drain_packed (self, limit)
  local batch = {}
  for packet in self.feed:packets() do
    batch[#batch + 1] = packet
    if #batch == limit then
      local full = batch
      batch = {}
      send(self, {type = "traces", traces = full})
    end
  end
  if #batch > 0 then
    send(self, {type = "traces", traces = batch})
  end
end

-- The next frames that are bytes already; whether there were any. What else
-- the feed tells comes in between, in order.
local function pass_on (self)
  local bytes = self.feed:frames(self.id, batch_limit(self))
  if bytes then
    self.deliver(bytes)
  end
  return bytes ~= nil
end

-- All frame packets up to now.
local function drain (self)
  if self.feed.mark then
    self.feed:mark()
    repeat until not pass_on(self)
    return
  end
  local limit = batch_limit(self)
  if limit then
    return drain_packed(self, limit)
  end
  for packet in self.feed:packets() do
    send(self, packet)
  end
end

-- Frames of before the trace that was just started, where they are still to
-- come.
local function drain_older (self, name)
  if not self.feed.joining then
    return
  end
  while self.feed:joining() do
    if not pass_on(self) and self.feed:joining() then
      self.feed:await_join()
    end
  end
  self.feed:joined(name)
end

local function settle (self)
  self.state = self.feed.count > 0 and "tracing" or "idle"
end

-- 'lost' is by cause what no frame tells; nil: nothing.
local function stopped (name, why, lost)
  return {type = "stoppedTrace", why = why, name = name, lost = lost}
end

-- All that the client has not been told: frames, then traces that ended by
-- themselves.
local function pump (self)
  if self.state == "detached" then
    return
  end
  drain(self)
  if self.state == "detached" then    -- the client was lost over it
    return
  end
  local list = self.feed:ended()
  for _, ended in ipairs(list) do
    self.batches[ended.name] = nil
  end
  settle(self)
  for _, ended in ipairs(list) do
    send(self, stopped(ended.name, ended.why, ended.lost))
  end
end

---------------------------------------------------------------------------
-- Requests: each gives its reply and notifications that follow it
---------------------------------------------------------------------------

local requests = {}

local function check_attached (self)
  if self.state == "detached" then
    refuse("wrongState", "No client is attached")
  end
end

function requests.attach (self)
  if self.state ~= "detached" then
    refuse("wrongState", "Already attached to a client")
  end
  local problem = self.feed:open()
  if problem then
    refuse("wrongState", "%s", problem)
  end
  settle(self)
  return {type = "attached", traceTypes = {table.unpack(core.traceTypes)}}
end

-- Stops everything; what ran, most recent first.
local function close (self)
  self.state = "detached"
  self.batches = {}
  return self.feed:close()
end

function requests.detach (self)
  pump(self)
  check_attached(self)
  local after = {}
  for i, ended in ipairs(close(self)) do
    after[i] = stopped(ended.name, "detached", ended.lost)
  end
  return {type = "detached"}, after
end

-- The pump comes before the start, so that frames of before are seen with the
-- types of before.
function requests.startTrace (self, packet)
  pump(self)
  check_attached(self)
  local options, batch = options_of(packet), batch_field(packet)
  local ok, name, message, code = pcall(self.feed.start, self.feed, options)
  if not ok then
    refuse("badParameterType", "%s", name)
  elseif not name then
    refuse(code, "%s", message)
  end
  drain_older(self, name)
  self.batches[name] = batch
  settle(self)
  return {type = "startedTrace", why = "requested", name = name}
end

function requests.stopTrace (self, packet)
  pump(self)
  if self.state ~= "tracing" then
    refuse("wrongState", "No trace is running")
  end
  local name, more, code = self.feed:stop(name_field(packet))
  if not name then
    refuse(code, "%s", more)
  end
  self.batches[name] = nil
  settle(self)
  return stopped(name, "requested", more)
end

---------------------------------------------------------------------------
-- Answering
---------------------------------------------------------------------------

-- An error about a packet to somebody else comes from that somebody, since a
-- client matches replies by actor.
local function handle (self, packet)
  local to = required(packet, "to", "string")
  if to ~= self.id then
    return {from = to, error = "noSuchActor",
            message = "No such actor for ID: " .. to}
  end
  local kind = required(packet, "type", "string")
  local request = requests[kind]
  if not request then
    refuse("unrecognizedPacketType",
           "Actor %s does not recognize the packet type '%s'", self.id, kind)
  end
  return request(self, packet)
end

local function answer (self, packet)
  local ok, reply, after = pcall(handle, self, packet)
  if not ok then
    if getmetatable(reply) ~= Refusal then
      error(reply, 0)
    end
    reply = {error = reply.error, message = reply.message}
  end
  send(self, reply)
  for _, notification in ipairs(after or {}) do
    send(self, notification)
  end
end

-- One request after the other: one that comes in while another is being
-- answered, from inside send, waits for its turn.
local function answer_all (self)
  self.busy = true
  while self.queue[1] do
    answer(self, table.remove(self.queue, 1))
  end
  self.busy = false
end

-- The client is lost.
local function drop (self)
  self.queue, self.busy = {}, false
  if self.state ~= "detached" then
    close(self)
  end
end

local function guarded (self, work)
  local ok, err = pcall(work, self)
  if not ok then
    drop(self)
    error(err, 0)
  end
end

---------------------------------------------------------------------------
-- The program's own traces
---------------------------------------------------------------------------

local notices = {}

notices.flush = pump

function notices.started (self, name, types)
  self.batches[name] = nil
  settle(self)
  send(self, {type = "startedTrace", why = "console.startTrace", name = name,
              tracing = types})
end

function notices.stopped (self, name, lost)
  notices.ended(self, name, "console.stopTrace", lost)
end

-- It ended by itself.
function notices.ended (self, name, why, lost)
  self.batches[name] = nil
  settle(self)
  send(self, stopped(name, why, lost))
end

-- What the feed calls. The program that called console.startTrace is innocent
-- of what becomes of the client.
local function listener (self)
  return function (kind, ...)
    if self.state == "detached" then
      return
    end
    if not pcall(notices[kind], self, ...) then
      drop(self)
    end
  end
end

---------------------------------------------------------------------------
-- The interface
---------------------------------------------------------------------------

-- Takes one request; its reply has been sent when this returns, unless it was
-- called from inside send.
function Actor:receive (packet)
  if type(packet) ~= "table" then
    error(("bad argument #1 to 'receive' (table expected, got %s)")
          :format(type(packet)), 2)
  end
  table.insert(self.queue, packet)
  if not self.busy then
    guarded(self, answer_all)
  end
end

-- Sends all frame packets up to now.
function Actor:flush ()
  guarded(self, pump)
end

-- Sends some of what there is, without an end in sight; whether there was
-- anything. For feeds whose frames are bytes.
function Actor:advance ()
  local some = false
  guarded(self, function ()
    some = self.state ~= "detached" and pass_on(self)
  end)
  return some
end

-- The client has gone: its traces stop, and nobody is told.
Actor.close = drop

-- What a client may ask for.
Actor.requestTypes = {}
for kind in pairs(requests) do
  table.insert(Actor.requestTypes, kind)
end
table.sort(Actor.requestTypes)

local actor = {}

local known_options = {id = true, send = true, feed = true}

local function check_options (options)
  if type(options) ~= "table" then
    error("bad argument #1 to 'new' (table expected)", 3)
  end
  for key in pairs(options) do
    if not known_options[key] then
      error(("unknown option '%s' (known: feed, id, send)"):format(key), 3)
    end
  end
  if type(options.id) ~= "string" or options.id == "" then
    error("option 'id' must be a string that is not empty", 3)
  end
  for _, key in ipairs {"send", "feed"} do
    local value = options[key]
    if type(value) ~= "function" and not (key == "feed" and value == nil) then
      error(("option '%s' must be a function"):format(key), 3)
    end
  end
end

-- An actor, detached. options: id, the name that packets are sent 'to' and
-- come 'from'; send (packet), which takes what the actor says; feed (listener),
-- which makes another feed than core.feed.
-- actor.state is "detached", "idle" or "tracing", as the client was told.
function actor.new (options)
  check_options(options)
  local self = setmetatable({
    id = options.id,
    deliver = options.send,
    state = "detached",
    batches = {},         -- name of a running trace -> its 'batch'
    queue = {},           -- requests that wait
    busy = false,         -- one is being answered
  }, Actor)
  self.feed = (options.feed or core.feed)(listener(self))
  return self
end

return actor
