-- require "tracegrip.heap".snapshot: a program's own heap, written by a copy of
-- the process.

local lfs = require "lfs"

local heaps = require "spec.support.heaps"
local run = require "spec.support.run"

-- Runs a program in a directory, and calls use(output, directory).
local function of (code, use)
  run.within(function (directory)
    run.write(directory .. "/program.lua", code)
    local result = run.command({run.lua, "program.lua"},
                               {cwd = directory, env = run.modules})
    assert.equal("", result.stderr)
    assert.equal(0, result.status)
    use(result.stdout, directory)
  end)
end

describe("a snapshot that a program takes of itself", function ()
  it("is what the program itself counts, to the byte", function ()
    of([[
      local heap = require "tracegrip.heap"
      local list = {}
      for i = 1, 20000 do
        list[i] = {i, name = "name " .. i, f = function () return i end}
      end
      local snapshot = heap.snapshot
      local before = collectgarbage "count"
      local result = snapshot("x.heapsnapshot")
      assert(result.bytes == before * 1024, result.bytes)
      assert(result.state_bytes == result.bytes)
      assert(math.type(result.objects) == "integer")
      assert(result.stopped_ms > 0)
      print(result.objects, result.bytes)]], function (output, directory)
      local objects, bytes = output:match "(%d+)%s+(%d+)"
      local snapshot = heaps.read(directory .. "/x.heapsnapshot")
      snapshot:check()
      assert.equal(tonumber(bytes), snapshot:sum())
      assert.equal(tonumber(objects), #snapshot:where(function (node)
        return node.type ~= "synthetic"
      end))
    end)
  end)

  -- The collector is hungry: whatever is made begins a collection, of which all
  -- that is young and lost would be.
  it("begins no collection, and is of before what it makes itself", function ()
    of([[
      local heap = require "tracegrip.heap"
      local snapshot, count = heap.snapshot, collectgarbage
      local ended = 0
      local meta = {__gc = function () ended = ended + 1 end}
      collectgarbage "generational"
      collectgarbage "stop"
      for _ = 1, 100 do setmetatable({state = "waiting"}, meta) end
      collectgarbage "restart"
      local before = count "count"
      local result = snapshot("x.heapsnapshot")
      local after = {}
      assert(result.bytes == before * 1024, result.bytes)
      assert(ended == 100, ended)
      return after]], function (_, directory)
      local snapshot = heaps.read(directory .. "/x.heapsnapshot")
      assert.equal(100, #snapshot:where(function (node)
        local state = snapshot.to(node, "state")
        return state and state.name == "waiting"
      end))
    end)
  end)

  it("has names that are no UTF-8 as a Lua literal has them", function ()
    of([[
      local heap = require "tracegrip.heap"
      package.loaded.m = {["\xff"] = {}}
      local object = setmetatable({}, package.loaded.m["\xff"])
      local cut = load("return ...", ("x"):rep(59) .. "\u{e4}")
      assert(heap.snapshot "x.heapsnapshot")
      return object, cut]], function (_, directory)
      local snapshot = heaps.read(directory .. "/x.heapsnapshot")
      local place = "[string \"" .. ("x"):rep(59) .. "\\xC3\"]:0"
      local classes, places = 0, 0
      for _, node in ipairs(snapshot.nodes) do
        classes = classes + (node.name == "m.\\xFF" and 1 or 0)
        places = places + (node.name == place and 1 or 0)
      end
      assert.same({1, 1}, {classes, places})
    end)
  end)

  it("is written while the program goes on, if it does not wait", function ()
    of([[
      local heap = require "tracegrip.heap"
      local list = {}
      for i = 1, 1000 do list[i] = {marked = "before"} end
      local picture = heap.snapshot("x.heapsnapshot", {wait = false})
      assert(picture.stopped_ms > 0 and picture.bytes == nil)
      for i = 1, 1000 do list[i].marked = "after the picture" end
      local result = picture()
      assert(result.bytes == result.state_bytes and picture() == result)
      print(result.bytes)]], function (output, directory)
      local snapshot = heaps.read(directory .. "/x.heapsnapshot")
      assert.equal(tonumber(output), snapshot:sum())
      local marked = snapshot:where(function (node)
        return snapshot.to(node, "marked", "property") ~= nil
      end)
      assert.equal(1000, #marked)
      for _, node in ipairs(marked) do
        assert.equal("before", snapshot.to(node, "marked").name)
      end
    end)
  end)

  it("leaves no process and no open file behind", function ()
    of([[
      local heap = require "tracegrip.heap"
      local core = require "tracegrip.core"
      local function files ()
        return #core.entries("/proc/self/fd")
      end
      local function children ()
        local name = "/proc/self/task/" .. core.pid() .. "/children"
        local file = io.open(name)
        local text = file and file:read "a" or ""
        if file then file:close() end
        return text
      end
      local before = files()
      heap.snapshot("x.heapsnapshot")
      local picture = heap.snapshot("y.heapsnapshot", {wait = false})
      picture = nil
      collectgarbage() collectgarbage()
      assert(files() == before)
      assert(children() == "", children())
      print "none"]], function (output)
      assert.equal("none\n", output)
    end)
  end)

  it("is its owner's alone: a forked child has nothing of it", function ()
    of([[
      local heap, process = require "tracegrip.heap", require "process"
      local picture = heap.snapshot("x.heapsnapshot", {wait = false})
      local pid = process.fork()
      if pid == 0 then
        print(picture())
        print(picture())
        picture = nil
        collectgarbage()
        io.stdout:flush()
        process.leave(heap.snapshot "child.heapsnapshot" and 0 or 1)
      end
      assert(process.wait(pid) == 0)
      local result = assert(picture())
      assert(result.bytes == result.state_bytes)]], function (output, directory)
      assert.equal("nil\tthe snapshot is another process's\tfailed\n"
                   .. "nil\tthe snapshot has failed\tfailed\n", output)
      heaps.read(directory .. "/x.heapsnapshot"):check()
      heaps.read(directory .. "/child.heapsnapshot"):check()
    end)
  end)

  it("leaves no file that ends in the middle", function ()
    of([[
      local heap, process = require "tracegrip.heap", require "process"
      process.limit(4096)
      print(heap.snapshot "x.heapsnapshot")]], function (output, directory)
      assert.equal("nil\tx.heapsnapshot: File too large\t27\n", output)
      assert.is_nil(io.open(directory .. "/x.heapsnapshot"))
    end)
  end)

  -- It waits in open, for somebody who reads.
  it("says that the process which writes it was killed", function ()
    of([[
      local heap, process = require "tracegrip.heap", require "process"
      process.mkfifo "x"
      local picture = heap.snapshot("x", {wait = false})
      local name = "/proc/self/task/" .. process.pid() .. "/children"
      process.kill(io.open(name):read "n", 9)
      print(picture())
      print(picture())]], function (output, directory)
      assert.equal("nil\tthe process that wrote the snapshot has ended\t"
                   .. "failed\nnil\tthe snapshot has failed\tfailed\n", output)
      assert.equal("named pipe", lfs.attributes(directory .. "/x", "mode"))
    end)
  end)

  it("says why there is none", function ()
    of([[
      local heap = require "tracegrip.heap"
      print(heap.snapshot("nowhere/x.heapsnapshot"))
      print(pcall(heap.snapshot))
      print(pcall(heap.snapshot, "x", {wiat = true}))
      print(pcall(heap.snapshot, "x.gz"))]], function (output)
      assert.truthy(output:find("nil\tnowhere/x.heapsnapshot: "
                                .. "No such file or directory\t2\n", 1, true))
      assert.truthy(output:find("bad argument #1 to 'snapshot' (the name of a "
                                .. "file)", 1, true))
      assert.truthy(output:find("unknown option 'wiat' (known is wait)", 1,
                                true))
      assert.truthy(output:find("a snapshot is not compressed", 1, true))
    end)
  end)

  it("is taken while a trace runs", function ()
    of([[
      local tracegrip = require "tracegrip"
      local heap = require "tracegrip.heap"
      local trace = tracegrip.start {name = "beside"}
      local function f (t) return heap.snapshot("x.heapsnapshot") end
      local result = f {}
      trace:stop()
      assert(result.bytes == result.state_bytes)
      print "whole"]], function (output)
      assert.equal("whole\n", output)
    end)
  end)
end)

