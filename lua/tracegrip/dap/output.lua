-- output.lua - what the program prints, to the client: in pieces of whole
-- characters, in order, and without a flood.
--
--   output.new(send, waiting, read)
--                    send(category, text); waiting(): bytes that the client has
--                    not read yet; read(on): whether the program is read
--   self:put(category, bytes)    nil: the stream is over
--   self:holds()     whether the program is not read, since the client does not
--   self:finish()    what is left is sent
--
-- A client that reads slowly slows the program down, as a terminal does: while
-- it has more than HIGH unread, the program is not read. One that reads nothing
-- for PATIENCE_MS does not hold it up for ever: the program is read then, what
-- it prints is left out, and the client told how much that was.

local core = require "tracegrip.core"
local uv = require "luv"
core.own()

local HIGH, LOW = 1 << 20, 1 << 18      -- bytes
local PIECE = 1 << 16
local TICK_MS, PATIENCE_MS = 20, 3000

local output = {}

local Output = {__name = "tracegrip.dap.output"}
Output.__index = Output

function output.new (send, waiting, read)
  return setmetatable({
    send = send, waiting = waiting, read = read,
    rests = {},           -- category -> bytes of a character that has begun
    lost = 0,             -- bytes that were left out
    held = nil,           -- since when the program is not read, ms; nil: it is
    dropping = false,     -- what the program prints is left out
    timer = nil
  }, Output)
end

-- Where the last whole character ends.
local function whole (bytes)
  local at = #bytes
  while at > 0 and at > #bytes - 3
        and string.find(bytes, "^[\x80-\xbf]", at) do
    at = at - 1
  end
  local lead = string.byte(bytes, at) or 0
  local size = lead >= 0xf0 and 4 or lead >= 0xe0 and 3 or lead >= 0xc0 and 2
               or 1
  return size > #bytes - at + 1 and at - 1 or #bytes
end

local function send (self, category, bytes)
  while bytes ~= "" do
    local piece = string.sub(bytes, 1, PIECE)
    local stop = #piece < #bytes and math.max(whole(piece), 1) or #piece
    self.send(category, string.sub(piece, 1, stop))
    bytes = string.sub(bytes, stop + 1)
  end
end

local function tell_lost (self)
  if self.lost > 0 then
    self.send("important", string.format(
      "tracegrip: %d bytes of output were left out: the editor did not read "
      .. "them in time\n", self.lost))
    self.lost = 0
  end
end

local function stop_timer (self)
  if self.timer then
    self.timer:close()
    self.timer = nil
  end
end

-- Looks whether the client has caught up.
local function look (self)
  if self.waiting() <= LOW then
    stop_timer(self)
    self.held = nil
    tell_lost(self)
    self.read(true)
  elseif self.held and uv.now() - self.held >= PATIENCE_MS then
    self.held = nil
    self.dropping = true
    self.read(true)
  end
  self.dropping = self.timer ~= nil and self.dropping
end

local function hold (self)
  self.held = uv.now()
  self.read(false)
  self.timer = uv.new_timer()
  self.timer:start(TICK_MS, TICK_MS, function () look(self) end)
end

function Output:put (category, bytes)
  local all = (self.rests[category] or "") .. (bytes or "")
  local stop = bytes and whole(all) or #all
  self.rests[category] = string.sub(all, stop + 1)
  if self.dropping then
    self.lost = self.lost + stop
    return
  end
  send(self, category, string.sub(all, 1, stop))
  if not self.timer and self.waiting() > HIGH then
    hold(self)
  end
end

function Output:holds ()
  return self.timer ~= nil
end

function Output:finish ()
  stop_timer(self)
  for category, rest in pairs(self.rests) do
    send(self, category, rest)
  end
  self.rests = {}
  tell_lost(self)
end

return output
