-- Samples: what runs, looked at every so often, in recordings and in the
-- program's own traces.

local recorded = require "spec.support.recorded"
local run = require "spec.support.run"

-- Functions of about a known share, in loops that last as long as processors
-- are slow; 'clocked' does the same work and adds up what each has really
-- taken: by chance a loop of one may be much slower than that of another.
local shares = [[
  local function spin (n)
    local x = 0
    for i = 1, n do x = x + i % 7 end
    return x
  end
  local function sixty (n)
    local x = 0
    for i = 1, 6 * n do x = x + i % 7 end
    return x
  end
  local function thirty (n)
    local x = 0
    for i = 1, 3 * n do x = x + i % 7 end
    return x
  end
  local function ten (n)
    local x = 0
    for i = 1, n do x = x + i % 7 end
    return x
  end
  local function work (n)
    local a = sixty(n)
    local b = thirty(n)
    return a + b + ten(n)
  end
  local clock, took = os.clock, {0, 0, 0}
  local function clocked (n)
    local start = clock()
    local a = sixty(n)
    local first = clock()
    local b = thirty(n)
    local second = clock()
    local c = ten(n)
    took[1], took[2] = took[1] + first - start, took[2] + second - first
    took[3] = took[3] + clock() - second
    return a + b + c
  end
]]

local function busy (seconds, body)
  return shares .. ([[
    local start = os.clock()
    while os.clock() - start < %s do
      %s
    end
  ]]):format(seconds, body)
end

local function self_times (trace)
  local times, whole = {}, 0
  for _, row in ipairs(trace:report().functions) do
    times[row.name] = (times[row.name] or 0) + row.self_ms
    whole = whole + row.self_ms
  end
  return times, whole
end

-- Whether a share is what it should be, as far as so many samples can tell:
-- some clocks tick a hundred times a second only.
local function is_share (expected, share, samples)
  local deviation = math.sqrt(expected * (1 - expected) / samples)
  return math.abs(share - expected) < 5 * deviation + 0.02,
         ("%.3f for %.3f, %d samples"):format(share, expected, samples)
end

