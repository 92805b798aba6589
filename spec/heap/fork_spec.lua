-- tracegrip heap PID --fork: a process goes on as if nobody had made it fork.

local lfs = require "lfs"

local heaps = require "spec.support.heaps"
local lookedat = require "spec.support.lookedat"
local run = require "spec.support.run"
local waiting = require "spec.support.waiting"

local FORKS = 8

local machine = io.popen "uname -m":read "l"
local it = machine == "x86_64" and it or pending

-- What programs begin with: a heap, and what they do until they are told to
-- end. Each round is worked out twice: what a register lost would differ.
local head = ([[
  package.cpath = %q .. package.cpath
  local process = require "process"
  list = {}
  for i = 1, 5000 do list[i] = {name = "name " .. i, i / 3} end
  local function told ()
    local file = io.open "go"
    if file then file:close() end
    return file ~= nil
  end
  local function work ()
    local sum, parts = 0.5, {}
    for i = 1, 2000 do
      sum = sum * 1.0000001 + #list[i].name
      parts[i %% 50 + 1] = ("%%d:%%.3f"):format(i, sum)
    end
    return table.concat(parts)
  end
  local function work_on ()
    local expected, rounds = work(), 0
    repeat
      assert(work() == expected)
      rounds = rounds + 1
    until told()
    return rounds
  end
  local function answer (...)
    local file = io.open("answer", "w")
    file:write(table.concat({...}, " "))
    file:close()
  end
]]):format(run.build .. "/spec/?.so;")

local function children_of (pid)
  local tasks, all = ("/proc/%d/task/"):format(pid), {}
  for task in lfs.dir(tasks) do
    all[#all + 1] = task:find "%d" and run.read(tasks .. task .. "/children")
  end
  return table.concat(all)
end

-- Forks of the program that says its word; then it is told to end, and gets a
-- signal if one is given. Its answer.
local function forked (code, signal)
  local answer
  lookedat.with(run.lua, head .. code, function (process)
    process:word()
    local path = process.directory .. "/x.heapsnapshot"
    local before = children_of(process.pid)
    for _ = 1, FORKS do
      local document = heaps.take(process.pid, path, "--fork")
      assert.equal(document.state_bytes, document.bytes)
      assert.is_true(document.stopped_ms > 0)
      assert.is_nil(document.left)
      assert.equal(before, children_of(process.pid))
    end
    local snapshot = heaps.read(path)
    snapshot:check()
    assert.is_true(#snapshot.nodes > 10000)
    process.stdin:write "a line\n"      -- first: nobody may be there after "go"
    run.write(process.directory .. "/go", "")
    if signal then
      process.handle:kill(signal)
    end
    assert(waiting.till(function () return process.status end, run.patience))
    assert.same({0, 0}, {process.status, process.signal})
    answer = run.read(process.directory .. "/answer")
  end)
  return answer
end

describe("a process that is forked from outside", function ()
  it("goes on with the call that it waits in", function ()
    assert.equal("a line", forked [[
      say "waits"
      answer(io.read())]])
  end)

  it("sleeps as long as it wanted to, uninterrupted", function ()
    assert.equal("0", forked [[
      local seconds = 0
      say "sleeps"
      local interrupted = 0
      repeat interrupted = interrupted + process.sleep(0.3) until told()
      answer(interrupted)]])
  end)

  it("goes on with its work", function ()
    assert.is_true(tonumber((forked [[
      say "works"
      answer(work_on())]])) > 0)
  end)

  it("has each signal that comes meanwhile", function ()
    local rounds, alarms, own = (forked [[
      process.count(14) process.count(10)
      process.storm(300)
      say "works"
      local expected, sent, rounds = work(), 0, 0
      repeat
        process.kill(process.pid(), 10)
        sent = sent + 1
        assert(work() == expected)
        rounds = rounds + 1
      until told()
      process.storm(0)
      assert(process.count(10) == sent)
      answer(rounds, process.count(14), sent)]]):match "^(%d+) (%d+) (%d+)$"
    assert.is_true(tonumber(rounds) > 0 and tonumber(alarms) > 100)
    assert.equal(rounds, own)
  end)

  it("waits in a call while signals come", function ()
    assert.equal("a line", forked [[
      process.count(14)
      process.storm(300)
      say "waits"
      local line = io.read()
      process.storm(0)
      answer(line)]])
  end)

  it("waits for a signal that is blocked otherwise", function ()
    assert.equal("1 true", forked([[
      process.count(10)
      say "waits"
      local count, blocked = process.suspend(10)
      answer(count, tostring(blocked))]], "sigusr1"))
  end)

  it("finds its own children alone, and hears of no other", function ()
    assert.equal("7 1", forked [[
      process.count(17)
      local pid = process.fork()
      if pid == 0 then
        repeat process.sleep(0.05) until told()
        process.leave(7)
      end
      say "waits"
      answer(process.wait(-1), process.count(17))]])
  end)

  it("may have threads, of which one waits for another", function ()
    assert.is_true(tonumber((forked [[
      local uv = require "luv"
      local threads = {}
      for i = 1, 3 do
        threads[i] = uv.new_thread(function ()
          local function work ()
            local parts = {}
            for i = 1, 500 do parts[i] = ("%.3f"):format(i / 7) end
            return table.concat(parts)
          end
          local expected = work()
          repeat
            assert(work() == expected)
            local file = io.open "go"
          until file
        end)
      end
      say "joins"
      for i = 1, 3 do threads[i]:join() end
      answer(work_on())]])) > 0)
  end)

  it("is refused with its filter of calls", function ()
    lookedat.with(run.lua, head .. [[
      assert(process.filter())
      say "waits"
      io.read()]], function (process)
      process:waiting()
      local result = heaps.command {tostring(process.pid), "--fork", "-o",
                                    process.directory .. "/x"}
      assert.equal(1, result.status)
      assert.equal(("tracegrip: process %d filters its calls of the system "
                    .. "(seccomp): it cannot be forked\n"):format(process.pid),
                   result.stderr)
      assert.is_nil(io.open(process.directory .. "/x"))
    end)
  end)

  it("is refused while it is stopped", function ()
    lookedat.with(run.lua, head .. [[
      say "waits"
      io.read()]], function (process)
      process:waiting()
      process.handle:kill "sigstop"
      waiting.till(function ()
        return (run.read(("/proc/%d/stat"):format(process.pid)) or "")
               :find "%) T "
      end, run.patience)
      local result = heaps.command {tostring(process.pid), "--fork", "-o",
                                    process.directory .. "/x"}
      assert.equal(1, result.status)
      assert.matches("cannot be forked now", result.stderr)
    end)
  end)
end)

describe("--fork", function ()
  it("is for a process alone", function ()
    run.within(function (directory)
      local path = directory .. "/x.heapsnapshot"
      run.write(path, "{}")
      run.write(directory .. "/core", "\x7fELF")
      assert.equal(2, heaps.command({path, "--fork"}).status)
      assert.equal(2, heaps.command({directory .. "/core", "--fork"}).status)
      assert.equal(2, heaps.command({"--fork", "--", "x.lua"}).status)
    end)
  end)
end)
