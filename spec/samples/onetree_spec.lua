-- Samples and calls in one tree: self times by ticks, totals by calls. The
-- truth is counted: what a program has measured of itself, or its calls.

local kept = require "spec.support.kept".new()
local pprof = require "spec.export.pprof"
local recorded = require "spec.support.recorded"
local run = require "spec.support.run"

-- An api does nothing itself but to look at the clock; its calls are much
-- shorter than a tick, and of 'inner' and 'other' only samples tell.
local short_calls = [[
  local clock, took, calls = os.clock, {0, 0}, 0
  local function inner (n)
    local x = 0
    for i = 1, n do x = x + i % 7 end
    return x
  end
  local function other (n)
    local x = 0
    for i = 1, 2 * n do x = x + i % 5 end
    return x
  end
  local function api (n)
    local start = clock()
    inner(n)
    local middle = clock()
    other(n)
    took[1] = took[1] + middle - start
    took[2] = took[2] + clock() - middle
    calls = calls + 1
  end
  local start = clock()
  repeat api(3000) until clock() - start > 0.6
  print(calls, took[1] / (took[1] + took[2]))
]]

local only_api = {
  sample = 1000, trace = {"name", "callsite", "time"}, include = "^api$"
}

-- Uses the trace of 'short_calls', and what those have printed: recorded once
-- for the same options.
local function with_short_calls (options, direct, use)
  kept:within(direct .. run.literal(options), function (directory)
    local result = recorded.run(directory, short_calls, options,
                                {direct = direct})
    assert.equal(0, result.status, result.stderr)
    run.write(directory .. "/printed", result.stdout)
  end, function (directory)
    use(recorded.open(directory .. "/rec"):traces()[1],
        run.read(directory .. "/printed"))
  end)
end

teardown(function () kept:close() end)

local function rows_of (report)
  local rows = {}
  for _, row in ipairs(report.functions) do
    rows[row.name] = row
  end
  return rows
end

