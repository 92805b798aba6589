-- Samples by the clock: what a program waits for is seen as what it runs is.

local recorded = require "spec.support.recorded"
local run = require "spec.support.run"

-- Work and sleep, each with the time that it took by the clock: 'told'. What
-- was neither work on a processor nor asked of a sleep, the program waited for
-- a processor, and that may count as either.
local timed = [[
  local told, asked = {}, 0
  local function measured (name, f)
    return function (...)
      local start = process.now()
      f(...)
      told[name] = (told[name] or 0) + process.now() - start
    end
  end
  local function spin (seconds)
    local x, stop = 0, os.clock() + seconds
    while os.clock() < stop do
      for i = 1, 1000 do x = x + i % 7 end
    end
  end
  local function nap (seconds)
    asked = asked + seconds
    assert(process.sleep(seconds) == 0)
  end
  local work, rest = measured("spin", spin), measured("nap", nap)
  local function tell ()
    local whole = told.spin + told.nap
    print(told.spin / whole, 1 - (os.clock() + asked) / whole)
  end
]]

-- The part of all time that 'total_ms' has of the functions.
local function parts (trace)
  local report = trace:report()
  local whole, list = 0, {}
  for _, row in ipairs(report.functions) do
    whole = whole + row.self_ms
    list[row.name] = (list[row.name] or 0) + row.total_ms
  end
  for name, ms in pairs(list) do
    list[name] = ms / whole
  end
  return list, whole, report
end

-- Runs a program that ends with 'tell', and gives what it told and what the
-- samples say, both as parts of the time of work and rest: what is around them
-- may take any time where others have the processor.
local function compare (code, options, use)
  options.wall = true
  recorded.with(timed .. code, options, nil, function (info, recording, result)
    assert.equal("", result.stderr)
    assert.equal("complete", info.state)
    local list, _, report = parts(recording:traces()[1])
    local both = (list.spin or 0) + (list.nap or 0)
    for name, part in pairs(list) do
      list[name] = part / both
    end
    local told, waited = result.stdout:match "(%S+)\t(%S+)"
    local function near (expected, found, error)
      assert.is_true(math.abs(expected - (found or 0))
                     < (error or 0.03) + math.max(0, tonumber(waited)),
                     ("%.3f expected, not %.3f"):format(expected, found or 0))
    end
    use(tonumber(told), list, near, report)
  end)
end

