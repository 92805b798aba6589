-- protobuf.lua - Protocol Buffers as far as the formats that are written here
-- need them, with a check of their lengths.
--
--   protobuf.varint(bytes, at)   a number, and where it ends
--   protobuf.message(bytes)      its fields: number -> list of values, integers
--                                and strings; one that is not there is {}
--   protobuf.packed(bytes)       a packed field's list of numbers

local protobuf = {}

local VARINT, FIXED64, BYTES = 0, 1, 2          -- wire types

function protobuf.varint (bytes, at)
  local value, shift = 0, 0
  while true do
    local byte = bytes:byte(at)
    value, shift, at = value | (byte & 0x7F) << shift, shift + 7, at + 1
    if byte < 0x80 then
      return value, at
    end
  end
end

local readers = {
  [VARINT] = protobuf.varint,
  [FIXED64] = function (bytes, at)
    return string.unpack("<I8", bytes, at)
  end,
  [BYTES] = function (bytes, at)
    local size, from = protobuf.varint(bytes, at)
    assert(from + size - 1 <= #bytes, "a field beyond its message")
    return bytes:sub(from, from + size - 1), from + size
  end
}

function protobuf.message (bytes)
  local fields, at = setmetatable({}, {__index = function () return {} end}), 1
  while at <= #bytes do
    local tag, value
    tag, at = protobuf.varint(bytes, at)
    local read = assert(readers[tag & 7], "a wire type that nothing here has")
    value, at = read(bytes, at)
    local list = rawget(fields, tag >> 3) or {}
    fields[tag >> 3] = list
    list[#list + 1] = value
  end
  return fields
end

function protobuf.packed (bytes)
  local list, at = {}, 1
  while at <= #bytes do
    list[#list + 1], at = protobuf.varint(bytes, at)
  end
  return list
end

return protobuf
