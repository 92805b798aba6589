-- expected.lua - what an importer has to make of a trace: the trees of its
-- coroutines, and how trees are compared.
--
-- A node: {name, label, source, self, total (ms), calls, roots (list)}, as in
-- normal.mjs; the label is what charts call it. 'calls' counts what is drawn: a
-- call that goes on after a yield is drawn again.

local expected = {}

local all = {"name", "location", "time", "thread"}
local exported = {trace = all, raw = false}   -- in the times that exports have

-- Where a function is, as exports have it: main chunks begin at line 1, C
-- functions have no line.
local function source_of (f)
  if f.url == nil or f.url == "=[C]" or f.url == "[C]" then
    return ""
  end
  return ("%s:%d"):format(f.url, math.max(f.line or 0, 1))
end

expected.source = source_of

-- The last part of a path, and what is before it in that of a module.
local function file_of (source)
  return source:match "[^/]+/init%.lua:%d+$" or source:match "[^/]*$"
end

--- What charts call a function: its name, or its place if it has none.
function expected.label (f)
  local file = file_of(source_of(f))
  if file == "" and (f.name == "(anonymous function)" or f.name == "?") then
    return "(C function)"
  elseif file == "" or f.name:sub(1, 1) ~= "(" and f.name ~= "?" then
    return f.name
  end
  return f.name == "(main chunk)" and f.name .. " " .. file:gsub(":1$", "")
         or file
end

-- What is worked out of a trace once, however many specs ask for it; a part
-- that a filter shows is worked out each time.
local function once (make)
  local known = setmetatable({}, {__mode = "k"})
  return function (trace, filter)
    if filter then
      return make(trace, filter)
    end
    known[trace] = known[trace] or make(trace)
    return known[trace]
  end
end

local function key_of (f)
  return ("%s\0%s\0%s"):format(f.name, f.url, f.line)
end