describe("what has come and gone between two snapshots", function ()
  it("is right where addresses are used again", function ()
    of([[
      local heap = require "tracegrip.heap"
      local Item = {__name = "Item"}
      local function fill (word)
        local list = {}
        for i = 1, 1000 do
          list[i] = setmetatable({name = word .. i}, Item)
        end
        return list
      end
      local kept = fill "kept "
      collectgarbage() collectgarbage()
      local list = fill "first "
      assert(heap.snapshot "a.heapsnapshot")
      local places = {}
      for i = 1, 1000 do
        places[string.format("%p", list[i])] = true
      end
      list = nil
      collectgarbage() collectgarbage()
      list = fill "second "
      local again = 0
      for i = 1, 1000 do
        again = again + (places[string.format("%p", list[i])] and 1 or 0)
      end
      assert(heap.snapshot "b.heapsnapshot")
      print(again)
      return kept]], function (output, directory)
      -- how many is malloc's choice; the sanitizer's keeps what is freed
      local least = os.getenv "ASAN_OPTIONS" and 0 or 100
      assert.is_true(tonumber(output) >= least)
      local result, document = heaps.command {
        directory .. "/b.heapsnapshot", "--diff",
        directory .. "/a.heapsnapshot", "--json", "--limit", "all"}
      assert.equal("", result.stderr)
      local found
      for _, class in ipairs(document.classes) do
        found = class.name == "Item" and class or found
      end
      assert.equal(1000, found.added)
      assert.equal(1000, found.removed)
    end)
  end)
end)
