-- Ring mode in a file: the last so many bytes, however long it runs, and every
-- packet that is not there is counted.

local lfs = require "lfs"

local normal = require "spec.support.normal"
local recorded = require "spec.support.recorded"
local run = require "spec.support.run"

local KB, MB = 1 << 10, 1 << 20

-- What fills a ring with few calls: a text that is another one for each.
local text = ("x"):rep(200)

-- A program of so many calls of "f" with a number each, and sometimes with a
-- string of any size; ends with "last".
local function program (calls, large, more)
  return ([[
    local function f (i, text) return i end
    local function last () end
    for i = 1, %d do
      f(i, "%s" .. i)
      -- none at the end: it may begin a chunk, which is all that is left then
      if i %% 5000 == 2500 then
        f(("x"):rep(%d + (i // 5000 + 1) %% 7 * 10000))
      end
    end
    last()
    %s
  ]]):format(calls, text, large or 10, more or "")
end

-- The numbers that f was called with, in their order.
local function check_order (packets)
  local before
  for _, packet in ipairs(packets) do
    local list = packet.arguments and packet.arguments.values
    if packet.name == "f" and math.type(list[1]) == "integer" then
      assert.equal((before or list[1] - 1) + 1, list[1])
      before = list[1]
    end
  end
  return before
end

local function ring (sentence, code, options, check)
  it(sentence, function ()
    options.overflow = "ring"
    options.trace = {"name", "arguments"}
    recorded.with(code, options, nil, function (info, recording, result, dir)
      local packets = recorded.packets(recording)
      assert.is_true(normal.check(packets))
      assert.is_true(info.lost.ring > 0)
      assert.equal(recording.lost.ring, info.lost.ring)
      check(info, packets, recording, result, dir)
    end)
  end)
end

-- All packets are there or lost, but for the exits of frames whose entry is
-- lost: the main chunk's and one that stands around the cut.
local function check_sum (total, packets, lost)
  local silent = total - #packets - lost
  assert.is_true(silent == 1 or silent == 2, silent)
end

describe("a ring in a file", function ()
  for _, size in ipairs {4 * KB, 64 * KB, 512 * KB, MB} do
    ring(("of %d bytes has the last packets"):format(size), program(100000),
         {buffer = size}, function (info, packets)
      assert.equal("complete", info.state)
      assert.equal(100000, check_order(packets))
      -- 20 strings, each by string.rep, 18 of them with a buffer to close
      check_sum(2 * (100000 + 2 * 20 + 18 + 2), packets, info.lost.ring)
      assert.is_true(info.file_bytes <= size + 2 * MB, info.file_bytes)
      -- a chunk is given up as a whole
      assert.is_true(info.bytes >= size - 256 * KB, info.bytes)
      assert.equal("last", packets[#packets - 1].name)
    end)
  end

  -- The file has 4 MiB from the beginning.
  for _, size in ipairs {4 * MB, 5 * MB} do
    ring(("goes on in the %d bytes that there are on the disk"):format(size),
         ("process.limit(%d)\n"):format(size) .. program(40000),
         {buffer = 64 * MB}, function (info, packets)
      assert.equal("complete", info.state)
      assert.equal(0, info.lost.disk)
      assert.equal(40000, check_order(packets))
      assert.equal("last", packets[#packets - 1].name)
      assert.is_true(info.bytes > 3 * MB)
      assert.is_true(info.file_bytes <= size)
    end)
  end

  it("ends where what there is has no room for a value", function ()
    recorded.with([[
      process.limit(4 << 20)
      local function f (s) return #s end
      for i = 1, 200000 do f(i .. "") end
      f(("x"):rep(6 << 20))
      f("not seen any more")
    ]], {overflow = "ring", buffer = 64 * MB, valueString = "all"}, nil,
    function (info, recording)
      assert.equal("failed", info.state)
      assert.is_true(info.lost.disk > 0)
      assert.is_true(info.bytes > 3 * MB)
      assert.equal("disk", info.traces[1].ended)
      assert.is_true(normal.check(recorded.packets(recording)))
    end)
  end)

  ring("does not grow with large values of all sizes",
       program(100000, 300000), {buffer = MB, valueString = "all"},
       function (info, packets)
    assert.equal("complete", info.state)
    assert.equal(100000, check_order(packets))
    assert.is_true(info.file_bytes <= 6 * MB, info.file_bytes)
  end)

  ring("that is killed has the last packets", program(100000, 10,
       "process.kill(process.pid(), 9)"), {buffer = MB},
       function (info, packets)
    assert.equal("cut off", info.state)
    assert.equal(100000, check_order(packets))
    assert.equal("process.kill", packets[#packets].name)
    assert.is_true(info.file_bytes <= 5 * MB, info.file_bytes)
  end)

  ring("goes on in a forked child with a ring of its own", program(50000, 10,
       [[
    local pid = process.fork()
    if pid == 0 then
      for i = 50001, 100000 do f(i, "x" .. i) end
      process.kill(process.pid(), 9)
    end
    process.wait(pid)
    for i = 50001, 75000 do f(i, "x" .. i) end
  ]]), {buffer = 512 * KB}, function (info, packets, _, _, directory)
    assert.equal("complete", info.state)
    assert.equal(75000, check_order(packets))
    local others = 0
    for name in lfs.dir(directory) do
      if name:find "^rec%." then
        local child = assert(recorded.open(directory .. "/" .. name))
        assert.equal("cut off", child:info().state)
        assert.equal(100000, check_order(recorded.packets(child)))
        assert.is_true(child.lost.ring > 0)
        others = others + 1
      end
    end
    assert.equal(1, others)
  end)

  -- what a trace holds the ring keeps as long as that runs
  it("has of a named trace what is left of it", function ()
    recorded.with([[
      local console = require "tracegrip.console"
      local function f () end
      local function run (n) for i = 1, n do f() end end
      console.startTrace("early", {trace = {"name"}})
      run(10)
      console.stopTrace("early")
      run(100000)
      collectgarbage() collectgarbage()
      console.startTrace("late", {trace = {"name"}})
      run(10)
      console.stopTrace("late")
      run(100000)
      collectgarbage() collectgarbage()
      console.startTrace("last", {trace = {"name"}})
      run(10)
      console.stopTrace("last")
    ]], {overflow = "ring", buffer = 512 * KB, trace = {"name"}}, nil,
    function (info, recording)
      assert.equal("complete", info.state)
      assert.equal(4, #info.traces)
      for _, name in ipairs {"early", "late", "last"} do
        local trace = recording:trace(name)
        local n = #recorded.packets(trace)
        assert.equal(22, n + trace.lost.ring)
        assert.equal(name == "last" and 22 or 0, n)
        assert.is_true(trace.bytes >= 0)
      end
    end)
  end)

  it("can be saved by the program at any moment", function ()
    run.within(function (directory)
      run.write(directory .. "/program.lua", ([[
        local tracegrip = require "tracegrip"
        local trace = tracegrip.start {overflow = "ring", buffer = 512 << 10,
                                       trace = {"name", "arguments"}}
        local function f (i, text) end
        for i = 1, 100000 do
          f(i, "%s" .. i)
          if i %% 10000 == 0 then assert(trace:save("rec" .. i)) end
        end
      ]]):format(text))
      local result = run.file("program.lua", {cwd = directory})
      assert.equal("", result.stderr)
      for i = 10000, 100000, 10000 do
        local recording = assert(recorded.open(directory .. "/rec" .. i))
        local info = recording:info()
        assert.equal("complete", info.state)
        local packets = recorded.packets(recording)
        assert.equal(i, check_order(packets))
        assert.is_true(normal.check(packets))
        assert.is_true(info.file_bytes < MB)
        -- each f and each save has two; this save has not returned
        check_sum(2 * i + 2 * (i // 10000) - 1, packets, recording.lost.ring)
      end
    end)
  end)
end)
