-- profileractor.lua - the profiler service as an actor: packets of the Remote
-- Debugging Protocol in, packets out.
--
--   local actor = require("tracegrip.profileractor").new {
--     id = "profiler1", send = function (packet) end
--   }
--   actor:receive {to = "profiler1", type = "startProfiler",
--                  startMode = 1, windowID = 1}
--
-- Requests and replies have the fields of the service's messages (scope.lua,
-- docs/scope.md) beside their own:
--
--   startProfiler   -> startedProfiler    SessionID
--   stopProfiler    -> stoppedProfiler    Session
--   getEvents       -> events             Events
--   releaseSession  -> releasedSession
--
-- A refusal is an error packet: its 'error' is the status in words (badRequest,
-- outOfMemory, internalError), 'status' its number.
--
-- The profiler is an object that may live anywhere, such as on the other side
-- of a thread. All that is asked of it:
--
--   profiler:start(fields, done)      StartProfiler
--   profiler:stop(fields, done)       StopProfiler
--   profiler:events(fields, done)     GetEvents
--   profiler:release(fields, done)    ReleaseSession
--   profiler:close()                  nobody will ask any more
--
-- Each gets the message's fields and gives a status and a message; or gives
-- nothing, and calls done(status, message) later, once. The actor asks for one
-- thing at a time: requests that come meanwhile wait, so replies keep their
-- order. Without one the actor has a profiler of this Lua state.
--
-- Failure: a wrong request is answered by an error packet and changes nothing.
-- What send raises goes on to the caller of receive, or of done.

local core = require("tracegrip.installed").core
local scope = require "tracegrip.scope"
local wire = require "tracegrip.wire"
core.own()

local profileractor = {}

local Actor = {__name = "tracegrip.profileractor"}
Actor.__index = Actor

---------------------------------------------------------------------------
-- The profiler of this state
---------------------------------------------------------------------------

local Local = {}
Local.__index = Local

function Local:start (fields)
  return self.profiler:StartProfiler(fields)
end

function Local:stop (fields)
  return self.profiler:StopProfiler(fields)
end

function Local:events (fields)
  return self.profiler:GetEvents(fields)
end

function Local:release (fields)
  return self.profiler:ReleaseSession(fields)
end

function Local:close ()
  self.profiler:close()
end

-- A profiler as actors want it, from one that scope.new gave.
function profileractor.adapt (profiler)
  return setmetatable({profiler = profiler}, Local)
end

---------------------------------------------------------------------------
-- Requests
---------------------------------------------------------------------------

-- Type of a request -> the profiler's method and the reply's type.
local requests = {
  startProfiler = {"start", "startedProfiler"},
  stopProfiler = {"stop", "stoppedProfiler"},
  getEvents = {"events", "events"},
  releaseSession = {"release", "releasedSession"}
}

profileractor.requestTypes = wire.array {
  "getEvents", "releaseSession", "startProfiler", "stopProfiler"
}

-- BAD_REQUEST -> badRequest
local error_names = {}
for name, status in pairs(scope.status) do
  error_names[status] = name:lower():gsub("_(%l)", string.upper)
end

local function failure (self, code, message, ...)
  return {from = self.id, error = code, message = message:format(...)}
end

-- JSON tells an empty list from an empty object.
local lists = {"eventList", "timelineList"}

local function reply_to (self, kind, status, message)
  if status ~= scope.status.OK then
    local packet = failure(self, error_names[status] or "internalError", "%s",
                           message and message.description or "unknown")
    packet.status = status
    return packet
  end
  local packet = {from = self.id, type = kind}
  for key, value in pairs(message or {}) do
    packet[key] = value
  end
  for _, key in ipairs(lists) do
    packet[key] = packet[key] and wire.array(packet[key])
  end
  return packet
end

local function fields_of (packet)
  local fields = {}
  for key, value in pairs(packet) do
    if key ~= "to" and key ~= "type" then
      fields[key] = value
    end
  end
  return fields
end

