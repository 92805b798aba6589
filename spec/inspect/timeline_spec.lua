-- "Allocations on timeline", as a debugger gets it: what was born when, of all
-- that is alive.

local debugger = require "spec.support.debugger"
local evaluate, finish = debugger.evaluate, debugger.finish
local heaps = require "spec.support.heaps"
local run = require "spec.support.run"

local it = debugger.needs_memory(debugger.needed(it, pending), pending)

-- Per step: ten objects of a class that stay, ten with a finalizer, and twenty
-- that go, whose addresses are used again.
local program = ("package.cpath = %q .. package.cpath "):format(
                  run.build .. "/spec/?.so;") .. [[
local rest = require "process".sleep
kept, steps = {}, 0
local classes = {}
local function class (name)
  classes[name] = classes[name] or {__name = name}
  return classes[name]
end
local last = {__gc = function () end, __name = "Last"}
io.stderr:write "begun\n"
while not done do
  if steps < (wanted or 0) then
    steps = steps + 1
    local name = "Step" .. steps
    for i = 1, 10 do
      local drop = {i} drop = {drop}
      kept[#kept + 1] = setmetatable({steps}, class(name))
      kept[#kept + 1] = setmetatable({steps}, {__gc = last.__gc,
                                               __name = "Last" .. steps})
    end
    reached = steps
  else
    rest(0.001)
  end
end
io.stdout:write "done\n"]]

