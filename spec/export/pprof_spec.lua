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

  it("has the period of samples", function ()
    local code = "start {sample = 500} for i = 1, 3e7 do end"
    local trace = exported.of(code, {formats = {"pprof"}})[1]
    local profile = profile_of(trace)
    assert.equal(2000000, profile.period)
    local ns = 0
    for _, sample in ipairs(profile.samples) do
      assert.equal(0, sample.values[1])
      ns = ns + sample.values[2]
    end
    assert.is_true(ns > 0)
  end)
end)

describe("go tool pprof", function ()
  -- Self nanoseconds by function, as -top prints them.
  local function top (directory)
    local result = run.command({"sh", "-c",
      "HOME=. go tool pprof -unit=ns -nodecount=100000 -nodefraction=0 -top "
      .. "p.pb.gz"}, {cwd = directory, timeout = 120})
    assert.equal(0, result.status, result.stderr)
    local rows = {}
    for ns, name in result.stdout:gmatch
        "\n *(%d+)n?s? +[%d.]+%% +[%d.]+%% +%d+n?s? +[%d.]+%% +([^\n]*)" do
      rows[name] = tonumber(ns)
    end
    return rows
  end

  go("shows the report's numbers", function ()
    run.within(function (directory)
      run.write(directory .. "/p.lua",
                "local start = function () end " .. programs.calls)
      local result = run.command({"sh", "-c", [[
        $T record -o rec p.lua && $T export pprof -o p.pb.gz rec &&
        $T report --json rec]]}, {
        cwd = directory, env = {T = run.build .. "/bin/tracegrip",
                                LUA = run.lua}})
      local rows, n = top(directory), 0
      for _, row in ipairs(seen.json(result.stdout).functions) do
        local ns = math.floor(row.self_ms * 1e6 + 0.5)
        if row.name:find "^%a+$" and ns > 0 then
          assert.equal(ns, rows[row.name], row.name)
          n = n + 1
        end
      end
      assert.is_true(n >= 4)
    end)
  end)
end)
