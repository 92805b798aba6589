-- composition.lua - where the bytes of a recording go: by part of an event, by
-- kind of value, by what is told of an object.
--
--   tracegrip record --compress none -o FILE ...
--   lua5.4 spec/bench/composition.lua FILE [EVERY]
--
-- Each block of events begins with a CONTEXT and refers to nothing before it,
-- so EVERY 20th, say, stands for all of them. The layouts are those of
-- docs/recording.md.

local path = assert(arg[1], "usage: composition.lua FILE [EVERY]")
local every = tonumber(arg[2] or "1")

local unpack, byte = string.unpack, string.byte

local KINDS = {"CONTEXT", "TIME", "CALL", "RETURN", "THROW", "YIELD", "RESUME",
               "LEAVE", "TERMINATE", "GONE", "LOST", "MARK", "SAMPLE", "WAIT",
               "ALLOCATIONS"}
local TYPES = {[0] = "table", "function", "thread", "userdata", "like",
               "unlike"}
local VALUES, LIST, SITE, FAR = 0x10, 0x20, 0x40, 0x80
local CLASS, PROTO, FUNCTION, PROPS = 1, 2, 4, 8

local counts, bytes, all, events = {}, {}, 0, 0

local function note (what, size)
  counts[what] = (counts[what] or 0) + 1
  bytes[what] = (bytes[what] or 0) + size
end

local function var (text, at)
  local v, shift = 0, 0
  while true do
    local b = byte(text, at)
    at = at + 1
    v = v | (b & 0x7f) << shift
    if b < 0x80 then
      return v, at
    end
    shift = shift + 7
  end
end

--- Where the grip at 'at' ends; what it is; an object's id.
local function grip (text, at)
  local tag = byte(text, at)
  if tag >= 0xc0 then
    return at + 1, "small integer"
  elseif tag >= 0x80 then
    return at + 1, "object", tag & 0x3f
  elseif tag >= 0x40 then
    return at + 1 + (tag & 0x3f), "small string"
  elseif tag == 0x3f then
    return at + 1, "end"
  elseif tag <= 4 then
    return at + 1, "nil, boolean"
  end
  if tag >= 0x10 and tag < 0x20 then
    return at + 3, "small string again"
  end
  local v, stop = var(text, at + 1)
  if tag == 5 then
    return stop, "integer"
  elseif tag == 6 then
    return at + 9, "float"
  elseif tag == 7 then
    v, stop = var(text, stop)
    return stop + v, "long string"
  elseif tag == 8 then
    return stop, "object", v
  elseif tag == 9 then
    return at + 2, "no room"
  elseif tag == 0xa then
    return stop, "string again"
  end
  error("a grip of type " .. tag)
end

local function noted_grip (place, text, at)
  local stop, what = grip(text, at)
  note(place .. ": " .. what, stop - at)
  return stop, what
end

local function bits (v)
  local n = 0
  while v ~= 0 do
    v, n = v & v - 1, n + 1
  end
  return n
end

local function like (text, at, nexts)
  local _, stop = var(text, at)
  note("like: place", stop - at)
  local differ, behind = var(text, stop)
  note("like: which differ", behind - stop)
  if nexts then
    local _, next = var(text, behind)
    note("like: object that comes next", next - behind)
    behind = next
  end
  local n = bits(differ)
  note(("like: %s differ"):format(n > 4 and "5 or more" or n), 0)
  for _ = 1, n do
    behind = noted_grip("like", text, behind)
  end
  return behind
end

local function properties (text, at)
  while true do
    local stop, what = grip(text, at)
    note("key: " .. what, stop - at)
    if what == "end" then
      return stop
    end
    at = noted_grip("value", text, stop)
  end
end

local FORMS = {[1] = 5, [2] = 0, [3] = 4, [6] = 4, [7] = 5}

--- Type and flags, how many bytes they take, and whether objects come next.
local function head_of (text, at)
  local first, second = byte(text, at, at + 1)
  local kind = FORMS[first >> 5]
  if kind then
    return kind, first & 3 | (first & 0x1c) << 1, 1, first >= 0xc0
  elseif first == 6 then
    return 1, FUNCTION, 1
  end
  return first, second, 2
end

local function descriptor (text, at)
  local first = byte(text, at)
  if first >= 0x80 and first < 0xb0 then
    note("descriptor: tables in a row", 1)
    return at + 1
  end
  local begin = at
  local kind, flags, size, nexts = head_of(text, at)
  note("descriptor: type and flags", size)
  at = at + size
  if flags & CLASS ~= 0 then
    at = noted_grip("class", text, at)
  end
  if flags & PROTO ~= 0 then
    at = noted_grip("prototype", text, at)
  end
  if flags & FUNCTION ~= 0 then
    local _, stop = var(text, at)
    note("descriptor: function", stop - at)
    at = stop
  end
  if kind == 4 then
    at = like(text, at, nexts)
  elseif flags & PROPS ~= 0 then
    at = properties(text, at)
  end
  note(("whole %s, %s"):format(TYPES[kind], flags & PROPS ~= 0 and "listed"
                               or "named"), at - begin)
  return at
