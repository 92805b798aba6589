-- profiles.lua - what profiles of the Firefox Profiler show, in the form of
-- seen.lua: the boxes of the stack chart, sums of self time, markers, the
-- arguments of calls.

local cjson = require "cjson"

local profiles = {}

local null = cjson.null

-- Time in another coroutine is a frame, but no call.
local function is_call (frame)
  return not frame.name:find "^%(in coroutine "
end

local function round (number)
  return math.floor(number + 0.5)
end

local function some (value)
  return value ~= nil and value ~= null and value or nil
end

-- ---- tables: number (from 0) -> stack, a list of frames, outermost first ----

local function func_of (shared, index)
  local t = shared.funcTable
  local source = some(t.source[index + 1])
  local file = source
               and shared.stringArray[shared.sources.filename[source + 1] + 1]
  return {
    func = index, name = shared.stringArray[t.name[index + 1] + 1],
    source = file and ("%s:%d"):format(file, t.lineNumber[index + 1])
  }
end

local function frame_of (shared, index)
  local t = shared.frameTable
  local frame = func_of(shared, t.func[index + 1])
  frame.line = some(t.line[index + 1]) and t.line[index + 1] // 1 | 0
  frame.category = t.category[index + 1]
  return frame
end

--- The stacks of a processed profile, built when they are asked for.
function profiles.stacks (shared)
  local t = shared.stackTable
  return setmetatable({}, {__index = function (stacks, index)
    local offset = t.prefixOffset[index + 1]
    local stack = {table.unpack(offset > 0 and stacks[index - offset] or {})}
    stack[#stack + 1] = frame_of(shared, t.frame[index + 1])
    stacks[index] = stack
    return stack
  end})
end

-- ---- the stack chart ----

-- How many frames two stacks share: the same functions, whatever their lines.
local function shared_frames (a, b)
  local n = 0
  while a[n + 1] and b[n + 1] and a[n + 1].func == b[n + 1].func do
    n = n + 1
  end
  return n
end

local function add_step (steps, frame, opens, thread, ns, argument)
  if is_call(frame) then
    steps[#steps + 1] = {
      opens = opens, name = frame.name, source = frame.source,
      thread = thread, ns = ns, argument = argument
    }
  end
end

--- Boxes of a thread as the viewer draws them: they end and begin where the
--- functions of two samples differ.
function profiles.steps (thread, stacks)
  local steps, before = {}, {}
  local samples = thread.samples
  for i = 1, samples.length do
    local index = some(samples.stack[i])
    local now = index and stacks[index] or {}
    local ns = round(samples.time[i] * 1e6)
    local same = shared_frames(before, now)
    for level = #before, same + 1, -1 do
      add_step(steps, before[level], false, thread.tid, ns)
    end
    for level = same + 1, #now do
      add_step(steps, now[level], true, thread.tid, ns,
               samples.argumentValues and some(samples.argumentValues[i]))
    end
    before = now
  end
  assert(#before == 0, "the last sample has a stack")
  return steps
end

-- ---- sums ----

local function describe (frame)
  return frame.name .. " " .. (frame.source or "C")
end

-- The calls of a stack, as seen.stacks writes them with 'apart'. A frame is in
-- all stacks above it: what it is called is made once.
local function path_of (thread, stack)
  local names = {("%d"):format(thread.tid)}
  for _, frame in ipairs(stack) do
    if frame.described == nil then
      frame.described = is_call(frame) and describe(frame)
    end
    if frame.described then
      names[#names + 1] = frame.described
    end
  end
  return table.concat(names, ";")
end

local function each_self (thread, stacks, use)
  local samples = thread.samples
  for i = 1, samples.length do
    local index = some(samples.stack[i])
    local stack = index and stacks[index]
    if stack and is_call(stack[#stack]) then
      use(stack, round(samples.weight[i] * 1e6))
    end
  end
end

--- Self time in ns by stack, as seen.stacks with 'apart' has it, added to
--- 'sums': thread;frame;frame -> ns.
function profiles.add_stacks (sums, thread, stacks)
  local paths = {}
  each_self(thread, stacks, function (stack, ns)
    local path = paths[stack] or path_of(thread, stack)
    paths[stack] = path
    sums[path] = (sums[path] or 0) + ns
  end)
end

--- The same by function.
function profiles.add_functions (sums, thread, stacks)
  each_self(thread, stacks, function (stack, ns)
    local name = describe(stack[#stack])
    sums[name] = (sums[name] or 0) + ns
  end)
end

-- ---- the graph in the timeline ----

-- The time that the graph gives to sample 'i': from half way to the one before
-- to half way to the next one (the viewer's ActivityGraphFills).
local function drawn_for (time, i, n)
  local from = i > 1 and (time[i - 1] + time[i]) / 2 or time[i]
  local to = i < n and (time[i] + time[i + 1]) / 2 or time[i]
  return to - from
end

--- Milliseconds by category, as they are drawn and as they are.
function profiles.graph (thread, stacks)
  local drawn, real = {}, {}
  local s = thread.samples
  for i = 1, s.length do
    local index = some(s.stack[i])
    if index then
      local stack = stacks[index]
      local category = stack[#stack].category
      drawn[category] = (drawn[category] or 0) + drawn_for(s.time, i, s.length)
      real[category] = (real[category] or 0) + s.weight[i]
    end
  end
  return drawn, real
end

-- ---- markers ----

--- Markers of a processed profile's thread: {name, from, to (ns), data}.
function profiles.markers (thread, strings)
  local list, t = {}, thread.markers
  for i = 1, t.length do
    local data = t.data[i]
    list[i] = {
      name = strings[t.name[i] + 1], from = round(t.startTime[i] * 1e6),
      to = round(t.endTime[i] * 1e6), data = data, phase = t.phase[i],
      fn = data.fn and strings[data.fn + 1]
    }
  end
  return list
end

-- ---- arguments ----

local value

local types = {
  [0] = function (r, flags) return flags == 15 and r:take "<d" or 0.0 end,
  function (r, flags) return flags == 15 and r:take "<i4" or flags - 1 end,
  function (_, flags) return flags ~= 0 end,
  function () return "nil" end,
  function () return "null" end,
  function () return "..." end,
  function (r) return ("%q"):format(r:text()) end,
  [9] = function (r) return r:text() .. "n" end
}

local kinds = {
  [0] = function (r) return r:shape()[1] end,
  function (r, depth)
    local class, length, list = r:shape()[1], r:take "<I4", {}
    for i = 1, depth < 1 and math.min(length, 16) or 0 do
      list[i] = value(r, depth + 1)
    end
    return ("%s(%d) [%s]"):format(class, length, table.concat(list, ", "))
  end,
  function (r, depth)
    local class, size, list = r:shape()[1], r:take "<I4", {}
    for i = 1, depth < 1 and math.min(size, 16) or 0 do
      list[i] = value(r, depth + 1) .. " -> " .. value(r, depth + 1)
    end
    return ("%s(%d) {%s}"):format(class, size, table.concat(list, ", "))
  end,
  function (r)
    local name, list = r:text(), {}
    for i = 1, r:take "<I4" do
      list[i] = r:text()
    end
    return ("function %s(%s)"):format(name, table.concat(list, ", "))
  end,
  [5] = function (r, depth)
    local shape, count, list = r:shape(), r:take "<I4", {}
    for i = 2, depth < 1 and math.min(#shape, 17) or 0 do
      list[#list + 1] = shape[i] .. ": " .. value(r, depth + 1)
    end
    return ("%s(%d) {%s}"):format(shape[1], count, table.concat(list, ", "))
  end
}

function value (r, depth)
  local head = r:take "B"
  if head & 15 == 12 then
    return kinds[r:take "B"](r, depth)
  end
  return tostring(types[head & 15](r, head >> 4))
end

local Reader = {}
Reader.__index = Reader

function Reader:take (format)
  local v
  v, self.at = string.unpack(format, self.bytes, self.at)
  return v
end

function Reader:text ()
  local head = self:take "<I2"
  assert(head >> 14 == 2, "not UTF-8")
  return self:take("c" .. (head & 0x3fff))
end

function Reader:shape ()
  return self.shapes[self:take "<I4" + 1]
end

local alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                 .. "0123456789+/"

local digit = {["="] = 0}
for i = 1, #alphabet do
  digit[alphabet:sub(i, i)] = i - 1
end

-- Four characters are three bytes; "=" stands for one that is not there.
local function unbase64 (text)
  local bytes = text:gsub("(.)(.)(.)(.)", function (a, b, c, d)
    return string.pack(">I3", digit[a] << 18 | digit[b] << 12 | digit[c] << 6
                              | digit[d])
  end)
  return bytes:sub(1, -1 - #text:match "=*$")
end

--- A function that says what the arguments at a place are, as text.
function profiles.arguments (thread)
  local bytes = unbase64(thread.tracedValuesBuffer)
  assert(string.unpack("<I4", bytes) == 2)
  return function (place)
    local r = setmetatable({bytes = bytes, at = place + 1,
                            shapes = thread.tracedObjectShapes}, Reader)
    local count, list = r:take "<I4", {}
    for i = 1, math.min(count, 4) do
      list[i] = value(r, 0)
    end
    local size = string.unpack("<I2", bytes, place - 1)
    assert(r.at - (place - 1) == size, "the entry's size")
    return ("%d: %s"):format(count, table.concat(list, ", "))
  end
end

-- ---- the Gecko format ----

local function at (row, schema, key)
  return some(row[schema[key] + 1])
end

-- A location string as the viewer takes it apart; spaces that do not break are
-- spaces in files' names.
local function frame_at (location)
  local name, place = location:match "^(.*) %((.-:%d+)%)$"
  if name then
    return {name = name, source = place:gsub("\u{A0}", " "), func = location}
  end
  return {name = location:gsub(" %(in C%)$", ""), func = location}
end

--- The stacks of a Gecko thread, as those of profiles.stacks.
function profiles.gecko_stacks (thread)
  local t, f = thread.stackTable, thread.frameTable
  local stacks = {}
  for i, row in ipairs(t.data) do       -- a prefix comes before what it begins
    local prefix = at(row, t.schema, "prefix")
    local stack = {table.unpack(prefix and stacks[prefix] or {})}
    local frame = f.data[at(row, t.schema, "frame") + 1]
    local place = thread.stringTable[at(frame, f.schema, "location") + 1]
    stack[#stack + 1] = frame_at(place)
    stack[#stack].line = at(frame, f.schema, "line")
    stacks[i - 1] = stack
  end
  return stacks
end

--- Samples of a Gecko thread: {ns, stack}.
function profiles.gecko_samples (thread, stacks)
  local list, t = {}, thread.samples
  for i, row in ipairs(t.data) do
    local index = at(row, t.schema, "stack")
    list[i] = {ns = round(at(row, t.schema, "time") * 1e6),
               stack = index and stacks[index] or {}}
  end
  return list
end

--- Markers of a Gecko thread.
function profiles.gecko_markers (thread)
  local list, t = {}, thread.markers
  for i, row in ipairs(t.data) do
    local data = at(row, t.schema, "data")
    list[i] = {
      name = thread.stringTable[at(row, t.schema, "name") + 1],
      from = round(at(row, t.schema, "startTime") * 1e6),
      to = round(at(row, t.schema, "endTime") * 1e6), data = data,
      fn = data.fn and thread.stringTable[data.fn + 1]
    }
  end
  return list
end

profiles.is_call = is_call

return profiles
