-- model.lua - what a trace has to be, told from the trace of the whole program.
--
-- The packets of the whole are replayed with a stack of frames and, for each
-- coroutine, the frames that it left at its last yield. A trace that began at
-- some point shows what came then, without the frames open at that point, and
-- without those that its filters and its depth limit hide.

local model = {}

-- Replaying -----------------------------------------------------------------

local Replay = {}
Replay.__index = Replay

function Replay:enter (packet)
  local frame
  if packet.resumed then
    -- its frames went innermost first, so they come back last first
    frame = table.remove(self.left[packet.thread] or {})
  end
  frame = frame or {name = packet.name, location = packet.location}
  self.stack[#self.stack + 1] = frame
  frame.thread = packet.thread
  return frame
end

function Replay:exit (packet)
  local frame = table.remove(self.stack)
  if packet.why == "yield" then
    local left = self.left[frame.thread]
    if not left or left.closed then
      left = {}
      self.left[frame.thread] = left
    end
    left[#left + 1] = frame
  end
  return frame
end

-- Every packet of the whole with the frame that it is about.
local function replay (trace)
  local R = setmetatable({stack = {}, left = {}}, Replay)
  local steps, calls = {}, {}
  for packet in trace:packets() do
    local enter = packet.type == "enteredFrame"
    local frame
    if enter then
      frame = R:enter(packet)
    else
      frame = R:exit(packet)
    end
    steps[#steps + 1] = {packet = packet, frame = frame, enter = enter}
    if enter and packet.name == "trace" and not packet.resumed then
      calls[#calls + 1] = #steps
    end
  end
  return steps, calls
end

-- Filters -------------------------------------------------------------------

local function matches (patterns, frame)
  for _, pattern in ipairs(patterns) do
    if frame.name:find(pattern)
       or frame.location and frame.location.url:find(pattern) then
      return true
    end
  end
  return false
end

local function isc (frame)
  return not frame.location or frame.location.url == "[C]"
end

local function wanted (options, frame)
  if options.c == false and isc(frame) then
    return false
  elseif options.exclude and matches(options.exclude, frame) then
    return false
  end
  return not options.include or matches(options.include, frame)
end

-- One trace -----------------------------------------------------------------

local function line (packet, depth)
  if packet.type == "enteredFrame" then
    return table.concat({">", packet.name, packet.thread, depth,
                         packet.resumed and "resumed" or ""}, " ")
  end
  local value = packet.throw and packet.throw.value
  return table.concat({"<", packet.why, packet.tailCall and "tail" or "",
                       type(value) == "table" and value.type
                       or tostring(value)}, " ")
end

-- The frames open before step `at`, as a set.
local function open_at (steps, at)
  local stack, set = {}, {}
  for i = 1, at do
    if steps[i].enter then
      stack[#stack + 1] = steps[i].frame
    else
      table.remove(stack)
    end
  end
  for _, frame in ipairs(stack) do
    set[frame] = true
  end
  return set
end

-- The lines that a trace must have, and how often frames older than it came and
-- went: a trace that has lost something counts those as lost, too.
local function expected (steps, first, last, options)
  local silent = open_at(steps, first)
  local lines, shown, depth, stays = {}, {}, 0, 0
  for i = first + 1, last do
    local step = steps[i]
    local frame = step.frame
    if silent[frame] then
      stays = stays + 1
    elseif step.enter then
      shown[frame] = wanted(options, frame)
                     and depth < (options.maxDepth or math.huge)
      if shown[frame] then
        lines[#lines + 1] = line(step.packet, depth)
        depth = depth + 1
      end
    elseif shown[frame] then
      depth = depth - 1
      lines[#lines + 1] = line(step.packet)
      shown[frame] = nil
    end
  end
  return lines, stays
end

local function lost (trace)
  local n = 0
  for _, count in pairs(trace.lost) do
    n = n + count
  end
  return n
end

-- How many of the packets expected a trace must have.
local function size (one, lines)
  if one.options.maxEvents then
    return math.min(#lines, one.options.maxEvents)
  end
  return #lines - lost(one.trace)
end

local function difference (one, lines, stays)
  local n = 0
  for packet in one.trace:packets() do
    n = n + 1
    local got = line(packet, packet.depth)
    if packet.sequence ~= n - 1 or got ~= lines[n] then
      return ("packet %d (sequence %d):\nexpected %s\ngot      %s")
             :format(n - 1, packet.sequence, tostring(lines[n]), got)
    end
  end
  local want = size(one, lines)
  local slack = lost(one.trace) > 0 and stays or 0
  if n < want or n > want + slack then
    return ("%d packets, not %d; next is %s")
           :format(n, want, tostring(lines[n + 1]))
  end
end

-- A ring has lost the beginning, and frames that were open there are silent.
local function broken (one, lines, stays)
  local n, depth = 0, 0
  for packet in one.trace:packets() do
    depth = depth + (packet.type == "enteredFrame" and 1 or -1)
    if packet.sequence ~= n or depth < 0 then
      return ("packet %d has sequence %d and depth %d")
             :format(n, packet.sequence, depth)
    end
    n = n + 1
  end
  if n + lost(one.trace) > #lines + stays then
    return ("%d packets and %d lost, of %d"):format(n, lost(one.trace), #lines)
  end
end

--- Compares traces, each {trace, options, first, last}: the numbers of the
-- calls of trace() that started and stopped it (last nil: it ran to the end).
-- Returns nil or what is wrong.
function model.compare (whole, traces)
  local steps, calls = replay(whole)
  for i, one in ipairs(traces) do
    local last = one.last and calls[one.last] or #steps
    local lines, stays = expected(steps, calls[one.first], last, one.options)
    local ring = one.options.overflow == "ring"
    local wrong = (ring and broken or difference)(one, lines, stays)
    if wrong then
      return ("trace %d: %s"):format(i, wrong)
    end
  end
end

return model
