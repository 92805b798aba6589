-- The format pprof against the packets and the report of the same trace.

local exported = require "spec.export.exported"
local pprof = require "spec.export.pprof"
local programs = require "spec.export.programs"
local run = require "spec.support.run"
local seen = require "spec.export.seen"

-- The tool itself, where there is one.
local function go (sentence, check)
  if os.execute "command -v go >/dev/null" then
    return it(sentence, check)
  end
  pending(sentence .. " needs go")
end

local function profile_of (trace)
  return pprof.read(trace.text.pprof)
end

local function each_trace (sentence, check)
  for name, program in pairs(programs) do
    it(("%s (%s)"):format(sentence, name), function ()
      for _, trace in ipairs(exported.of(program, {formats = {"pprof"}})) do
        check(trace, profile_of(trace), seen.packets(trace.packets), name)
      end
    end)
  end
end

-- Files have whole paths; all of them are in the directory of the test.
local function frame_name (frame)
  local file = frame.file:match "/(p%.lua)$" or frame.file
  local place = file ~= "" and file .. ":" .. frame.start or "C"
  return frame.name .. " " .. place
end

-- Time by stack, of all coroutines.
local function times_of (profile)
  local times = {}
  for _, sample in ipairs(profile.samples) do
    local names = {}
    for i, frame in ipairs(sample.stack) do
      names[i] = frame_name(frame)
    end
    local path = table.concat(names, ";")
    times[path] = (times[path] or 0) + sample.values[2]
  end
  return times
end

local function expected_times (steps)
  local times = {}
  for path, stack in pairs(seen.stacks(steps, true)) do
    local below = path:match "^%d+;(.*)"
    times[below] = (times[below] or 0) + stack.self
  end
  return times
end

-- What each function has of a value itself, and with what it calls: by name.
local function sums (profile, value)
  local own, total = {}, {}
  for _, sample in ipairs(profile.samples) do
    local seen_here, n = {}, sample.values[value]
    for i, frame in ipairs(sample.stack) do
      local name = frame.name:match "^%(main chunk%)" or frame.name
      if i == #sample.stack then
        own[name] = (own[name] or 0) + n
      end
      total[name] = (total[name] or 0) + (seen_here[name] and 0 or n)
      seen_here[name] = true
    end
  end
  return own, total
end

