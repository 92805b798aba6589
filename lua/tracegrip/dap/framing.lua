-- framing.lua - messages of the Debug Adapter Protocol as bytes: a header
-- "Content-Length: N", an empty line, and N bytes of JSON.
--
--   framing.encode(message)      the bytes of one message
--   framing.decoder()            takes bytes in pieces, gives messages
--     decoder:feed(bytes)        list of messages | nil, problem
--
-- Failure: a header that breaks the rules leaves nothing to go on with, so the
-- connection is to be closed. So does a body that is no JSON object: a request
-- without a number cannot be answered.

local core = require "tracegrip.core"
local wire = require "tracegrip.wire"
core.own()

local MAX_HEADER = 4096
local MAX_LENGTH = 64 << 20
local MAX_DEPTH = 100
local ARRAY = getmetatable(wire.array())

local framing = {}

function framing.encode (message)
  local body = wire.json(message)
  return string.format("Content-Length: %d\r\n\r\n%s", #body, body)
end

local Decoder = {__name = "tracegrip.dap.decoder"}
Decoder.__index = Decoder

function framing.decoder ()
  return setmetatable({
    pieces = {},        -- what has come and is not read yet
    length = 0,         -- of all pieces
    missing = nil,      -- bytes of the body; nil: in a header
  }, Decoder)
end

-- All that is there, as one piece.
local function joined (self)
  local text = table.concat(self.pieces)
  self.pieces = {text}
  return text
end

local function drop (self, text, n)
  self.pieces, self.length = {string.sub(text, n + 1)}, #text - n
end

-- The length that a header's lines tell; nil and what is wrong. A page in a
-- browser can have any bytes sent to a port, but not without a line of HTTP
-- before them: such a header is none.
local function length_of (head)
  local length
  for line in string.gmatch(head, "([^\r\n]+)") do
    local name, value = string.match(line, "^([Cc]ontent%-%a+):%s*(.-)%s*$")
    if not name then
      return nil, "a header that is not of this protocol"
    elseif string.lower(name) == "content-length" then
      length = math.tointeger(tonumber(string.match(value, "^%d+$")))
    end
  end
  return length, "a header without Content-Length"
end

-- Whether there is a header; nil and what is wrong with it.
local function read_header (self)
  local text = joined(self)
  local _, stop = string.find(text, "\r\n\r\n", 1, true)
  if not stop and self.length <= MAX_HEADER then
    return false
  elseif not stop or stop > MAX_HEADER then
    return nil, "a header that does not end"
  end
  local length, what = length_of(string.sub(text, 1, stop))
  if not length then
    return nil, what
  elseif length > MAX_LENGTH then
    return nil, string.format("a message longer than %d bytes", MAX_LENGTH)
  end
  self.missing = length
  drop(self, text, stop)
  return true
end

-- The message; nil and what is wrong with it.
local function read_body (self)
  local text, length = joined(self), self.missing
  self.missing = nil
  drop(self, text, length)
  local body = string.sub(text, 1, length)
  local message = string.find(body, "^[ \t\r\n]*{")
                  and core.decode(body, MAX_DEPTH, ARRAY)
  if type(message) ~= "table" then
    return nil, "a message that is no JSON object"
  end
  return message
end

-- What ends in these bytes, which follow those of the call before.
function Decoder:feed (bytes)
  local list = {}
  self.pieces[#self.pieces + 1] = bytes
  self.length = self.length + #bytes
  while true do
    if not self.missing then
      local there, what = read_header(self)
      if there == nil then
        return nil, what, list
      elseif not there then
        return list
      end
    end
    if self.length < self.missing then
      return list
    end
    local message, what = read_body(self)
    if not message then
      return nil, what, list
    end
    list[#list + 1] = message
  end
end

return framing
