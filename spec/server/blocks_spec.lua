-- tracegrip attach gets the program's stream as blocks: what it records is what
-- the program itself would have recorded; and where it is too slow, whole
-- stretches are missing and no frame is wrong.

local generate = require "spec.transparency.generate"
local run = require "spec.support.run"
local it = run.needs("luv", it, pending)
local normal = require "spec.support.normal"
local peers = require "spec.server.peer"
local recorded = require "spec.support.recorded"
local served = require "spec.support.served"
local serving = require "spec.server.serving"
local stopped = require "spec.support.stopped"
local util = require "luassert.util"
local uv = require "luv"

-- A program that does `work` for each line, and says so.
local function listening (work)
  return ([[
    require("tracegrip").listen()
    %s
    for line in io.lines() do
      work(line)
      print "done"
      io.stdout:flush()
    end
  ]]):format(work)
end

local function attach (target, ...)
  local words = {"attach", target.address, "-o", "remote", ...}
  local command = served.start(words, target.directory)
  command:until_ready(function () return command.err:find "attached" end)
  return command
end

-- Has the program work once.
local function work (target, line)
  target:tell(line or "")
  target:says "done\n"
end

local function finish (command)
  command:kill()
  assert.equal(0, command:ended(), command.err)
end

local function open (target, name)
  return assert(recorded.open(target.directory .. "/" .. name))
end

-- What happened, without what depends on where the trace began.
local function events (packets)
  for _, packet in ipairs(packets) do
    packet.sequence, packet.depth, packet.hitCount = nil, nil, nil
  end
  return packets
end

-- Where the first of `list` is in `all`, by its time.
local function place (all, list)
  for i, packet in ipairs(all) do
    if packet.time == list[1].time and packet.type == list[1].type then
      return i
    end
  end
end

