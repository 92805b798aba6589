-- tracegrip heap HOST:PORT: the heap of a program that listens, over the wire.

local lfs = require "lfs"

local heaps = require "spec.support.heaps"
local peers = require "spec.server.peer"
local run = require "spec.support.run"
local serving = require "spec.server.serving"
local it = run.needs("luv", it, pending)

-- A program that does what it is told, a line each, and says when it has.
local obedient = [[
  local tracegrip = require "tracegrip"
  list = {}
  for i = 1, 3000 do list[i] = {i, name = "name " .. i} end
  assert(tracegrip.listen(OPTIONS))
  for line in io.lines() do
    assert(load(line))()
    io.write("done\n")
    io.flush()
  end
]]

local function start (options)
  return serving.start((obedient:gsub("OPTIONS", options or "")))
end

local function address (program)
  return "127.0.0.1:" .. program.port
end

-- use(program, directory)
local function with (options, use)
  local program = start(options)
  run.within(function (directory)
    use(program, directory)
  end)
  program:close()
end

local function tell (program, line)
  program:tell(line)
  program:says "done\n"
end

local function has_children (pid)
  local tasks = ("/proc/%d/task/"):format(pid)
  for task in lfs.dir(tasks) do
    if task:find "%d" and run.read(tasks .. task .. "/children") ~= "" then
      return true
    end
  end
  return false
end

-- A snapshot by the command line, read by the format's rules.
local function taken (program, directory)
  local path = directory .. "/x.heapsnapshot"
  local document = heaps.take(address(program), path)
  local snapshot = heaps.read(path)
  snapshot:check()
  return document, snapshot
end

-- What made the objects of a class: the way, and how many.
local function ways_to (snapshot, class)
  local ways = {}
  for _, node in ipairs(snapshot.nodes) do
    if node.name == class then
      local way = snapshot:made_by(node) or "nobody"
      ways[way] = (ways[way] or 0) + 1
    end
  end
  return ways
end

