-- Windows, in which the program runs without the hook: what it does is what it
-- does untraced, and what is recorded nests.

local recorded = require "spec.support.recorded"
local run = require "spec.support.run"

-- As many windows as can be, each of two ticks: anything happens at an end.
local shortest = {TRACEGRIP_WINDOW = "1"}

local function within (options, code, use, how)
  how = how or {}
  how.env = how.env or shortest
  recorded.with(code, options, how, use)
end

local function windows (fields)
  local options = {windows = 50, sample = 10000, trace = {"name", "time"}}
  for key, value in pairs(fields or {}) do
    options[key] = value
  end
  return options
end

local random = ("loadfile(%q)(...)"):format(
  run.root .. "/spec/samples/untraced.lua")

local function untraced (seed, steps)
  local result = run.code(random, {args = {seed, steps}})
  assert.equal(0, result.status)
  return result.stdout
end

-- Every exit closes the innermost frame, and the sequence has no holes. Returns
-- how many packets there are, and how many frames stay open.
local function check_nesting (trace)
  local open, n = 0, 0
  for packet in trace:packets() do
    if packet.type == "enteredFrame" or packet.type == "exitedFrame" then
      assert(n == packet.sequence)
      n = n + 1
      open = open + (packet.type == "enteredFrame" and 1 or -1)
      assert(open >= 0)
    end
  end
  return n, open
end

-- Losses but ticks that came too soon after another.
local function check_lost (trace)
  for cause, n in pairs(trace.lost) do
    assert.is_true(cause == "dropped", cause .. ": " .. n)
  end
end

