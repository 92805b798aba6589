-- tracer.lua - an actor that a client is attached to: what it is asked, and
-- what it says of its own accord. See client.lua, which makes them.
--
--   tracer.new(connection, actor, types) -> Tracer
--   tracer.defaultTypes    what a trace has that is not told what it should
--                          have
--   tracer.typed(name)     an 'is_reply' for exchange.ask: packets of a type
--   tracer.is_list(value)  whether it is a list
--
-- Frames are dealt out by router.lua. What the server sends may make no sense:
-- then the connection ends, with what is wrong.

local core = require "tracegrip.core"
local exchange = require "tracegrip.client.exchange"
local router = require "tracegrip.client.router"
local wire = require "tracegrip.wire"
core.own()

local tracer = {}

tracer.defaultTypes = {
  "name", "callsite", "time", "parameterNames", "arguments", "return",
  "throw", "yield"
}

local Tracer = {__name = "tracegrip.client.tracer"}
Tracer.__index = Tracer

-- An 'is_reply' for packets of a type.
function tracer.typed (name)
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

-- What JSON's arrays become; an empty object is one as well.
local function is_list (value)
  return type(value) == "table" and (#value > 0 or next(value) == nil)
end

---------------------------------------------------------------------------
-- Notices
---------------------------------------------------------------------------

-- What an attached actor says of its own accord, by type: each returns nil and
-- what is wrong with a packet that makes no sense.
local notices = {}

function notices.enteredFrame (self, packet)
  packet.from = nil
  return self.router:frame(packet)
end

notices.exitedFrame = notices.enteredFrame

function notices.marker (self, packet)
  packet.from = nil
  self.router:marker(packet)
  return true
end

notices.memory, notices.allocations = notices.marker, notices.marker

local function is_frame (packet)
  return type(packet) == "table" and (packet.type == "enteredFrame"
                                      or packet.type == "exitedFrame")
end

local function is_marker (packet)
  return type(packet) == "table" and (packet.type == "marker"
                                      or packet.type == "memory"
                                      or packet.type == "allocations")
end

function notices.traces (self, packet)
  if not is_list(packet.traces) then
    return nil, "a batch without frames"
  end
  for _, event in ipairs(packet.traces) do
    local ok, problem = is_frame(event), "a batch of something else"
    if ok then
      ok, problem = self.router:frame(event)
    elseif is_marker(event) then
      self.router:marker(event)
      ok = true
    end
    if not ok then
      return nil, problem
    end
  end
  return true
end

-- A trace that comes as blocks is the only one.
notices["tracegrip.blocks"] = function (self, packet)
  if type(packet.bytes) ~= "string" then
    return nil, "blocks without bytes"
  end
  self.router:blocks(packet.bytes)
  return true
end

-- Anything may be there.
local function why_of (packet)
  return type(packet.why) == "string" and packet.why or nil
end

-- The same: figures by cause, without what is none. A decoder may give 5 as
-- 5.0.
local function lost_of (packet)
  local lost = {}
  for cause, n in pairs(type(packet.lost) == "table" and packet.lost or {}) do
    if type(cause) == "string" and type(n) == "number" then
      lost[cause] = math.tointeger(n)
    end
  end
  return lost
end

function notices.startedTrace (self, packet)
  if type(packet.name) ~= "string" then
    return nil, "a trace without a name"
  end
  local types = is_list(packet.tracing) and packet.tracing
                or tracer.defaultTypes
  self.router:start(packet.name, types, why_of(packet))
  return true
end

-- One that nobody knows has ended before: by detach, which is told first.
function notices.stoppedTrace (self, packet)
  if type(packet.name) ~= "string" then
    return nil, "a trace without a name"
  end
  self.router:stop(packet.name, why_of(packet), lost_of(packet))
  return true
end

local function is_notice (packet)
  return notices[packet.type] and packet.error == nil
         and packet.why ~= "requested"
end

-- Whether the packet was a notice; nil and what is wrong with it.
function Tracer:notice (packet)
  if not is_notice(packet) then
    return false
  end
  return notices[packet.type](self, packet)
end

-- The connection is closed.
function Tracer:lose (message, code)
  self.attached = false
  self.router:close("closed", message, code)
end

---------------------------------------------------------------------------
-- A new one
---------------------------------------------------------------------------

-- What is attached to on a connection; 'types' as the server has told them.
function tracer.new (connection, actor, types)
  local self = {
    connection = connection,
    actor = actor,
    traceTypes = is_list(types) and types or {},
    attached = true,
  }
  local function call (name)
    return function (...)
      if self[name] then
        self[name](...)
      end
    end
  end
  self.router = router.new(function (ready)
    exchange.wait(connection, ready, false)
  end)
  self.router.onstart, self.router.onstop = call "onstart", call "onstop"
  return setmetatable(self, Tracer)
end

-- Frames are only dealt out twice if somebody wants them twice.
Tracer.__newindex = function (self, key, value)
  if key == "onframe" then
    self.router.onframe = value
  else
    rawset(self, key, value)
  end
end

---------------------------------------------------------------------------
-- Requests
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

-- The types of the trace that a packet asks for.
local function types_of (packet)
  local types = packet.trace or tracer.defaultTypes
  if packet.memory or packet.memoryEvery then
    types = table.move(types, 1, #types, 1, {})
    types[#types + 1], types[#types + 2] = "memory", "allocations"
  end
  return types
end

-- Trace | nil, message, code
function Tracer:startTrace (fields, callback)
  if type(fields) == "function" then
    fields, callback = nil, fields
  end
  local packet = request_of(self, "startTrace", fields)
  return exchange.complete(self.connection, callback, function (done)
    exchange.ask(self.connection, packet, requested "startedTrace",
        function (reply, message, code)
      if not reply then
        return done(nil, message, code)
      end
      done(self.router:start(tostring(reply.name), types_of(packet),
                             "requested"))
    end)
  end)
end

-- Trace, which has ended | nil, message, code
function Tracer:stopTrace (name, callback)
  if type(name) == "function" then
    name, callback = nil, name
  end
  local packet = request_of(self, "stopTrace", {name = name})
  return exchange.complete(self.connection, callback, function (done)
    exchange.ask(self.connection, packet, requested "stoppedTrace",
        function (reply, message, code)
      if not reply then
        return done(nil, message, code)
      end
      local trace = self.router:stop(tostring(reply.name), "requested",
                                     lost_of(reply))
      done(trace, not trace and "a trace that nobody started" or nil,
           not trace and "badPacket" or nil)
    end)
  end)
end

-- true | nil, message, code. Every trace has ended then.
function Tracer:detach (callback)
  return exchange.complete(self.connection, callback, function (done)
    exchange.ask(self.connection, request_of(self, "detach"),
        tracer.typed "detached", function (reply, message, code)
      if not reply then
        return done(nil, message, code)
      end
      self.attached = false
      self.router:close("detached")
      done(true)
    end)
  end)
end

-- The active trace of that name.
function Tracer:trace (name)
  for _, trace in ipairs(self.router.traces) do
    if trace.name == name then
      return trace
    end
  end
end

tracer.is_list = is_list

return tracer
