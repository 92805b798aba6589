-- heapactor.lua - heap snapshots of the program for clients:
--
--   takeSnapshot  -> takingSnapshot     at once; then, when they are there,
--                    tookSnapshot       objects, bytes, state_bytes, garbage,
--                                       distant, made, stopped_ms, tries
--                    bulk packets of the type tracegrip.heap: the file's bytes
--                    endedSnapshot      it is whole
--                    failedSnapshot     message, code: there is no more of it
--   dropSnapshot  -> droppedSnapshot    what is on its way is not wanted
--
-- Nothing runs in the program for that (picture.lua). A client that does not
-- read keeps the child waiting which writes the file, and nobody else.
--
-- Failure: a wrong request is answered by an error packet and changes nothing.

local core = require "tracegrip.core"
local picture = require "tracegrip.server.picture"
local wire = require "tracegrip.wire"
core.own()

local MUCH = 256 << 10          -- bytes that wait for the client

local heapactor = {}

local Actor = {__name = "tracegrip.server.heapactor"}
Actor.__index = Actor

heapactor.requestTypes = wire.array {"dropSnapshot", "takeSnapshot"}

---------------------------------------------------------------------------
-- What comes of the snapshot
---------------------------------------------------------------------------

local function add (self, item)
  self.queue[#self.queue + 1] = item
  self.wake()
end

local function add_bytes (self, bytes)
  self.waiting = self.waiting + #bytes
  if self.waiting >= MUCH then
    self.picture:pause()
  end
  add(self, ("bulk %s tracegrip.heap %d:%s"):format(self.id, #bytes, bytes))
end

local function add_result (self, result)
  result.from, result.type = self.id, "tookSnapshot"
  add(self, result)
end

local function add_end (self, ok, message, code)
  self.picture = nil
  add(self, {from = self.id, type = ok and "endedSnapshot" or "failedSnapshot",
             message = message, code = code})
end

---------------------------------------------------------------------------
-- Requests
---------------------------------------------------------------------------

local requests = {}

local function drop (self)
  if self.picture then
    self.picture:close()
  end
  self.picture, self.queue, self.waiting, self.state = nil, {}, 0, "idle"
end

function requests.takeSnapshot (self)
  if self.state ~= "idle" then
    return {from = self.id, error = "wrongState",
            message = "A snapshot is on its way to this client"}
  end
  self.state = "tracing"
  self.picture = picture.take(self.tab, {
    result = function (result) add_result(self, result) end,
    bytes = function (bytes) add_bytes(self, bytes) end,
    done = function (...) add_end(self, ...) end
  })
  return {from = self.id, type = "takingSnapshot"}
end

function requests.dropSnapshot (self)
  drop(self)
  return {from = self.id, type = "droppedSnapshot"}
end

function Actor:receive (packet)
  local request = requests[packet.type]
  self.send(request and request(self) or {
    from = self.id, error = "unrecognizedPacketType",
    message = ("Actor %s does not recognize the packet type '%s'"):format(
      self.id, tostring(packet.type))
  })
end

-- Sends what is there: send waits while the client does not read.
function Actor:advance ()
  local queue = self.queue
  if #queue == 0 then
    return false
  end
  self.queue, self.waiting = {}, 0
  for _, item in ipairs(queue) do
    self.send(item)
  end
  if self.picture then
    self.picture:go_on()
  elseif #self.queue == 0 then
    self.state = "idle"
  end
  return true
end

function Actor:close ()
  drop(self)
end

-- id: the actor's name; send (packet or bytes); wake (): there is something to
-- send.
function heapactor.new (tab, id, send, wake)
  return setmetatable({
    tab = tab, id = id, send = send, wake = wake,
    requestTypes = heapactor.requestTypes,
    state = "idle",             -- "tracing" while there is one
    picture = nil,              -- that is being taken
    queue = {},                 -- packets and bytes, to be sent
    waiting = 0,                -- bytes of these
  }, Actor)
end

return heapactor
