-- fakehost.lua - a host and channels as the C side gives them to the server, of
-- which a spec decides what the program does, at which moment.
--
--   local host = fakehost.new()
--   server.start(host)
--   local channel = host:open(1, "one.lua")
--   local answer = host:listen(1, {host = "127.0.0.1", port = 0})
--
-- All on the loop of the spec, which peer.lua runs.

local uv = require "luv"

local peers = require "spec.server.peer"
local wire = require "tracegrip.wire"

local fakehost = {}

---------------------------------------------------------------------------
-- A channel: what the program does is a list of frames (tables) and notices
---------------------------------------------------------------------------

local Channel = {}
Channel.__index = Channel

function Channel:attach (yes)
  table.insert(self.asked, yes and "attach" or "leave")
  if not yes then
    self.items, self.limit, self.running = {}, nil, {}
  end
end

function Channel:start (id, options)
  if options.maxDepth == "deep" then
    error("option 'maxDepth' must be a number", 0)
  end
  table.insert(self.asked, "start " .. id .. " " .. options.name)
  self.options = options
  self.running[id] = options.name
  return options.duration
end

function Channel:stop (id)
  table.insert(self.asked, "stop " .. id)
end

-- By cause, of a trace that has not been dropped.
function Channel:lost (id)
  return self.running[id] and self.lacks
end

function Channel:drop (id)
  self.running[id] = nil
end

-- No debugger is ever told anything.
function Channel:collect ()
  return nil
end

function Channel:mark ()
  self.limit = #self.items
  return self.limit > 0
end

local function next_item (self, kind)
  local item = self.items[1]
  if not item or (item.kind ~= nil) ~= kind or self.limit == 0 then
    return nil
  end
  self.limit = self.limit and self.limit - 1
  return table.remove(self.items, 1)
end

local function bytes_of (frames, from, batch)
  local parts = {}
  for i = 1, #frames, batch or 1 do
    if batch then
      parts[#parts + 1] = wire.encode {from = from, type = "traces", traces =
        table.move(frames, i, math.min(i + batch - 1, #frames), 1, {})}
    else
      frames[i].from = from
      parts[#parts + 1] = wire.encode(frames[i])
    end
  end
  return table.concat(parts)
end

-- A frame that has a size fills as many bytes.
function Channel:read (from, batch, bytes)
  local frames, size = {}, 0
  while size < bytes do
    local frame = next_item(self, false)
    if not frame then
      break
    end
    if self.endless then
      table.insert(self.items, {type = frame.type, name = frame.name,
                                sequence = frame.sequence + 1})
    end
    frames[#frames + 1] = frame
    size = size + 60 + #(frame.name or "")
  end
  if #frames > 0 then
    return bytes_of(frames, from, batch)
  end
  self.limit = nil
end

function Channel:notice ()
  local item = self.items[1]
  return item and item.kind and table.remove(self.items, 1) or nil
end

function Channel:nudge () -- luacheck: ignore self
  return false
end

function Channel:heard () -- luacheck: ignore self
  return true
end

function Channel:close ()
  table.insert(self.asked, "close")
end

function Channel:names ()
  return self.others
end

function Channel:title ()
  return self.name
end

-- For specs: the program enters functions of these names.
function Channel:enters (...)
  for _, name in ipairs {...} do
    table.insert(self.items, {type = "enteredFrame", name = name,
                              sequence = self.sequence})
    self.sequence = self.sequence + 1
  end
end

-- For specs: a notice.
function Channel:tells (notice)
  table.insert(self.items, notice)
  self.host:put {kind = "news", endpoint = self.endpoint}
end

---------------------------------------------------------------------------
-- The host
---------------------------------------------------------------------------

local Host = {}
Host.__index = Host

function Host:fd ()
  return self.ends.read
end

function Host:take ()
  if #self.events == 0 then
    return nil
  end
  uv.fs_read(self.ends.read, 1)
  return table.remove(self.events, 1)
end

function Host:put (event)
  table.insert(self.events, event)
  uv.fs_write(self.ends.write, "x")
end

function Host:answer (id, ...)
  self.answers[id] = table.pack(...)
end

function Host:keep (fd)
  assert(not self.kept[fd])
  self.kept[fd] = true
end

function Host:drop (fd)
  assert(self.kept[fd])
  self.kept[fd] = nil
end

function Host:channel (endpoint)
  return self.channels[endpoint]
end

-- For specs: a state that can be listened to.
function Host:open (endpoint, title)
  self.channels[endpoint] = setmetatable({
    host = self, endpoint = endpoint, name = title, items = {}, asked = {},
    others = {},
    running = {}, sequence = 0
  }, Channel)
  return self.channels[endpoint]
end

local function await (self, event)
  self.id = self.id + 1
  event.id = self.id
  self:put(event)
  peers.wait(function () return self.answers[event.id] end)
  return table.unpack(self.answers[event.id], 1, 3)
end

-- For specs: a state listens; true, address | nil, message, code.
function Host:listen (endpoint, options)
  return await(self, {kind = "listen", endpoint = endpoint, options = options,
                      title = self.channels[endpoint].name})
end

function Host:unlisten (endpoint, address)
  return await(self, {kind = "unlisten", endpoint = endpoint,
                      address = address})
end

function fakehost.new ()
  return setmetatable({
    ends = uv.pipe({nonblock = true}, {nonblock = true}),
    events = {}, answers = {}, kept = {}, channels = {}, id = 0
  }, Host)
end

return fakehost
