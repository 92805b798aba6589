-- reference.lua - a profiler session as simply as can be, from a list of
-- packets.
--
-- Every call is a table, and every question looks at all of them. The packets
-- need "name", "location", "time", "thread" and "arguments".

local reference = {}

local MAIN = 1

local types = {COMPILATION = 5, EVALUATION = 6, CALL = 32, COLLECTION = 33}

--- Milliseconds as they are given, in whole nanoseconds.
local function ns (ms)
  return math.floor(ms * 1e6 + 0.5)
end

reference.ns = ns

---------------------------------------------------------------------------
-- What a call is
---------------------------------------------------------------------------

local compilers = {load = 4, loadfile = 1, require = 1}

local function function_of (packet)
  local place = packet.location
  local in_c = place.line == nil
  return {
    name = packet.name, source = not in_c and place.url or nil,
    line = place.line, kind = in_c and 2 or 1
  }
end

-- What an argument tells: an url, an option.
local function text_of (packet, name)
  local values = packet.arguments and packet.arguments.values or {}
  local text = values[name == "load" and 2 or 1]
  if type(text) ~= "string" then
    return nil
  end
  return name == "load" and text:gsub("^[@=]", "") or text
end

-- The type and its data.
local function data_of (packet, body)
  local f = function_of(packet)
  local data = {functionCall = f}
  if body then
    data.scriptThreadEvaluation = {scriptThreadType = 3, eventName = f.name}
    return types.EVALUATION, data
  elseif f.name == "(main chunk)" then
    data.scriptThreadEvaluation = {scriptThreadType = 1}
    return types.EVALUATION, data
  elseif f.kind == 2 and compilers[f.name] then
    data.scriptCompilation = {
      scriptType = compilers[f.name], url = text_of(packet, f.name)
    }
    return types.COMPILATION, data
  elseif f.kind == 2 and f.name == "collectgarbage" then
    data.garbageCollection = {option = text_of(packet, f.name)}
    return types.COLLECTION, data
  end
  return types.CALL, data
end

local function label_of (packet)
  local place = packet.location
  return ("%s %s:%s"):format(packet.name, place.url, place.line or "")
end

-- Two events are equal if this is.
local function kind_of (event)
  local data = event.data
  local parts = {event.type, event.label}
  for _, key in ipairs {"scriptThreadEvaluation", "scriptCompilation",
                        "garbageCollection"} do
    local some = data[key]
    parts[#parts + 1] = some and table.concat({
      key, some.scriptThreadType or some.scriptType or "",
      some.eventName or "", some.url and "url " .. some.url or "",
      some.option and "option " .. some.option or ""
    }, "\0") or ""
  end
  return table.concat(parts, "\0")
end

---------------------------------------------------------------------------
-- From packets to events
---------------------------------------------------------------------------

local Session = {}
Session.__index = Session

