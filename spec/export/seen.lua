-- seen.lua - what a trace is and what exported documents show, in one form:
-- steps. A step is a frame that opens or closes:
--
--   {opens = boolean, name, plain, source, thread, ns, why, resumed, tail}
--
-- 'name' is what charts call it, 'plain' what packets do; 'source' is
-- "prog.lua:12", absent for C. Times are whole nanoseconds since
-- the first step. Steps at the trace's end, of frames that are still open,
-- have why "unfinished".

local cjson = require "cjson"

local seen = {}

local function round (number)
  return math.floor(number + 0.5)
end

local function source_of (url, line)
  return line and ("%s:%d"):format(url, line) or nil
end

--- JSON text as a table; numbers and nesting as they come.
function seen.json (text)
  return cjson.decode(text)
end

-- The last part of a path, and what is before it in that of a module.
local function file_of (source)
  return source:match "^%[.*" or source:match "[^/]+/init%.lua:%d+$"
         or source:match "[^/]*$"
end

--- What charts call a function: a place, if it has no name.
function seen.label (name, source)
  local file = source and file_of(source)
  if not file and name == "(anonymous function)" then
    return "(C function)"
  end
  if not file or name:sub(1, 1) ~= "(" and name ~= "?" then
    return name
  end
  return name == "(main chunk)" and name .. " " .. file:gsub(":%d+$", "")
         or file
end

-- The last packet that is told: it hides what is inside of a hidden frame.
local Cut = {}
Cut.__index = Cut

-- Whether a packet is within a number of calls and a depth.
function Cut:keeps (packet)
  if packet.type == "exitedFrame" then
    self.hidden = self.hidden - 1
    return self.hidden < 0
  end
  if self.hidden > 0 or self.calls >= self.limit
     or #self.stack >= self.depth then
    self.hidden = self.hidden + 1
    return false
  end
  self.calls = self.calls + 1
  return true
end

function Cut:step (packet)
  if packet.type == "enteredFrame" then
    local source = source_of(packet.location.url, packet.location.line)
    local frame = {
      opens = true, name = seen.label(packet.name, source),
      plain = packet.name, thread = packet.thread, source = source,
      ns = round(packet.time * 1e6), resumed = packet.resumed
    }
    table.insert(self.stack, frame)
    return frame
  end
  self.hidden = 0
  local frame = table.remove(self.stack)
  return {
    opens = false, name = frame.name, plain = frame.plain,
    thread = frame.thread, source = frame.source,
    ns = round(packet.time * 1e6), why = packet.why,
    tail = packet.tailCall
  }
end