-- Packets nest, and their times go on.
local function check_nesting (packets)
  local open, time = {}, 0
  for i, packet in ipairs(packets) do
    assert.equal(i - 1, packet.sequence)
    assert.is_true(packet.time >= time)
    time = packet.time
    if packet.type == "enteredFrame" then
      open[#open + 1] = packet.sampled or false
    else
      assert.equal(table.remove(open), packet.sampled or false)
    end
  end
end

for _, way in ipairs {"1", "0"} do
  describe("samples, memory read: " .. way, function ()
    local how = {direct = way}

    it("show where the time goes", function ()
      local code = busy(1.2, "clocked(20000)")
                   .. "print(table.unpack(took))"
      recorded.with(code, {sample = 1000}, how,
                    function (info, recording, result)
        local took = {}
        for seconds in result.stdout:gmatch "%S+" do
          took[#took + 1] = tonumber(seconds)
        end
        local whole = took[1] + took[2] + took[3]
        local trace = recording:traces()[1]
        local ticks, samples = recorded.ticks(trace)
        assert.is_true(samples > 50)
        assert.near(samples, trace:report().samples, 0.02 * samples + 3)
        for i, name in ipairs {"sixty", "thirty", "ten"} do
          assert.is_true(is_share(took[i] / whole, ticks[name] / samples,
                                  samples))
        end
        local times = self_times(trace)
        assert.is_true(times.sixty > 0 and times.thirty > 0 and times.ten > 0)
        assert.equal("complete", info.state)
        -- a busy machine may have the taking of one last as long as its period
        assert.equal(0, recorded.lost(trace) - trace.lost.dropped)
        check_nesting(recorded.packets(trace))
      end)
    end)

    it("show a C function while it runs", function ()
      local code = busy(0.3, [[
        (("a"):rep(300)):find(("a*"):rep(2) .. "b")
      ]])
      recorded.with(code, {sample = 1000}, how, function (_, recording)
        local ticks, samples = recorded.ticks(recording:traces()[1])
        assert.is_true(ticks["string.find"] / samples > 0.7)
      end)
    end)

    it("show coroutines above those that resume them", function ()
      local code = shares .. [[
        local inner = coroutine.create(function ()
          while true do thirty(20000) coroutine.yield() end
        end)
        local outer = coroutine.wrap(function ()
          while true do coroutine.resume(inner) coroutine.yield() end
        end)
        local start = os.clock()
        while os.clock() - start < 0.4 do outer() end
      ]]
      recorded.with(code, {sample = 1000, trace = {"samples"}}, how,
                    function (_, recording)
        local path = {}
        local node = recording:traces()[1]:tree()
        while node.children and #node.children > 0 do
          table.sort(node.children, function (a, b)
            return a.total_ms > b.total_ms
          end)
          node = node.children[1]
          path[#path + 1] = node.name
        end
        assert.same({"(main chunk)", "outer", "(anonymous function)",
                     "coroutine.resume", "(anonymous function)", "thirty"},
                    path)
      end)
    end)

    it("stand in one tree with the calls of some functions", function ()
      local code = busy(0.5, "work(20000)")
      local options = {
        sample = 1000, trace = {"name", "callsite", "time"}, include = "work"
      }
      recorded.with(code, options, how, function (_, recording)
        local trace = recording:traces()[1]
        check_nesting(recorded.packets(trace))
        local calls = 0
        for _, packet in ipairs(recorded.packets(trace)) do
          if packet.name == "work" then
            assert.is_nil(packet.sampled)
            calls = calls + 1
          elseif packet.type == "enteredFrame" then
            assert.is_true(packet.sampled)
          end
        end
        for _, row in ipairs(trace:report().functions) do
          assert.equal(row.name == "work" and calls or 0, row.calls)
        end
        local ticks, samples = recorded.ticks(trace)
        assert.is_true(ticks.sixty / samples > 0.3)
        assert.is_true(ticks.thirty / samples > 0.08)
      end)
    end)
  end)
end

describe("samples of calls that are waited for", function ()
  it("show what happens in them, and nothing else", function ()
    local options = {sample = 1000, on = "work", calls = 20, include = "work",
                     trace = {"name", "callsite", "time"}}
    local code = "local function before (n) return 1 + spin(n) end\n"
    recorded.with(shares .. "local x = spin(20000000)\n" .. code .. [[
      for _ = 1, 30 do
        local y = before(300000)
        local z = work(200000)
      end
    ]], options, nil, function (_, recording)
      local trace = recording:traces()[1]
      check_nesting(recorded.packets(trace))
      local times = self_times(trace)
      assert.is_nil(times.before)
      assert.is_nil(times.spin)
      local ticks, samples = recorded.ticks(trace)
      assert.is_true((ticks.sixty or 0) / samples > 0.3)
      for _, row in ipairs(trace:report().functions) do
        assert.equal(row.name == "work" and 20 or 0, row.calls)
      end
    end)
  end)
end)

describe("a program that is sampled", function ()
  local function output (code, options)
    local result
    recorded.with(code, options, nil, function (_, _, r)
      result = r
    end)
    return result
  end

  it("sees no hook, and its own as it set it", function ()
    local code = shares .. [[
      local seen = {}
      local function look (h, mask, count)
        seen[tostring(h) .. tostring(mask) .. tostring(count)] = true
      end
      for _ = 1, 400000 do        -- ticks come within gethook as well
        look(debug.gethook())
      end
      local lines, counts = 0, 0
      local function hook (event)
        if event == "line" then lines = lines + 1 else counts = counts + 1 end
      end
      debug.sethook(hook, "l")
      for _ = 1, 1000 do
        spin(100)
      end
      local h, mask = debug.gethook()
      look(h == hook, mask)
      debug.sethook(hook, "", 1000)
      for _ = 1, 100 do
        spin(10000)
      end
      debug.sethook()
      look(debug.gethook())
      local list = {}
      for k in pairs(seen) do list[#list + 1] = k end
      table.sort(list)
      print(table.concat(list, " "), lines, counts)
    ]]
    local alone = run.code(code).stdout
    assert.equal("nilnilnil truelnil", alone:match "^[^\t]*")
    assert.equal(alone, output(code, {sample = 10000}).stdout)
  end)

  -- A sample that meets a coroutine for the first time calls a function of
  -- ours, perhaps in the middle of a line: in each of twenty traces once.
  it("is told of each line once", function ()
    local result = run.code [[
      local tracegrip = require "tracegrip"
      local events = 0
      local function hook () events = events + 1 end
      local function count ()
        events = 0
        debug.sethook(hook, "l")
        for i = 1, 20000 do
          local a = i % 7; a = a * 2 + i; a = a - i; a = a + a
          a = a % 3
        end
        debug.sethook()
        return events
      end
      local expected = count()
      for _ = 1, 20 do
        local trace = assert(tracegrip.start {sample = 1000})
        local seen = count()
        trace:stop()
        if seen ~= expected then print(seen - expected) end
      end
      print "through"
    ]]
    assert.equal("through\n", result.stdout, result.stderr)
  end)

  it("has no system call interrupted", function ()
    local result = output(shares .. [[
      local n = 0
      for _ = 1, 3000 do
        n = n + process.sleep(0.00002)
        spin(3000)
      end
      print(n)
    ]], {sample = 10000})
    assert.equal("0\n", result.stdout)
  end)

  it("has its errors, yields and results", function ()
    local code = shares .. [[
      local log = {}
      for i = 1, 300 do
        local co = coroutine.wrap(function (a)
          spin(2000)
          local b = coroutine.yield(a + 1)
          if i % 3 == 0 then error {b} end
          return pcall(error, b)
        end)
        log[#log + 1] = co(i)
        local ok, e, f = pcall(co, i * 2)
        log[#log + 1] = tostring(ok) .. (ok and tostring(f) or e[1])
      end
      print(table.concat(log, ","))
    ]]
    assert.equal(run.code(code).stdout,
                 output(code, {sample = 10000}).stdout)
  end)

  it("is readable after it was killed", function ()
    local code = busy(0.3, "work(20000)") .. 'process.kill(process.pid(), 9)'
    recorded.with(code, {sample = 1000}, nil, function (info, recording)
      assert.equal("cut off", info.state)
      local times = self_times(recording:traces()[1])
      assert.is_true(times.sixty > 50)
    end)
  end)

  it("goes on being sampled in a forked child", function ()
    run.within(function (directory)
      local code = busy(0.05, "work(20000)") .. [[
        local pid = process.fork()
        local start = os.clock()
        while os.clock() - start < 0.3 do ten(20000) end
        if pid ~= 0 then process.wait(pid) end
      ]]
      recorded.run(directory, code, {sample = 1000},
                   {tape = {path = "r.%p"}})
      local list = {"sh", "-c", "ls r.*"}
      local names = run.command(list, {cwd = directory}).stdout
      local n = 0
      for name in names:gmatch "%S+" do
        local trace = recorded.open(directory .. "/" .. name):traces()[1]
        assert.is_true(self_times(trace).ten > 150)
        n = n + 1
      end
      assert.equal(2, n)
    end)
  end)
end)

describe("traces of samples", function ()
  local function values (code)
    local result = run.code(shares .. code, {env = run.modules})
    assert.equal("", result.stderr)
    return result.stdout
  end

  it("leave no hook and Lua's own functions behind", function ()
    assert.equal("true\ttrue\tnil\n", values [[
      local console = require "tracegrip.console"
      local resume, wrap = coroutine.resume, coroutine.wrap
      console.startTrace("s", {sample = 5000})
      spin(3000000)
      local trace = console.stopTrace("s")
      print(resume == coroutine.resume, wrap == coroutine.wrap,
            (debug.gethook()))
    ]])
  end)

  it("end with the calls that they were taken beside", function ()
    assert.equal("false\tnil\tfalse\tnil\n", values [[
      local tracegrip = require "tracegrip"
      local seen = {}
      for i = 1, 2 do
        local trace = tracegrip.start {
          sample = 5000, trace = {"name", "callsite"}, include = "spin"
        }
        local co = coroutine.wrap(function () spin(300000) end)
        co()
        trace:stop()
        seen[#seen + 1] = tostring(trace.active)
        seen[#seen + 1] = tostring((debug.gethook()))
      end
      print(table.concat(seen, "\t"))
    ]])
  end)

  it("run beside traces of calls, which have none of theirs", function ()
    assert.equal("calls false 40\nsamples true 0\n", values [[
      local tracegrip = require "tracegrip"
      local calls = tracegrip.start {name = "calls", include = "spin"}
      local samples = tracegrip.start {name = "samples", sample = 10000}
      for _ = 1, 40 do
        local x = spin(200000)
      end
      samples:stop()
      calls:stop()
      for _, trace in ipairs {calls, samples} do
        local sampled, entered = false, 0
        for packet in trace:packets() do
          sampled = sampled or packet.sampled or false
          if packet.name == "spin" and not packet.sampled then
            entered = entered + 1
          end
        end
        print(trace.name .. " " .. tostring(sampled) .. " " .. entered)
      end
    ]])
  end)

  it("begin in the middle of a stack, and show all of it", function ()
    assert.equal("(main chunk) outer spin\n", values [[
      local console = require "tracegrip.console"
      local function outer ()
        console.startTrace("s", {sample = 1000})
        local x = spin(20000000)
        return console.stopTrace("s")
      end
      local trace = outer()
      local names = {}
      for packet in trace:packets() do
        if packet.type == "exitedFrame" then break end
        names[#names + 1] = packet.name
      end
      print(table.concat(names, " "))
    ]])
  end)

  for _, wrong in ipairs {"0", "10001", "2.5", "'1000'", "true"} do
    it("are refused at a rate of " .. wrong, function ()
      local text = values([[
        local ok, message = pcall(require "tracegrip".start, {sample = ]]
        .. wrong .. [[})
        print(ok, message)
      ]])
      assert.matches("^false\toption 'sample': a number of samples a second, "
                     .. "1 to 10000, expected, got", text)
    end)
  end
end)

describe("samples in exports", function ()
  local formats = {"packets", "firefox", "gecko", "chrome", "cpuprofile",
                   "speedscope", "folded", "pprof", "otlp", "html"}

  it("are there in every format", function ()
    run.within(function (directory)
      recorded.run(directory, busy(0.3, "work(20000)"), {sample = 1000})
      local trace = recorded.open(directory .. "/rec"):traces()[1]
      for i = 1, 7 do
        local path = directory .. "/out." .. formats[i]
        assert(trace:export(formats[i], path))
        assert.matches("sixty", run.read(path), 1, true)
      end
      local sum = {}
      for name, us in run.read(directory .. "/out.folded")
                         :gmatch "([^;\n]+) (%d+)\n" do
        sum[name] = (sum[name] or 0) + us
      end
      local times = self_times(trace)
      assert.is_true(math.abs(sum.sixty / 1000 - times.sixty) < 1)
    end)
  end)

  -- The calls are inside frames that only samples have shown.
  it("stand around calls in every format", function ()
    run.within(function (directory)
      recorded.run(directory, busy(0.3, "work(20000)"), {
        sample = 1000, trace = {"name", "time", "arguments"}, include = "work"
      })
      local trace = recorded.open(directory .. "/rec"):traces()[1]
      for _, format in ipairs(formats) do
        local path = directory .. "/out." .. format
        assert(trace:export(format, path))
        if format ~= "html" and format ~= "pprof" then
          assert.matches("work", run.read(path), 1, true)
        end
      end
    end)
  end)
end)