describe("samples by the clock", function ()
  it("give long sleeps their time, and work the rest", function ()
    compare([[
      for _ = 1, 4 do rest(0.3) work(0.2) end
      tell()
    ]], {sample = 1000}, function (told, list, near)
      near(told, list.spin)
      near(1 - told, list.nap)
      near(1 - told, list["process.sleep"])
    end)
  end)

  it("give short ones theirs", function ()
    compare([[
      for _ = 1, 500 do rest(0.0006) work(0.0004) end
      tell()
    ]], {sample = 1000}, function (told, list, near)
      near(told, list.spin, 0.2)
      near(1 - told, list.nap, 0.2)
    end)
  end)

  it("show what sleeps in a coroutine", function ()
    compare([[
      local inner = coroutine.wrap(function ()
        while true do rest(0.03) coroutine.yield() end
      end)
      local outer = coroutine.create(function ()
        while true do inner() coroutine.yield() end
      end)
      for _ = 1, 20 do coroutine.resume(outer) work(0.02) end
      tell()
    ]], {sample = 1000}, function (told, list, near)
      near(1 - told, list.nap)
      near(1 - told, list["coroutine.resume"])
    end)
  end)

  it("stand in one tree with calls", function ()
    compare([[
      local function request () rest(0.03) work(0.02) end
      for _ = 1, 20 do request() end
      tell()
    ]], {sample = 1000, trace = {"name", "callsite", "time"},
         include = "^request$"}, function (told, list, near, report)
      near(1 - told, list.nap)
      near(told, list.spin)
      for _, row in ipairs(report.functions) do
        assert.equal(row.name == "request" and 20 or 0, row.calls)
      end
    end)
  end)

  it("have all of the time", function ()
    recorded.with(timed .. [[
      local start = process.now()
      for _ = 1, 100 do rest(0.002) work(0.001) end
      print(process.now() - start)
    ]], {sample = 1000, wall = true}, nil, function (_, recording, result)
      local _, whole, report = parts(recording:traces()[1])
      local passed = tonumber(result.stdout) * 1000
      assert.is_true(whole >= passed * 0.99)
      assert.is_true(whole <= report.duration_ms + 1e-6)
    end)
  end)

  -- Nearly: what others have had the processor for while a sleep began or ended
  -- may be told as its own.
  it("leave a trace of what runs as it is", function ()
    local result = run.code(timed .. [[
      local tracegrip = require "tracegrip"
      local plain = tracegrip.start {sample = 1000}
      local wall = tracegrip.start {name = "wall", wall = true}
      for _ = 1, 10 do rest(0.1) work(0.02) end
      local shares = {}
      for i, trace in ipairs {plain, wall} do
        trace:stop()
        local sleep, whole = 0, 0
        for _, row in ipairs(trace:report().functions) do
          whole = whole + row.self_ms
          if row.name == "process.sleep" then sleep = row.self_ms end
        end
        shares[i] = sleep / whole
      end
      print(shares[1] < shares[2] / 3, shares[2] > 0.1)
    ]], {env = run.modules, flags = {"-e", "process = require 'process'"}})
    assert.equal("", result.stderr)
    assert.equal("true\ttrue\n", result.stdout)
  end)

  it("are refused where the interpreter's memory is not read", function ()
    local result = run.code([[
      local tracegrip = require "tracegrip"
      local trace, message = tracegrip.start {wall = true}
      print(trace, message)
      print(tracegrip.start {sample = 1000} ~= nil)
    ]], {env = {TRACEGRIP_DIRECT = "0"}})
    assert.equal("nil\tcannot take samples by the clock: the interpreter's "
                 .. "memory is not known (TRACEGRIP_DIRECT=0)\ntrue\n",
                 result.stdout)
  end)

  it("are refused if 'wall' is no boolean", function ()
    local result = run.code([[
      print(pcall(require "tracegrip".start, {wall = "yes"}))
    ]])
    assert.matches("option 'wall': a boolean expected, got yes",
                   result.stdout, 1, true)
  end)
end)

