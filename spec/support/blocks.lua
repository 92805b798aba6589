-- blocks.lua - a saved trace as the blockstream in which a server sends it
-- (docs/protocol.md, "Blocks"): a list of packets' bytes.

local HEADER = "<c8 I4 I4 I4 I4 I4 I4 I8 I8 I8 I4 I4"
local BLOCK = "<I4 I4 I8 I8 I8 I4 I4"
local BEGIN, CHUNK, EVENTS, NOW = 256, 257, 258, 259

local function entry (kind, data)
  return string.pack("<I4 s4", kind, data)
end

-- The functions among the entries of a block.
local function functions (data)
  local list, at = {}, 1
  while at <= #data do
    local kind, body
    kind, body, at = string.unpack("<I4 s4", data, at)
    if kind == 2 then
      list[#list + 1] = entry(kind, body)
    end
  end
  return table.concat(list)
end

--- Of the recording in `path`, which is complete and no ring: a packet for what
-- is before the events, one for each chunk, one for the end.
return function (path)
  local file <close> = assert(io.open(path, "rb"))
  local bytes = file:read "a"
  local _, _, size, order, _, _, pid, wall, origin, rate =
    string.unpack(HEADER, bytes)
  local list = {entry(BEGIN, string.pack("<I4 I4 I8 I8 I8 I8 I8", order, pid,
                                         wall, origin, rate, origin, 0))}
  local at = size + 1
  while at < #bytes do
    local _, kind, whole, _, packets, _, used, data =
      string.unpack(BLOCK, bytes, at)
    local good = bytes:sub(data, data + used - 1)
    if kind == 2 then
      list[1] = list[1] .. functions(good)
    else
      list[#list + 1] = entry(CHUNK, string.pack("<I8 I8 I8", whole - 40,
                                                 packets, 0))
                        .. entry(EVENTS, good)
    end
    at = at + whole
  end
  list[#list + 1] = entry(NOW, string.pack("<I8", origin))
  return list
end