end

local function values (kind, text, at, stop)
  local n
  local begin = at
  n, at = var(text, at)
  note(kind .. ": values", stop - begin)
  note("count of values", at - begin)
  for _ = 1, math.min(n, 4096) do
    at = noted_grip("list", text, at)
  end
  while at < stop do
    at = descriptor(text, at)
  end
end

local function counted_values (kind, text, at, short)
  local size, begin
  if short then
    size, begin = var(text, at)
  else
    size, begin = unpack("<I4", text, at) & 0x7fffffff, at + 4
  end
  note(kind .. ": size of values", begin - at)
  values(kind, text, begin, begin + size)
  return begin + size
end

--- Where a call's values begin, whose numbers have so many bytes.
local function call (flags, at, number)
  at = at + number
  if flags & SITE ~= 0 then
    at = at + (flags & FAR ~= 0 and 2 * number or number)
  end
  return at
end

--- Where the body behind a head ends, and where its values begin if they are
-- behind that.
local function body (kind, flags, text, at)
  if kind == "CONTEXT" then
    at = at + 12 + 8 * unpack("<I4", text, at + 8)
    return flags & LIST == 0 and at or at + 4 + 4 * unpack("<I4", text, at)
  elseif kind == "TIME" then
    return flags & SITE ~= 0 and at or at + (flags & LIST ~= 0 and 16 or 8)
  elseif kind == "CALL" then
    return call(flags, at, 4)
  elseif kind == "THROW" or kind == "GONE" then
    return at + 4
  elseif kind == "RESUME" then
    at = at + 4
    return flags & LIST == 0 and at or at + 4 + 4 * unpack("<I4", text, at)
  elseif kind == "WAIT" then
    return at + 16
  elseif kind == "MARK" then
    return at + 4 + (flags & LIST ~= 0 and 8 or 0)
           + (flags & SITE ~= 0 and 8 or 0)
  elseif kind == "LOST" then
    return at + 8
  end
  return at
end

local function name_of (kind, flags, short)
  local name = kind .. (short and ", short" or "")
  if kind == "CALL" then
    name = name .. (flags & LIST ~= 0 and ", tail" or "")
           .. (flags & SITE ~= 0 and flags & FAR ~= 0 and ", far" or "")
  elseif kind == "RETURN" and flags & SITE ~= 0 then
    name = name .. ", nothing"
  end
  return "event " .. name
end

local function event (text, at)
  local first = byte(text, at)
  local kind, flags = first & 15, first & 0xf0
  local short = kind == 0 or (kind == 4 and flags & FAR ~= 0)
  assert(first ~= 0, "no event")
  kind = kind == 0 and "CALL" or KINDS[kind]
  local stop
  if not short then
    stop = body(kind, flags, text, at + 4)
  else
    stop = kind == "CALL" and call(flags, at + 3, 2) or at + 3
  end
  note(name_of(kind, flags, short), stop - at)
  if flags & VALUES ~= 0 and kind ~= "SAMPLE" then
    stop = counted_values(kind, text, stop, short)
  end
  if kind == "CALL" or kind == "RETURN" then
    events = events + 1
  end
  return stop
end

local file = assert(io.open(path, "rb"))
local header = file:read(112)
local at = unpack("<I4", header, 13)
local block = 0
while true do
  file:seek("set", at)
  local head = file:read(40)
  if not head or #head < 40 or head:sub(1, 4) ~= "TBLK" then
    break
  end
  local kind, size = unpack("<I4I8", head, 5)
  if kind == 1 then
    if block % every == 0 then
      local used = unpack("<I4", head, 37)
      local text = file:read(used) or ""
      local place = 1
      while place <= used do
        place = event(text, place)
      end
      all = all + used
    end
    block = block + 1
  end
  at = at + size
end

local names = {}
for name in pairs(counts) do
  names[#names + 1] = name
end
table.sort(names)
print(("%d events, %.1f bytes each"):format(events, all / events))
print(("%-36s%12s%10s%14s%10s"):format("", "count", "each", "bytes an event",
                                       "share"))
for _, name in ipairs(names) do
  print(("%-36s%12d%10.2f%14.3f%9.1f%%"):format(name, counts[name],
        bytes[name] / counts[name], bytes[name] / events,
        100 * bytes[name] / all))
end
