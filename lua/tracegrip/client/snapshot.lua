-- snapshot.lua - a heap snapshot of a program that listens, as a client of its
-- HeapActor (docs/protocol.md) takes it.
--
--   snapshot.take(connection, actor, on, callback)
--
-- 'on' has result(result), called once, before any bytes, and bytes(bytes),
-- which returns true, or nil and a message: then no more is wanted. The
-- callback gets the result when all bytes have come; else nil, message, code.
--
-- Nothing is owed while the program's heap is looked through, so that may take
-- as long as it takes; a connection that is lost ends it.

local core = require("tracegrip.installed").core
local exchange = require "tracegrip.client.exchange"
core.own()

local snapshot = {}

local Taking = {}
Taking.__index = Taking

local function finish (self, ...)
  if self.connection.tracers[self.actor] == self then
    self.connection.tracers[self.actor] = nil
  end
  local callback = self.callback
  self.callback = function () end
  callback(...)
end

local function ignore () end

local notices = {}

local counts = {"objects", "bytes", "state_bytes", "garbage", "distant",
                "made"}
local later = {distant = true, made = true}     -- older programs say none

-- Whoever shows them counts with them.
local function has_numbers (packet)
  for _, name in ipairs(counts) do
    local n = packet[name]
    local counted = type(n) == "number" and n >= 0 and n % 1 == 0
    if not counted and (n ~= nil or not later[name]) then
      return false
    end
  end
  return type(packet.stopped_ms) == "number"
end

function notices.tookSnapshot (self, packet)
  if not has_numbers(packet) then
    return nil, "a snapshot's result without its numbers"
  end
  packet.from, packet.type = nil, nil
  self.result = packet
  if self.on.result then
    self.on.result(packet)
  end
  return true
end

-- What comes after an error here is dropped with the actor's next answer.
notices["tracegrip.heap"] = function (self, packet)
  if type(packet.bytes) ~= "string" or not self.result then
    return nil, "a snapshot out of order"
  end
  local ok, message, code = self.on.bytes(packet.bytes)
  if not ok then
    exchange.ask(self.connection, {to = self.actor, type = "dropSnapshot"},
                 exchange.anything, ignore)
    finish(self, nil, message, code)
  end
  return true
end

function notices.endedSnapshot (self)
  if not self.result then
    return nil, "the end of no snapshot"
  end
  finish(self, self.result)
  return true
end

function notices.failedSnapshot (self, packet)
  finish(self, nil, type(packet.message) == "string" and packet.message
                    or "the snapshot has failed", packet.code)
  return true
end

function Taking:notice (packet)
  local notice = notices[packet.type]
  if not notice then
    return false
  end
  return notice(self, packet)
end

function Taking:lose (message, code)
  finish(self, nil, message or "the connection is closed", code or "closed")
end

function snapshot.take (connection, actor, on, callback)
  if connection.tracers[actor] then
    return callback(nil, "a snapshot is on its way", "wrongState")
  end
  local self = setmetatable({connection = connection, actor = actor, on = on,
                             callback = callback}, Taking)
  exchange.ask(connection, {to = actor, type = "takeSnapshot"},
               function (packet) return packet.type == "takingSnapshot" end,
               function (packet, message, code)
    if not packet then
      finish(self, nil, message, code)
    end
  end)
  if not connection.closed then
    connection.tracers[actor] = self
  end
end

return snapshot
