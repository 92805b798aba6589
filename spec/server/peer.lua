-- peer.lua - a client for the specs of the server, which shares nothing with
-- tracegrip.client: it says what it is told to, right or wrong, and keeps what
-- comes.
--
--   local peer = peers.connect {port = 6006}       or {path = "/tmp/socket"}
--   peer:send {to = "root", type = "listTabs"}
--   local packet = peer:receive()

local cjson = require "cjson"
local quietpipe = require "tracegrip.quietpipe"
local uv = require "luv"

local run = require "spec.support.run"
local waiting = require "spec.support.waiting"

local peers = {}

local Peer = {}
Peer.__index = Peer

local PATIENCE = run.patience / 1000    -- seconds for what must come

-- A server that hangs up on somebody who writes is what is tested here.
quietpipe()

-- Runs the loop until ready() or for so many seconds; whether it is ready.
function peers.wait (ready, seconds)
  return waiting.till(ready, (seconds or PATIENCE) * 1000)
end

function peers.sleep (seconds)
  peers.wait(function () return false end, seconds)
end

-- The packet that is next in what has come, if it is whole.
local function next_packet (self)
  if self.from > 1 and self.from > #self.bytes then
    self.bytes, self.from = "", 1
  end
  local digits, from = self.bytes:match("^(%d+):()", self.from)
  local last = digits and from + tonumber(digits) - 1
  if not last or last > #self.bytes then
    if #self.pieces == 0 then
      return nil
    end
    self.bytes = self.bytes:sub(self.from) .. table.concat(self.pieces)
    self.pieces, self.from = {}, 1
    return next_packet(self)
  end
  self.from = last + 1
  return cjson.decode(self.bytes:sub(from, last))
end

function Peer:listen ()
  self.socket:read_start(function (err, bytes)
    if bytes then
      table.insert(self.pieces, bytes)
      self.received = self.received + #bytes
    else
      self.closed, self.problem = true, err
    end
  end)
end

-- how: port or path; deaf: it does not read.
function peers.connect (how)
  local self = setmetatable({
    pieces = {}, bytes = "", from = 1, received = 0, sent = 0, taken = 0,
    port = how.port,
    socket = how.path and uv.new_pipe(false) or uv.new_tcp()
  }, Peer)
  local answered, problem = false, nil
  local function connected (err)
    answered, problem = true, err
  end
  if how.path then
    self.socket:connect(how.path, connected)
  else
    self.socket:connect(how.host or "127.0.0.1", how.port, connected)
  end
  peers.wait(function () return answered end)
  if problem or not answered then
    self.socket:close()
    return nil, problem or "no answer"
  end
  if not how.deaf then
    self:listen()
  end
  return self
end

function Peer:raw (bytes)
  self.socket:write(bytes, function (err)
    if not err then
      self.sent = self.sent + #bytes
    end
  end)
end

-- How many of these are still connected, as far as is known.
function peers.connected (list)
  local n = 0
  for _, peer in ipairs(list) do
    n = n + (peer.closed and 0 or 1)
  end
  return n
end

function peers.bytes (packet)
  local text = type(packet) == "string" and packet or cjson.encode(packet)
  return #text .. ":" .. text
end

-- Packets, or their text, in one piece.
function Peer:send (...)
  local parts = {}
  for i, packet in ipairs {...} do
    parts[i] = peers.bytes(packet)
  end
  self:raw(table.concat(parts))
end

-- The next packet; nil if there is none in that time or the end has come.
function Peer:receive (seconds)
  local packet
  self.taken = self.taken + 1
  if self.taken % 1000 == 0 then    -- it has to read, too
    uv.run "nowait"
  end
  peers.wait(function ()
    packet = next_packet(self)
    return packet or self.closed
  end, seconds)
  return packet
end

-- The next one that is no frame, and the list of frames before it; if there is
-- peer.each, each goes there instead.
function Peer:reply (seconds)
  local frames = {}
  while true do
    local packet = self:receive(seconds)
    if not packet or not packet.sequence and packet.type ~= "traces" then
      return packet, frames
    end
    if self.each then
      self.each(packet)
    else
      table.insert(frames, packet)
    end
  end
end

-- Sends one and waits for what is no frame.
function Peer:ask (packet)
  self:send(packet)
  return self:reply()
end

-- A request to an actor, by default the first tab's.
function Peer:request (kind, fields, to)
  local packet = {to = to or "trace1", type = kind}
  for key, value in pairs(fields or {}) do
    packet[key] = value
  end
  return self:ask(packet)
end

-- Whether the server hangs up within that time.
function Peer:hung_up (seconds)
  return peers.wait(function () return self.closed end, seconds) == true
end

-- Whether the server has closed its end of a connection (of TCP) that is not
-- read, in the kernel's list. Ours may not know: a reset that comes while there
-- is no room for more is passed over.
function Peer:was_left ()
  local here = (":%04X"):format(self.socket:getsockname().port)
  local there = (":%04X"):format(self.port)
  for line in io.lines "/proc/net/tcp" do
    local from, to, state = line:match "^ *%d+: %x+(:%x+) %x+(:%x+) (%x+)"
    if from == there and to == here then
      return state ~= "01"                              -- established
    end
  end
  return true
end

function Peer:close ()
  if not self.socket:is_closing() then
    self.socket:close()
  end
  uv.run "nowait"
end

Peer.__close = Peer.close

-- At once, as when the process is killed: what was not read is lost.
function Peer:reset ()
  if not self.socket:is_closing() then
    self.socket:close_reset()
  end
  uv.run "nowait"
end

return peers
