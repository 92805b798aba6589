-- frames.lua - what packets a program must have, from the log of an interpreter
-- that logs its own frames (logged.h).
--
--   local list = frames.expected(lines)
--
-- From the program's main chunk to its end: a list of {type, what, why,
-- values}, as frames.told makes it of a packet, `why` being "resumed" of a
-- frame that is entered again.

local frames = {}

-- The stacks of all coroutines, by their addresses, and what was told so far.
local State = {}
State.__index = State

function State:stack (thread)
  local stack = self.stacks[thread]
  if not stack then
    stack = {}
    self.stacks[thread] = stack
  end
  return stack
end

function State:tell (frame, type, why, values)
  if frame.seen and not self.ended then
    self.list[#self.list + 1] = {
      type = type, what = frame.what, why = why, values = values
    }
    if type == "exit" and frame.main and why ~= "yield" then
      self.ended = true
    end
  end
end

function State:leave (stack, why, values)
  local frame = table.remove(stack)
  self:tell(frame, "exit", why, values)
end

local act = {}

-- A frame that is entered: of the program from its main chunk on.
function act.E (self, thread, ci, rest)
  local what, values = rest:match "^(%S+) ?(.*)$"
  local main = not self.begun and what == "@program.lua:0"
  self.begun = self.begun or main and thread or nil
  what = what:gsub(":0$", ":1")         -- where packets have a chunk
  self.running = thread
  local frame = {ci = ci, what = what, seen = self.begun ~= nil,
                 main = main}
  local stack = self:stack(thread)
  stack[#stack + 1] = frame
  self:tell(frame, "enter", nil, values)
end

function act.T (self, thread, ci, rest)
  self:leave(self:stack(thread), "tail")
  act.E(self, thread, ci, rest)
end

function act.L (self, thread, ci, values)
  local stack = self:stack(thread)
  local top = stack[#stack]
  if top and top.ci == ci then    -- else it was entered before the log began
    self:leave(stack, "return", values)
  end
end

-- Down to a frame, or to the host's own, which is never entered.
function act.U (self, thread, ci)
  local stack = self:stack(thread)
  while #stack > 0 and stack[#stack].ci ~= ci do
    self:leave(stack, "exception")
  end
end

function act.D (self, thread)
  act.U(self, thread)
end

function act.Y (self, thread)
  local stack = self:stack(thread)
  for i = #stack, 1, -1 do
    self:tell(stack[i], "exit", "yield")
  end
  stack.suspended = true
end

function act.R (self, thread)
  self:stack(thread).suspended = false
  for _, frame in ipairs(self:stack(thread)) do
    self:tell(frame, "enter", "resumed")
  end
end

-- A coroutine of 5.5 may close itself: no hook is told, and a trace has its
-- frames as returned, without values (docs/limits.md).
function act.K (self, thread)
  local stack = self:stack(thread)
  while not stack.suspended and #stack > 0 do
    self:leave(stack, "return")
  end
  self.stacks[thread] = nil
end

-- os.exit, asked to close the program's state; others close too. Where a
-- coroutine has called it the log does not say which ones it stood on: those
-- frames are not compared.
function act.X (self, thread)
  if thread ~= self.begun then
    return
  end
  local stack = self:stack(thread)
  while self.running == thread and #stack > 0 do
    self:leave(stack, "terminated")
  end
  self.ended = true
end

function frames.expected (lines)
  local self = setmetatable({stacks = {}, list = {}}, State)
  for line in lines do
    local what, thread, ci, rest = line:match "^(%u) (%S+) (%S+) ?(.*)$"
    act[what](self, thread, ci, rest)
    if self.ended then
      break
    end
  end
  return self.list
end

local types = {undefined = "nil", NaN = "nan", Infinity = "inf",
               ["-Infinity"] = "-inf", ["-0"] = "-0"}

local function told (value)
  if type(value) == "string" then
    return "s" .. #value
  elseif math.type(value) == "float" then
    return ("%.14g"):format(value)
  elseif type(value) ~= "table" then
    return tostring(value)
  elseif value.type == "longString" or value.type == "bytes" then
    return "s" .. value.length
  elseif value.type == "BigInt" then
    return value.text
  end
  return types[value.type] or "object"
end

local function told_all (values)
  local list = {}
  for i, value in ipairs(values) do
    list[i] = told(value)
  end
  return table.concat(list, " ")
end

-- Of one result there is no list; of none it is undefined, and the list empty.
local function results (packet)
  local back = packet["return"]
  return back and told_all(back.values or {back.value})
end

--- The same of a packet, whose frame has been entered as `open`.
function frames.told (packet, open)
  if packet.type == "enteredFrame" then
    local place = packet.location
    local what = place.url == "[C]" and "C" or place.url:find "%.lua$"
                 and ("@%s:%d"):format(place.url, place.line) or "?"
    return {
      type = "enter", what = what, why = packet.resumed and "resumed" or nil,
      values = packet.arguments and told_all(packet.arguments.values)
    }
  end
  return {
    type = "exit", what = open, values = results(packet),
    why = packet.tailCall and "tail" or packet.why
  }
end

return frames
