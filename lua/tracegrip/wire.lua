-- wire.lua - packets as bytes, as Mozilla's Remote Debugging Protocol has them:
-- "<length in bytes>:<JSON object>", one after the other; and bulk
-- packets, "bulk <actor> <type> <length>:<bytes>", for those who take them.
--
--   wire.encode(packet)              the bytes of one packet
--   wire.json(value)                 a table's JSON, without a header
--   wire.decoder {maxLength = n}     takes bytes in pieces, gives packets; a
--                                    bulk one is {from =, type =, bytes =}
--     decoder:feed(bytes)            list of packets | nil, problem
--     decoder.skipped                bodies so far that were no JSON object
--     decoder:pending()              whether one has begun and not ended
--     decoder:allow(n)               another maxLength from here on
--   wire.array(list)                 marks a table: an array, also when empty
--   wire.null                        JSON's null, the same as cjson's
--
-- Server and client use it, each in its own Lua state; it knows no sockets.
--
-- Failure: a header that breaks the rules leaves nothing to go on with, so the
-- connection is to be closed: feed says nil and what was wrong, now and ever
-- after. A body that is no JSON object is passed over and counted.

local core = require "tracegrip.core"
local jsontext = require "tracegrip.jsontext"
core.own()

local lua = core.lua          -- the program may have changed its own libraries
local math, string, table = lua.math, lua.string, lua.table
local error, getmetatable, ipairs = lua.error, lua.getmetatable, lua.ipairs
local pairs, setmetatable, tonumber = lua.pairs, lua.setmetatable, lua.tonumber
local type, rawequal = lua.type, lua.rawequal

local wire = {null = core.decode("null", 1)}

---------------------------------------------------------------------------
-- Writing
---------------------------------------------------------------------------

local Array = {__name = "tracegrip.array"}

-- Marks a list as such. Only an empty one needs it: without, it is an object.
function wire.array (list)
  return setmetatable(list or {}, Array)
end

