-- Windows beside all else that a trace, or somebody else, can do at the same
-- time: rings, files that may only be so large, deep recursions, a debugger,
-- coverage, clients, other states, forks.

local lfs = require "lfs"

local covered = require "spec.coverage.covered"
local debugger = require "spec.support.debugger"
local peers = require "spec.server.peer"
local recorded = require "spec.support.recorded"
local run = require "spec.support.run"
local served = require "spec.support.served"
local serving = require "spec.server.serving"

-- As many windows as can be, each of two ticks: anything happens at an end.
local shortest = {TRACEGRIP_WINDOW = "1"}

local MB = 1 << 20

local function windows (fields)
  local options = {windows = 50, sample = 10000, trace = {"name", "time"}}
  for key, value in pairs(fields or {}) do
    options[key] = value
  end
  return options
end

-- Every exit closes the innermost frame, and the sequence has no holes; returns
-- how many frames stay open.
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
  return open
end

-- What is lost beside ticks that came too soon after another, and what 'but'
-- names.
local function check_lost (trace, but)
  for cause, n in pairs(trace.lost) do
    assert.is_true(cause == "dropped" or cause == but, cause .. ": " .. n)
  end
end

local function within (options, code, use, how)
  how = how or {}
  how.env = how.env or shortest
  recorded.with(code, options, how, function (info, recording, result, where)
    assert.equal("", result.stderr)
    assert.equal(0, result.status)
    use(recording:traces()[1], info, result.stdout, where)
  end)
end

local random = ("loadfile(%q)(...)"):format(
  run.root .. "/spec/samples/untraced.lua")

local function untraced (seed, steps)
  return run.code(random, {args = {seed, steps}}).stdout
end

