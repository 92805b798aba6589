-- tracegrip attach and a program that really listens.

local normal = require "spec.support.normal"
local peers = require "spec.server.peer"
local recorded = require "spec.support.recorded"
local run = require "spec.support.run"
local served = require "spec.support.served"
local serving = require "spec.server.serving"
local stopped = require "spec.support.stopped"

local it = run.needs("luv", it, pending)

-- Does a work for each line that it reads, and answers.
local work = [[
  local function leaf (n, ...)
    if n == 3 then error({n = n}) end
    return n * 2, ...
  end
  local function branch (t)
    local co = coroutine.wrap(function (a)
      local b = coroutine.yield(leaf(a))
      return leaf(b, "é", nil)
    end)
    return co(t.first), co(t.second), pcall(leaf, 3)
  end
  local function tail (t) return branch(t) end
  function work (t) return select("#", tail(t)) end
]]

local program = 'require("tracegrip").listen()\n' .. work .. [[
  for line in io.lines() do
    print("done " .. work {first = 1, second = tonumber(line)})
    io.stdout:flush()
  end
]]

local include = {"--include", "^leaf$", "--include", "^branch$", "--include",
                 "^work$", "--include", "^tail$", "--include", "^coroutine"}

local function attach (target, words, directory, env)
  local all = {"attach", target.address}
  table.move(include, 1, #include, 3, all)
  table.move(words, 1, #words, #all + 1, all)
  return served.start(all, directory, env)
end

-- Has the program work until the client shows that it sees it.
local function work_until (target, ready)
  local seen = peers.wait(function ()
    target:tell "2"
    target:says "done 4\n"
    return ready()
  end)
  assert(seen, "the client sees nothing")
end

-- The same until its recording, "rec", has some packets.
local function work_until_recorded (target)
  work_until(target, function ()
    require("luv").run "nowait"
    local recording = recorded.open(target.directory .. "/rec")
    return recording and recording:traces()[1]
           and #recorded.packets(recording) > 10
  end)
end

local function traces (target)
  return target:proc "State" and run.read("/proc/" .. target.pid .. "/stat")
end

-- A recording of a connection that was closed before the trace had ended.
local function assert_left (recording)
  local info = recording:info()
  assert.equal("cut off", info.state)
  assert.equal("the connection was closed", info.reason)
end

describe("tracegrip attach", function ()
  it("logs what a program does, which goes on afterwards", function ()
    local target <close> = serving.start(program)
    local command = attach(target, {}, target.directory)
    work_until(target, function ()
      require("luv").run "nowait"
      return command.out:find "tail%("
    end)
    command:kill()
    assert.equal(0, command:ended(), command.err)
    assert.equal("tracegrip: attached to program.lua; Ctrl-C ends the trace\n",
                 command.err)
    assert.matches("work%({[^}]*first=1.*│ branch%(.*│ │ .*leaf%(1%)",
                   (command.out:gsub(" = ", "=")))
    assert.is_truthy(traces(target))
    target:tell "2"
    target:says "done 4\n"
  end)

  it("records what a recording of its own has", function ()
    local target <close> = serving.start(program)
    local directory = target.directory
    local command = attach(target, {"-o", "rec", "--max-events", "28"},
                           directory)
    work_until(target, function ()
      require("luv").run "nowait"
      return command.status
    end)
    assert.equal(0, command:ended(), command.err)
    local recording = assert(recorded.open(directory .. "/rec"))
    local info = recording:info()
    assert.equal("complete", info.state)
    assert.equal("maxEvents", info.traces[1].ended)
    assert.matches("program.lua$", info.program)
    local there = normal.packets(recorded.packets(recording))
    local patterns = {"^leaf$", "^branch$", "^work$", "^tail$", "^coroutine"}
    recorded.with("\n" .. work .. "work {first = 1, second = 2}\n",
                  {include = patterns}, {}, function (_, mine)
      local here = normal.packets(recorded.packets(mine))
      assert.is_true(#here > 10)
      -- the first work, by where it begins
      for i, packet in ipairs(here) do
        packet.callsite, there[i].callsite = nil, nil
        assert.same(packet, there[i])
      end
    end)
  end)

  it("has one call, and the program runs on without it", function ()
    local target <close> = serving.start(program)
    local directory = target.directory
    local all = {"attach", target.address, "--on", "^work$", "-o", "rec"}
    local command = served.start(all, directory)
    work_until(target, function ()
      require("luv").run "nowait"
      return command.status
    end)
    assert.equal(0, command:ended(), command.err)
    local recording = assert(recorded.open(directory .. "/rec"))
    assert.equal("calls", recording:info().traces[1].ended)
    local depth, names = 0, {}
    for _, packet in ipairs(recorded.packets(recording)) do
      local entered = packet.type == "enteredFrame"
      if entered and depth == 0 then
        names[#names + 1] = packet.name
      end
      depth = depth + (entered and 1 or -1)
    end
    assert.same({"work"}, names)
    assert.equal(0, depth)
  end)

  it("says so when the program is killed, and has all up to there", function ()
    local target <close> = serving.start(program)
    local directory = target.directory
    local command = attach(target, {"-o", "rec"}, directory)
    work_until_recorded(target)
    target:kill()
    assert.equal(1, command:ended())
    assert.matches("^tracegrip: attached [^\n]+\ntracegrip: [^\n]+\n$",
                   command.err)
    local recording = assert(recorded.open(directory .. "/rec"))
    assert_left(recording)
    assert.is_true(#recorded.packets(recording) > 10)
    local told = run.command({run.build .. "/bin/tracegrip", "report",
                              directory .. "/rec"})
    assert.equal(0, told.status)
    assert.matches("is cut off %(the connection was closed%)", told.stderr)
  end)

  it("says that what did not come is missing", function ()
    local target <close> = serving.start(program)
    local directory = target.directory
    local command = attach(target, {"-o", "rec"}, directory)
    work_until_recorded(target)
    stopped.at(target.pid)            -- nobody answers
    command:kill()
    command:until_ready(function ()
      return command.err:find "still coming; Ctrl%-C leaves"
    end)
    command:kill()
    assert.equal(0, command:ended(), command.err)
    assert.matches("\ntracegrip: rec: [^\n]*, cut off: [^\n]*\n$", command.err)
    target:kill "sigcont"
    assert_left(assert(recorded.open(directory .. "/rec")))
  end)

  it("says what the trace lacks that no event tells", function ()
    local target <close> = serving.start(program)
    local bomb = (".-"):rep(20) .. "!!"
    local command = served.start({"attach", target.address, "-o", "rec",
                                  "--no-c", "--exclude", bomb},
                                 target.directory)
    work_until_recorded(target)
    command:kill()
    assert.equal(0, command:ended(), command.err)
    assert.matches("\ntracegrip: patterns took too long over %d+ names: "
                   .. "not matched, by redact hidden\n$", command.err)
    local trace = recorded.open(target.directory .. "/rec"):traces()[1]
    assert.equal(trace.lost.patterns,
                 tonumber(command.err:match "over (%d+) names"))
  end)

  it("says how many samples were dropped", function ()
    local target <close> = serving.start [[
      require("tracegrip").listen()
      local function deep () return 1 + deep() end
      for _ in io.lines() do
        print("done 4", pcall(deep))
        io.stdout:flush()
      end
    ]]
    local command = served.start({"attach", target.address, "-o", "rec",
                                  "--sample", "10000"}, target.directory)
    command:until_ready(function () return command.err:find "attached" end)
    for _ = 1, 3 do
      target:tell "2"
      target:says "done 4"
    end
    command:kill()
    assert.equal(0, command:ended(), command.err)
    local lost = recorded.open(target.directory .. "/rec"):traces()[1].lost
    local told = command.err:match("\ntracegrip: the trace lacks ([%d,]+) "
        .. "samples? %(taking them took half of the time%)\n$")
    assert.equal(lost.dropped, told and tonumber((told:gsub(",", ""))) or 0)
  end)

  it("ends when its time is over, also while the program sleeps", function ()
    local target <close> = serving.start(program)
    local directory = target.directory
    local command = attach(target, {"-o", "rec", "--duration", "5s"}, directory)
    work_until(target, function ()
      require("luv").run "nowait"
      local recording = recorded.open(directory .. "/rec")
      return recording and recording:traces()[1]
             and #recorded.packets(recording) > 0
    end)
    assert.equal(0, command:ended(), command.err)
    local info = assert(recorded.open(directory .. "/rec")):info()
    assert.equal("duration", info.traces[1].ended)
    assert.is_true(math.abs(info.duration_ms - 5000) < 0.001,
                   info.duration_ms)
  end)

  it("ends with a program that ends", function ()
    local target <close> = serving.start(program)
    local command = attach(target, {}, target.directory)
    work_until(target, function ()
      require("luv").run "nowait"
      return command.out:find "tail%("
    end)
    target.input:shutdown()
    assert.equal(0, command:ended(), command.err)
    assert.equal(0, target:ended())
  end)

  it("tells the token, and fails without it", function ()
    run.within(function (directory)
      local token = ("0123456789abcdef"):rep(2)
      local target <close> = serving.start((program:gsub("listen%(%)",
        ("listen {token = %q}"):format(token))))
      local command = attach(target, {"--duration", "50ms"}, directory,
                             {TRACEGRIP_TOKEN = token})
      assert.equal(0, command:ended(), command.err)
      for _, wrong in ipairs {"", token:reverse()} do
        command = attach(target, {}, directory, {TRACEGRIP_TOKEN = wrong})
        assert.equal(1, command:ended())
        assert.matches("^tracegrip: [^\n]+\n$", command.err)
      end
    end)
  end)

  it("waits for its turn", function ()
    local target <close> = serving.start(program)
    local first = attach(target, {}, target.directory)
    work_until(target, function ()
      require("luv").run "nowait"
      return first.out ~= ""
    end)
    local second = attach(target, {}, target.directory)
    assert.equal(1, second:ended())
    assert.matches("^tracegrip: Already attached to a client "
                   .. "%(127%.0%.0%.1:%d+, for %d+ s%)\n$", second.err)
    first:kill()
    assert.equal(0, first:ended())
  end)

  it("reaches a program by its socket's name", function ()
    local target <close> = serving.start((program:gsub("listen%(%)",
      'listen {path = "socket"}')))
    local command = attach(target, {"--duration", "50ms"}, target.directory)
    assert.equal(0, command:ended(), command.err)
  end)

  it("traces what serve runs", function ()
    local code = program:gsub("^[^\n]*\n", "")
    local target <close> = serving.command({run.build .. "/bin/tracegrip",
                                            "serve", "program.lua"}, code)
    target.address = target:await_address()
    local command = attach(target, {"--max-events", "10"}, target.directory)
    work_until(target, function ()
      require("luv").run "nowait"
      return command.status
    end)
    assert.equal(0, command:ended(), command.err)
    assert.matches("tail%(", command.out)
  end)
end)