local function put_string (out, text)
  out[#out + 1] = jsontext.string(text)
end

-- A float stays one. JSON has no text for those that are not finite.
local function put_number (out, value)
  if value ~= value or value == math.huge or value == -math.huge then
    error("no JSON for the number " .. value, 0)
  end
  local text = jsontext.number(value)
  local whole = math.type(value) == "float" and not string.find(text, "[.e]")
  out[#out + 1] = whole and text .. ".0" or text
end

local put

local function put_list (out, list, level)
  out[#out + 1] = "["
  for i = 1, #list do
    if i > 1 then
      out[#out + 1] = ","
    end
    put(out, list[i], level)
  end
  out[#out + 1] = "]"
end

-- "from", "to" and "type" first, then by name: the same packet is the same
-- text.
local leading = {from = true, to = true, type = true}

local function sorted_keys (object)
  local keys, first = {}, false
  for key in pairs(object) do
    if leading[key] then
      first = true
    else
      keys[#keys + 1] = key
    end
  end
  table.sort(keys)
  for _, key in ipairs(first and {"type", "to", "from"} or {}) do
    if object[key] ~= nil then
      table.insert(keys, 1, key)
    end
  end
  return keys
end

-- Keys in order, and of each what stands before its value.
local function new_shape (object)
  local keys, texts = sorted_keys(object), {}
  for i, key in ipairs(keys) do
    texts[i] = (i == 1 and "{" or ",") .. jsontext.string(key) .. ":"
  end
  return {keys = keys, texts = texts}
end

-- Objects have the same keys in all packets, but for those that are programs'
-- tables. What pairs tells of one, key by key, leads to its shape:
--   beginning -- "name" --> step -- "type" --> step: its shape
-- When there are too many steps, they are begun anew.
local STEPS = 1000
local beginning, shapes, step_count = {}, {}, 0

local function add_step (step, key)
  if type(key) ~= "string" then
    error("no JSON for a key that is a " .. type(key), 0)
  elseif step_count == STEPS then
    beginning, shapes, step_count = {}, {}, 0
  end
  step[key], step_count = {}, step_count + 1
  return step[key]
end

local function shape_of (object)
  local step = beginning
  for key in pairs(object) do
    step = step[key] or add_step(step, key)
  end
  shapes[step] = shapes[step] or new_shape(object)
  return shapes[step]
end

local function put_object (out, object, level)
  local shape = shape_of(object)
  local texts = shape.texts
  for i, key in ipairs(shape.keys) do
    out[#out + 1] = texts[i]
    put(out, object[key], level)
  end
  out[#out + 1] = #texts == 0 and "{}" or "}"
end

local DEEPEST = 200     -- levels; a table that contains itself has more

local writers = {string = put_string, number = put_number}

function writers.boolean (out, value)
  out[#out + 1] = value and "true" or "false"   -- whatever tostring calls
end

function writers.table (out, value, level)
  if level >= DEEPEST then
    error("no JSON for tables nested so deep", 0)
  elseif rawequal(getmetatable(value), Array) or #value > 0 then
    put_list(out, value, level + 1)
  else
    put_object(out, value, level + 1)
  end
end

function put (out, value, level)
  local writer = writers[type(value)]
  if writer then
    writer(out, value, level)
  elseif value == wire.null then
    out[#out + 1] = "null"
  else
    error("no JSON for a " .. type(value), 0)
  end
end

-- A table as JSON. One with elements, or marked, is an array. Raises if there
-- is something in it that JSON does not have.
function wire.json (packet)
  local out = {}
  put(out, packet, 0)
  return table.concat(out)
end

-- A packet's bytes; the same.
function wire.encode (packet)
  local out = {}
  put_object(out, packet, 1)
  local body = table.concat(out)
  return #body .. ":" .. body
end

---------------------------------------------------------------------------
-- Reading
---------------------------------------------------------------------------

local MAX_HEADER = 200
local MAX_LENGTH = 16 << 20
local MAX_DEPTH = 100

local Decoder = {__name = "tracegrip.decoder"}
Decoder.__index = Decoder

-- A decoder in its first state. options, all optional:
--   maxLength   bytes of a body; one that claims more breaks the rules
--   maxHeader   bytes before it, the colon included
--   maxDepth    levels of objects and arrays; with more it is no JSON
--   bulk        true: bulk packets are taken too
function wire.decoder (options)
  options = options or {}
  return setmetatable({
    max_depth = options.maxDepth or MAX_DEPTH,
    max_length = options.maxLength or MAX_LENGTH,
    max_header = options.maxHeader or MAX_HEADER,
    takes_bulk = options.bulk == true,
    bulk = nil,         -- what the header of a bulk packet has said
    skipped = 0,
    header = "",        -- of it, what has come
    missing = nil,      -- bytes of the body yet to come; nil: in a header
    pieces = {},        -- of the body, what has come
    problem = nil,      -- what broke the rules
  }, Decoder)
end

-- The number of bytes that a header announces, or nil and what is wrong.
local function length_of (self, header)
  local digits = string.match(header, "^(%d+):$")
  if not digits and self.takes_bulk then
    local from, kind, count =
      string.match(header, "^bulk ([^%s:]+) ([^%s:]+) (%d+):$")
    digits = count
    self.bulk = from and {from = from, type = kind}
  end
  local length = math.tointeger(tonumber(digits))
  if not digits then
    return nil, "not a packet's header"
  elseif not length or length > self.max_length then
    return nil, string.format("a packet longer than %d bytes", self.max_length)
  end
  return length
end

-- Whether what has come of a header may become that of a bulk packet.
local function may_be_bulk (header)
  return string.sub(header, 1, 5) == string.sub("bulk ", 1, #header)
end

-- Reads on in a header, from byte 'from' of 'bytes': where the body begins, nil
-- if there is nothing left to read, or nil and what is wrong.
local function read_header (self, bytes, from)
  local colon = string.find(bytes, ":", from, true)
  local more = (colon or #bytes) - from + 1
  if #self.header + more > self.max_header then
    return nil, "a header that does not end"
  end
  self.header = self.header .. string.sub(bytes, from, colon)
  if colon then
    local problem
    self.missing, problem = length_of(self, self.header)
    self.header = ""
    return self.missing and colon + 1, problem
  elseif string.find(self.header, "%D")
         and not (self.takes_bulk and may_be_bulk(self.header)) then
    return nil, "not a packet's header"
  end
end

-- Keeps a piece of a body. A short one joins those before it, so there are
-- few, and no byte is copied more often than there are pieces.
local function keep (pieces, piece)
  local n = #pieces
  while n > 0 and #pieces[n] <= #piece do
    piece = pieces[n] .. piece
    pieces[n] = nil
    n = n - 1
  end
  pieces[n + 1] = piece
end

-- Reads on in a body: it, whole, or nil, and where to go on.
local function read_body (self, bytes, from)
  local last = from + self.missing - 1
  if last > #bytes then
    keep(self.pieces, string.sub(bytes, from))
    self.missing = last - #bytes
    return nil, #bytes + 1
  end
  local body = string.sub(bytes, from, last)
  if self.pieces[1] then
    self.pieces[#self.pieces + 1] = body
    body = table.concat(self.pieces)
    self.pieces = {}
  end
  self.missing = nil
  return body, last + 1
end

-- An array is a table too, so it is the text that says which it is.
local function take (self, list, body)
  if not body then
    return
  elseif self.bulk then
    list[#list + 1], self.bulk = self.bulk, nil
    list[#list].bytes = body
    return
  end
  local packet = string.find(body, "^[ \t\r\n]*{")
                 and core.decode(body, self.max_depth, Array)
  if packet then
    list[#list + 1] = packet
  else
    self.skipped = self.skipped + 1
  end
end

-- Whether 'bytes' were read without a problem; packets go to 'list'.
local function read (self, bytes, list)
  local at = 1
  while at <= #bytes or self.missing == 0 do
    if self.missing then
      local body
      body, at = read_body(self, bytes, at)
      take(self, list, body)
    else
      local body_at, problem = read_header(self, bytes, at)
      if not body_at then
        return problem == nil, problem
      end
      at = body_at
    end
  end
  return true
end

-- The packets that end in these bytes, which follow those of the call before;
-- nil and the problem if the rules were broken. What was whole before the
-- problem is the third value.
function Decoder:feed (bytes)
  if self.problem then
    return nil, self.problem, {}
  end
  local list = {}
  local ok, problem = read(self, bytes, list)
  if not ok then
    self.problem, self.pieces, self.header = problem, {}, ""
    return nil, problem, list
  end
  return list
end

-- Whether a packet has begun and not ended.
function Decoder:pending ()
  return self.missing ~= nil or self.header ~= ""
end

-- From now on bodies may have so many bytes.
function Decoder:allow (max_length)
  self.max_length = max_length
end

return wire
