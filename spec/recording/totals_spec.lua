-- In every kind of recording the times of a report add up to what is kept of
-- it, to the nanosecond, and info says the same of how long that is.

local core = require "tracegrip.core"
local recorded = require "spec.support.recorded"
local run = require "spec.support.run"

local function ns (ms)
  return math.floor(ms * 1e6 + 0.5)
end

local function tree_sum (node)
  local sum, stack = 0, {node}
  while #stack > 0 do
    local one = table.remove(stack)
    sum = sum + ns(one.self_ms)
    table.move(one.children, 1, #one.children, #stack + 1, stack)
  end
  return sum
end

local function check_trace (trace, about)
  -- raw, as what the recording says of itself is
  local report, tree = trace:report {raw = true}, trace:tree {raw = true}
  local sum = ns(tree.self_ms)
  for _, row in ipairs(report.functions) do
    sum = sum + ns(row.self_ms)
  end
  assert.equal(ns(report.duration_ms), sum)
  assert.equal(ns(report.duration_ms), tree_sum(tree))
  assert.equal(tree.total_ms, report.duration_ms)
  assert.equal(report.duration_ms, about.duration_ms)
  assert.equal(ns(report.duration_ms), ns(about.stop_ms) - ns(about.start_ms))
  assert.equal(report.events, about.events)
end

local function check (recording)
  local info = recording:info()
  for i, trace in ipairs(recording:traces()) do
    check_trace(trace, info.traces[i])
  end
  assert.is_true(info.duration_ms > 0)
  assert.equal(recording:report {raw = true}.duration_ms, info.duration_ms)
end

-- Calls, errors, a coroutine that waits at the end, some time in no call.
local program = [[
  local function fib (n) return n < 2 and n or fib(n - 1) + fib(n - 2) end
  local function fail () error {} end
  local wait = coroutine.wrap(function ()
    while true do fib(5) coroutine.yield() end
  end)
  local function work (n)
    for i = 1, n do
      fib(8)
      pcall(fail)
      if i % 20 == 1 then wait() end
    end
  end
]]

local function adds_up (sentence, ending, options, how, use)
  it(sentence, function ()
    recorded.with(program .. ending, options, how,
                  function (_, recording, result, directory)
      check(recording)
      if use then
        use(recording, result, directory)
      end
    end)
  end)
end

local function lost (cause)
  return function (recording)
    assert.is_true(recording.lost[cause] > 0)
  end
end

describe("the times of a report add up to the duration", function ()
  adds_up("of a recording that is complete", "work(100)", {})
  adds_up("of a program that was killed", [[
    work(100)
    local function last () process.kill(process.pid(), 9) end
    last()]], {})
  adds_up("of a program that left without closing it",
          "work(100) process.leave(0)", {})
  adds_up("of one that ended when its buffer was full", "work(100)",
          {buffer = 65536}, nil, lost "overflow")
  adds_up("of one that ended with a number of events", "work(100)",
          {maxEvents = 1001})
  adds_up("of one that ended with its time", "work(3000)", {duration = 0.005})
  adds_up("of one on a disk that got full",
          "process.limit(2 << 20) work(5000)", {compress = "none"}, nil,
          lost "disk")
  adds_up("of a ring", "work(3000)",
          {overflow = "ring", buffer = 1 << 20}, nil, lost "ring")
  adds_up("of a ring, of a program that was killed",
          "work(3000) process.kill(process.pid(), 9)",
          {overflow = "ring", buffer = 1 << 20}, nil, lost "ring")
  adds_up("without the frames of C functions and deep ones", "work(100)",
          {c = false, maxDepth = 4})

  adds_up("of several traces, also those that are saved", [[
    local console = require "tracegrip.console"
    work(3)
    console.startTrace("first")
    work(10)
    console.startTrace("second", {include = {"fib"}})
    work(10)
    assert(console.stopTrace("first"):save("first"))
    work(10)
    assert(console.stopTrace("second"):save("second"))
    local ring = require "tracegrip".start {overflow = "ring", buffer = 4096}
    work(1000)
    assert(ring:stop():save("ring"))]], {}, nil,
    function (recording, result, directory)
      assert.equal("", result.stderr)
      assert.equal(4, #recording:traces())
      for _, name in ipairs {"first", "second", "ring"} do
        check(assert(core.open(directory .. "/" .. name)))
      end
    end)

  adds_up("of one that is cut anywhere or damaged", "work(20)", {}, nil,
          function (_, _, directory)
    local path = directory .. "/rec"
    local whole = run.read(path)
    for i = 1, 20 do
      local at = 80000 + (#whole - 80000) * i // 21
      run.write(path, whole:sub(1, at))
      check(assert(core.open(path)))
      run.write(path, whole:sub(1, at) .. ("\xFF"):rep(64)
                      .. whole:sub(at + 65))
      check(assert(core.open(path)))
    end
  end)
end)