--- Steps of packets, which have name, location, time and thread. 'cut', if
--- there, has 'limit' and 'depth'.
function seen.packets (packets, cut)
  local walk = setmetatable({
    limit = cut and cut.limit or math.huge,
    depth = cut and cut.depth or math.huge, hidden = 0, calls = 0, stack = {}
  }, Cut)
  local steps = {}
  for _, packet in ipairs(packets) do
    if walk:keeps(packet) then
      steps[#steps + 1] = walk:step(packet)
    end
  end
  for i = #walk.stack, 1, -1 do
    local f = walk.stack[i]
    steps[#steps + 1] = {opens = false, name = f.name, plain = f.plain,
                         source = f.source, thread = f.thread,
                         why = "unfinished"}
  end
  return steps
end

--- The steps of each thread: number -> list.
function seen.by_thread (steps)
  local threads = {}
  for _, step in ipairs(steps) do
    local list = threads[step.thread] or {}
    threads[step.thread] = list
    list[#list + 1] = step
  end
  return threads
end

--- The steps of each track: the first one, which is the main coroutine's, has
--- all of them, coroutines have theirs besides.
function seen.by_track (steps)
  local tracks = seen.by_thread(steps)
  tracks[1] = steps
  return tracks
end

-- ---- chrome ----

-- An event and those inside it, as they follow each other.
local function nest (events)
  table.sort(events, function (a, b) return a.ts < b.ts end)
  local steps, open = {}, {}
  local function close (before)
    while #open > 0 and open[#open].ends < before do
      steps[#steps + 1] = table.remove(open)
    end
  end
  for _, event in ipairs(events) do
    close(event.ts)
    local e = {opens = true, name = event.name, thread = event.tid,
               ns = event.ts, args = event.args}
    e.source = event.cat == "Lua" and event.args.source or nil
    e.resumed = event.args.resumed
    steps[#steps + 1] = e
    open[#open + 1] = {opens = false, name = e.name, thread = e.thread,
                       source = e.source, args = e.args, ends = event.ends,
                       ns = event.ends, tail = event.args.tailCall}
  end
  close(math.huge)
  return steps
end

--- "worker (prog.lua:12)", or only its place: what a coroutine begins with.
function seen.body (name, source)
  if (name == "?" or name:sub(1, 1) == "(") and source then
    return source
  end
  return source and ("%s (%s)"):format(name, source) or name
end

local function is_event (event)
  return event.ph == "X" and event.name ~= "v8 samples"
end

--- Steps of trace events by track, names of tracks, the marks (instants), and
--- how long each track waits for others, in ns.
function seen.chrome (doc)
  local tracks, names, marks, waits = {}, {}, {}, {}
  for _, event in ipairs(doc.traceEvents) do
    if event.cat == "Coroutine" then
      waits[event.tid] = (waits[event.tid] or 0) + round(event.dur * 1000)
    elseif is_event(event) then
      event.ts = round(event.ts * 1000)
      event.ends = event.ts + round(event.dur * 1000)
      tracks[event.tid] = tracks[event.tid] or {}
      table.insert(tracks[event.tid], event)
    elseif event.ph == "M" and event.name == "thread_name" then
      names[event.tid] = event.args.name
    elseif event.ph == "I" then
      marks[#marks + 1] = event
    end
  end
  for tid, events in pairs(tracks) do
    tracks[tid] = nest(events)
  end
  return tracks, names, marks, waits
end

-- ---- speedscope ----

--- Steps of each profile, in their order, and the profiles.
function seen.speedscope (doc)
  local lists = {}
  for i, profile in ipairs(doc.profiles) do
    local steps = {}
    for _, event in ipairs(profile.events) do
      local frame = doc.shared.frames[event.frame + 1]
      steps[#steps + 1] = {
        opens = event.type == "O", name = frame.name, ns = event.at,
        source = source_of(frame.file, frame.line)
      }
    end
    lists[i] = steps
  end
  return lists, doc.profiles
end

-- ---- CPU profiles ----

local function node_of (raw, parents)
  local frame = raw.callFrame
  return {
    id = raw.id, name = frame.functionName, parent = parents[raw.id],
    source = frame.lineNumber >= 0
             and source_of(frame.url, frame.lineNumber + 1) or nil,
    self = 0, calls = 0, hits = raw.hitCount
  }
end

-- The nodes from the root's child down.
local function path_of (nodes, node)
  local path, depth, at = {}, 0, node
  while at.parent do
    depth, at = depth + 1, nodes[at.parent]
  end
  for i = depth, 1, -1 do
    path[i], node = node, nodes[node.parent]
  end
  return path
end

-- Counts what a sample opens that the one before had not.
local function count (before, now)
  local same = 0
  while before[same + 1] and before[same + 1] == now[same + 1] do
    same = same + 1
  end
  for i = same + 1, #now do
    now[i].calls = now[i].calls + 1
  end
end

--- The nodes of a profile with 'self' in ns and how often each was opened
--- ('calls'), found from its samples; and the profile's length in ns.
function seen.cpuprofile (doc)
  local nodes, parents, paths = {}, {}, {}
  for _, raw in ipairs(doc.nodes) do
    for _, child in ipairs(raw.children or {}) do
      parents[child] = raw.id
    end
    parents[raw.id] = parents[raw.id] or raw.parent
  end
  for _, raw in ipairs(doc.nodes) do
    nodes[raw.id] = node_of(raw, parents)
  end
  local last, length = nil, 0
  for i, id in ipairs(doc.samples) do
    local delta = round(doc.timeDeltas[i] * 1000)
    length = length + delta
    if last then
      nodes[last].self = nodes[last].self + delta
    end
    paths[id] = paths[id] or path_of(nodes, nodes[id])
    count(paths[last] or {}, paths[id])
    last = id
  end
  return nodes, length, paths
end

--- The profile that is in the chunks of trace events.
function seen.samples (doc)
  local whole = {nodes = {}, samples = {}, timeDeltas = {}}
  for _, event in ipairs(doc.traceEvents) do
    if event.name == "ProfileChunk" then
      local data = event.args.data
      table.move(data.cpuProfile.nodes, 1, #data.cpuProfile.nodes,
                 #whole.nodes + 1, whole.nodes)
      table.move(data.cpuProfile.samples, 1, #data.cpuProfile.samples,
                 #whole.samples + 1, whole.samples)
      table.move(data.timeDeltas, 1, #data.timeDeltas,
                 #whole.timeDeltas + 1, whole.timeDeltas)
    end
  end
  return whole
end

local function describe (step, plain)
  return (plain and step.plain or step.name) .. " " .. (step.source or "C")
end

-- ---- stacks ----

--- Self time in ns and how often it was opened, by stack: "a b:1;c C". The
--- stack is that of the whole program, or, with 'apart', of each thread, whose
--- number it begins with; names are those of packets if 'plain'. And what is
--- open from when on: a list of {ns, path}, in which path "" is nothing.
function seen.stacks (steps, apart, plain)
  local stacks, open, now, changes = {}, {}, nil, {}
  for _, step in ipairs(steps) do
    local top = open[#open]
    if top and step.ns then
      top.self = top.self + step.ns - now
    end
    now = step.ns or now
    if step.opens then
      local below = top and (not apart or top.thread == step.thread)
                    and top.path .. ";" or apart and step.thread .. ";" or ""
      local path = below .. describe(step, plain)
      local one = stacks[path]
                  or {path = path, self = 0, calls = 0, thread = step.thread}
      stacks[path] = one
      one.calls = one.calls + 1
      open[#open + 1] = one
    else
      open[#open] = nil
    end
    changes[#changes + 1] = {ns = now, path = #open > 0 and open[#open].path
                                              or ""}
  end
  return stacks, changes
end

--- The path of a list of nodes, outermost first: of deep ones each is in
-- thousands of them.
function seen.path (nodes)
  local names = {}
  for i, node in ipairs(nodes) do
    node.described = node.described or describe(node)
    names[i] = node.described
  end
  return table.concat(names, ";")
end

--- The same of a CPU profile's nodes.
function seen.node_stacks (nodes, paths)
  local stacks = {}
  for id, path in pairs(paths) do
    if #path > 0 then
      local key = seen.path(path)
      stacks[key] = {path = key, self = nodes[id].self,
                     calls = nodes[id].calls}
    end
  end
  return stacks
end

--- Lines of stacks and microseconds: stack -> number, and their sum.
function seen.folded (text)
  local lines, sum = {}, 0
  for stack, number in text:gmatch "([^\n]*) (%d+)\n" do
    lines[stack] = math.tointeger(number)
    sum = sum + lines[stack]
  end
  return lines, sum
end

return seen
