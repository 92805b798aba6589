--- heaps.lua - heap snapshots for specs: taken by the command line, and read
-- here by the format's own rules, so that what is compared was not read by what
-- wrote it.

local dkjson = require "dkjson"

local cjson = require "cjson"

local lookedat = require "spec.support.lookedat"
local run = require "spec.support.run"

local heaps = {}

--- What `tracegrip heap` says, in a directory if one is given: its result, and
-- the document if it is JSON. Scripts have the suite's own C modules.
function heaps.command (words, directory)
  local command = {run.build .. "/bin/tracegrip", "heap"}
  table.move(words, 1, #words, 3, command)
  local env = {LUA = run.host}
  for name, value in pairs(run.modules) do
    env[name] = value
  end
  local result = run.command(command, {env = env, cwd = directory})
  local document = result.stdout:find "^{" and dkjson.decode(result.stdout)
  return result, document
end

--- Takes one of a target, with a flag more if it is given: the document, and
-- the path.
function heaps.take (target, path, flag)
  local result, document = heaps.command {tostring(target), "-o", path,
                                          "--json", flag}
  assert(result.status == 0, result.stderr)
  return document, path
end

local Snapshot = {}
Snapshot.__index = Snapshot

--- A file, checked against what DevTools' loader wants of it.
function heaps.read (path)
  local document = cjson.decode(run.read(path))
  local meta = document.snapshot.meta
  local self = setmetatable({meta = meta, strings = document.strings,
                             samples = document.samples, nodes = {},
                             by_id = {}}, Snapshot)
  local fields, width = {}, #meta.node_fields
  for i, name in ipairs(meta.node_fields) do
    fields[name] = i
  end
  local e, wide = 0, width
  for i = 1, #document.nodes, wide do
    local function field (name)
      return document.nodes[i + fields[name] - 1]
    end
    local node = {type = meta.node_types[1][field "type" + 1],
                  name = document.strings[field "name" + 1],
                  id = field "id", self = field "self_size", edges = {},
                  maker = field "trace_node_id"}
    self.nodes[#self.nodes + 1] = node
    self.by_id[node.id] = node
    for _ = 1, field "edge_count" do
      node.edges[#node.edges + 1] = {
        type = meta.edge_types[1][document.edges[e + 1] + 1],
        name = document.edges[e + 2], to = document.edges[e + 3]}
      e = e + 3
    end
  end
  assert(e == #document.edges, "edges are not as many as nodes say")
  for _, node in ipairs(self.nodes) do
    for _, edge in ipairs(node.edges) do
      assert(edge.to % width == 0)
      edge.to = assert(self.nodes[edge.to // width + 1])
      if edge.type ~= "element" and edge.type ~= "hidden" then
        edge.name = assert(document.strings[edge.name + 1])
      end
    end
  end
  self:read_makers(document)
  return self
end

--- Who made the nodes: a call for each number of the tree, with the function's
-- name, script and line, and its caller.
function Snapshot:read_makers (document)
  local functions, infos = {}, document.trace_function_infos
  self.makers = {}
  assert(#infos == 6 * document.snapshot.trace_function_count)
  for i = 1, #infos, 6 do
    functions[#functions + 1] = {
      name = assert(self.strings[infos[i + 1] + 1]),
      script = assert(self.strings[infos[i + 2] + 1]),
      script_id = infos[i + 3], line = infos[i + 4], column = infos[i + 5]}
    assert(infos[i] == #functions - 1)
  end
  local function add (list, caller)
    assert(#list % 5 == 0)
    for i = 1, #list, 5 do
      local call = {of = assert(functions[list[i + 1] + 1]), caller = caller,
                    count = list[i + 2], size = list[i + 3]}
      assert(not self.makers[list[i]], "a number is two calls'")
      self.makers[list[i]] = call
      add(list[i + 4], call)
    end
  end
  add(document.trace_tree)
  for _, node in ipairs(self.nodes) do
    assert(node.maker == 0 or self.makers[node.maker])
  end
end

--- The calls that made a node, "make < left", but the root; nil: not known.
function Snapshot:made_by (node)
  local call, names = self.makers[node.maker], {}
  while call and call.caller do
    names[#names + 1] = call.of.name
    call = call.caller
  end
  return call and table.concat(names, " < ")
end

--- What each string is there once, each id is one node's, odd and of 32 bits.
function Snapshot:check ()
  local seen = {}
  for _, text in ipairs(self.strings) do
    assert(not seen[text], "a string is there twice: " .. text)
    seen[text] = true
  end
  local ids = {}
  local far = os.getenv "ASAN_OPTIONS"  -- its blocks are further apart than ids
  for _, node in ipairs(self.nodes) do
    assert(far or not ids[node.id], "an id is two nodes'")
    ids[node.id] = true
    assert(node.id % 2 == 1 and node.id < 2^32, "an id is not odd")
  end
end

--- The nodes that were meant by a function.
function Snapshot:where (is_meant)
  local list = {}
  for _, node in ipairs(self.nodes) do
    if is_meant(node) then
      list[#list + 1] = node
    end
  end
  return list
end

--- What a node refers to by an edge's name; its type too, if that is given.
function Snapshot.to (node, name, kind)
  for _, edge in ipairs(node.edges) do
    if edge.name == name and (not kind or edge.type == kind) then
      return edge.to
    end
  end
end

function Snapshot:sum ()
  local sum = 0
  for _, node in ipairs(self.nodes) do
    sum = sum + node.self
  end
  return sum
end

--- Runs a program that says a word and waits, takes a snapshot of it, and calls
-- use(snapshot, document, process).
function heaps.of (interpreter, code, use)
  lookedat.with(interpreter, code, function (process)
    process:waiting()
    local path = process.directory .. "/x.heapsnapshot"
    local document = heaps.take(process.pid, path)
    use(heaps.read(path), document, process, path)
  end)
end

heaps.to = Snapshot.to

return heaps