describe("a pprof profile", function ()
  each_trace("has the time of each stack, to the nanosecond",
  function (_, profile, steps, program)
    if #steps == 0 or steps[#steps].why == "unfinished" then
      return      -- times that are not known
    elseif program == "deep" then
      return      -- names of thousands of frames for thousands of stacks
    end
    local times, sum = times_of(profile), 0
    for path, ns in pairs(expected_times(steps)) do
      if not path:find "[\x80-\xFF\\]" then   -- names that are shown otherwise
        assert.equal(ns, times[path] or 0, path)
      end
      sum = sum + ns
    end
    for _, ns in pairs(times) do
      sum = sum - ns
    end
    assert.equal(0, sum)
  end)

  each_trace("has all calls", function (trace, profile)
    local calls = 0
    for _, row in ipairs(trace.report.functions) do
      calls = calls + row.calls
    end
    for _, sample in ipairs(profile.samples) do
      calls = calls - sample.values[1]
    end
    assert.equal(0, calls)
    assert.same({"calls/count", "time/nanoseconds"}, profile.types)
    assert.equal("time", profile.default)
  end)

  local lines = [[
    local function leaf () return 1 end
    local function work (n)
      leaf()
      for _ = 1, n do leaf() end
      coroutine.yield(n)
      leaf()
    end
    start()
    local co = coroutine.wrap(work)
    co(2)
    co()
    string.gsub("x", "x",
      leaf)
  ]]

  it("has the lines of calls, also after a yield", function ()
    local trace = exported.of(lines, {formats = {"pprof"}})[1]
    local calls = {}
    for _, sample in ipairs(profile_of(trace).samples) do
      local names = {sample.coroutine}
      for _, frame in ipairs(sample.stack) do
        names[#names + 1] = frame.name .. ":" .. frame.line
      end
      local path = table.concat(names, " ")
      calls[path] = (calls[path] or 0) + sample.values[1]
    end
    local work = "work (p.lua:2) work:"
    assert.equal(1, calls["work (p.lua:2) work:2"])
    assert.equal(1, calls[work .. "3 leaf:1"])
    assert.equal(2, calls[work .. "4 leaf:1"])
    assert.equal(1, calls[work .. "5 coroutine.yield:0"])
    assert.equal(1, calls[work .. "6 leaf:1"])
    assert.equal(1, calls["main string.gsub:0 leaf:1"])
  end)

  it("says when it was, for how long, and of what", function ()
    local before = os.time()
    local trace = exported.of(lines, {formats = {"pprof"}})[1]
    local profile = profile_of(trace)
    assert.is_true(profile.time >= before * 1000000000
                   and profile.time <= (os.time() + 1) * 1000000000)
    assert.is_true(profile.duration > 0)
    assert.equal("Trace 1", profile.comment)
    assert.is_nil(profile.period)
  end)

  local busy = [[
    local function inner (n) local x = 0 for i = 1, n do x = x + i end end
    local function outer () inner(2e6) for i = 1, 1e6 do end end
    start(OPTIONS)
    for i = 1, 10 do outer() end
  ]]

  it("has samples, and the time that they stand for", function ()
    local trace = exported.of(busy:gsub("OPTIONS", "{sample = 500}"),
                              {formats = {"pprof"}})[1]
    local profile = profile_of(trace)
    assert.same({"samples/count", "cpu/nanoseconds"}, profile.types)
    assert.equal("cpu", profile.default)
    assert.equal(2000000, profile.period)
    local count, rows = 0, 0
    for _, sample in ipairs(profile.samples) do
      count = count + sample.values[1]
    end
    -- A sample of less than half a tick is none, as the last one may be.
    local samples = trace.exported.pprof.samples
    assert.is_true(count >= 0.9 * samples and count > 0)
    local own, total = sums(profile, 2)
    for _, row in ipairs(trace.report.functions) do
      assert.near(row.self_ms * 1e6, own[row.name] or 0, 1, row.name)
      assert.near(row.total_ms * 1e6, total[row.name] or 0, 1, row.name)
      rows = rows + (row.self_ms > 0 and 1 or 0)
    end
    assert.is_true(rows >= 2)
  end)

  it("has the clock's time of samples by the clock", function ()
    local code = busy:gsub("OPTIONS", "{sample = 500, wall = true}")
    local trace = exported.of(code, {formats = {"pprof"}})[1]
    local profile = profile_of(trace)
    assert.same({"samples/count", "wall/nanoseconds"}, profile.types)
    assert.equal("wall", profile.default)
    local own = sums(profile, 2)
    assert.is_true(own.inner > 0)
    for _, row in ipairs(trace.report.functions) do
      assert.near(row.self_ms * 1e6, own[row.name] or 0, 1, row.name)
    end
  end)

  it("has both where calls are traced and samples taken", function ()
    local types = "{sample = 500, trace = {'name', 'time', 'callsite'}, "
                  .. "include = {'outer'}}"
    local trace = exported.of(busy:gsub("OPTIONS", types),
                              {formats = {"pprof"}})[1]
    local profile = profile_of(trace)
    assert.same({"calls/count", "time/nanoseconds", "samples/count",
                 "cpu/nanoseconds"}, profile.types)
    assert.equal("time", profile.default)
    assert.equal(10, sums(profile, 1).outer)
    local own = sums(profile, 2)
    for _, row in ipairs(trace.report.functions) do
      assert.near(row.self_ms * 1e6, own[row.name] or 0, 1, row.name)
    end
    local _, ticks = sums(profile, 3)
    assert.is_true(ticks.outer > 0)
    local _, met = sums(profile, 4)
    assert.is_true(met.outer > 0)
  end)

  it("has what was allocated, with Go's names, and freed", function ()
    local code = [[
      local function make (n)
        local t = {}
        for i = 1, n do t[i] = {} end
        return t
      end
      local function fill (n) return n > 0 and fill(n - 1) or make(100) end
      start {memory = true}
      for i = 1, 5 do make(50) fill(3) end
      collectgarbage()
    ]]
    code = code:gsub("local function fill", "local fill function fill")
    local trace = exported.of(code, {formats = {"pprof"}})[1]
    local profile = profile_of(trace)
    assert.same({"calls/count", "time/nanoseconds", "alloc_objects/count",
                 "alloc_space/bytes", "freed_space/bytes",
                 "inuse_objects/count", "inuse_space/bytes"}, profile.types)
    assert.equal("time", profile.default)
    for value, key in pairs {[3] = "allocations", [4] = "bytes",
                             [5] = "freed_bytes", [6] = "live_blocks",
                             [7] = "live_bytes"} do
      local own, total = sums(profile, value)
      for _, row in ipairs(trace.report.functions) do
        assert.equal(row["self_" .. key], own[row.name] or 0, row.name)
        assert.equal(row["total_" .. key], total[row.name] or 0, row.name)
      end
    end
    assert.is_true(sums(profile, 4).make > 5 * 150 * 56)
    assert.is_true(sums(profile, 5).collectgarbage > 0)
  end)
end)

-- Recursion of a function, of a cycle of them, and such as repeats nothing: by
-- a word of three letters in which no part follows itself.
local recursion = {
  one = [[
    local function f (n) if n > 0 then f(n - 1) end end
    start {c = false} f(DEPTH)]],
  cycle = [[
    local a, b, c
    function a (n) if n > 0 then b(n - 1) end end
    function b (n) if n > 0 then c(n - 1) end end
    function c (n) if n > 0 then a(n - 1) end end
    start {c = false} a(DEPTH) b(DEPTH // 2)]],
  branches = [[
    local function visit (n, way)
      if n == 0 then return end
      if way % 2 == 0 then visit(n - 1, way // 2) end
      if way % 2 == 1 then visit(n - 1, way // 2) end
    end
    start {c = false}
    for way = 1, 5 do visit(DEPTH, 982451653 * way) end]],
  without = [[
    local word, map, fs = "a", {a = "abc", b = "ac", c = "b"}, {}
    for i = 1, 13 do word = word:gsub(".", map) end
    local function go (i) return fs[word:sub(i, i)] end
    function fs.a (i) if i < DEPTH then go(i + 1)(i + 1) end return i end
    function fs.b (i) if i < DEPTH then go(i + 1)(i + 1) end return i end
    function fs.c (i) if i < DEPTH then go(i + 1)(i + 1) end return i end
    start {c = false, exclude = {"^go$"}}
    fs.a(1)]]
}

describe("a pprof profile of deep recursion", function ()
  local function profile (name, depth)
    local code = recursion[name]:gsub("DEPTH", tostring(depth))
    local trace = exported.of(code, {formats = {"pprof"},
                                     export = {c = false}})[1]
    return trace, profile_of(trace), #trace.text.pprof
  end

  for name in pairs(recursion) do
    it("has the report's numbers: " .. name, function ()
      local trace, read = profile(name, 1500)
      local own, total = sums(read, 2)
      local calls = sums(read, 1)
      for _, row in ipairs(trace.report.functions) do
        assert.near(row.self_ms * 1e6, own[row.name], 1, row.name)
        assert.near(row.total_ms * 1e6, total[row.name], 1, row.name)
        assert.equal(row.calls, calls[row.name], row.name)
      end
    end)
  end

  it("is no longer than the recursion is deep", function ()
    for name in pairs(recursion) do
      local _, read, short = profile(name, 1000)
      local _, _, long = profile(name, 4000)
      assert.is_true(long < 5 * short + 20000, name)
      local folded, deepest = 0, 0
      for _, sample in ipairs(read.samples) do
        folded = folded + (sample.recursion == "folded" and 1 or 0)
        deepest = math.max(deepest, #sample.stack)
      end
      assert.is_true(folded > 0, name)
      assert.is_true(deepest <= 512, name)
    end
  end)

  it("is as it was called where it is not deep", function ()
    local _, read = profile("one", 100)
    local deepest = 0
    for _, sample in ipairs(read.samples) do
      deepest = math.max(deepest, #sample.stack)
      assert.is_nil(sample.recursion)
    end
    assert.equal(101, deepest)
  end)
end)

describe("go tool pprof", function ()
  -- Self values by function, as -top prints them of one kind.
  local function top (directory, kind, unit)
    local result = run.command({"sh", "-c",
      ("HOME=. go tool pprof -sample_index=%s -unit=%s -nodecount=100000 "
       .. "-nodefraction=0 -top p.pb.gz"):format(kind, unit)},
      {cwd = directory, timeout = 120})
    assert.equal(0, result.status, result.stderr)
    local rows = {}
    for n, name in result.stdout:gmatch
        "\n *(%d+)%a* +[%d.]+%% +[%d.]+%% +%d+%a* +[%d.]+%% +([^\n]*)" do
      rows[name] = tonumber(n)
    end
    return rows
  end

  -- Calls use(top, rows) with -top and the report's rows of a recording.
  local function recorded (code, options, use)
    run.within(function (directory)
      run.write(directory .. "/p.lua",
                "local start = function () end " .. code)
      local result = run.command({"sh", "-c", ([[
        $T record %s -o rec p.lua && $T export pprof -o p.pb.gz rec &&
        $T report --json rec]]):format(options)}, {
        cwd = directory, env = {T = run.build .. "/bin/tracegrip",
                                LUA = run.lua}})
      local rows = {}
      for _, row in ipairs(seen.json(result.stdout).functions) do
        rows[#rows + 1] = row.name:find "^%a+$" and row or nil
      end
      use(function (...) return top(directory, ...) end, rows)
    end)
  end

  -- How many functions have a value, which is the same in both.
  local function same (got, rows, value)
    local n = 0
    for _, row in ipairs(rows) do
      local wanted = value(row)
      assert.equal(wanted, got[row.name] or 0, row.name)
      n = n + (wanted > 0 and 1 or 0)
    end
    return n
  end

  local function self_ns (row)
    return math.floor(row.self_ms * 1e6 + 0.5)
  end

  go("shows the report's numbers", function ()
    recorded(programs.calls, "--memory", function (shown, rows)
      assert.is_true(same(shown("time", "ns"), rows, self_ns) >= 4)
      assert.is_true(same(shown("calls", "count"), rows, function (row)
        return row.calls
      end) >= 4)
      assert.is_true(same(shown("alloc_objects", "count"), rows, function (row)
        return row.self_allocations
      end) >= 2)
      assert.is_true(same(shown("alloc_space", "B"), rows, function (row)
        return row.self_bytes
      end) >= 2)
      same(shown("freed_space", "B"), rows, function (row)
        return row.self_freed_bytes
      end)
    end)
  end)

  go("shows the report's numbers of samples", function ()
    local code = [[
      local function inner () local x = 0 for i = 1, 2e6 do x = x + i end end
      local function outer () inner() for i = 1, 2e6 do end end
      for i = 1, 10 do outer() end
    ]]
    recorded(code, "--sample 1000", function (shown, rows)
      assert.equal(2, same(shown("cpu", "ns"), rows, self_ns))
      local samples = shown("samples", "count")
      assert.is_true(samples.inner > 0 and samples.outer > 0)
    end)
  end)
end)