describe("windows", function ()
  for seed = 1, run.some(2, 6) do
    it("change nothing in random program " .. seed .. ", and packets nest",
       function ()
      within(windows(), random, function (info, recording, result)
        assert.equal("", result.stderr)
        assert.equal(untraced(tostring(seed), "90"), result.stdout)
        local trace = recording:traces()[1]
        assert.equal(0, (select(2, check_nesting(trace))))
        check_lost(trace)
        assert.is_true(info.windows.calls_unseen_ms > 0)
      end, {args = {tostring(seed), "90"}})
    end)
  end

  -- A recursion that goes on for thousands of calls in a window, and comes back
  -- out of it after that, or by an error.
  it("know a recursion that went deeper than samples see", function ()
    local code = [[
      local function down (n)
        if n == 0 then return 0 end
        return 1 + down(n - 1)
      end
      local function fall (n)
        if n == 0 then error "x" end
        return 1 + fall(n - 1)
      end
      local function over (n, a, b, c, d, e, f, g, h, i, j, k, l, m, o, p, q)
        return 1 + over(n + 1)
      end
      local sum = 0
      for i = 1, 20 do
        sum = sum + down(i * 500)
        pcall(fall, i * 300)
      end
      print(sum, (pcall(over, 1)))
    ]]
    within(windows(), code, function (info, recording, result)
      assert.equal("105000\tfalse\n", result.stdout)
      local trace = recording:traces()[1]
      assert.equal(0, (select(2, check_nesting(trace))))
      assert.is_true(info.windows.calls_unseen_ms > 0)
    end)
  end)

  -- Each loop of the program is the same work, so the share of the time is that
  -- of the calls, but for what the hook takes.
  it("are that share of the processor's time", function ()
    local code = [[
      local function work (n)
        local x = 0
        for i = 1, n do x = x + i % 7 end
        return x
      end
      local start = os.clock()
      local calls = 0
      repeat work(20000); calls = calls + 1 until os.clock() - start > 1.5
      print(calls)
    ]]
    within({windows = 20, trace = {"name", "time"}}, code,
           function (info, recording, result)
      local calls = tonumber(result.stdout)
      local report = recording:traces()[1]:report()
      local seen
      for _, row in ipairs(report.functions) do
        seen = row.name == "work" and row.calls or seen
      end
      assert.equal(20, info.windows.percent)
      assert.equal(20, report.windows.percent)
      assert.equal(info.windows.calls_unseen_ms,
                   report.windows.calls_unseen_ms)
      -- Ticks that come late are one sample together, which is so more often
      -- where there is a hook.
      assert.near(0.3, report.windows.samples / report.samples, 0.2)
      assert.near(0.2, 1 - seen / calls, 0.06)
    end, {env = {}})
  end)

  it("count nothing as lost, and are told of", function ()
    local code = [[
      local function f (x)
        for i = 1, 200 do x = x + i % 7 end
        return x
      end
      local start = os.clock()
      repeat for i = 1, 100 do f(i) end until os.clock() - start > 0.3
    ]]
    within(windows(), code, function (info, recording)
      local trace = recording:traces()[1]
      check_lost(trace)
      assert.equal(50, info.windows.percent)
      assert.is_true(info.windows.calls_unseen_ms > 5)
      assert.is_true(info.windows.calls_unseen_ms < info.duration_ms)
      assert.equal(0, (select(2, check_nesting(trace))))
    end)
  end)

  it("leave the program's own hook all its events", function ()
    local code = [[
      local function f (x) return x + 1 end
      local n = {call = 0, ["return"] = 0, ["tail call"] = 0, line = 0}
      local function count (what) n[what] = n[what] + 1 end
      debug.sethook(count, "crl")
      for i = 1, 200000 do
        f(i)
      end
      local hook, mask = debug.gethook()
      debug.sethook()
      print(n.call, n["return"], n.line, hook == count, mask,
            debug.gethook() == nil)
    ]]
    within(windows(), code, function (info, _, result)
      assert.equal(run.code(code).stdout, result.stdout)
      assert.is_true(info.windows.calls_unseen_ms > 0)
    end)
  end)

  it("end where a trace begins or stops, or a marker is set", function ()
    local code = [[
      local tracegrip = require "tracegrip"
      local console = require "tracegrip.console"
      local function spin (n)
        local x = 0
        for i = 1, n do x = x + i % 7 end
        return x
      end
      local function inside (i)
        spin(3000)
        console.timeStamp("m" .. i)
        local t = tracegrip.start {
          trace = {"name"}, windows = 50, sample = 10000
        }
        spin(3000)
        spin(3000)
        t:stop()
        local open = 0
        for p in t:packets() do
          open = open + (p.type == "enteredFrame" and 1 or -1)
          assert(open >= 0)
        end
        for cause, n in pairs(t.lost) do assert(cause == "dropped", cause) end
        spin(3000)
      end
      for i = 1, 300 do inside(i) end
      print "done"
    ]]
    within(windows {trace = {"name", "time", "markers"}}, code,
           function (info, recording, result)
      assert.equal("", result.stderr)
      assert.equal("done\n", result.stdout)
      local trace = recording:traces()[1]
      local open, marks = {}, 0
      for p in trace:packets() do
        if p.type == "enteredFrame" then
          open[#open + 1] = p.name
        elseif p.type == "exitedFrame" then
          open[#open] = nil
        elseif p.type == "marker" then
          marks = marks + 1
        end
      end
      assert.equal(300, marks)
      assert.equal(0, #open)
      check_lost(trace)
      assert.is_true(info.windows.calls_unseen_ms > 0)
    end)
  end)

  it("go on in a forked child, which records on its own", function ()
    local code = [[
      local process = require "process"
      local function work (n)
        local x = 0
        for i = 1, n do x = x + i % 7 end
        return x
      end
      local function turns (who)
        local start = os.clock()
        repeat work(1000) until os.clock() - start > 0.1
        return who
      end
      turns "both"
      local child = process.fork()
      if child == 0 then
        print(turns "child")
        os.exit(0)
      end
      process.wait(child)
      print(turns "parent")
    ]]
    within(windows(), code, function (info, recording, result)
      assert.equal("child\nparent\n", result.stdout)
      assert.equal(0, (select(2, check_nesting(recording:traces()[1]))))
      assert.is_true(info.windows.calls_unseen_ms > 0)
    end)
  end)

  it("are only where all traces ask for them", function ()
    local code = [[
      local tracegrip = require "tracegrip"
      local t <close> = tracegrip.start {trace = {"name"}}
      local function f (x) return x + 1 end
      for i = 1, 100000 do f(i) end
      t:stop()
      print(t.events)
    ]]
    within(windows(), code, function (_, _, result)
      assert.is_true(tonumber(result.stdout) >= 200000)
    end)
  end)

  it("stop with the trace at its limit", function ()
    local code = [[
      local function f (x) return x + 1 end
      for i = 1, 300000 do f(i) end
      print "done"
    ]]
    within(windows {maxEvents = 5000}, code, function (_, recording, result)
      assert.equal("done\n", result.stdout)
      assert.equal(5000, (check_nesting(recording:traces()[1])))
    end)
  end)

  it("are refused with options that need all calls", function ()
    local code = [[
      local tracegrip = require "tracegrip"
      print(pcall(tracegrip.start, {windows = 10, on = "^f$"}))
      print(pcall(tracegrip.start, {windows = 10, wall = true}))
      print(pcall(tracegrip.start, {windows = 51}))
    ]]
    local out = run.code(code).stdout
    assert.matches("option 'windows': not with 'on'", out, 1, true)
    assert.matches("option 'windows': not with 'wall'", out, 1, true)
    assert.matches("option 'windows': percent of the time, 0 to 50", out, 1,
                   true)
  end)

  it("are not where the interpreter's memory is not read", function ()
    local code = [[
      print(require "tracegrip".start {windows = 10, trace = {"name"}})
    ]]
    local result = run.code(code, {env = {TRACEGRIP_DIRECT = "0"}})
    assert.matches("nil\tcannot have windows", result.stdout, 1, true)
  end)
end)

-- Samples are compared with what the hook knows: what it did not see begin, it
-- has to know as samples show it.
describe("a trace that begins in a coroutine", function ()
  it("has its samples, with frames around it that are older", function ()
    local result = run.code([[
      local tracegrip = require "tracegrip"
      local function leaf (x) return x + 1 end
      local function work (n) for i = 1, n do leaf(i) end end
      local function body ()
        local trace = tracegrip.start {
          trace = {"name", "time"}, windows = 50, sample = 10000
        }
        for i = 1, 300 do work(3000) end
        return trace:stop()
      end
      local trace = coroutine.wrap(body)()
      local taken = trace:report().samples
      print(taken > 0 and trace.lost.dropped < taken)
    ]], {env = shortest})
    assert.equal("true\n", result.stdout, result.stderr)
  end)
end)
