-- "Allocation sampling" and "Allocations on timeline", as a debugger gets them.

local debugger = require "spec.support.debugger"
local evaluate, finish = debugger.evaluate, debugger.finish

local it = debugger.needed(it, pending)

-- Per round: 'keep' 16 KB that stay, 'drop' as much that goes, and the main
-- chunk, which was open before, a table that stays (and 56 KB in all by which
-- 'kept' grows). It calls nothing while it waits.
local program = [[
kept = {}
local function keep (i) kept[i] = ("x"):rep(16384) .. i end
local function drop (i) return #(("y"):rep(16384) .. i) end
local function work (i) keep(i) drop(i) end
local rounds = 0
io.stderr:write "begun\n"
while not done do
  if rounds < (wanted or 0) then
    rounds = rounds + 1
    work(rounds)
    kept[-rounds] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}
  end
end
io.stdout:write "done\n"]]

-- The program's own word: so many rounds are over.
local function go_on (front, rounds)
  evaluate(front, ("wanted = %d"):format(rounds))
  repeat
    local at = evaluate(front, ("kept[-%d] ~= nil"):format(rounds)).value
  until at or front.closed
end

-- Name of a function -> bytes of its own, and the way to it.
local function sizes_of (profile)
  local sizes, ways, ids = {}, {}, {}
  local function add (node, way)
    local name = node.callFrame.functionName
    assert.is_nil(ids[node.id])
    ids[node.id] = node
    sizes[name] = (sizes[name] or 0) + node.selfSize
    ways[name] = way .. name
    for _, child in ipairs(node.children) do
      add(child, way .. name .. ";")
    end
  end
  add(profile.head, "")
  return sizes, ways, ids
end

local function near (wanted, got)
  assert.is_true(math.abs(got - wanted) < wanted * 0.25,
                 ("%d is not about %d"):format(got or -1, wanted))
end

describe("a debugger's allocation sampling", function ()
  it("tells who has made what is alive, by the way that led there",
  function ()
    debugger.attach(program, function (front, command)
      assert(front:ask("HeapProfiler.startSampling",
                       {samplingInterval = 1024}))
      go_on(front, 1000)
      front:ask "HeapProfiler.collectGarbage"
      local early = front:ask("HeapProfiler.getSamplingProfile").profile
      local profile = front:ask("HeapProfiler.stopSampling").profile
      local sizes, ways, ids = sizes_of(profile)
      near(1000 * 16384, sizes.keep)
      near(1000 * 16384, sizes_of(early).keep)
      -- The last one may lie where the stack is not used any more.
      assert.is_true((sizes.drop or 0) < 2 * 16384)
      assert.equal("(root);(main chunk);work;keep", ways.keep)
      near(1000 * (56 + 160) + 56000, sizes["(main chunk)"])
      local sum = 0
      for _, sample in ipairs(profile.samples) do
        assert.equal(ids[sample.nodeId].selfSize, sample.size)
        sum = sum + sample.size
      end
      near(1000 * 16600, sum)
      finish(front, command)
    end)
  end)

  it("has places that the debugger knows, and numbers that stay", function ()
    debugger.attach(program, function (front, command)
      front:ask("HeapProfiler.startSampling", {samplingInterval = 1024})
      go_on(front, 100)
      local _, _, early = sizes_of(
        front:ask("HeapProfiler.getSamplingProfile").profile)
      local _, _, late = sizes_of(
        front:ask("HeapProfiler.stopSampling").profile)
      local scripts, seen = {}, 0
      for _, script in ipairs(front:events "Debugger.scriptParsed") do
        scripts[script.scriptId] = script.url
      end
      for id, node in pairs(late) do
        local frame = node.callFrame
        assert.equal(early[id] and early[id].callFrame.functionName
                     or frame.functionName, frame.functionName)
        assert.is_nil(frame.url:find "tracegrip/inspect")
        if frame.functionName == "keep" then
          seen = seen + 1
          assert.equal(scripts[frame.scriptId], frame.url)
          assert.matches("/app.lua$", frame.url)
          assert.equal(1, frame.lineNumber)
        end
      end
      assert.equal(1, seen)
      finish(front, command)
    end)
  end)

  it("has all that was made, with a flag for what was collected", function ()
    debugger.attach(program, function (front, command)
      front:ask("HeapProfiler.startSampling", {
        samplingInterval = 1024, includeObjectsCollectedByMajorGC = true})
      go_on(front, 1000)
      front:ask "HeapProfiler.collectGarbage"
      local sizes = sizes_of(front:ask("HeapProfiler.stopSampling").profile)
      near(sizes.keep, sizes.drop)
      finish(front, command)
    end)
  end)

  it("has one way of a program that is always inside of its calls",
  function ()
    debugger.attach([[
      kept = {}
      local function keep (i) kept[i % 100] = ("x"):rep(10000) .. i end
      local function work (i) keep(i) end
      local i = 0
      io.stderr:write "begun\n"
      while not done do
        i = i + 1
        work(i)
      end
      io.stdout:write "done\n"]], function (front, command)
      front:ask("HeapProfiler.startSampling", {samplingInterval = 1024})
      evaluate(front, "kept = {}")
      repeat            -- its length says nothing as long as there are holes
        local full = evaluate(front, [[(function ()
          for i = 0, 99 do if not kept[i] then return false end end
          return true
        end)()]]).value
      until full
      local profile = front:ask("HeapProfiler.stopSampling").profile
      local sizes, ways = sizes_of(profile)
      assert.equal("(root);(main chunk);work;keep", ways.keep)
      assert.is_true(sizes.keep >= 100 * 10000)
      finish(front, command)
    end)
  end)

  it("leaves a program that stands still where it stands", function ()
    debugger.attach(program, function (front, command)
      front:go "pause"
      assert(front:ask("HeapProfiler.startSampling"))
      assert(front:ask("HeapProfiler.getSamplingProfile").profile.head)
      assert(front:ask("HeapProfiler.stopSampling").profile.head)
      assert.equal(0, #front:events "Debugger.resumed")
      finish(front, command)
    end)
  end)

  it("is refused in words where it cannot be", function ()
    debugger.attach(program, function (front, command)
      for _, method in ipairs {"getSamplingProfile", "stopSampling"} do
        local none, problem = front:ask("HeapProfiler." .. method)
        assert.is_nil(none)
        assert.equal("V8 sampling heap profiler was not started.",
                     problem.message)
      end
      for _, interval in ipairs {0, -1} do
        local _, problem = front:ask("HeapProfiler.startSampling",
                                     {samplingInterval = interval})
        assert.equal("Invalid sampling interval", problem.message)
      end
      finish(front, command)
    end)
  end)
end)