-- How often the packets enter each node: the same tree, by keys.
local function count_entries (packets)
  local root = {children = {}}
  local stack = {root}
  for packet in packets do
    if packet.why then
      table.remove(stack)
    else
      local place = packet.location
      local key = key_of {name = packet.name, url = place.url,
                          line = place.line}
      local siblings = stack[#stack].children
      local node = siblings[key] or {entries = 0, calls = 0, children = {}}
      siblings[key] = node
      node.entries = node.entries + 1
      node.calls = node.calls + (packet.resumed and 0 or 1)
      stack[#stack + 1] = node
    end
  end
  return root
end

-- What packets say of a node of trace:tree. A C function without a name is
-- shown by its symbol, or its class's metamethod, and has no name in packets.
local function count_of (counts, child)
  local nameless = {name = "(anonymous function)", url = child.url}
  return counts.children[key_of(child)]
         or source_of(child) == "" and counts.children[key_of(nameless)]
end

-- The children of a node of trace:tree as they are to be.
local function convert (children, counts)
  local list = {}
  for i, child in ipairs(children or {}) do
    local count = count_of(counts, child)
    assert(count and count.calls == child.calls, "the tree and the packets")
    list[i] = {
      name = child.name, label = expected.label(child),
      source = source_of(child), self = child.self_ms, total = child.total_ms,
      calls = count.entries,
      roots = convert(child.children, count)
    }
  end
  return list
end

local function with (filter)
  local mine = {trace = all, raw = false}
  for key, value in pairs(filter or {}) do
    mine[key] = value
  end
  return mine
end

--- The outermost nodes of a trace, or of the part that a filter shows.
expected.roots = once(function (trace, filter)
  local root = trace:tree(filter)
  return convert(root.children, count_entries(trace:packets(with(filter))))
end)

local function new_node (packet)
  local place = packet.location
  local f = {name = packet.name, url = place.url, line = place.line}
  return {name = f.name, label = expected.label(f), source = source_of(f),
          self = 0, total = 0, calls = 0, roots = {}, children = {}}
end

local function child_of (node, packet)
  local place = packet.location
  local key = key_of {name = packet.name, url = place.url, line = place.line}
  local child = node.children[key]
  if not child then
    child = new_node(packet)
    node.children[key] = child
    table.insert(node.roots, child)
  end
  return child
end

local function add_up (nodes)
  local sum = 0
  for _, node in ipairs(nodes) do
    node.total = node.self + add_up(node.roots)
    sum = sum + node.total
  end
  return sum
end

--- The outermost nodes of each coroutine, by its number, when a moment belongs
-- to the innermost frame of all coroutines only, as in a report.
expected.own = once(function (trace)
  local threads, open, now = {}, {}, nil
  for packet in trace:packets(exported) do
    local top = open[#open]
    if top then
      top.node.self = top.node.self + packet.time - now
    end
    now = packet.time
    if packet.why then
      open[#open] = nil
    else
      local root = threads[packet.thread] or {roots = {}, children = {}}
      threads[packet.thread] = root
      local inside = top and top.thread == packet.thread and top.node or root
      local node = child_of(inside, packet)
      node.calls = node.calls + 1
      open[#open + 1] = {thread = packet.thread, node = node}
    end
  end
  for number, root in pairs(threads) do
    add_up(root.roots)
    threads[number] = root.roots
  end
  return threads
end)

--- By how much a boundary is off, in ns, if all of a coroutine have to be
-- apart: the most of all.
expected.worst = once(function (trace)
  local last, worst = {}, 0
  for packet in trace:packets(exported) do
    local time = math.floor(packet.time * 1e6 + 0.5)
    local at = math.max(time, (last[packet.thread] or time - 1) + 1)
    last[packet.thread] = at
    worst = math.max(worst, at - time)
  end
  return worst
end)

--- What a coroutine is called after, by the first packet in it.
function expected.body (first, brief)
  local url, line = first.location.url, first.location.line
  if source_of {url = url, line = line} == "" then
    return first.name
  end
  local place = brief and file_of(url .. ":" .. line) or url .. ":" .. line
  return (first.name == "?" or first.name:sub(1, 1) == "(") and place
         or ("%s (%s)"):format(first.name, place)
end

--- The same nodes with their files as absolute paths.
function expected.placed (nodes, directory)
  local list = {}
  for i, node in ipairs(nodes) do
    local copy = {}
    for key, value in pairs(node) do
      copy[key] = value
    end
    copy.source = expected.path(node.source, directory)
    copy.roots = expected.placed(node.roots, directory)
    list[i] = copy
  end
  return list
end

--- Where a source is as a path. The programs are files, and so are modules that
-- are named by whole paths; what else there is was loaded under other names.
function expected.path (source, directory)
  return source:find "^[^/]*_program%.lua:" and directory .. "/" .. source
         or source
end

local function thread_name (number, first)
  if number == 1 then
    return "main"
  end
  return ("%s, coroutine %d"):format(expected.body(first, true), number)
end

--- The coroutines of a trace in order of appearance: {number, name, roots}.
expected.threads = once(function (trace)
  local seen, list = {}, {}
  for packet in trace:packets(exported) do
    local number = packet.thread
    if not packet.why and not seen[number] then
      seen[number] = true
      list[#list + 1] = {number = number, name = thread_name(number, packet),
                         body = expected.body(packet),
                         roots = expected.roots(trace, {thread = number})}
    end
  end
  return list
end)

-- Nodes that read the same to an importer, as one.
local function merged (nodes, reads)
  local list, by_key = {}, {}
  for _, node in ipairs(nodes) do
    local key = reads(node)
    local group = by_key[key]
    if not group then
      group = {key = key, self = 0, total = 0, calls = 0, roots = {}}
      by_key[key] = group
      list[#list + 1] = group
    end
    group.self = group.self + node.self
    group.total = group.total + node.total
    group.calls = group.calls + (node.calls or 0)
    table.move(node.roots, 1, #node.roots, #group.roots + 1, group.roots)
  end
  return list, by_key
end

local function describe (path, what, wanted, got)
  return ("%s: %s: expected %s, got %s"):format(
    table.concat(path, " > "), what, wanted, got)
end

local compare

local function compare_node (wanted, got, how, path)
  if how.calls ~= false and wanted.calls ~= got.calls then
    return describe(path, "calls", wanted.calls, got.calls)
  end
  for _, what in ipairs {"self", "total"} do
    if math.abs(wanted[what] - got[what]) > how.off(wanted) then
      return describe(path, what, wanted[what], got[what])
    end
  end
  return compare(wanted.roots, got.roots, how, path)
end

-- Where two lists of nodes differ, in words; nil if they do not. 'how':
--   reads    function (wanted node) -> what tells it from its siblings
--   read     the same of a node that an importer gave
--   off      function (wanted node) -> by how much times may be off, in ms
--   calls    false: the importer does not count them
--   missing  true: what takes no longer than 'off' may be missing
function compare (wanted, got, how, path)
  local _, got_by_key = merged(got, how.read)
  local list, by_key = merged(wanted, how.reads)
  for _, node in ipairs(list) do
    local other = got_by_key[node.key]
    path[#path + 1] = node.key
    if not other and not (how.missing and node.total <= how.off(node)) then
      return describe(path, "node", "one", "none")
    end
    local difference = other and compare_node(node, other, how, path)
    if difference then
      return difference
    end
    path[#path] = nil
  end
  for key in pairs(got_by_key) do
    if not by_key[key] then
      path[#path + 1] = key
      return describe(path, "node", "none", "one")
    end
  end
end

function expected.difference (wanted, got, how)
  return compare(wanted, got, how, {})
end

return expected
