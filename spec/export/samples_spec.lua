-- What formats make of samples: those themselves, where there is nothing else,
-- with their lines and the time that each stands for.

local cjson = require "cjson"

local kept = require "spec.support.kept".new()
local recorded = require "spec.support.recorded"
local run = require "spec.support.run"

local program = [[
local function inner (n)
  local x = 0
  for i = 1, n do x = x + i % 7 end         -- 3
  return x
end
local function outer (n)
  local a = inner(n)                        -- 7
  local b = inner(2 * n)                    -- 8
  return a + b
end
local co = coroutine.wrap(function ()
  while true do inner(9000) coroutine.yield() end
end)
local function spend (seconds)
  local start = os.clock()
  while os.clock() - start < seconds do outer(9000) co() end    -- 16
end
spend(0.2)
process.sleep(0.4)
spend(0.2)
]]

-- A recording is made once for the same options.
local function sampled (options, use)
  options.sample = options.sample or 1000
  kept:within(run.literal(options), function (directory)
    local result = recorded.run(directory, program, options)
    assert.equal(0, result.status, result.stderr)
  end, function (directory)
    local trace = recorded.open(directory .. "/rec"):traces()[1]
    use(trace, function (format, how)
      local file = directory .. "/" .. format
      local result = assert(trace:export(format, file, how))
      return run.read(file), result
    end)
  end)
end

teardown(function () kept:close() end)

-- The self times of a trace's functions, by their names.
local function self_times (trace, filter)
  local times, whole = {}, 0
  for _, row in ipairs(trace:report(filter).functions) do
    times[row.name] = (times[row.name] or 0) + row.self_ms
    whole = whole + row.self_ms
  end
  return times, whole
end

-- What is there has the times of the report, but for what is behind the last
-- tick: a period, and as long as the program had no processor then. What others
-- had in between is left out when it is as long as a tick's own time, at one
-- function's cost.
local function check_times (trace, times, filter)
  local expected, behind = self_times(trace, filter)
  local whole = behind
  for _, ms in pairs(times) do
    behind = behind - ms
  end
  for name, ms in pairs(expected) do
    assert.near(ms, times[name] or 0,
                3 + 0.01 * whole + math.max(0, behind), name)
  end
end

local function add (times, name, ms)
  times[name] = (times[name] or 0) + ms
end

-- What a loop takes is seen in its line, but for a tick between two of them.
local function check_loop (ticks)
  local sum = 0
  for _, n in pairs(ticks) do
    sum = sum + n
  end
  assert.is_true(ticks[3] > 0.9 * sum)
end

---------------------------------------------------------------------------