describe("a program that is sampled by the clock", function ()
  local function output (code, options)
    local result
    options.wall = true
    recorded.with(code, options, nil, function (_, _, r)
      result = r
    end)
    return result
  end

  it("has no system call interrupted", function ()
    local result = output(timed .. [[
      local n = 0
      for _ = 1, 3000 do
        n = n + process.sleep(0.0003)
        for i = 1, 3000 do n = n + 0 * i end
      end
      print(n == 0)
    ]], {sample = 10000})
    assert.equal("true\n", result.stdout)
  end)

  it("sees no hook, and its own as it set it", function ()
    local code = [[
      local seen, lines = {}, 0
      local function hook () lines = lines + 1 end
      for i = 1, 300 do
        process.sleep(0.0005)
        seen[tostring((debug.gethook()))] = true
        debug.sethook(hook, "l")
        process.sleep(0.0005)
        local h, mask = debug.gethook()
        seen[tostring(h == hook) .. mask] = true
        debug.sethook()
      end
      local list = {}
      for k in pairs(seen) do list[#list + 1] = k end
      table.sort(list)
      print(table.concat(list, " "), lines)
    ]]
    assert.equal("nil truel\t1200\n", output(code, {sample = 10000}).stdout)
  end)

  it("has its errors, yields and results", function ()
    local code = [[
      local log = {}
      for i = 1, 300 do
        local co = coroutine.wrap(function (a)
          process.sleep(0.0003)
          local b = coroutine.yield(a + 1)
          process.sleep(0.0003)
          if i % 3 == 0 then error {b} end
          return pcall(error, b)
        end)
        log[#log + 1] = co(i)
        local ok, e, f = pcall(co, i * 2)
        log[#log + 1] = tostring(ok) .. (ok and tostring(f) or e[1])
        if i % 50 == 0 then collectgarbage() end
      end
      print(table.concat(log, ","))
    ]]
    local alone = run.code("process = require 'process' " .. code,
                           {env = run.modules})
    assert.equal("", alone.stderr)
    assert.equal(alone.stdout, output(code, {sample = 10000}).stdout)
  end)

  it("may end while it sleeps", function ()
    local code = timed .. [[
      local pid = process.pid()
      work(1)
      os.execute("(sleep 0.5; kill " .. pid .. ") &")
      process.sleep(5)
    ]]
    recorded.with(code, {wall = true}, nil, function (info, recording)
      assert.equal("cut off", info.state)
      assert.is_true(parts(recording:traces()[1]).spin > 0.5)
    end)
  end)

  it("goes on being sampled in a forked child", function ()
    run.within(function (directory)
      local code = timed .. [[
        local pid = process.fork()
        for _ = 1, 10 do work(0.02) rest(0.02) end
        if pid ~= 0 then process.wait(pid) end
      ]]
      recorded.run(directory, code, {wall = true}, {tape = {path = "r.%p"}})
      local list = {"sh", "-c", "ls r.*"}
      local names = run.command(list, {cwd = directory}).stdout
      local n = 0
      for name in names:gmatch "%S+" do
        local trace = recorded.open(directory .. "/" .. name):traces()[1]
        local shares, whole = parts(trace)
        assert.is_true(shares.nap * whole > 150)      -- of 200 ms
        n = n + 1
      end
      assert.equal(2, n)
    end)
  end)

  it("may have several states, on threads of their own", function ()
    local code = ([[
      package.cpath = %q
      local process = require "process"
      local trace = require "tracegrip".start {wall = true, sample = 5000}
      local function nap () process.sleep(0.002) end
      local function resumed () nap() coroutine.yield() nap() end
      for i = 1, 60 do
        local co = coroutine.wrap(resumed)
        co() co() co = nil
        if i %% 10 == 0 then collectgarbage() end
      end
      trace:stop()
      local whole, slept = 0, 0
      for _, row in ipairs(trace:report().functions) do
        whole = whole + row.self_ms
        if row.name == "nap" then slept = row.total_ms end
      end
      return tostring(slept / whole > 0.3)
    ]])
    local result = run.code([[
      local states = require "states"
      local code = (]] .. run.literal(code) .. [[):format(package.cpath)
      print(table.concat({states.together(code, code, code, code)}, " "))
    ]], {env = run.modules})
    assert.equal("", result.stderr)
    assert.equal("true true true true\n", result.stdout)
  end)

  -- Others run for as long as the program may take. What it waits for a
  -- processor the kernel counts, and what it runs.
  it("tell what others had the processor for from what ran and waited",
     function ()
    if not run.read "/proc/thread-self/schedstat" then
      return pending "the kernel does not tell"
    end
    local counted = [[
      local function delayed ()
        local file = io.open "/proc/thread-self/schedstat"
        local ns = file:read("a"):match "^%d+ (%d+)"
        file:close()
        return ns / 1e9
      end
      local before = delayed()
    ]]
    local code = [[
      local others = io.popen([=[
        for _ in $(seq $(($(nproc) * 2))); do
          timeout 2 sh -c 'while :; do :; done' &
        done; echo; wait]=])
      others:read "l"
      local began = os.clock()
      for _ = 1, 4 do work(0.1) rest(0.1) end
      print(os.clock() - began, delayed() - before)
      others:close()
    ]]
    recorded.with(counted .. timed .. code, {sample = 1000, wall = true}, nil,
                  function (_, recording, result)
      assert.equal("", result.stderr)
      local ran, delayed = result.stdout:match "(%S+)\t(%S+)"
      local _, _, report = parts(recording:traces()[1])
      local row, computed = nil, 0
      for _, each in ipairs(report.functions) do
        row = each.name == "(preempted)" and each or row
        computed = computed + (each.name == "spin" and each.self_ms or 0)
      end
      assert.is_true(tonumber(delayed) > 0.1)
      assert.near(1000 * delayed, row.self_ms, 40 + 150 * delayed)
      assert.near(1000 * ran, computed, 40 + 150 * ran)
      assert.equal(0, row.calls)
    end)
  end)
end)