describe("windows", function ()
  -- Between the last calls there is work: what the ring keeps of them is longer
  -- than some windows, also where a tick is a whole tick of the kernel's.
  for _, size in ipairs {256 << 10, 2 * MB} do
    it(("in a ring of %d KB keep the last calls, which nest"):format(
         size >> 10), function ()
      local code = random .. [[

        local function last () end
        local start = os.clock()
        repeat
          for _ = 1, 1000 do
            last()
            for _ = 1, 8000 do end
          end
        until os.clock() - start > 0.4
      ]]
      within(windows {overflow = "ring", buffer = size}, code,
             function (trace, info, out)
        assert.equal(untraced("7", "400"), out)
        assert.equal(0, check_nesting(trace))
        check_lost(trace, "ring")
        assert.is_true(info.windows.calls_unseen_ms > 0)
        local seen = {}
        for _, name in ipairs(recorded.names(trace)) do seen[name] = true end
        assert.is_true(seen.last)
      end, {args = {"7", "400"}})
    end)
  end

  it("end with the trace where its file is full", function ()
    within(windows {maxSize = MB, compress = "none"}, random,
           function (trace, _, out, where)
      assert.equal(untraced("8", "1000"), out)
      check_nesting(trace)
      check_lost(trace)
      assert.is_true(#run.read(where .. "/rec") <= MB)
      assert.equal("maxSize", trace.ended)
    end, {args = {"8", "1000"}})
  end)

  it("go on in a ring whose file may only be so large", function ()
    local options = windows {overflow = "ring", maxSize = 2 * MB}
    within(options, random, function (trace, info, out, where)
      assert.equal(untraced("9", "600"), out)
      assert.equal(0, check_nesting(trace))
      check_lost(trace, "ring")
      assert.is_true(trace.lost.ring > 0)
      assert.is_true(info.windows.calls_unseen_ms > 0)
      assert.is_true(#run.read(where .. "/rec") <= 2 * MB)
    end, {args = {"9", "600"}})
  end)

  -- Of values an event has more to read, and lists that refer to others.
  it("leave arguments and results of other calls as they are", function ()
    within(windows {trace = {"name", "arguments", "return", "throw", "yield",
                             "callsite"}}, [[
      local function twice (n, list) return n * 2, list end
      local function fail (n) error {n} end
      local list = {}
      for i = 1, 20000 do
        list[1] = i
        twice(i, list)
        pcall(fail, i)
      end
    ]], function (trace)
      local open, seen = {}, 0
      for p in trace:packets() do
        if p.type == "enteredFrame" then
          open[#open + 1] = p
        elseif p.type == "exitedFrame" then
          local top, result = table.remove(open), p["return"]
          if top.name == "twice" and top.arguments and result then
            local n = top.arguments.values[1]
            assert(result.values[1] == 2 * n)
            assert(result.objectPool[1].ownProperties["[1]"].value == n)
            seen = seen + 1
          end
        end
      end
      assert.equal(0, #open)
      check_lost(trace)
      assert.is_true(seen > 100)
    end)
  end)

  it("are refused to a trace that counts allocations", function ()
    local result = run.code [[
      local tracegrip = require "tracegrip"
      print(pcall(tracegrip.start, {windows = 10, memory = true}))
      print(pcall(tracegrip.start, {windows = 10, trace = {"allocations"}}))
      print(tracegrip.start {windows = 10, trace = {"name", "memory"}} ~= nil)
    ]]
    local text = "option 'windows': not with 'allocations'"
    assert.equal(2, select(2, result.stdout:gsub(text, "")))
    assert.matches("true\n$", result.stdout)
  end)
end)

describe("windows in deep recursions", function ()
  -- Half of a stack that is not walked to its end stays, and the other half is
  -- another recursion's: by address all of it would be the one before.
  it("lose no call of 100,000 frames, whichever recursion they are of",
     function ()
    within(windows(), [[
      local function down (n) return n == 0 and 0 or 1 + down(n - 1) end
      local function other (n) return n == 0 and 0 or 1 + other(n - 1) end
      local function both (n)
        return n == 0 and down(20000) + other(20000) or 1 + both(n - 1)
      end
      local sum = 0
      sum = sum + down(100000) + other(100000) + both(30000)
      print(sum)
    ]], function (trace, info, out)
      assert.equal("270000\n", out)
      assert.equal(0, check_nesting(trace))
      check_lost(trace)
      assert.is_true(info.windows.calls_unseen_ms > 0)
    end)
  end)

  -- Frames that have room for twenty values: there are 50,000 of them then.
  it("lose nothing where the stack is full and pcall catches that", function ()
    within(windows(), [[
      local function over (n, a, b, c, d, e, f, g, h, i, j, k, l, m, o, p, q)
        return 1 + over(n + 1)
      end
      local function down (n) return n == 0 and 0 or 1 + down(n - 1) end
      print(down(50000), (pcall(over, 1)),
            (xpcall(over, function () return down(10) end, 1)))
      print(coroutine.resume(coroutine.create(function ()
        return pcall(over, 1) or down(10)
      end)))
    ]], function (trace, info, out)
      assert.equal("50000\tfalse\tfalse\ntrue\t10\n", out)
      assert.equal(0, check_nesting(trace))
      check_lost(trace)
      assert.is_true(info.windows.calls_unseen_ms > 0)
    end)
  end)

  -- Our own function, which ends the window, is among those that are there.
  it("keep the frames around a marker that ends a window", function ()
    within(windows {trace = {"name", "markers"}}, [[
      local console = require "tracegrip.console"
      local function spin (n) local x = 0 for i = 1, n do x = x + i % 7 end end
      local function down (n)
        if n == 0 then return 0 end
        if n % 250 == 0 then
          spin(3000)
          console.timeStamp "deep"
        end
        return 1 + down(n - 1)
      end
      for _ = 1, 10 do down(5000) end
    ]], function (trace)
      local depth, deepest, marks = 0, 0, 0
      for p in trace:packets() do
        if p.type == "enteredFrame" then
          depth = depth + 1
        elseif p.type == "exitedFrame" then
          depth = depth - 1
        else
          marks = marks + 1
          deepest = math.max(deepest, depth)
        end
      end
      assert.equal(200, marks)
      assert.is_true(deepest > 4000, deepest)
      check_lost(trace)
    end)
  end)
end)

local needs_door = debugger.needed(it, pending)

describe("windows under a debugger", function ()
  local program = [[
local tracegrip = require "tracegrip"
local function leaf (i)
  local x = i
  return x
end
local function spin (n)
  local x = 0
  for i = 1, n do x = x + leaf(i) % 7 end
  return x
end
local trace = tracegrip.start {windows = 50, sample = 10000, trace = {"name"}}
for i = 1, 40 do
  spin(3000)
  local y = i
  y = spin(y)
end
trace:stop()
local open, n = 0, 0
for p in trace:packets() do
  n = n + 1
  open = open + (p.type == "enteredFrame" and 1 or -1)
  assert(open >= 0)
end
for cause, n in pairs(trace.lost) do assert(cause == "dropped", cause) end
print(n > 1000, open <= 1)
]]

  needs_door("hit each breakpoint, and step as ever", function ()
    debugger.debug(program, function (front, _, command)
      front:stop_at(15)
      for i = 1, 40 do
        local at = front:go "resume"
        assert.equal("(main chunk):15", debugger.place(at):match "^[^ ]+ [^ ]+")
        assert.equal(i, front:value(at, 1, "y").value)
        if i % 8 == 0 then
          assert.matches("^spin:7", debugger.place(front:go "stepInto"))
          assert.matches("^%(main chunk%):15", debugger.place(
                           front:go "stepOut"))
        end
      end
      front:ask "Debugger.resume"
      assert.equal(0, command:ended(), command.err)
      assert.equal("true\ttrue\n", command.out)
    end, shortest)
  end)
end)

-- At the edge of a window one line may be told twice (docs/samples.md).
local function is_told (times, count)
  return count >= times and count <= times + 2
end

describe("windows beside coverage", function ()
  it("leave it each call and no line untold", function ()
    local result = covered.run({["app.lua"] = [[
      local tracegrip = require "tracegrip"
      local trace = tracegrip.start {
        windows = 50, sample = 10000, trace = {"name"}
      }
      local function f (x)
        local y = x
        return y + 1
      end
      for i = 1, 100000 do
        f(i)
      end
      trace:stop()
      local open = 0
      for p in trace:packets() do
        open = open + (p.type == "enteredFrame" and 1 or -1)
        assert(open >= 0)
      end
      assert(open <= 1)       -- this chunk itself, which samples have shown
    ]]}, {"app.lua"}, {env = shortest})
    assert.equal(0, result.status, result.stderr)
    assert.equal(100000, covered.calls(result.counts, "app.lua").f)
    local lines = covered.lines(result.counts, "app.lua")
    for _, line in ipairs {6, 7, 10} do
      assert.is_true(is_told(100000, lines[line]), lines[line])
    end
  end)

  -- Most ticks strike while a coroutine is made, which inherits the hook that
  -- they set.
  for name, options in pairs {
    ["in windows"] = "windows = 50, trace = {'name'}",
    ["while samples are taken"] = "sample = 10000"
  } do
    it("leave it coroutines that are made " .. name, function ()
      local result = covered.run({["app.lua"] = ([[
        local trace = require("tracegrip").start {%s}
        local function body (n)
          local x = n
          coroutine.yield(x)
          return x
        end
        for i = 1, 15000 do
          local co = coroutine.wrap(body)
          co(i)
          co(i)
        end
        trace:stop()
      ]]):format(options)}, {"app.lua"}, {env = shortest})
      assert.equal(0, result.status, result.stderr)
      assert.equal(15000, covered.calls(result.counts, "app.lua").body)
      local lines = covered.lines(result.counts, "app.lua")
      for _, line in ipairs {3, 4, 5, 8, 9, 10} do
        assert.is_true(is_told(15000, lines[line]),
                       ("line %d: %d"):format(line, lines[line]))
      end
    end)
  end
end)

describe("a hook of lines", function ()
  -- Each function is met for the first time somewhere, and each coroutine:
  -- functions of ours that are called then are no jump of the program's.
  local program = [=[
    local fs, counts, sum = {}, {}, 0
    for i = 1, 200 do
      fs[i] = assert(load(([[
        local down, fs = ...
        local x = %d
        local y = x * 2
        if down > 0 then x = x + fs[(x * 7) %% 200 + 1](down - 1, fs) end
        local s = tostring(y)
        return #s + x %% 3
      ]]):format(i), "=f" .. i))
    end
    local function hook (_, line)
      local at = debug.getinfo(2, "S").short_src .. ":" .. line
      counts[at] = (counts[at] or 0) + 1
    end
    local function body (n)
      debug.sethook(hook, "l")
      for i = 1, 3 do
        sum = sum + fs[n](2, fs)
        coroutine.yield()
      end
    end
    local trace = HOW and require("tracegrip").start(HOW)
    debug.sethook(hook, "l")
    for i = 1, 1500 do
      sum = sum + fs[i % 200 + 1](4, fs)
      local co = coroutine.wrap(body)
      co(i % 199 + 1)
      co()
    end
    debug.sethook()
    if trace then trace:stop() end
    local list = {}
    for at, n in pairs(counts) do list[#list + 1] = at .. " " .. n end
    table.sort(list)
    print(sum, table.concat(list, "\n"))
  ]=]

  local function lines (how, direct)
    local env = {TRACEGRIP_WINDOW = "1", TRACEGRIP_DIRECT = direct}
    for key, value in pairs(run.modules) do env[key] = value end
    local result = run.code("local HOW = " .. how .. "\n" .. program,
                            {env = env})
    assert.equal("", result.stderr)
    return result.stdout
  end

  -- Counts that are told as they may be become those that they should be.
  local function as_often_as (should, told)
    return (told:gsub("([^\t\n]+) (%d+)", function (at, count)
      local times = should:match(at:gsub("%p", "%%%0") .. " (%d+)")
      return times and is_told(tonumber(times), tonumber(count))
             and at .. " " .. times
    end))
  end

  local truth
  for name, how in pairs {
    ["in windows"] = {"{windows = 50, sample = 10000, trace = {'name'}}"},
    ["while samples are taken"] = {"{sample = 10000}"},
    ["while samples are taken without memory"] = {"{sample = 10000}", "0"}
  } do
    it("is told each line once " .. name, function ()
      truth = truth or lines("nil")
      local told = lines(how[1], how[2])
      if name == "in windows" then
        told = as_often_as(truth, told)
      end
      assert.equal(truth, told)
    end)
  end
end)

local needs_luv = run.needs("luv", it, pending)

describe("windows of a client's trace", function ()
  local program = [[
    local function leaf (x) return x + 1 end
    local function work (n) for i = 1, n do leaf(i) end end
    require("tracegrip").listen()
    for line in io.lines() do
      for _ = 1, 20 do
        coroutine.wrap(work)(3000)
        pcall(work, 3000)
      end
      print("done " .. line)
      io.stdout:flush()
    end
  ]]

  local function attach (target, ...)
    return served.start({"attach", target.address, "--windows", "50",
                         "--trace", "name,time", ...}, target.directory)
  end

  needs_luv("come over the wire as a recording that nests", function ()
    local target <close> = serving.start(program, shortest)
    local command = attach(target, "-o", "rec")
    local function unseen ()
      local recording = recorded.open(target.directory .. "/rec")
      local trace = recording and recording:traces()[1]
      return trace and trace:report().windows.calls_unseen_ms > 5
    end
    assert(peers.wait(function ()
      target:tell "2"
      target:says "done 2\n"
      require("luv").run "nowait"
      return unseen()
    end), "no window came")
    command:kill()
    assert.equal(0, command:ended(), command.err)
    local trace = recorded.open(target.directory .. "/rec"):traces()[1]
    check_nesting(trace)
    check_lost(trace)
  end)

  needs_luv("stay away while top looks, and come again", function ()
    local target <close> = serving.start([[
      local core = require "tracegrip.core"
      require("tracegrip").listen()
      local _, trace = assert(core.record({
        windows = 50, sample = 10000, trace = {"name", "time"}
      }, {path = "rec"}))
      local function leaf (x)
        for i = 1, 2000 do x = x + i end
        return x
      end
      local function work () for i = 1, 100 do leaf(i) end end
      io.read()
      local start = os.clock()
      repeat work() until os.clock() - start > 0.2
      print "looked at"
      io.flush()
      while not io.open "enough" do work() end
      start = os.clock()
      repeat work() until os.clock() - start > 0.2
      trace:stop()
      print "stopped"
      io.flush()
      io.read()
    ]], shortest)
    target:tell()
    target:says "looked at\n"
    local looked = run.command {
      run.build .. "/bin/tracegrip", "top", "-n", "2", "--every", "0.3",
      target.address
    }
    assert.equal(0, looked.status, looked.stderr)
    assert.matches("leaf", looked.stdout, 1, true)
    run.write(target.directory .. "/enough", "")
    target:says "stopped\n"
    local recording = recorded.open(target.directory .. "/rec")
    assert.is_true(recording:info().windows.calls_unseen_ms > 50)
    local trace = recording:traces()[1]
    check_nesting(trace)
    check_lost(trace)
  end)
end)

describe("windows in several states", function ()
  local code = [[
    local tracegrip = require "tracegrip"
    local function leaf (x) return x + 1 end
    local function body (n) for i = 1, n do coroutine.yield(leaf(i)) end end
    local function work ()
      local start = os.clock()
      repeat
        for i = 1, 2000 do leaf(i) end
        local co = coroutine.wrap(body)
        for _ = 1, 20 do co(20) end
        pcall(error, "x")
      until os.clock() - start > 0.05
    end
    local trace = tracegrip.start {
      windows = 50, sample = 10000, trace = {"name", "time"}
    }
    work()
    trace:stop()
    local open = 0
    for p in trace:packets() do
      open = open + (p.type == "enteredFrame" and 1 or -1)
      assert(open >= 0)
    end
    assert(open <= 1)         -- this chunk itself, which samples have shown
    for cause, n in pairs(trace.lost) do assert(cause == "dropped", cause) end
    return trace:report().windows.calls_unseen_ms > 0 and "ok" or "no window"
  ]]

  local function execute (body)
    local result = run.code(([[
      package.cpath = %q .. package.cpath
      local states = require "states"
      local code = %q
    ]]):format(run.build .. "/spec/?.so;", code) .. body, {env = shortest})
    assert.equal("", result.stderr)
    return result.stdout
  end

  it("on threads of their own are each state's", function ()
    assert.equal("ok ok ok\n", execute [[
      print(table.concat({states.together(code, code, code)}, " "))
    ]])
  end)

  it("on one thread come in turn", function ()
    assert.equal("ok\tok\tok\n", execute [[
      local a, b = states.new(), states.new()
      local x = a:run(code)
      local y = b:run(code)
      print(x, y, a:run(code))
    ]])
  end)
end)

describe("windows in forked children", function ()
  -- Each process runs for several windows, also where a tick is a whole tick of
  -- the kernel's.
  it("are recorded by each on a file of its own", function ()
    run.within(function (where)
      recorded.run(where, [[
        local function leaf (n)
          local x = 0
          for i = 1, n do x = x + i % 7 end
          return x
        end
        local function work ()
          local start = os.clock()
          repeat
            for _ = 1, 100 do leaf(200) end
          until os.clock() - start > 0.1
        end
        work()
        for _ = 1, 3 do
          local child = process.fork()
          work()
          if child == 0 then os.exit(0) end
          process.wait(child)
        end
      ]], windows(), {env = shortest})
      local files = 0
      for path in lfs.dir(where) do
        if path:find "^rec" then
          local recording = recorded.open(where .. "/" .. path)
          local trace = recording:traces()[1]
          assert.equal(0, check_nesting(trace))
          check_lost(trace)
          assert.is_true(recording:info().windows.calls_unseen_ms > 0)
          files = files + 1
        end
      end
      assert.equal(4, files)
    end)
  end)
end)