-- What tracing has taken so far is the difference of two times that were
-- rounded: it may seem to be a nanosecond less.
function Session:pass (time, spent)
  local gap, top = time - self.now, self.stack[#self.stack]
  local overhead = math.max(0, spent - self.spent)
  self.now, self.spent = time, self.spent + overhead
  if top then
    top.time = top.time + gap
    top.overhead = top.overhead + overhead
  end
end

function Session:timeline_of (thread)
  if not self.numbers[thread] then
    self.threads[#self.threads + 1] = thread
    self.numbers[thread] = #self.threads
  end
  return self.numbers[thread]
end

function Session:new_event (packet)
  local top = self.stack[#self.stack]
  local parent = top and top.thread == packet.thread and top or nil
  local body = not parent and packet.thread ~= MAIN
  local event = {
    id = #self.events + 1, thread = packet.thread, parent = parent,
    timeline = self:timeline_of(packet.thread),
    depth = parent and parent.depth + 1 or 1,
    label = label_of(packet), start = ns(packet.time) - self.from,
    time = 0, overhead = 0, hits = 0, children = {}
  }
  event.type, event.data = data_of(packet, body)
  event.kind = kind_of(event)
  if parent then
    table.insert(parent.children, event)
  end
  self.events[event.id] = event
  return event
end

-- The event that a resumed frame goes on with.
function Session:again (packet)
  local left = self.left[packet.thread] or {}
  local event = left[#left]
  if event and event.label == label_of(packet) then
    return table.remove(left)
  end
end

function Session:enter (packet)
  local event = packet.resumed and self:again(packet)
                or self:new_event(packet)
  event.hits = event.hits + 1
  table.insert(self.stack, event)
end

function Session:exit (packet)
  local event = table.remove(self.stack)
  event.finish = ns(packet.time) - self.from
  if packet.why == "yield" then
    if self.leaving ~= event.thread then
      self.left[event.thread] = {}
    end
    self.leaving = event.thread
    table.insert(self.left[event.thread], event)
    return
  end
  local top = self.stack[#self.stack]
  if not top or top.thread ~= event.thread then
    self.left[event.thread] = nil
  end
end

local function add_up (event)
  event.all_time, event.all_overhead = event.time, event.overhead
  for _, child in ipairs(event.children) do
    add_up(child)
    event.all_time = event.all_time + child.all_time
    event.all_overhead = event.all_overhead + child.all_overhead
  end
end

-- A session that began and ended then, in nanoseconds. A packet's 'spent' is
-- what tracing has taken until then.
function reference.session (packets, from, to)
  local self = setmetatable({
    from = from, now = from, spent = 0, stack = {}, left = {},
    events = {}, threads = {}, numbers = {}
  }, Session)
  self:timeline_of(MAIN)
  for _, packet in ipairs(packets) do
    self:pass(ns(packet.time), packet.spent)
    if packet.why ~= "yield" then
      self.leaving = nil
    end
    self[packet.why and "exit" or "enter"](self, packet)
  end
  self:pass(to, self.spent)
  for _, event in ipairs(self.stack) do
    event.finish = to - from
  end
  for _, event in ipairs(self.events) do
    if not event.parent then
      add_up(event)
    end
  end
  return self
end

---------------------------------------------------------------------------
-- Questions
---------------------------------------------------------------------------

-- How far an event is below a root; nil if it is not.
local function depth_below (event, root)
  if not root then
    return event.depth
  end
  local depth = 0
  while event and event ~= root do
    event, depth = event.parent, depth + 1
  end
  return event and depth > 0 and depth or nil
end

local function contains (list, item)
  for _, one in ipairs(list) do
    if one == item then
      return true
    end
  end
  return #list == 0
end

local function overlaps (event, interval)
  return event.start / 1e6 <= (interval["end"] or math.huge)
         and event.finish / 1e6 >= (interval.start or -math.huge)
end

local function selected (self, q)
  local list, root = {}, q.eventID and self.events[q.eventID]
  for _, event in ipairs(self.events) do
    local depth = event.timeline == q.timelineID and depth_below(event, root)
    if depth and depth <= (q.maxDepth or math.huge)
       and contains(q.eventTypeList or {}, event.type)
       and overlaps(event, q.interval or {}) then
      list[#list + 1] = event
    end
  end
  return list
end

local function message (event)
  return {
    type = event.type, time = event.time / 1e6,
    overhead = event.overhead / 1e6, hits = event.hits,
    interval = {start = event.start / 1e6, ["end"] = event.finish / 1e6}
  }
end

local function add_data (fields, data)
  for key, value in pairs(data) do
    fields[key] = value
  end
  return fields
end

local function whole_message (event)
  local fields = message(event)
  fields.eventID = event.id
  fields.parentEventID = event.parent and event.parent.id
  fields.childCount = #event.children
  fields.aggregatedTime = event.all_time / 1e6
  fields.aggregatedOverhead = event.all_overhead / 1e6
  return add_data(fields, event.data)
end

local groups = {
  [2] = function (event) return event.type end,
  [3] = function (event) return event.kind end,
  [4] = function () return 1 end
}

local function reduced (list, mode)
  local order, sums = {}, {}
  for _, event in ipairs(list) do
    local key = groups[mode](event)
    local sum = sums[key]
    if not sum then
      sum = {type = mode == 4 and 1 or event.type, time = 0, overhead = 0,
             hits = 0, start = event.start, finish = 0,
             data = mode == 3 and event.data or {}}
      sums[key] = sum
      order[#order + 1] = sum
    end
    sum.time, sum.overhead = sum.time + event.time,
                             sum.overhead + event.overhead
    sum.hits = sum.hits + event.hits
    sum.finish = math.max(sum.finish, event.finish)
  end
  return order
end

-- What GetEvents answers; nil if there is no such event.
function Session:get (q)
  local root = q.eventID and self.events[q.eventID]
  if q.eventID and not (root and root.timeline == q.timelineID) then
    return nil
  end
  local list, mode = selected(self, q), q.mode or 1
  if mode ~= 1 then
    list = reduced(list, mode)
  end
  local answer, finish = {eventList = {}}, 0
  for i, event in ipairs(list) do
    answer.eventList[i] = mode == 1 and whole_message(event)
                          or add_data(message(event), event.data)
    finish = math.max(finish, event.finish)
  end
  if list[1] then
    answer.interval = {start = list[1].start / 1e6, ["end"] = finish / 1e6}
  end
  return answer
end

return reference