-- A step is a call by each of two ways.
local makers = [[
kept, steps = {setmetatable({}, {__name = "Older"})}, 0
local class = {__name = "Step1"}
local function make ()
  kept[#kept + 1] = setmetatable({steps}, class)
  return steps
end
local function left () return make() + 1 end
local function right () return make() + 1 end
local function work ()
  if steps < (wanted or 0) then
    left() right()
    steps = steps + 1
    reached = steps
  end
end
kept[2] = setmetatable({}, class)
io.stderr:write "begun\n"
while not done do work() end
io.stdout:write "done\n"]]

local function tick (front)
  return front:event "HeapProfiler.lastSeenObjectId"
end

-- One step, between two marks; the mark behind it. Marks that have come before
-- the step was made are passed over: on a busy machine some wait to be read.
local function step (front, n)
  tick(front)
  evaluate(front, ("wanted = %d"):format(n))
  repeat
    local reached = evaluate(front, ("reached == %d"):format(n)).value
  until reached
  front.seen = #front.messages
  tick(front)
  return tick(front).lastSeenObjectId
end

local function snapshot_of (front)
  local texts = {}
  for i, one in ipairs(front:events "HeapProfiler.addHeapSnapshotChunk") do
    texts[i] = one.chunk
  end
  front.messages, front.seen = {}, 0
  return run.within(function (directory)
    run.write(directory .. "/x", table.concat(texts))
    return heaps.read(directory .. "/x")
  end)
end

local function of_class (snapshot, name)
  return snapshot:where(function (node)
    return node.type == "object" and node.name == name
  end)
end

-- Bytes and objects between two ids, as the front end's bars add them up.
local function between (snapshot, from, to)
  local sum = {count = 0, bytes = 0}
  for _, node in ipairs(snapshot.nodes) do
    if node.id > from and node.id <= to then
      sum.count, sum.bytes = sum.count + 1, sum.bytes + node.self
    end
  end
  return sum
end

describe("a debugger's timeline of allocations", function ()
  it("tells in which stretch of time each object was born", function ()
    debugger.attach(program, function (front, command)
      assert(front:ask("HeapProfiler.startTrackingHeapObjects",
                       {trackAllocations = false}))
      local marks = {[0] = tick(front).lastSeenObjectId}
      for n = 1, 4 do
        marks[n] = step(front, n)
      end
      evaluate(front, "for i = 21, 40 do kept[i] = false end")
      front:ask "HeapProfiler.collectGarbage"
      front:ask "HeapProfiler.collectGarbage"
      assert(front:ask("HeapProfiler.stopTrackingHeapObjects",
                       {reportProgress = true}))
      local snapshot = snapshot_of(front)
      snapshot:check()
      for n, alive in ipairs {10, 0, 10, 10} do
        for _, name in ipairs {"Step", "Last"} do
          local found = of_class(snapshot, name .. n)
          assert.equal(alive, #found)
          for _, node in ipairs(found) do
            assert.is_true(node.id > marks[n - 1] and node.id <= marks[n])
          end
        end
      end
      finish(front, command)
    end)
  end)

  it("has samples by which the bars are what was told", function ()
    debugger.attach(program, function (front, command)
      front:ask "HeapProfiler.startTrackingHeapObjects"
      step(front, 1)
      step(front, 2)
      front:ask "HeapProfiler.stopTrackingHeapObjects"
      local told, ids = {}, {}
      for _, one in ipairs(front:events "HeapProfiler.heapStatsUpdate") do
        for i = 1, #one.statsUpdate, 3 do
          told[one.statsUpdate[i] + 1] = {count = one.statsUpdate[i + 1],
                                          bytes = one.statsUpdate[i + 2]}
        end
      end
      for i, one in ipairs(front:events "HeapProfiler.lastSeenObjectId") do
        ids[i] = one.lastSeenObjectId
      end
      local snapshot = snapshot_of(front)
      assert.equal(2 * #ids, #snapshot.samples)
      for i, id in ipairs(ids) do
        assert.equal(id, snapshot.samples[2 * i])
        assert.is_true(i == 1 or snapshot.samples[2 * i - 1]
                                 >= snapshot.samples[2 * i - 3])
        local sum = between(snapshot, ids[i - 1] or 0, id)
        -- What the agent itself has made goes meanwhile; and in the first
        -- stretch is what waits for no mark, too.
        assert.is_true(sum.count <= told[i].count + (i == 1 and 4 or 0))
      end
      finish(front, command)
    end)
  end)

  it("has objects by their numbers there, and others in the next", function ()
    debugger.attach(program, function (front, command)
      front:ask "HeapProfiler.startTrackingHeapObjects"
      step(front, 1)
      front:ask "HeapProfiler.stopTrackingHeapObjects"
      local node = of_class(snapshot_of(front), "Step1")[1]
      local found = front:ask("HeapProfiler.getObjectByHeapObjectId", {
        objectId = ("%d"):format(node.id)}).result
      assert.equal("Step1", found.className)
      assert.equal(("%d"):format(node.id),
                   front:ask("HeapProfiler.getHeapObjectId", {
                     objectId = found.objectId}).heapSnapshotObjectId)
      front:ask "HeapProfiler.startTrackingHeapObjects"
      front:ask "HeapProfiler.stopTrackingHeapObjects"
      for _, other in ipairs(of_class(snapshot_of(front), "Step1")) do
        assert.is_true(other.id > node.id)
      end
      finish(front, command)
    end)
  end)

  -- That the loop is open is known by samples, if there has been one.
  it("tells who has made each object, where that is wanted", function ()
    debugger.attach(makers, function (front, command)
      for _, wanted in ipairs {true, false} do
        front:ask("HeapProfiler.startTrackingHeapObjects",
                  {trackAllocations = wanted})
        step(front, 1)
        assert(front:ask "HeapProfiler.stopTrackingHeapObjects")
        local snapshot = snapshot_of(front)
        local ways = {}
        for _, node in ipairs(of_class(snapshot, "Step1")) do
          local way = snapshot:made_by(node) or "nobody"
          ways[way:match "^%w+ ?<? ?%w*"] = true
        end
        assert.same(wanted and {["nobody"] = true, ["make < left"] = true,
                                ["make < right"] = true}
                    or {["nobody"] = true}, ways)
        assert.is_nil(snapshot:made_by(of_class(snapshot, "Older")[1]))
        evaluate(front, "steps, reached = 0, nil")
      end
      finish(front, command)
    end)
  end)

  it("goes on while the program stands still, and ends with its debugger",
  function ()
    debugger.attach(program, function (front, command, address)
      front:go "pause"
      front:ask "HeapProfiler.startTrackingHeapObjects"
      local first = tick(front)
      assert.is_true(tick(front).timestamp >= first.timestamp)
      assert(front:ask "HeapProfiler.stopTrackingHeapObjects")
      assert.equal(0, #front:events "Debugger.resumed")
      local other = debugger.connect(address)
      other:ask "HeapProfiler.startTrackingHeapObjects"
      tick(other)
      other:close()
      finish(front, command)
    end)
  end)
end)
