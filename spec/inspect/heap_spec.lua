-- Heap snapshots, and objects by the numbers that they have there, as a
-- debugger gets them.

local heaps = require "spec.support.heaps"
local debugger = require "spec.support.debugger"
local run = require "spec.support.run"

local it = debugger.needed(it, pending)

local program = [[
Account = {} Account.__index = Account
accounts = {}
for i = 1, 50 do
  accounts[i] = setmetatable({id = i, label = "account " .. i}, Account)
end
local rounds = 0
io.stderr:write "begun\n"
while not done do rounds = rounds + 1 end
io.stdout:write "done\n"]]

-- All chunks so far as a snapshot.
local function snapshot_of (front)
  local texts = {}
  for i, one in ipairs(front:events "HeapProfiler.addHeapSnapshotChunk") do
    assert(#one.chunk <= 102400)
    texts[i] = one.chunk
  end
  return run.within(function (directory)
    run.write(directory .. "/x", table.concat(texts))
    return heaps.read(directory .. "/x")
  end)
end

-- The number and node of an account whose id is its alone: where blocks are far
-- apart, as a sanitizer has them, ids meet.
local function account_of (snapshot)
  local count = {}
  for _, node in ipairs(snapshot.nodes) do
    count[node.id] = (count[node.id] or 0) + 1
  end
  local list = snapshot:where(function (node)
    return node.name == "Account" and node.type == "object"
           and count[node.id] == 1
  end)
  local label = heaps.to(assert(list[1]), "label", "property").name
  return tonumber(label:match "^account (%d+)$"), list[1]
end

local function value_of (front, expression)
  return front:ask("Runtime.evaluate", {expression = expression}).result
end

local function finish (front, command)
  front:ask "HeapProfiler.disable"
  front:ask "Debugger.disable"
  value_of(front, "done = true")
  assert.equal(0, command:ended())
end

describe("a debugger's heap snapshot", function ()
  it("comes in pieces, after its progress, before the answer", function ()
    debugger.attach(program, function (front, command)
      front:ask "HeapProfiler.enable"
      assert(front:ask("HeapProfiler.takeHeapSnapshot",
                       {reportProgress = true}))
      local progress = front:events "HeapProfiler.reportHeapSnapshotProgress"
      assert.is_true(progress[#progress].finished)
      assert.equal(progress[#progress].total, progress[#progress].done)
      local snapshot = snapshot_of(front)
      snapshot:check()
      assert.equal(50, #snapshot:where(function (node)
        return node.type == "object" and node.name == "Account"
      end))
      finish(front, command)
    end)
  end)

  it("leaves a program that stands still where it stands", function ()
    debugger.attach(program, function (front, command)
      front:ask "HeapProfiler.enable"
      local paused = front:go "pause"
      local before = front:value(paused, 1, "rounds").value
      front:ask "Debugger.disable"
      assert(front:ask "HeapProfiler.takeHeapSnapshot")
      assert.is_true(#snapshot_of(front).nodes > 100)
      front:ask "Debugger.enable"
      paused = front:event "Debugger.paused"
      assert.equal(before, front:value(paused, 1, "rounds").value)
      finish(front, command)
    end)
  end)

  it("has objects by their numbers, there and back", function ()
    debugger.attach(program, function (front, command)
      front:ask "HeapProfiler.takeHeapSnapshot"
      local number, node = account_of(snapshot_of(front))
      local id = front:ask("HeapProfiler.getHeapObjectId", {
        objectId = value_of(front, ("accounts[%d]"):format(number)).objectId
      }).heapSnapshotObjectId
      assert.equal(node.id, tonumber(id))
      local found = front:ask("HeapProfiler.getObjectByHeapObjectId",
                              {objectId = id}).result
      local properties = front:properties(found.objectId)
      assert.equal(number, properties.id.value)
      front:ask("HeapProfiler.addInspectedHeapObject", {heapObjectId = id})
      assert.equal(number, value_of(front, "$0.id").value)
      local none, problem = front:ask("HeapProfiler.getObjectByHeapObjectId",
                                      {objectId = "7"})
      assert.is_nil(none)
      assert.equal("Object is not available", problem.message)
      finish(front, command)
    end)
  end)

  it("has a collection before it on request", function ()
    debugger.attach(program, function (front, command)
      value_of(front, "lost = setmetatable({{}}, {__mode = 'v'})")
      assert(front:ask "HeapProfiler.collectGarbage")
      assert.equal("nil", value_of(front, "tostring(lost[1])").value)
      finish(front, command)
    end)
  end)
end)

describe("a query for objects", function ()
  it("finds all of a class", function ()
    debugger.attach(program, function (front, command)
      local prototype = value_of(front, "Account")
      local list = front:ask("Runtime.queryObjects",
                             {prototypeObjectId = prototype.objectId}).objects
      local properties, names = front:properties(list.objectId)
      local seen = 0
      for _, name in ipairs(names) do
        seen = seen + (name:find "^%d+$" and properties[name].objectId and 1
                       or 0)
      end
      assert.equal(50, seen)
      local _, problem = front:ask("Runtime.queryObjects",
                                   {prototypeObjectId = value_of(front,
                                    "print").objectId})
      assert.equal("Prototype should be instance of Object", problem.message)
      finish(front, command)
    end)
  end)
end)
