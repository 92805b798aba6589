-- fake.lua - a server that says what a spec tells it to, on the loop that the
-- client runs.
--
--   local server = fake.new {
--     startTrace = function (server, packet) server:send {...} end
--   }
-- A handler for each type of request; "connect" is called with no packet when
-- a client has come. Types without one are answered as an idle server would.

local quietpipe = require "tracegrip.quietpipe"
local uv = require "luv"
local wire = require "tracegrip.wire"

quietpipe()   -- clients hang up

local fake = {}

local Server = {}
Server.__index = Server

local handlers = {}

function handlers.connect (server)
  server:send {from = "root", applicationType = "lua", traits = {blocks = 1}}
end

function handlers.listTabs (server)
  server:send {from = "root", selected = 0, tabs = {
    {actor = "tab1", title = "one.lua", traceActor = "trace1"},
    {actor = "tab2", title = "two.lua", traceActor = "trace2"}}}
end

function handlers.attach (server, packet)
  server:send {from = packet.to, type = "attached",
               traceTypes = {"name", "time"}}
end

function handlers.detach (server, packet)
  server:send {from = packet.to, type = "detached"}
end

function handlers.startTrace (server, packet)
  table.insert(server.names, packet.name or "Trace 1")
  server:send {from = packet.to, type = "startedTrace", why = "requested",
               name = packet.name or "Trace 1"}
end

function handlers.stopTrace (server, packet)
  server:send {from = packet.to, type = "stoppedTrace", why = "requested",
               name = packet.name or table.remove(server.names)}
end

function handlers.echo (server, packet)
  packet.from, packet.to = "root", nil
  server:send(packet)
end

function handlers.requestTypes (server, packet)
  server:send {from = packet.to, requestTypes = {"attach", "detach"}}
end

function Server:raw (bytes)
  self.client:write(bytes)
end

-- Blocks of a trace, each a packet of its own.
function Server:stream (list)
  for _, bytes in ipairs(list) do
    self:raw(("bulk trace1 tracegrip.blocks %d:"):format(#bytes) .. bytes)
  end
end

-- Packets in one piece.
function Server:send (...)
  local parts = {}
  for i, packet in ipairs {...} do
    parts[i] = wire.encode(packet)
  end
  self:raw(table.concat(parts))
end

function Server:hang_up ()
  if self.client and not self.client:is_closing() then
    self.client:close()
  end
end

function Server:close ()
  self:hang_up()
  if not self.handle:is_closing() then
    self.handle:close()
  end
  uv.run "nowait"
end

local function answer (self, packet)
  self.requests[#self.requests + 1] = packet
  local handler = self.script[packet.type] or handlers[packet.type]
  if handler then
    handler(self, packet)
  end
end

local function accept (self)
  self.client = self.path and uv.new_pipe(false) or uv.new_tcp()
  self.handle:accept(self.client)
  if not self.path then
    self.client:nodelay(true)
  end
  local decoder = wire.decoder()
  self.client:read_start(function (_, bytes)
    if not bytes then
      self.gone = true
      return self:hang_up()
    end
    for _, packet in ipairs(assert(decoder:feed(bytes))) do
      answer(self, packet)
    end
  end)
  local connect = self.script.connect or handlers.connect
  connect(self)
end

-- path: a Unix socket's, instead of a port of its own.
function fake.new (script, path)
  local self = setmetatable({
    script = script or {}, path = path, requests = {}, names = {},
    handle = path and uv.new_pipe(false) or uv.new_tcp()
  }, Server)
  if path then
    assert(self.handle:bind(path))
  else
    assert(self.handle:bind("127.0.0.1", 0))
    self.port = self.handle:getsockname().port
  end
  assert(self.handle:listen(8, function () accept(self) end))
  return self
end

fake.handlers = handlers

-- Runs 'f' after a moment.
function fake.later (f)
  local timer = uv.new_timer()
  timer:start(20, 0, function ()
    timer:close()
    f()
  end)
end

-- Frame packets of an actor: "a(" enters a, ")" leaves; numbered from 'first'.
function fake.frames (text, first)
  local list, depth = {}, 0
  local sequence = first or 0
  for name, paren in text:gmatch "(%a*)([()])" do
    local packet = {from = "trace1", sequence = sequence, time = sequence / 8,
                    thread = 1}
    if paren == "(" then
      packet.type, packet.name, packet.depth = "enteredFrame", name, depth
      depth = depth + 1
    else
      depth = depth - 1
      packet.type, packet.why, packet.depth = "exitedFrame", "return", depth
      packet["return"] = {value = sequence, objectPool = wire.array()}
    end
    list[#list + 1] = packet
    sequence = sequence + 1
  end
  return list
end

-- The text again, of packets.
function fake.text (packets)
  local parts = {}
  for i, packet in ipairs(packets) do
    parts[i] = packet.type == "enteredFrame" and (packet.name or "?") .. "("
               or ")"
  end
  return table.concat(parts)
end

return fake