describe("a snapshot over the wire", function ()
  it("is the whole heap of a program that sleeps, to the byte", function ()
    with(nil, function (program, directory)
      local document, snapshot = taken(program, directory)
      assert.equal(document.state_bytes, document.bytes)
      assert.equal(document.bytes, snapshot:sum())
      assert.equal(document.objects, #snapshot:where(function (node)
        return node.type ~= "synthetic"
      end))
      assert.is_true(document.objects > 6000)
      assert.is_true(document.stopped_ms > 0)
    end)
  end)

  it("runs nothing in the program and makes no object there", function ()
    with(nil, function (program, directory)
      tell(program, "collectgarbage 'restart'")
      local first, second = taken(program, directory), taken(program, directory)
      assert.equal(first.state_bytes, second.state_bytes)
      assert.equal(first.objects, second.objects)
      assert.equal(first.garbage, second.garbage)
    end)
  end)

  -- While nothing is traced that would tell the stream of the last ones: these
  -- are of what ran.
  it("has who made the objects, if a trace with memory runs there", function ()
    with(nil, function (program, directory)
      local path = directory .. "/x.heaptimeline"
      local result = heaps.command {address(program), "-o", path}
      assert.truthy(result.stderr:find("nobody knows who made the objects", 1,
                                       true))
      tell(program, ([[
        trace = require "tracegrip".start {memory = true, trace = {"name"},
                                           c = false}
        local Item, Last = {__name = "Item"}, {__name = "Last"}
        function make (of) list[#list + 1] = setmetatable({}, of) end
        local function early () make(Item) make(Item) end
        function last ()
          make(Item)
          list[#list + 1] = setmetatable({}, Last)
          io.write("made\n") io.flush() io.read()
        end
        early()]]):gsub("\n *", " "))
      program:tell "last()"
      program:says "made\n"
      result = heaps.command {address(program), "-o", path}
      assert.equal(0, result.status, result.stderr)
      assert.not_matches("nobody knows", result.stderr)
      program:tell ""
      local snapshot = heaps.read(path)
      snapshot:check()
      assert.same({["make < early"] = 2, ["make < last < (main chunk)"] = 1,
                   nobody = 1}, ways_to(snapshot, "Item"))
      assert.same({["last < (main chunk)"] = 1, nobody = 1},
                  ways_to(snapshot, "Last"))
    end)
  end)

  -- What is sent is gone in the program, if nothing else is asked for.
  it("has who made them of a client's trace that keeps it", function ()
    for _, makers in ipairs {true, false} do
      with(nil, function (program, directory)
        local path, peer = directory .. "/x.heaptimeline", program:peer()
        tell(program, ([[
          local Item = {__name = "Item"}
          function make () list[#list + 1] = setmetatable({}, Item) end
          function fill (n) for i = 1, n do make() end end]]):gsub("\n *", " "))
        assert.equal("attached", peer:request "attach".type)
        local reply = peer:request("startTrace", {makers = 1})
        assert.truthy(reply.message:find("'makers' must be", 1, true))
        reply = peer:request("startTrace", {trace = {"name", "allocations"},
                                            makers = makers})
        assert.equal("startedTrace", reply.type)
        tell(program, "fill(5000)")
        local result = heaps.command {address(program), "-o", path}
        local unknown = result.stderr:find("nobody knows", 1, true)
        assert.equal(makers, unknown == nil)
        if makers then
          assert.same({["make < fill < (main chunk)"] = 5000, nobody = 1},
                      ways_to(heaps.read(path), "Item"))
        end
        peer:close()
      end)
    end
  end)

  it("is one of a program that runs without a pause", function ()
    with(nil, function (program, directory)
      program:tell [[
        for i = 1, math.huge do list[i % 3000 + 1] = {i, name = "n" .. i} end
      ]]
      for _ = 1, 3 do
        local document, snapshot = taken(program, directory)
        assert.equal(document.state_bytes, document.bytes)
        assert.equal(document.bytes, snapshot:sum())
      end
    end)
  end)

  it("is not given of a program that hides values", function ()
    with([[{options = {redact = {"secret"}}}]], function (program, directory)
      local path = directory .. "/x.heapsnapshot"
      local result = heaps.command {address(program), "-o", path}
      assert.equal("tracegrip: the program hides values (redact), and a "
                   .. "snapshot has them all\n", result.stderr)
      assert.equal(1, result.status)
      assert.is_nil(io.open(path))
    end)
  end)

  it("needs the token that the program wants", function ()
    with([[{token = "a token of ours"}]], function (program, directory)
      local path = directory .. "/x.heapsnapshot"
      local result = heaps.command {address(program), "-o", path}
      assert.equal(1, result.status)
      assert.matches("^tracegrip: [^\n]*token[^\n]*\n$", result.stderr)
      assert.is_nil(io.open(path))
    end)
  end)

  it("says in one line that a file cannot be written", function ()
    with(nil, function (program, directory)
      local result = heaps.command {address(program), "-o",
                                    directory .. "/none/x"}
      assert.equal(1, result.status)
      assert.equal("tracegrip: " .. directory .. "/none/x: no such file or "
                   .. "directory\n", result.stderr)
    end)
  end)

  it("says in one line that nobody listens", function ()
    local program = start()
    local gone = address(program)
    program:close()
    local result = heaps.command {gone}
    assert.equal(1, result.status)
    assert.equal("tracegrip: cannot connect to " .. gone
                 .. ": nobody listens there\n", result.stderr)
  end)

  it("waits for a client that does not read, and nobody else does", function ()
    with(nil, function (program)
      tell(program, [[
        for i = 1, 200000 do list[i] = {i, name = "a longer name " .. i} end
      ]])
      local slow, quick = program:peer(), program:peer()
      assert.equal("takingSnapshot",
                   slow:request("takeSnapshot", nil, "heap1").type)
      assert.equal("tab1", quick:ask({to = "root",
                                      type = "listTabs"}).tabs[1].actor)
      tell(program, "x = 1")
      assert.is_true(has_children(program.pid))
      slow:close()
      quick:close()
      -- the child that wrote for the slow one is gone
      assert.is_true(peers.wait(function ()
        return not has_children(program.pid)
      end))
    end)
  end)
end)