describe("a trace that comes as blocks", function ()
  for seed = 1301, run.some(1302, 1305) do
    it(("is what the program itself records (seed %d)"):format(seed),
        function ()
      local target <close> = serving.start(listening(([[
        local core = require "tracegrip.core"
        local text = %q
        function work ()
          local print, write = print, io.write
          _G.print, io.write = function () end, function () end
          local _, trace = assert(core.record({}, {path = "local"}))
          pcall(load(text))
          trace:stop()
          _G.print, io.write = print, write
        end
      ]]):format(generate(seed))))
      local command = attach(target, "--overflow", "wait")
      work(target, "")
      finish(command)
      local here = events(recorded.packets(open(target, "remote")))
      local there = events(recorded.packets(open(target, "local")))
      local first = assert(place(here, there))
      assert.is_true(#there > 10)
      for i, packet in ipairs(there) do
        if not util.deepcompare(packet, here[first + i - 1]) then
          assert.same(packet, here[first + i - 1])    -- takes its time
        end
      end
    end)
  end

  local busy = listening [[
    local function leaf (i)
      return i
    end
    local function generator ()
      while true do
        coroutine.yield(leaf(1))
      end
    end
    local next = coroutine.wrap(generator)
    local function request (i)
      leaf(leaf(i))
      if i % 100 == 0 then
        next()
      end
      return pcall(error, i)
    end
    function work (line)
      for i = 1, tonumber(line) do
        request(i)
      end
    end
  ]]

  -- Its packets, which nest as they must; how many times all frames ended at
  -- once, and how many calls there are.
  local function check (recording)
    local packets = recorded.packets(recording, {trace = {"name", "time"}})
    assert(normal.check(packets))
    local gaps, calls, before = 0, 0, nil
    for _, packet in ipairs(packets) do
      if packet.type == "enteredFrame" and not packet.resumed then
        calls = calls + 1
      elseif packet.why == "terminated" and before ~= "terminated" then
        gaps = gaps + 1
      end
      before = packet.why
    end
    return gaps, calls
  end

  it("lacks whole stretches where the client was too slow", function ()
    local target <close> = serving.start(busy)
    local command = attach(target, "--buffer", "256K")
    work(target, "100")
    stopped.at(command.pid)
    work(target, "200000")
    uv.kill(command.pid, "sigcont")
    work(target, "100")
    finish(command)
    assert.matches("lost", command.err)
    local recording = open(target, "remote")
    assert.equal("complete", recording:info().state)
    assert.is_true(recorded.lost(recording:traces()[1]) > 100000)
    local gaps, calls = check(recording)
    assert.is_true(gaps > 0)
    assert.is_true(calls > 1000)
  end)

  it("loses nothing with a client that may make it wait", function ()
    local target <close> = serving.start(busy)
    local command = attach(target, "--overflow", "wait", "--buffer", "256K",
                           "--trace", "name,time")
    stopped.at(command.pid)
    target:tell "30000"
    uv.sleep(200)
    uv.kill(command.pid, "sigcont")
    target:says "done\n"
    finish(command)
    local recording = open(target, "remote")
    assert.equal(0, recorded.lost(recording:traces()[1]))
    local gaps, calls = check(recording)
    assert.equal(0, gaps)
    assert.is_true(calls >= 30000 * 5)
  end)

  -- How long its first thread has run, in ns: the kernel's word.
  local function ran (target)
    return tonumber(run.read(("/proc/%d/schedstat"):format(target.pid))
                      :match "^%d+")
  end

  -- Until it has run on from there, and sleeps whenever it is looked at: a
  -- thread that others keep from a processor does not.
  local function until_asleep (target, before)
    local times = 0
    assert(peers.wait(function ()
      local sleeps = ran(target) > before and target:proc("State"):find "^S"
      times = sleeps and times + 1 or 0
      return times == 5
    end))
  end

  it("has what was waited for its client in no call's time", function ()
    local target <close> = serving.start(busy)
    local command = attach(target, "--overflow", "wait", "--buffer", "64K")
    work(target, "1")
    stopped.at(command.pid)
    local before = ran(target)
    target:tell "100000"
    until_asleep(target, before)
    uv.sleep(1500)
    uv.kill(command.pid, "sigcont")
    target:says "done\n"
    finish(command)
    local recording = open(target, "remote")
    local about = recording:info()
    assert.is_true(about.waited_ms > 500)
    local report = recording:traces()[1]:report()
    -- The iterator waits for the next line, which is told as late as may be.
    local long = {work = true, ["for iterator"] = true}
    local sum = 0
    for _, row in ipairs(report.functions) do
      sum = sum + row.self_ms
      assert.is_true(long[row.name] or row.max_ms < about.waited_ms / 2,
                     row.name)
    end
    assert.is_true(sum <= report.duration_ms + 0.001)
    local info = served.start({"info", "remote"}, target.directory)
    info:ended()
    assert.matches("duration: [^\n]+, and %S+ m?s waited for a client",
                   info.out)
  end)

  it("has the program's markers, unless other types are asked for",
     function ()
    local target <close> = serving.start(listening [[
      local console = require "tracegrip.console"
      function work (line) console.log("at", line) end
    ]])
    for types, count in pairs {[""] = 2, ["name,time"] = 0} do
      local command = types == "" and attach(target)
                      or attach(target, "--trace", types)
      work(target, "one")
      work(target, "two")
      finish(command)
      local said = {}
      for packet in open(target, "remote"):traces()[1]:packets() do
        if packet.type == "marker" then
          said[#said + 1] = packet.arguments.values[2]
        end
      end
      assert.equal(count, #said)
      assert.equal(count > 0 and "one" or nil, said[1])
      os.remove(target.directory .. "/remote")
    end
  end)

  it("is good up to where its client was killed", function ()
    local target <close> = serving.start(busy)
    local command = attach(target)
    work(target, "1000")
    local function count ()   -- nil, where no trace has begun yet
      local there = recorded.open(target.directory .. "/remote")
      return there and there:info().events or 0
    end
    local function enough ()    -- a call is two events
      return count() > 3000
    end
    assert.is_true(peers.wait(enough))
    uv.kill(command.pid, "sigkill")
    command:ended()
    local recording = open(target, "remote")
    assert.equal("cut off", recording:info().state)
    local _, calls = check(recording)
    assert.is_true(calls > 1000)
    work(target, "10")      -- the program goes on
  end)

  -- A proxy in front of a port, which passes on what comes from there when
  -- `pass` calls its second argument; the first is how many bytes that is.
  local function proxy (port, pass)
    local server = uv.new_tcp()
    server:bind("127.0.0.1", 0)
    server:listen(8, function ()
      local here, there = uv.new_tcp(), uv.new_tcp()
      server:accept(here)
      there:connect("127.0.0.1", port, function ()
        local function join (from, to, how)
          local function read (_, bytes)
            if not bytes then
              return to:is_closing() or to:close()
            end
            from:read_stop()
            how(#bytes, function ()
              if not to:is_closing() then
                to:write(bytes)
              end
              if not from:is_closing() then
                from:read_start(read)
              end
            end)
          end
          from:read_start(read)
        end
        join(here, there, function (_, go_on) go_on() end)
        join(there, here, pass)
      end)
    end)
    return server, server:getsockname().port
  end

  local function attach_by (target, pass, ...)
    local server, port = proxy(target.port, pass)
    local command = served.start({"attach", tostring(port), "-o", "remote",
                                  ...}, target.directory)
    command:until_ready(function () return command.err:find "attached" end)
    return command, server
  end

  local function later (ms, what)
    local timer = uv.new_timer()
    timer:start(ms, 0, function ()
      timer:close()
      what()
    end)
  end

  it("comes over a connection with a delay", function ()
    local target <close> = serving.start(busy)
    local command, server = attach_by(target, function (_, go_on)
      later(200, go_on)
    end)
    work(target, "500")
    finish(command)
    local gaps, calls = check(open(target, "remote"))
    assert.equal(0, gaps)
    assert.is_true(calls > 5 * 500)
    server:close()
  end)

  it("comes over a thin connection, with what that could not take missing",
      function ()
    local target <close> = serving.start(busy)
    local command, server = attach_by(target, function (bytes, go_on)
      later(bytes // 1000, go_on)         -- 1 MB a second
    end, "--buffer", "256K")
    work(target, "60000")
    finish(command)
    check(open(target, "remote"))
    server:close()
  end)

  it("comes compressed over a thin connection", function ()
    local target <close> = serving.start(busy)
    local sent = 0
    local command, server = attach_by(target, function (bytes, go_on)
      sent = sent + bytes
      later(bytes // 4000, go_on)
    end)
    work(target, "60000")
    finish(command)
    local remote = open(target, "remote")
    check(remote)
    assert.is_true(remote:info().bytes > 4 << 20)
    -- two fifths of it, and more where blocks are sent before they are full;
    -- what is not compressed is more than all
    assert.is_true(sent < remote:info().bytes, sent)
    server:close()
  end)

  it("is refused beside another one", function ()
    local target <close> = serving.start(busy)
    local peer <close> = target:peer()
    peer:request "attach"
    peer:request("startTrace", {name = "a", blocks = true})
    local reply = peer:request("startTrace", {name = "b"})
    assert.equal("wrongState", reply.error)
    reply = peer:request("startTrace", {name = "a", blocks = 1})
    assert.equal("badParameterType", reply.error)
  end)

  it("has no value that the host hides, whoever else records", function ()
    local target <close> = serving.start [[
      local tracegrip = require "tracegrip"
      tracegrip.listen {options = {redact = {"^pass"}}}
      local function login (password, user)
        return {user = user, passphrase = password .. "!"}
      end
      local own = tracegrip.start {name = "own", trace = {"name", "arguments",
                                                          "return"}}
      for line in io.lines() do
        login("se" .. "cret", "somebody")
        if line == "end" then
          own:stop()
          assert(own:save "own")
        end
        print "done"
        io.stdout:flush()
      end
    ]]
    work(target)
    local command = attach(target, "--redact", "^user$")
    work(target)
    work(target)
    finish(command)
    work(target, "end")
    local text = run.read(target.directory .. "/remote")
    assert.is_truthy(text:find("login", 1, true))
    assert.is_nil(text:find("secret", 1, true))
    assert.is_nil(text:find("somebody", 1, true))
    -- the program's own trace has them from when it was alone
    text = run.read(target.directory .. "/own")
    assert.is_truthy(text:find("secret", 1, true))
    assert.is_truthy(text:find("somebody", 1, true))
  end)
end)
