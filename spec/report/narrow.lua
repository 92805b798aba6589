-- narrow.lua - what a filter leaves of a list of packets, in plain Lua.
--
--   local rest = narrow(packets, filter)
--
-- for packets of all types. Values stay as they are: their limits are tried in
-- another way.

local ns = require("spec.report.reference").ns

-- The fields that types stand for have their names.
local fields = {
  "name", "callsite", "time", "parameterNames", "arguments", "return",
  "throw", "yield", "location", "depth", "hitCount", "thread"
}

local function matches (patterns, packet)
  patterns = type(patterns) == "string" and {patterns} or patterns
  for _, pattern in ipairs(patterns) do
    if packet.name:find(pattern) or packet.location.url:find(pattern) then
      return true
    end
  end
  return false
end

local function wanted (packet, filter)
  if filter.c == false and packet.location.url == "[C]" then
    return false
  elseif filter.exclude and matches(filter.exclude, packet) then
    return false
  end
  return not filter.include or matches(filter.include, packet)
end

local function passes (packet, filter)
  return wanted(packet, filter)
         and (not filter.thread or packet.thread == filter.thread)
         and (not filter.from or packet.time >= filter.from)
end

local function copy (packet, depth)
  local new = {}
  for key, value in pairs(packet) do
    new[key] = value
  end
  new.depth = depth
  return new
end

-- Frames hidden and left out; each packet knows the one that goes with it.
local function hide (packets, filter)
  local rest, stack, depth = {}, {}, 0
  for _, packet in ipairs(packets) do
    if filter.to and packet.time > filter.to then
      break
    end
    if packet.type == "enteredFrame" then
      local shown = passes(packet, filter)
                    and depth < (filter.maxDepth or math.huge)
      local entry = shown and {packet = copy(packet, depth)}
      stack[#stack + 1] = entry
      if shown then
        depth = depth + 1
        rest[#rest + 1] = entry
      end
    else
      local entry = table.remove(stack)
      if entry then
        depth = depth - 1
        rest[#rest + 1] = {packet = copy(packet, depth)}
        entry.took = ns(packet.time) - ns(entry.packet.time)
        rest[#rest].took = entry.took
      end
    end
  end
  return rest
end

local function is_long (entry, filter)
  return not filter.minDuration or not entry.took
         or entry.took >= ns(filter.minDuration)
end

local function strip (packet, types)
  local set = {}
  for _, name in ipairs(types or fields) do
    set[name] = true
  end
  for _, name in ipairs(fields) do
    if not set[name] then
      packet[name] = nil
    end
  end
  return packet
end

return function (packets, filter)
  local rest = {}
  for _, entry in ipairs(hide(packets, filter)) do
    if is_long(entry, filter) then
      entry.packet.sequence = #rest
      rest[#rest + 1] = strip(entry.packet, filter.trace)
    end
  end
  return rest
end