-- The packet's request, or nil and a packet that says what is wrong with it.
local function request_of (self, packet)
  for _, key in ipairs {"to", "type"} do
    if packet[key] == nil then
      return nil, failure(self, "missingParameter", "'%s' is missing", key)
    elseif type(packet[key]) ~= "string" then
      return nil, failure(self, "badParameterType",
                          "'%s' must be a string, not a %s", key,
                          type(packet[key]))
    end
  end
  if packet.to ~= self.id then
    return nil, {from = packet.to, error = "noSuchActor",
                 message = "No such actor for ID: " .. packet.to}
  end
  local request = requests[packet.type]
  if not request then
    return nil, failure(
      self, "unrecognizedPacketType",
      "Actor %s does not recognize the packet type '%s'", self.id, packet.type)
  end
  return request
end

---------------------------------------------------------------------------
-- One at a time
---------------------------------------------------------------------------

local answer_all           -- function, defined below

-- A function that takes the answer to a request, once: at once, or later.
local function waiter (self, kind)
  local answered = false
  self.waiting = true
  return function (status, message)
    if answered or self.closed then
      return
    end
    answered = true
    self.waiting = false
    self.deliver(reply_to(self, kind, status, message))
    if not self.busy then
      answer_all(self)
    end
  end
end

local function answer (self, packet)
  local request, problem = request_of(self, packet)
  if not request then
    return self.deliver(problem)
  end
  local method, kind = table.unpack(request)
  local done = waiter(self, kind)
  local status, message = self.profiler[method](self.profiler,
                                                fields_of(packet), done)
  if status ~= nil then
    done(status, message)
  end
end

-- Requests that come in from inside send wait for their turn as well.
function answer_all (self)
  self.busy = true
  local ok, err = true, nil
  while ok and self.queue[1] and not self.waiting do
    ok, err = pcall(answer, self, table.remove(self.queue, 1))
  end
  self.busy = false
  if not ok then
    self.waiting = false
    error(err, 0)
  end
end

---------------------------------------------------------------------------
-- The interface
---------------------------------------------------------------------------

-- Takes one request. Its reply has been sent when this returns, unless the
-- profiler answers later, or it was called from inside send.
function Actor:receive (packet)
  if type(packet) ~= "table" then
    error(("bad argument #1 to 'receive' (table expected, got %s)")
          :format(type(packet)), 2)
  end
  if self.closed then
    return
  end
  table.insert(self.queue, packet)
  if not self.busy and not self.waiting then
    answer_all(self)
  end
end

-- It says nothing of its own accord.
function Actor.advance ()
  return false
end

-- The client has gone: what it has started stops.
function Actor:close ()
  if not self.closed then
    self.closed, self.queue = true, {}
    self.profiler:close()
  end
end

local methods = {"start", "stop", "events", "release", "close"}

local function check_options (options)
  if type(options) ~= "table" then
    error("bad argument #1 to 'new' (table expected)", 3)
  end
  for key in pairs(options) do
    if key ~= "id" and key ~= "send" and key ~= "profiler" then
      error(("unknown option '%s' (known: id, send, profiler)"):format(key), 3)
    end
  end
  if type(options.id) ~= "string" or options.id == "" then
    error("option 'id' must be a string that is not empty", 3)
  end
  if type(options.send) ~= "function" then
    error("option 'send' must be a function", 3)
  end
  for _, name in ipairs(options.profiler and methods or {}) do
    if not options.profiler[name] then
      error(("option 'profiler' has no method '%s'"):format(name), 3)
    end
  end
end

-- An actor. options: id, the name that packets are sent 'to' and come 'from';
-- send (packet), which takes what the actor says; profiler, as above.
function profileractor.new (options)
  check_options(options)
  return setmetatable({
    id = options.id,
    deliver = options.send,
    profiler = options.profiler or profileractor.adapt(scope.new()),
    requestTypes = profileractor.requestTypes,
    state = "idle",
    queue = {},            -- requests that wait
    busy = false,          -- they are being answered
    waiting = false,       -- the profiler has yet to answer one
    closed = false,
  }, Actor)
end

return profileractor
