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

-- The calls that packets are of, over all their stays: a frame that is resumed
-- goes on with the call that its coroutine left last. What a limit of depth
-- hides of one stay is another call when it is shown again.
local Calls = {}
Calls.__index = Calls

function Calls:enter (packet)
  local left = packet.resumed and self.left[packet.thread]
  local call = left and left[#left]
  if call and call.name == packet.name then
    left[#left] = nil
  else
    call = {ran = 0, name = packet.name}
  end
  call.since, call.open = ns(packet.time), true
  self.leaving = nil
  return call
end

-- `below` is the thread of the frame below it.
function Calls:leave (call, packet, below)
  call.ran, call.open = call.ran + ns(packet.time) - call.since, false
  local thread = packet.thread
  if packet.why ~= "yield" then
    self.leaving = nil
    self.left[thread] = below == thread and self.left[thread] or nil
    return
  end
  if self.leaving ~= thread then
    self.left[thread] = {}
  end
  self.leaving = thread
  table.insert(self.left[thread], call)
end

-- Frames hidden: what is left, each packet with its call.
local function hide (packets, filter)
  local calls = setmetatable({left = {}}, Calls)
  local rest, stack, depth = {}, {}, 0
  for _, packet in ipairs(packets) do
    if filter.to and packet.time > filter.to then
      break
    end
    if packet.type == "enteredFrame" then
      local shown = passes(packet, filter)
                    and depth < (filter.maxDepth or math.huge)
      local entry = shown and {packet = packet, call = calls:enter(packet)}
      stack[#stack + 1] = entry
      if shown then
        depth = depth + 1
        rest[#rest + 1] = entry
      end
    else
      local entry = table.remove(stack)
      if entry then
        depth = depth - 1
        rest[#rest + 1] = {packet = packet, call = entry.call}
        local below
        for i = #stack, 1, -1 do
          below = below or stack[i] and stack[i].packet.thread
        end
        calls:leave(entry.call, packet, below)
      end
    end
  end
  return rest
end

local function is_long (call, filter)
  return not filter.minDuration or call.open
         or call.ran >= ns(filter.minDuration)
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

local function copy (packet, depth, sequence)
  local new = {}
  for key, value in pairs(packet) do
    new[key] = value
  end
  new.depth, new.sequence = depth, sequence
  return new
end

return function (packets, filter)
  local rest, depth = {}, 0
  for _, entry in ipairs(hide(packets, filter)) do
    if is_long(entry.call, filter) then
      local entered = entry.packet.type == "enteredFrame"
      depth = entered and depth or depth - 1
      rest[#rest + 1] = strip(copy(entry.packet, depth, #rest), filter.trace)
      depth = entered and depth + 1 or depth
    end
  end
  return rest
end