-- The samples of a profile: calls use(node, delta to the next in us).
local function each_delta (samples, deltas, nodes, use)
  assert.equal(#samples, #deltas)
  local by_id = {}
  for _, node in ipairs(nodes) do
    by_id[node.id] = node
  end
  for i = 1, #samples - 1 do
    use(assert(by_id[samples[i]]), deltas[i + 1], i)
  end
  assert.equal("(root)", by_id[samples[#samples]].callFrame.functionName)
end

local function label (node)
  return (node.callFrame.functionName:gsub("^%(main chunk%).*", "(main chunk)")
                                     :gsub("^program.lua:%d+$",
                                           "(anonymous function)"))
end

describe("a recording of samples alone", function ()
  it("is a CPU profile of its ticks, with hits and lines", function ()
    sampled({}, function (trace, export)
      local profile = cjson.decode((export "cpuprofile"))
      local times, ticks, gaps, total = {}, 0, 0, 0
      each_delta(profile.samples, profile.timeDeltas, profile.nodes,
                 function (node, delta)
        assert.is_true(delta >= 0)
        total = total + delta
        if node.id == 1 then
          gaps = math.max(gaps, delta)
        else
          -- a nanosecond keeps two stacks apart
          ticks = ticks + (delta > 0.0015 and 1 or 0)
          add(times, label(node), delta / 1000)
        end
      end)
      check_times(trace, times)
      assert.is_true(math.abs(ticks - trace:report().samples) <= 2)
      assert.is_true(gaps > 350000)         -- it slept
      assert.near(total, profile.endTime - profile.startTime, 1)
      local hits, inner = 0, {}
      for _, node in ipairs(profile.nodes) do
        hits = hits + node.hitCount
        for _, tick in ipairs(node.positionTicks or {}) do
          if node.callFrame.functionName == "inner" then
            add(inner, tick.line, tick.ticks)
          end
        end
      end
      assert.equal(0, profile.nodes[1].hitCount)
      assert.is_true(hits >= ticks)
      check_loop(inner)
    end)
  end)

  it("has V8's own events in trace events, on a track of their own",
     function ()
    sampled({}, function (trace, export)
      local events = cjson.decode((export "chrome")).traceEvents
      local samples, deltas, nodes, lines = {}, {}, {}, {}
      local tids, head = {}, nil
      for _, event in ipairs(events) do
        if event.name == "Profile" then
          assert.equal("P", event.ph)
          assert.equal("disabled-by-default-v8.cpu_profiler", event.cat)
          head = event
        elseif event.name == "ProfileChunk" then
          local data = event.args.data
          assert.equal(head.id, event.id)
          table.move(data.cpuProfile.nodes, 1, #data.cpuProfile.nodes,
                     #nodes + 1, nodes)
          local n = #data.cpuProfile.samples
          assert.equal(n, #data.lines)
          table.move(data.cpuProfile.samples, 1, n, #samples + 1, samples)
          table.move(data.timeDeltas, 1, n, #deltas + 1, deltas)
          table.move(data.lines, 1, n, #lines + 1, lines)
        elseif event.ph == "X" then
          tids[event.tid] = true
          assert.is_true(event.args.sampled or event.tid == head.tid
                         or event.name:find "^%(in " ~= nil)
        end
      end
      local times, ticks = {}, {}
      each_delta(samples, deltas, nodes, function (node, delta, i)
        if node.id ~= 1 then
          add(times, label(node), delta / 1000)
          if node.callFrame.functionName == "inner" then
            add(ticks, lines[i], 1)
          end
        end
      end)
      check_loop(ticks)
      check_times(trace, times)
      assert.same({[1] = true, [2] = true, [head.tid] = true}, tids)
    end)
  end)

  it("is sampled profiles of speedscope, which end together", function ()
    sampled({}, function (trace, export)
      local document = cjson.decode((export "speedscope"))
      local frames = document.shared.frames
      assert.equal(2, #document.profiles)
      for i, profile in ipairs(document.profiles) do
        assert.equal("sampled", profile.type)
        assert.equal("nanoseconds", profile.unit)
        assert.equal(#profile.samples, #profile.weights)
        local times, total, empty = {}, 0, 0
        for k, stack in ipairs(profile.samples) do
          local weight = profile.weights[k]
          total = total + weight
          local top = stack[#stack] and frames[stack[#stack] + 1]
          if not top then
            empty = math.max(empty, weight)
          else
            add(times, top.name:gsub("^%(main.*", "(main chunk)")
                               :gsub("^program.lua:%d+$",
                                     "(anonymous function)"), weight / 1e6)
          end
        end
        assert.equal(profile.endValue, total)
        assert.is_true(empty > 350e6)
        check_times(trace, times, i == 2 and {thread = 2} or nil)
      end
    end)
  end)

  it("has its ticks in the Firefox Profiler's table, with lines", function ()
    sampled({}, function (trace, export)
      local document = cjson.decode((export "firefox"))
      local shared = document.shared
      local strings, stacks, frames = shared.stringArray, shared.stackTable,
                                      shared.frameTable
      local function name_of (frame)
        local func = frames.func[frame + 1]
        return strings[shared.funcTable.name[func + 1] + 1]
                 :gsub("^%(main.*", "(main chunk)")
                 :gsub("^program.lua:%d+$", "(anonymous function)")
      end
      assert.equal(1, document.meta.interval)
      local thread = document.threads[1]
      local samples = thread.samples
      assert.equal("tracing-ms", samples.weightType)
      -- one tells of samples that are missing, on a busy machine
      assert.equal(trace.lost.dropped > 0 and 1 or 0, thread.markers.length)
      local times, inner, callers, ticks = {}, {}, {}, 0
      for i = 1, samples.length do
        local stack, weight = samples.stack[i], samples.weight[i]
        if stack ~= cjson.null and weight > 0 then
          local frame = stacks.frame[stack + 1]
          local name, line = name_of(frame), frames.line[frame + 1]
          ticks = ticks + 1
          add(times, name, weight)
          if name == "inner" then
            add(inner, line, 1)
            local below = stack - stacks.prefixOffset[stack + 1]
            local caller = stacks.frame[below + 1]
            if name_of(caller) == "outer" then
              add(callers, frames.line[caller + 1], 1)
            end
          end
        elseif stack == cjson.null then
          assert.equal(0, weight)
        end
      end
      check_times(trace, times)
      assert.is_true(math.abs(ticks - trace:report().samples) <= 2)
      check_loop(inner)
      assert.is_true(callers[8] > callers[7])
      callers[7], callers[8] = nil, nil
      assert.same({}, callers)
    end)
  end)

  it("has a row for each period in Firefox' own format", function ()
    for rate, interval in pairs {[1000] = 1, [500] = 2} do
      sampled({sample = rate}, function (trace, export)
        local document = cjson.decode((export "gecko"))
        assert.equal(interval, document.meta.interval)
        local samples = document.threads[1].samples
        local stack, time = samples.schema.stack + 1, samples.schema.time + 1
        local last, rows, spans, before = 0, 0, 0, nil
        for _, row in ipairs(samples.data) do
          assert.is_true(row[time] >= last)
          last = row[time]
          rows = rows + (row[stack] == cjson.null and 0 or 1)
          spans = spans + (row[stack] == before and 0 or 1)
          before = row[stack]
        end
        local _, whole = self_times(trace)
        assert.is_true(rows >= trace:report().samples - 2)
        -- each span has whole rows: where others often had the processor,
        -- there are many
        assert.near(whole, rows * interval, 0.1 * whole + interval * spans / 2)
      end)
    end
  end)

  it("is told of as such", function ()
    sampled({}, function (trace, export)
      local taken = trace:report().samples
      for _, format in ipairs {"chrome", "folded", "packets"} do
        local _, result = export(format)
        assert.equal(taken, result.samples)
        assert.equal(0, result.calls)
        _, result = export(format, {exclude = ""})
        assert.equal(0, result.samples)
      end
    end)
  end)

  it("is added up in folded stacks as in the report", function ()
    sampled({}, function (trace, export)
      local times = {}
      for stack, us in (export "folded"):gmatch "([^\n]*) (%d+)\n" do
        add(times, stack:match "[^;]*$", us / 1000)
      end
      check_times(trace, times)
    end)
  end)

  it("keeps lines and ticks where frames are left out", function ()
    sampled({}, function (_, export)
      local profile = cjson.decode((export("cpuprofile", {levels = 2})))
      local deepest, hits = {}, 0
      for _, node in ipairs(profile.nodes) do
        hits = hits + node.hitCount
        for _, tick in ipairs(node.positionTicks or {}) do
          if node.callFrame.functionName == "spend" then
            add(deepest, tick.line, tick.ticks)
          end
        end
      end
      assert.is_true(deepest[16] > 0.9 * hits)
      local longest = {inner = 0, spend = 0}
      for _, event in ipairs(cjson.decode((export "chrome")).traceEvents) do
        local most = longest[event.name]
        longest[event.name] = most and math.max(most, event.dur)
      end
      local limit = longest.inner / 1000 + 0.01
      local long = cjson.decode((export("cpuprofile", {minDuration = limit})))
      local names = {}
      for _, node in ipairs(long.nodes) do
        names[label(node)] = node.positionTicks or {}
      end
      assert.is_nil(names.inner)
      -- where others often have the processor, all frames end there
      local spends = longest.spend / 1000 > limit
      assert.is_true(not spends or #names.spend > 0)
      for _, tick in ipairs(names.spend or {}) do
        assert.is_true(tick.line >= 14 and tick.line <= 17)
      end
    end)
  end)
end)

describe("a recording of calls and samples", function ()
  local options = {
    trace = {"name", "callsite", "time", "location"}, include = "^spend$"
  }

  it("has exact spans where a format knows them", function ()
    sampled(options, function (_, export)
      local document = cjson.decode((export "speedscope"))
      for _, profile in ipairs(document.profiles) do
        assert.equal("evented", profile.type)
      end
      local profile = cjson.decode((export "cpuprofile"))
      local hits = 0
      for _, node in ipairs(profile.nodes) do
        assert.is_nil(node.positionTicks)
        hits = hits + node.hitCount
      end
      assert.near(profile.endTime - profile.startTime, hits, 100)
    end)
  end)

  it("has markers in the Firefox Profiler for its calls alone", function ()
    sampled(options, function (_, export)
      local markers = cjson.decode((export "firefox")).threads[1].markers
      local calls = 0
      for i = 1, markers.length do
        calls = calls + (markers.data[i].type == "LuaCall" and 1 or 0)
        assert.matches("^Lua[CN]%a+$", markers.data[i].type)  -- of loss: a note
      end
      assert.equal(2, calls)
    end)
  end)

  -- An api is much shorter than a tick, and does nothing itself.
  local apis = [[
    local function inner (n)
      local x = 0
      for i = 1, n do x = x + i % 7 end
      return x
    end
    local function api (n) inner(n) return inner(n) end
    local start = os.clock()
    repeat api(2000) until os.clock() - start > 0.5
  ]]

  -- Calls use(names, weight, time, until) for each sample of the first thread,
  -- 'names' a set.
  local function each_sample (document, use)
    local shared, samples = document.shared, document.threads[1].samples
    local stacks = shared.stackTable
    for i = 1, samples.length - 1 do
      local stack, names, innermost = samples.stack[i], {}, nil
      while stack ~= cjson.null and stack >= 0 do
        local func = shared.frameTable.func[stacks.frame[stack + 1] + 1]
        local name = shared.stringArray[shared.funcTable.name[func + 1] + 1]
        innermost = innermost or name
        names[name] = true
        local offset = stacks.prefixOffset[stack + 1]
        stack = offset > 0 and stack - offset or -1
      end
      use(names, innermost, samples.weight[i], samples.time[i],
          samples.time[i + 1])
    end
  end

  it("has sums by ticks and exact spans in the Firefox Profiler", function ()
    local how = {
      sample = 1000, trace = {"name", "callsite", "time"}, include = "^api$"
    }
    recorded.with(apis, how, {direct = "1"}, function (_, recording, _, dir)
      local trace = recording:traces()[1]
      assert(trace:export("firefox", dir .. "/firefox"))
      local times, weighs, drawn = {}, 0, 0
      each_sample(cjson.decode(run.read(dir .. "/firefox")),
                  function (names, innermost, weight, from, to)
        if innermost then
          add(times, innermost, weight)
        end
        weighs = weighs + (names.api and weight or 0)
        drawn = drawn + (names.api and to - from or 0)
      end)
      for _, row in ipairs(trace:report().functions) do
        -- what runs the program is a main chunk, too
        local shown = row.name == "(main chunk)"
                      and "(main chunk) " .. row.url or row.name
        assert.near(row.self_ms, times[shown] or 0, 0.05, shown)
        if row.name == "api" then
          assert.near(row.total_ms, weighs, 0.05)
          assert.near(row.mean_ms * row.calls, drawn, 0.05)
          assert.is_true(row.self_ms < 0.2 * row.total_ms)
        end
      end
    end)
  end)

  it("has its ticks in trace events, beside its calls", function ()
    sampled(options, function (trace, export)
      local text, result = export "chrome"
      local events = cjson.decode(text).traceEvents
      local ticks, calls = 0, 0
      for _, event in ipairs(events) do
        if event.name == "ProfileChunk" then
          for _, node in ipairs(event.args.data.cpuProfile.samples) do
            ticks = ticks + (node == 1 and 0 or 1)
          end
        elseif event.name == "spend" and not event.args.sampled then
          calls = calls + 1
        end
      end
      assert.equal(2, calls)
      assert.equal(2, result.calls)
      assert.equal(trace:report().samples, result.samples)
      assert.is_true(math.abs(ticks - trace:report().samples)
                     < 0.1 * ticks + 5)
    end)
  end)
end)
