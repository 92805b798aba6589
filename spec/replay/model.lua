--- model.lua - what a replay should show and where its steps should lead,
-- worked out in plain Lua from the list of a trace's packets.
--
--   local m = model.new(packets)   as trace:packets gives them, with the types
--                                  name, location, callsite, thread, time,
--                                  locals
--   m.total                        moments are 0 to this
--   m:stands(n)                    whether something can be seen there
--   m:running(n)                   the coroutine that runs
--   m:stack(n, thread)             its frames, innermost first: {packet, entry,
--                                  slot, locals}; second, how many have not
--                                  yielded. 'locals': of the frame around it
--   m:threads(n)                   thread -> true, of those that have frames
--   m:in_errors(from, to)          whether all between these moments is the end
--                                  of frames by errors of which nothing is
--                                  known: one error, or one in the handling of
--                                  another, which packets do not tell
--   m:step(n, move, thread, stops) where a step from moment n leads, and how it
--                                  ends: "found" or "edge"
--
-- Stops are a function (moment) -> whether one would stop there. Stacks are
-- linked from the innermost frame outwards, so each moment can keep all of its
-- own.

local model = {}

local Model = {}
Model.__index = Model

-- An event has one time, but a throw is told with what came after it. So it
-- is also the kind of thing that one event does to several frames.
local function same_event (a, b)
  if not a or not b or a.time ~= b.time then
    return false
  elseif a.tailCall then
    return b.type == "enteredFrame" and a.thread == b.thread
  end
  return a.why == b.why and (a.why == "terminated" or a.why == "exception"
                                                   and a.thread == b.thread)
end

model.same_event = same_event

local function is_call (packet)
  return packet.why ~= "yield" and not packet.resumed
end

local function same_function (a, b)
  return a.name == b.name and a.location.url == b.location.url
         and a.location.line == b.location.line
end

-- The frame that has `level` others below it.
local function frame_at (top, level)
  while top and top.level > level do
    top = top.below
  end
  return top
end

-- The stack with its innermost frames cut off, down to so many.
local function cut (stack, count)
  return frame_at(stack.top, count - 1)
end

-- 'locals' of a frame are those of the one below it, as they were when that
-- made the call; a tail call changes nothing of that.
local function enter (stack, packet, n, heir, locals)
  if packet.resumed then
    local known = stack.top and stack.top.level >= stack.open
                  and frame_at(stack.top, stack.open)
    if known and same_function(known.packet, packet) then
      return {top = stack.top, open = stack.open + 1}
    end
  end
  local below = cut(stack, stack.open)
  return {open = stack.open + 1, top = {
    packet = packet, entry = n, slot = heir or n, below = below,
    level = stack.open, locals = heir and locals or packet.locals
  }}
end

local function leave (stack, packet)
  if packet.why == "yield" then
    return {top = stack.top, open = stack.open - 1}
  end
  return {top = cut(stack, stack.open - 1), open = stack.open - 1}
end

function model.new (packets)
  local self = setmetatable({packets = packets, total = #packets, states = {},
                             left = {}}, Model)
  local state, heir, locals = {}, nil, nil
  self.states[0] = state
  for i, packet in ipairs(packets) do
    local thread = packet.thread
    local stack = state[thread] or {open = 0}
    local new
    if packet.type == "enteredFrame" then
      new = enter(stack, packet, i - 1,
                  heir and same_event(packets[i - 1], packet) and heir, locals)
      heir = nil
    else
      local frame = frame_at(stack.top, stack.open - 1)
      self.left[i] = frame
      heir = packet.tailCall and frame.slot or nil
      locals = frame and frame.locals
      new = leave(stack, packet)
    end
    local next_state = {}
    for t, s in pairs(state) do
      next_state[t] = s
    end
    next_state[thread] = new.top and new or nil
    state = next_state
    self.states[i] = state
  end
  return self
end

function Model:threads (n)
  local list = {}
  for thread in pairs(self.states[n]) do
    list[thread] = true
  end
  return list
end

function Model:stack (n, thread)
  local stack = self.states[n][thread]
  local list, frame = {}, stack and stack.top
  while frame do
    list[#list + 1] = frame
    frame = frame.below
  end
  return list, stack and stack.open or 0
end

function Model:stands (n)
  local last, coming = self.packets[n], self.packets[n + 1]
  if not last or not coming then
    return true
  end
  return is_call(last) and not same_event(last, coming)
         and self.states[n][last.thread] ~= nil
end

function Model:running (n)
  local last = self.packets[n]
  if last and is_call(last)
     and (self.states[n][last.thread] or n == self.total) then
    return last.thread
  end
  return n == self.total and 1 or self.packets[n + 1].thread
end

function Model:in_errors (from, to)
  for i = math.max(math.min(from, to), 1), math.max(from, to) do
    local packet = self.packets[i]
    if not (packet and packet.throw and packet.throw.unknown) then
      return false
    end
  end
  return true
end

local function has (state, thread, level, slot)
  local frame = state[thread] and frame_at(state[thread].top, level)
  return frame ~= nil and frame.level == level and frame.slot == slot
end

---------------------------------------------------------------------------
-- Steps
---------------------------------------------------------------------------

-- Forwards to the first moment behind n at which `good` holds or one stops.
local function forwards (self, n, good, stops)
  for m = n + 1, self.total do
    if stops and stops(m) or good(m) then
      return m, "found"
    end
  end
  return self.total, "edge"
end

local steps = {}

steps["in"] = function (self, n, _, stops)
  return forwards(self, n, function (m) return self:stands(m) end, stops)
end

steps.on = function (self, n, _, stops)
  return forwards(self, n, function () return false end, stops)
end

-- To the end of what has this slot, at this level.
local function until_over (self, n, thread, level, slot, from, stops)
  return forwards(self, n, function (m)
    return m > from and self:stands(m)
           and not has(self.states[m], thread, level, slot)
  end, stops)
end

function steps.out (self, n, thread, stops)
  local list = self:stack(n, thread)
  if #list == 0 then
    return steps.over(self, n, thread, stops)
  end
  return until_over(self, n, thread, #list - 1, list[1].slot, n, stops)
end

function steps.over (self, n, thread, stops)
  for i = n + 1, self.total do
    local packet = self.packets[i]
    if packet.thread == thread and is_call(packet) then
      local list, open = self:stack(i - 1, thread)
      if packet.type == "enteredFrame" then
        return until_over(self, n, thread, open, i - 1, i - 1, stops)
      end
      return until_over(self, n, thread, #list - 1, list[1].slot, i - 1, stops)
    end
  end
  return forwards(self, n, function () return false end, stops)
end

function steps.backIn (self, n)
  for m = n - 1, 0, -1 do
    if self:stands(m) then
      return m, "found"
    end
  end
  return 0, "edge"
end

function steps.back (_, n, _, stops)
  for m = n - 1, 1, -1 do
    if stops(m) then
      return m, "found"
    end
  end
  return 0, "edge"
end

function steps.backOver (self, n, thread)
  for i = n, 1, -1 do
    local packet = self.packets[i]
    if packet.thread == thread and is_call(packet) then
      local frame = self.left[i] or self:stack(i, thread)[1]
      return frame.slot, "found"
    end
  end
  return 0, "edge"
end

function steps.backOut (self, n, thread)
  local frame = self:stack(n, thread)[1]
  return frame and frame.slot or 0, n == 0 and "edge" or "found"
end

function Model:step (n, move, thread, stops)
  return steps[move](self, n, thread, stops)
end

return model