local function add_nodes (list, name, node)
  for _, child in ipairs(node.children) do
    list[#list + 1] = child.name == name and child or nil
    add_nodes(list, name, child)
  end
  return list
end

local function check_sums (node)
  local sum = node.self_ms
  for _, child in ipairs(node.children) do
    check_sums(child)
    sum = sum + child.total_ms
  end
  assert.near(node.total_ms, sum, 1e-5)
end

-- The median of what runs of the code print, each of them a number: others may
-- have the processor in any of them.
local function usual (code)
  local list = {}
  for i = 1, 5 do
    list[i] = tonumber(run.code(code).stdout)
  end
  table.sort(list)
  return list[3]
end

-- How many samples of one weight tell as much: those of busy machines differ.
local function deviation (share, trace, how)
  local samples = select(3, recorded.ticks(trace, how))
  return math.sqrt(share * (1 - share) / samples)
end

describe("samples beside calls", function ()
  for _, direct in ipairs {"1", "0"} do
    local how = direct == "1" and "by memory" or "by the public API"

    it("have exact totals and self times by ticks, " .. how, function ()
      with_short_calls(only_api, direct, function (trace, printed)
        local calls, share = printed:match "(%d+)%s+(%S+)"
        local rows = rows_of(trace:report())
        local both = rows.inner.self_ms + rows.other.self_ms
        assert.equal(tonumber(calls), rows.api.calls)
        -- the mean is of the clock alone, the total of ticks as well
        assert.near(rows.api.mean_ms * rows.api.calls, rows.api.total_ms,
                    0.05 * rows.api.total_ms)
        assert.is_true(rows.api.self_ms < 0.2 * rows.api.total_ms)
        assert.near(tonumber(share), rows.inner.self_ms / both,
                    5 * deviation(0.33, trace) + 0.04)
      end)
    end)
  end

  it("are one tree, also before the first tick", function ()
    with_short_calls(only_api, "1", function (trace, printed)
      local tree = trace:tree()
      local nodes = add_nodes({}, "api", tree)
      assert.equal(1, #nodes)
      assert.equal(tonumber(printed:match "%d+"), nodes[1].calls)
      check_sums(tree)
    end)
  end)

  it("tell waits in a call apart from what ran there", function ()
    local code = [[
      local function inner (n)
        local x = 0
        for i = 1, n do x = x + i % 7 end
        return x
      end
      local function api ()
        inner(2000000)
        process.sleep(0.02)
      end
      for _ = 1, 20 do api() end
    ]]
    recorded.with(code, only_api, {direct = "1"}, function (_, recording)
      local trace = recording:traces()[1]
      local idle = 0
      for _, node in ipairs(add_nodes({}, "(not running)", trace:tree())) do
        idle = idle + node.total_ms
      end
      local rows = rows_of(trace:report())
      assert.is_true(idle > 300, idle)
      assert.is_true(rows.api.total_ms > 400)
      assert.is_nil(rows["(not running)"])
      check_sums(trace:tree())
    end)
  end)

  -- What the program takes untraced, it has measured before.
  it("tell ticks of the program from those of the hook", function ()
    local code = [[
      local function tiny (x) return x + 1 end
      local function dense (n)
        local x = 0
        for i = 1, n do x = tiny(x) end
        return x
      end
      local function plain (n)
        local x = 0
        for i = 1, 4 * n do x = x + i % 7 end
        return x
      end
      local took = {0, 0}
      for _ = 1, 200 do
        local start = os.clock()
        dense(5000)
        local middle = os.clock()
        plain(5000)
        took[1] = took[1] + middle - start
        took[2] = took[2] + os.clock() - middle
      end
      print(took[1] / (took[1] + took[2]))
    ]]
    local share = usual(code)
    local options = {sample = 2000, trace = {"name", "time"}}
    recorded.with(code, options, {direct = "1"}, function (_, recording)
      local trace = recording:traces()[1]
      local rows = rows_of(trace:report())
      local one = rows.dense.self_ms + rows.tiny.self_ms
      assert.near(share, one / (one + rows.plain.self_ms),
                  5 * deviation(0.5, trace, {limit = 1}) + 0.15)
    end)
  end)

  -- A function's frame is there before its call's event, and to make room for
  -- so many parameters takes longer than all else. By the clock that would be
  -- the time of whoever calls.
  for how, call in pairs {["a call"] = "local r = less() return r",
                          ["a tail call"] = "return less()"} do
    it("give ticks before the event of " .. how .. " to who is called",
       function ()
      local names = {}
      for i = 1, 200 do names[i] = "a" .. i end
      local code = ([[
        local function less (%s) end
        local function caller () %s end
        for _ = 1, 400000 do caller() end
      ]]):format(table.concat(names, ", "), call)
      -- A tick that comes late stands for as much as hundreds of others.
      local rows, rounds = nil, 0
      repeat
        rounds = rounds + 1
        recorded.with(code, {sample = 4000, trace = {"name", "time"}},
                      {direct = "1"}, function (_, recording)
          rows = rows_of(recording:traces()[1]:report())
        end)
      until rows.less.self_ms > rows.caller.self_ms or rounds == 5
      assert.is_true(rows.less.self_ms > rows.caller.self_ms)
    end)
  end

  -- It is the event of pcall's return that says that there was an error.
  it("give ticks after an error to who has caught it", function ()
    local code = [[
      local pcall, error = pcall, error
      local function caller ()
        for _ = 1, 300000 do pcall(error) end
      end
      caller()
    ]]
    recorded.with(code, {sample = 4000, trace = {"name", "time"}},
                  {direct = "1"}, function (_, recording)
      local rows = rows_of(recording:traces()[1]:report())
      assert.is_true(rows.pcall.self_ms > rows.caller.self_ms)
    end)
  end)
end)

describe("a sample", function ()
  it("shows the collector below who is kept waiting by it", function ()
    if run.older "5.4.4" then
      return pending "before 5.4.4 the interpreter does not tell of its steps"
    end
    local code = [[
      collectgarbage "stop"
      local live, took, clock = {}, {0, 0}, os.clock
      for i = 1, 100000 do live[i] = {i} end
      local function plain (n)
        local x = 0
        for i = 1, n do x = x + i % 7 end
        return x
      end
      local function collect () return (collectgarbage()) end
      local begun = clock()
      repeat
        local start = clock()
        plain(400000)
        local middle = clock()
        collect()
        took[1] = took[1] + middle - start
        took[2] = took[2] + clock() - middle
      until clock() - begun > 1
      print(took[2] / (took[1] + took[2]))
    ]]
    recorded.with(code, {sample = 1000}, {direct = "1"},
                  function (_, recording, result)
      local trace = recording:traces()[1]
      local rows = rows_of(trace:report())
      local collector = rows["(garbage collector)"]
      local share = collector.self_ms / (collector.self_ms
                                         + rows.plain.self_ms)
      assert.is_true(rows.collectgarbage.self_ms < 0.05 * collector.self_ms)
      assert.near(tonumber(result.stdout), share,
                  5 * deviation(0.5, trace) + 0.05)
      assert.is_true(rows.collect.total_ms > 0.9 * collector.self_ms)
    end)
  end)

  it("gives what is allocated to the program, and never to the collector",
     function ()
    local code = [[
      local live, start = {}, os.clock()
      local function fill (n)
        for i = 1, n do live[i % 50000] = {i} end
      end
      repeat fill(10000) until os.clock() - start > 0.5
    ]]
    recorded.with(code, {sample = 1000, memory = true}, {direct = "1"},
                  function (_, recording, _, directory)
      local trace, sum = recording:traces()[1], 0
      local report = trace:report()
      for _, row in ipairs(report.functions) do
        assert.is_true(row.name ~= "(garbage collector)"
                       or row.self_bytes == 0)
        sum = sum + row.self_bytes
      end
      assert.is_true(sum > 0.9 * report.memory.self_bytes)
      local path = directory .. "/stacks"
      assert(trace:export("folded", path, {weight = "bytes"}))
      local stacks = run.read(path)
      assert.matches(";fill %d+\n", stacks)
      assert.not_matches("%(garbage collector%)", stacks)
      assert(trace:export("pprof", path))
      local seen = 0
      local profile = pprof.read(run.read(path))
      assert.equal("alloc_space/bytes", profile.types[4])
      for _, sample in ipairs(profile.samples) do
        if sample.stack[#sample.stack].name == "(garbage collector)" then
          seen = seen + 1
          assert.equal(0, sample.values[4])
        end
      end
      assert.is_true(seen > 0 or run.older "5.4.4")
    end)
  end)

  it("is left out where a filter hides what it has met", function ()
    with_short_calls({sample = 1000}, "1", function (trace)
      local whole, shown = trace:report(), trace:report {include = {"^api$"}}
      local rows = rows_of(shown)
      assert.near(whole.idle_ms, shown.idle_ms, 1e-3)
      assert.near(rows.api.total_ms, rows_of(whole).api.total_ms, 1e-3)
      assert.is_true(rows["(left out)"].self_ms > 0.7 * rows.api.total_ms)
      assert.is_nil(rows["(left out)"].url)
      check_sums(trace:tree {include = {"^api$"}})
    end)
  end)

  local phases = [[
    local function first (n)
      local x = 0
      for i = 1, n do x = x + i % 5 end
    end
    local function second (n)
      local x = 0
      for i = 1, n do x = x + i % 7 end
    end
    first(2e7)
    second(2e7)
  ]]

  it("is left out also before the first that a filter shows", function ()
    recorded.with(phases, {sample = 1000}, {direct = "1"},
                  function (_, recording)
      local trace, filter = recording:traces()[1], {include = {"^second$"}}
      local whole, shown = trace:report(), trace:report(filter)
      assert.near(whole.idle_ms, shown.idle_ms, 1e-3)
      assert.is_true(rows_of(shown)["(left out)"].self_ms
                     >= rows_of(whole).first.self_ms)
      check_sums(trace:tree(filter))
    end)
  end)

  -- The frames of the first one that is seen are open since others before it.
  it("counts from the moment on from which it is looked at", function ()
    recorded.with(phases, {sample = 1000}, {direct = "1"},
                  function (_, recording)
      local trace = recording:traces()[1]
      local whole = rows_of(trace:report())
      local first, last                 -- when 'second' begins and ends
      for packet in trace:packets {trace = {"name", "time"}, raw = false} do
        if packet.type == "enteredFrame" and packet.name == "second" then
          first = first or packet.time
        end
        last = packet.time
      end
      local from = (first + last) / 2
      local rows = rows_of(trace:report {from = from})
      assert.is_nil(rows.first)
      assert.is_true(rows.second.self_ms > 0)
      assert.is_true(rows.second.self_ms < whole.second.self_ms)
      assert.is_true(rows.second.self_ms <= last - from + 2)
    end)
  end)

  -- A sample stands for processor time: so each counts as much as any other,
  -- also where others had the processor before it.
  it("has the error of chance", function ()
    with_short_calls({sample = 1000}, "1", function (trace)
      local report = trace:report()
      local row = rows_of(report).inner
      local ran = report.duration_ms - report.idle_ms
      local share = row.self_ms / ran
      local expected = ran * math.sqrt(share * (1 - share) / report.samples)
      assert.near(expected, row.self_error_ms, 0.3 * expected)
    end)
  end)
end)

describe("the error of a call's time", function ()
  it("is a fifth of what was taken out, and none in raw times", function ()
    local code = [[
      local function f (x) return x + 1 end
      for i = 1, 20000 do f(i) end
    ]]
    recorded.with(code, {trace = {"name", "time"}}, nil,
                  function (_, recording)
      local trace = recording:traces()[1]
      local raw = rows_of(trace:report {raw = true}).f
      local row = rows_of(trace:report()).f
      assert.equal(0, raw.self_error_ms)
      assert.near(0.2 * (raw.self_ms - row.self_ms), row.self_error_ms,
                  0.02 * raw.self_ms)
    end)
  end)
end)
