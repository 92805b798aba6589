-- reference.lua - report and tree as simply as can be, from a list of packets.
--
-- Between two packets nothing happens: that time goes to the innermost frame
-- as its own, once to every function that has a frame open, to every frame open
-- as part of its call, to every node of the way down. Times are whole
-- nanoseconds. The packets need "name", "location", "time" and "thread".

local reference = {}

--- Milliseconds as they are given, in whole nanoseconds.
function reference.ns (ms)
  return math.floor(ms * 1e6 + 0.5)
end

--- What tells functions apart: name, url, line.
function reference.key (f)
  return ("%s %s:%s"):format(f.name, f.url or "", f.line or "")
end

local function key_of (packet)
  local place = packet.location
  return reference.key({name = packet.name, url = place.url,
                        line = place.line})
end

local function new_tally ()
  return {calls = 0, self = 0, total = 0, throws = 0, yields = 0}
end

local function child_of (node, key)
  local child = node.children[key]
  if not child then
    child = new_tally()
    child.children = {}
    node.children[key] = child
  end
  return child
end

local Walk = {}
Walk.__index = Walk

-- So much time passes and nothing happens.
function Walk:pass (ns)
  local seen = {}
  for _, frame in ipairs(self.stack) do
    frame.call.ns = frame.call.ns + ns
    frame.node.total = frame.node.total + ns
    if not seen[frame.key] then
      seen[frame.key] = true
      self.rows[frame.key].total = self.rows[frame.key].total + ns
    end
  end
  local top = self.stack[#self.stack]
  if top then
    top.node.self = top.node.self + ns
    self.rows[top.key].self = self.rows[top.key].self + ns
  else
    self.root.self = self.root.self + ns
  end
end

-- The call that a resumed frame goes on with; another one, which is not
-- counted, if nobody knows it.
function Walk:again (packet, key)
  local left = self.left[packet.thread] or {}
  local call = left[#left]
  if call and call.key == key then
    left[#left] = nil
    return call
  end
  return {key = key, ns = 0}
end

function Walk:enter (packet)
  local key = key_of(packet)
  local row = self.rows[key] or new_tally()
  local parent = self.stack[#self.stack]
  local frame = {
    key = key, thread = packet.thread,
    node = child_of(parent and parent.node or self.root, key)
  }
  self.rows[key] = row
  if packet.resumed then
    frame.call = self:again(packet, key)
  else
    frame.call = {key = key, ns = 0}
    self.calls[#self.calls + 1] = frame.call
    row.calls = row.calls + 1
    frame.node.calls = frame.node.calls + 1
  end
  self.stack[#self.stack + 1] = frame
end

-- A coroutine that yields leaves its frames one after the other, and nothing
-- comes between them.
function Walk:park (frame)
  if self.leaving ~= frame.thread then
    self.left[frame.thread] = {}
  end
  self.leaving = frame.thread
  table.insert(self.left[frame.thread], frame.call)
end

local counted = {exception = "throws", yield = "yields"}

function Walk:exit (packet)
  local frame = table.remove(self.stack)
  local field = counted[packet.why]
  if field then
    self.rows[frame.key][field] = self.rows[frame.key][field] + 1
    frame.node[field] = frame.node[field] + 1
  end
  if packet.why == "yield" then
    self:park(frame)
    return
  end
  local below = self.stack[#self.stack]
  if not below or below.thread ~= frame.thread then
    self.left[frame.thread] = nil
  end
end

-- The times of all calls, by row.
local function finish (walk)
  for _, call in ipairs(walk.calls) do
    local row = walk.rows[call.key]
    row.min = math.min(row.min or math.maxinteger, call.ns)
    row.max = math.max(row.max or 0, call.ns)
    row.sum = (row.sum or 0) + call.ns
  end
end

local function walk_through (packets, start, stop)
  local walk = setmetatable({
    stack = {}, rows = {}, left = {}, calls = {}, root = new_tally()
  }, Walk)
  walk.root.children = {}
  local now = start
  for _, packet in ipairs(packets) do
    local time = reference.ns(packet.time)
    walk:pass(time - now)
    now = time
    if packet.why ~= "yield" then
      walk.leaving = nil
    end
    walk[packet.why and "exit" or "enter"](walk, packet)
  end
  if stop then
    walk:pass(stop - now)
    walk.root.total = stop - start
  end
  finish(walk)
  return walk
end

--- Rows by key and the root of the tree, of a trace from `start` to `stop`
-- (ns): {calls, self, total, throws, yields} of both; rows also min, max and
-- sum, nodes children by key.
function reference.profile (packets, start, stop)
  local walk = walk_through(packets, start, stop)
  return walk.rows, walk.root
end

--- Time without an open frame between the first packet and the last, and
-- whether frames are open then.
function reference.gaps (packets)
  local first = packets[1] and reference.ns(packets[1].time) or 0
  local walk = walk_through(packets, first)
  return walk.root.self, #walk.stack > 0
end

return reference
