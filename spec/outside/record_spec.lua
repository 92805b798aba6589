-- Samples of processes that know nothing of it: what they say is held against
-- work that the programs have counted.

local lookedat = require "spec.support.lookedat"
local run = require "spec.support.run"
local spied = require "spec.support.spied"
local waiting = require "spec.support.waiting"
local uv = require "luv"

-- Six, three and one parts of the same work. A round of all three takes as long
-- as many ticks: one that takes as long as a few is looked at in step with it.
local functions = [[
local function A ()
  local x = 0 for i = 1, 99600 do x = x + i %% 7 end return x
end
local function B ()
  local x = 0 for i = 1, 49800 do x = x + i %% 7 end return x
end
local function C ()
  local x = 0 for i = 1, 16600 do x = x + i %% 7 end return x
end
]]

local flat = functions .. [[
say 'x' io.read()
for i = 1, %d do A() B() C() end]]

local coroutines = functions .. [[
local function loop (f)
  while true do f() coroutine.yield() end
end
local a = coroutine.wrap(function () loop(A) end)
local b = coroutine.wrap(function () loop(B) end)
local c = coroutine.create(function () loop(C) end)
say 'x' io.read()
for i = 1, %d do a() b() coroutine.resume(c) end]]

-- Calls that take about as long as a look does, or less. Who waited until
-- nothing changes would give up most looks, and see the longest calls alone.
local brief = [[
local function A ()
  local x = 0 for i = 1, 200 do x = x + i %% 7 end return x
end
local function B ()
  local x = 0 for i = 1, 100 do x = x + i %% 7 end return x
end
local function C ()
  local x = 0 for i = 1, 33 do x = x + i %% 7 end return x
end
local function round (n) for i = 1, n do A() B() C() end end
say 'x' io.read()
for i = 1, %d do round(1000) end]]

package.cpath = run.build .. "/spec/?.so;" .. package.cpath
local pin = require "process".pin

local dense, check_shares = spied.dense, spied.check_shares
local ROUNDS = 1000             -- of 166,000 steps: a second or two

-- What so many samples have shown of one Lua is asked of each other one, and of
-- coroutines, with as many as tell whether frames are read where they are: what
-- is near is told by their number.
local SOME = ROUNDS // 4

local function samples_of (path)
  return spied.info(path).samples
end

-- Whether there are samples in a recording that is being made.
local function has_samples (path)
  local ok, taken = pcall(function () return samples_of(path).taken end)
  return ok and taken > 0
end

-- Milliseconds of all functions.
local function sum_of (path)
  local sum = 0
  for _, row in pairs(spied.report(path)) do
    sum = sum + row.self_ms
  end
  return sum
end

-- Milliseconds of Lua functions at lines that are known, and all of theirs.
local function known_lines (path)
  local known, all = 0, 0
  for _, row in pairs(spied.report(path, true)) do
    if row.url ~= "[C]" then
      all = all + row.self_ms
      for _, at in ipairs(row.lines or {}) do
        known = known + (at.line > 0 and at.self_ms or 0)
      end
    end
  end
  return known, all
end

-- How many performance events of the kernel a process has opened.
local function events_of (pid)
  local folder, n = ("/proc/%d/fd"):format(pid), 0
  for name in uv.fs_scandir_next, assert(uv.fs_scandir(folder)) do
    local what = uv.fs_readlink(folder .. "/" .. name)
    n = n + (what == "anon_inode:[perf_event]" and 1 or 0)
  end
  return n
end

describe("record --pid", function ()
  for _, interpreter in ipairs(lookedat.interpreters()) do
    describe("of Lua " .. interpreter.release, function ()
      -- Frames of another release are read at other places, which the first two
      -- tell; what else a look does is the same code.
      local it_all = (run.thorough or interpreter.path == run.lua) and it
                     or function () end

      it("tells shares of time as they are", function ()
        local rounds = interpreter.path == run.lua and ROUNDS or SOME
        spied.whole(interpreter.path, flat:format(rounds),
                    {"--sample", "10000"}, function (path)
          check_shares(path, {A = 0.6, B = 0.3, C = 0.1}, "self_ms")
        end)
      end)

      it("tells those of coroutines as they are", function ()
        spied.whole(interpreter.path, coroutines:format(SOME),
                    {"--sample", "10000"}, function (path)
          check_shares(path, {A = 0.6, B = 0.3, C = 0.1}, "self_ms")
        end)
      end)

      it_all("sees short calls by the clock as often as long ones", function ()
        lookedat.with(interpreter.path, brief:format(500),
                      function (process)
          process:waiting()
          local path = process.directory .. "/x.tgr"
          local command = spied.start {
            "record", "--pid", tostring(process.pid), "-o", path, "--wall"}
          spied.looking(command)
          pin(process.pid, 1)   -- apart: it runs on while it is looked at
          pin(command.pid, 2)
          process.stdin:close()
          spied.ended(command)
          assert.equal(0, command.status, command.stderr)
          check_shares(path, {A = 0.6, B = 0.3, C = 0.1}, "total_ms", nil, 6)
          local samples = samples_of(path)
          local given_up = samples.dropped.frames or 0
          assert(given_up <= samples.taken / 5,
                 ("%d given up, %d taken"):format(given_up, samples.taken))
        end)
      end)

      it_all("has stacks that can be where calls are dense", function ()
        spied.whole(interpreter.path, dense:format(300),
                    {"--sample", "10000"}, function (path)
          check_shares(path, {P = 2 / 3, Q = 1 / 3}, "total_ms")
          local callers = {leaf = {P = true, Q = true},
                           twig = {P = true, Q = true},
                           P = {["(main chunk)"] = true},
                           Q = {["(main chunk)"] = true}}
          local sum, wrong = 0, 0
          for _, stack in ipairs(spied.stacks(path)) do
            sum = sum + stack.weight
            for i, name in ipairs(stack) do
              if callers[name] and not callers[name][stack[i - 1]] then
                wrong = wrong + stack.weight
              end
            end
          end
          assert(wrong <= sum / 1000, ("%d of %d ns"):format(wrong, sum))
        end)
      end)
    end)
  end

  it("tells what was taken, taken again and given up", function ()
    spied.whole(run.lua, flat:format(SOME), {}, function (path, command)
      local samples = samples_of(path)
      assert.equal("cpu", samples.clock)
      assert.equal(1000, samples.rate)
      assert.is_true(samples.taken > 0)
      assert.equal("number", type(samples.retried))
      assert.equal("table", type(samples.dropped))
      local info = spied.info(path)
      assert.equal("complete", info.state)
      assert.truthy(info.program:find("program.lua", 1, true))
      assert.truthy(command.stderr:find "process %d+ has ended; [^\n]*samples")
    end)
  end)

  it("names functions and lines as traces do", function ()
    spied.whole(run.lua, [[
      local M = {}
      package.loaded.shop = M
      function M.count (n)
        local x = 0
        for i = 1, n do
          x = x + i % 7
        end
        return x
      end
      local Account = {}
      function Account:deposit () return M.count(3000) end
      say 'x' io.read()
      for i = 1, 20000 do Account:deposit() string.rep("x", 9) end
    ]], {"--sample", "4000"}, function (path)
      local rows = spied.report(path)
      assert.truthy(rows["shop.count"])
      assert.truthy(rows["shop.count"].self_ms
                    > 0.8 * rows["(main chunk)"].total_ms)
      assert.is_nil(rows["Account:deposit"]
                    and rows["Account:deposit"].self_ms
                        > rows["shop.count"].self_ms or nil)
      local known, all = known_lines(path)
      assert(all > 0 and known > all / 2, ("%f of %f"):format(known, all))
    end)
  end)

  it("takes functions that have no debug information", function ()
    spied.whole(run.lua, [[
      local function worker (n, m)
        local x = 0
        for i = 1, n do x = x + i % m end
        return x
      end
      local f = load(string.dump(worker, true), "=stripped")
      say 'x' io.read()
      for _ = 1, 100 do f(100000, 7) end
    ]], {"--sample", "1000"}, function (path)
      assert.is_true(sum_of(path) > 0)
    end)
  end)

  it("shows by the clock what a process waits in", function ()
    lookedat.with(run.lua, [[
      local function ask () return io.read() end
      say 'x'
      ask()]], function (process)
      process:waiting()
      local path = process.directory .. "/x.tgr"
      local command = spied.ended(spied.start {
        "record", "--pid", tostring(process.pid), "-o", path, "--wall",
        "--duration", "1"})
      assert.equal(0, command.status, command.stderr)
      local rows = spied.report(path)
      assert.is_true(rows["io.read"].self_ms > 100)
      assert.is_true(rows["ask"] == nil or rows["ask"].self_ms == 0)
      assert.equal("wall", samples_of(path).clock)
    end)
  end)

  -- The kernel counts by steps of some milliseconds, so that a thread is seen
  -- to run when it has. The program runs so long that what passes before its
  -- first look and after its last one is little of it.
  it("counts what has passed by the clock once", function ()
    spied.whole(run.lua, flat:format(ROUNDS),
                {"--wall", "--sample", "10000"}, function (path)
      local sum, passed = sum_of(path), spied.info(path).duration_ms
      assert(sum > 0.4 * passed and sum < 1.3 * passed,
             ("%f of %f ms"):format(sum, passed))
    end)
  end)

  -- Which thread runs the second state is not known before it waits: until then
  -- it is the time of the process that is counted, which is more.
  it("counts by the clock what has passed for each state", function ()
    lookedat.with(run.lua, spied.cpath .. [[
      for i = 1, 1e8 do end
      say 'x'
      require 'states'.new():elsewhere "repeat until io.open 'go' io.read()"]],
                  function (process)
      process:word()
      local path = process.directory .. "/x.tgr"
      local command = spied.start {"record", "--pid", tostring(process.pid),
                                   "-o", path, "--wall"}
      spied.looking(command)
      assert(spied.used(process.pid, 0.05))
      run.write(process.directory .. "/go", "")
      uv.sleep(2000)            -- so long that what came before it is little
      process.stdin:close()
      spied.ended(command)
      assert.equal(0, command.status, command.stderr)
      local sum, passed = sum_of(path), spied.info(path).duration_ms
      assert(sum > passed and sum < 3 * passed, ("%f of %f ms")
             :format(sum, passed))
    end)
  end)

  it("takes nothing of a process that only waits, and says so", function ()
    lookedat.with(run.lua, "say 'x' io.read()", function (process)
      process:waiting()
      local command = spied.ended(spied.start {
        "record", "--pid", tostring(process.pid), "-o",
        process.directory .. "/x.tgr", "--duration", "200ms"})
      assert.equal(0, command.status)
      assert.truthy(command.stderr:find("it has not run (--wall", 1, true))
    end)
  end)

  it("tells of threads that it cannot look at", function ()
    run.within(function (directory)
      local words, input = {"threads"}, uv.new_pipe()
      run.write(directory .. "/p.lua", "io.read()")
      for i = 1, 64 do          -- and the first thread: one more than are seen
        words[i + 1] = directory .. "/p.lua"
      end
      local handle, pid = uv.spawn(run.build .. "/spec/embedding",
                                   {args = words, stdio = {input}},
                                   function () end)
      assert(waiting.till(function ()
        return run.read(("/proc/%d/status"):format(pid))
               :find("\nThreads:\t65\n", 1, true)
      end, run.patience))
      local path = directory .. "/x.tgr"
      local command = spied.ended(spied.start {
        "record", "--pid", tostring(pid), "-o", path, "--duration", "100ms"})
      handle:kill "sigkill"
      handle:close()
      input:close()
      assert.equal(0, command.status, command.stderr)
      assert.is_true(samples_of(path).dropped.threads >= 1)
      assert.truthy(command.stderr:find "%d+ threads? not looked at")
    end)
  end)

  it("tells of states that it cannot look at", function ()
    lookedat.with(run.lua, spied.crowd, function (process)
      process:waiting()
      local path = process.directory .. "/x.tgr"
      local command = spied.ended(spied.start {
        "record", "--pid", tostring(process.pid), "-o", path, "--duration",
        "100ms"})
      assert.equal(0, command.status, command.stderr)
      assert.equal(3, samples_of(path).dropped.states)
      assert.truthy(command.stderr:find("3 states not looked at", 1, true))
    end)
  end)

  -- While it is stopped itself nobody makes room for them. That there was none
  -- is told with the next one.
  it("tells of ticks that were lost", function ()
    lookedat.with(run.lua, "say 'x' while true do math.sin(1) end",
                  function (process)
      process:word()
      local path = process.directory .. "/x.tgr"
      local command = spied.start {"record", "--pid", tostring(process.pid),
                                   "--sample", "10000", "-o", path}
      spied.looking(command)
      command.handle:kill "sigstop"
      local stood = spied.used(process.pid, 0.3)
      command.handle:kill "sigcont"
      assert(stood and spied.used(process.pid, 0.3))
      command.handle:kill "sigint"
      spied.ended(command)
      assert.equal(0, command.status, command.stderr)
      assert.is_true(samples_of(path).dropped.ticks > 0)
      assert.truthy(command.stderr:find "%d+ ticks? lost")
    end)
  end)

  it("ends when the process becomes another program", function ()
    for _, next_one in ipairs {"/bin/sleep', '60'",
                               run.lua .. "', '-e', 'while true do end'"} do
      lookedat.with(run.lua, spied.cpath .. ([[
        say 'x' io.read()
        require 'process'.exec('%s)]]):format(next_one), function (process)
        process:waiting()
        local path = process.directory .. "/x.tgr"
        local command = spied.start {"record", "--pid", tostring(process.pid),
                                     "-o", path}
        spied.looking(command)
        process.stdin:close()
        spied.ended(command)
        assert.equal(0, command.status, command.stderr)
        assert.truthy(command.stderr:find "process %d+ runs another program")
        assert.equal("complete", spied.info(path).state)
        assert.is_nil(process.status)
      end)
    end
  end)

  it("looks by the clock where there are no events", function ()
    lookedat.with(run.lua, flat:format(ROUNDS // 2), function (process)
      process:waiting()
      local path = process.directory .. "/x.tgr"
      local command = spied.start({"record", "--pid", tostring(process.pid),
                                   "--sample", "10000", "-o", path},
                                  "require 'refused'.refuse()")
      spied.looking(command)
      assert.equal(0, events_of(command.pid))
      assert.truthy(run.read(("/proc/%d/status"):format(command.pid))
                    :find "\nSeccomp:%s*2")
      process.stdin:close()
      spied.ended(command)
      assert.equal(0, command.status, command.stderr)
      check_shares(path, {A = 0.6, B = 0.3, C = 0.1}, "self_ms", 5)
    end)
  end)

  -- Where a look takes longer than the time between two ticks the next one is
  -- there before it is over.
  it("ends when it is to, however long looks take", function ()
    lookedat.with(run.lua, [[
      local function deep (n, f)
        if n > 0 then return 1 + deep(n - 1, f) end
        f()
        return 0
      end
      local function level (n)
        return function ()
          coroutine.wrap(deep)(900, n > 0 and level(n - 1) or function ()
            say 'x'
            while true do math.sin(1) end
          end)
        end
      end
      level(40)()]], function (process)
      process:word()
      local command = spied.ended(spied.start {
        "record", "--pid", tostring(process.pid), "-o",
        process.directory .. "/x.tgr", "--sample", "10000", "--duration",
        "300ms"})
      assert.equal(0, command.status, command.stderr)
      assert.is_nil(process.status)
    end)
  end)

  it("makes an export of it, by the file's ending", function ()
    for name, start in pairs {["x.html"] = "^<!doctype html>",
                              ["x.folded"] = "^[^\n]+ %d+\n",
                              ["x.speedscope.json"] = "^{"} do
      lookedat.with(run.lua, flat:format(SOME // 2), function (process)
        process:waiting()
        local path = process.directory .. "/" .. name
        local command = spied.start {"record", "--pid", tostring(process.pid),
                                     "-o", path}
        spied.looking(command)
        process.stdin:close()
        spied.ended(command)
        assert.equal(0, command.status, command.stderr)
        assert.truthy(run.read(path):lower():find(start), name)
      end)
    end
  end)

  it("ends with Ctrl-C, and keeps what it has", function ()
    lookedat.with(run.lua, "say 'x' while true do math.sin(1) end",
                  function (process)
      process:word()
      local path = process.directory .. "/x.tgr"
      local command = spied.start {"record", "--pid", tostring(process.pid),
                                   "-o", path}
      spied.looking(command)
      command.handle:kill "sigint"
      spied.ended(command)
      assert.equal(0, command.status, command.stderr)
      assert.equal("complete", spied.info(path).state)
      assert.is_nil(process.status)
    end)
  end)
end)

describe("record --outside", function ()
  local function record (words)
    local all = {"record", "--outside", "--sample", "10000"}
    table.move(words, 1, #words, #all + 1, all)
    return spied.ended(spied.start(all))
  end

  -- Works until there is its recording, and then so many rounds more: for
  -- longer than whoever looks may have to wait for a processor.
  local until_looked_at = functions .. [[
repeat A() B() C() until io.open(arg[1])
for i = 1, %d do A() B() C() end
]]

  it("tells shares of a program of its own, and its exit status", function ()
    run.within(function (directory)
      run.write(directory .. "/p.lua",
                until_looked_at:format(SOME) .. "os.exit(7)")
      local path = directory .. "/x.tgr"
      local command = record({"-o", path, directory .. "/p.lua", path})
      assert.equal(7, command.status, command.stderr)
      check_shares(path, {A = 0.6, B = 0.3, C = 0.1}, "self_ms")
      assert.equal("complete", spied.info(path).state)
    end)
  end)

  it("looks at commands of every Lua", function ()
    for _, interpreter in ipairs(lookedat.interpreters()) do
      run.within(function (directory)
        run.write(directory .. "/p.lua", until_looked_at:format(SOME))
        local path = directory .. "/x.tgr"
        local command = record({"-o", path, "--", interpreter.path,
                                directory .. "/p.lua", path})
        assert.equal(0, command.status, command.stderr)
        assert.is_true(spied.report(path).A.self_ms > 0)
        assert.truthy(spied.info(path).versions.lua
                      :find(interpreter.release, 1, true))
      end)
    end
  end)

  -- It has a release's words in its constants, and is no Lua.
  it("gives up on a Lua that makes no state", function ()
    run.within(function (directory)
      run.write(directory .. "/p.c", [[
        #include <stdio.h>
        #include <unistd.h>
        const char ident[] = "$LuaVersion: Lua 5.4.4 Copyright";
        int main (int n, char **words) {
          FILE *f;
          puts(ident);
          while ((f = fopen(words[1], "r")) == NULL)
            usleep(10000);
          return 7;
        }]])
      local name = directory .. "/p"
      assert(os.execute(("cc -o %s %s.c"):format(run.quote(name),
                                                 run.quote(name))))
      local command = spied.start {"record", "--outside", "-o",
                                   directory .. "/x.tgr", "--", name,
                                   directory .. "/enough"}
      local told = waiting.till(function ()
        return command.stderr:find "no samples are taken:[^\n]*no state that"
      end, run.patience)
      run.write(directory .. "/enough", "")
      spied.ended(command)
      assert.truthy(told)
      assert.equal(7, command.status, command.stderr)
    end)
  end)

  it("says that there was nothing to look at", function ()
    run.within(function (directory)
      local path = directory .. "/x.tgr"
      local command = record({"-o", path, "--", "sh", "-c", "exit 0"})
      assert.equal(1, command.status)
      assert.truthy(command.stderr:find "no samples were taken")
      assert.is_nil(run.read(path))
    end)
  end)
end)

describe("record --subprocesses", function ()
  local work = [[
    local function work ()
      local x = 0 for i = 1, 1000 do x = x + i end return x
    end
    ]]

  -- It is met a fifth of a second after it has begun, or later where the
  -- machine is busy: so it is told how much processor time it takes.
  local child = work .. "repeat work() until os.clock() > 3"

  -- The same with a recording that it knows the name of.
  local met = work .. [[
    local path = arg[1] .. "." .. io.open "/proc/self/stat":read "n"
    repeat for i = 1, 1000 do work() end until io.open(path)
    for i = 1, 200000 do work() end]]

  -- The recordings in that directory of what the process has started.
  local function others (directory)
    local list = {}
    for name in uv.fs_scandir_next, uv.fs_scandir(directory) do
      if name:find "^x%.tgr%.%d+$" then
        list[#list + 1] = directory .. "/" .. name
      end
    end
    return list
  end

  it("looks at what a process starts, through shells as well", function ()
    lookedat.with(run.lua, ([[
      say 'x' io.read()
      local a = io.popen("%s child.lua x.tgr; true")
      local b = io.popen("%s child.lua x.tgr; true")
      a:close() b:close()]]):gsub("%%s", run.lua), function (process)
      run.write(process.directory .. "/child.lua", met)
      process:waiting()
      local path = process.directory .. "/x.tgr"
      local command = spied.start {"record", "--pid", tostring(process.pid),
                                   "-o", path, "--subprocesses"}
      spied.looking(command)
      process.stdin:close()
      spied.ended(command)
      assert.equal(0, command.status, command.stderr)
      assert.equal("complete", spied.info(path).state)
      local list = others(process.directory)
      assert.equal(2, #list, command.stderr)
      for _, name in ipairs(list) do
        local pid = name:match "%.(%d+)$"
        assert.is_true(spied.report(name).work.self_ms > 0)
        assert.equal(tonumber(pid), spied.info(name).pid)
        assert.truthy(command.stderr:find("x.tgr." .. pid
                                          .. ": [%d,]+ samples"))
      end
    end)
  end)

  it("counts those that have ended before it looks", function ()
    lookedat.with(run.lua, [[
      say 'x' io.read()
      for i = 1, 20 do os.execute "exit 0" end]], function (process)
      process:waiting()
      local command = spied.start {"record", "--pid", tostring(process.pid),
                                   "-o", process.directory .. "/x.tgr",
                                   "--subprocesses"}
      spied.looking(command)
      process.stdin:close()
      spied.ended(command)
      assert.equal(0, command.status, command.stderr)
      local unseen = command.stderr:match "(%d+) programs? that process %d+ has"
      assert.is_true(tonumber(unseen) > 0 and tonumber(unseen) <= 20)
    end)
  end)

  it("looks at those of a command that is no Lua itself", function ()
    run.within(function (directory)
      run.write(directory .. "/child.lua", child)
      local command = spied.ended(spied.start {
        "record", "--outside", "--subprocesses", "-o",
        directory .. "/x.folded", "--", "sh", "-c",
        ("%s %s/child.lua; exit 0"):format(run.lua, directory)})
      assert.equal(0, command.status, command.stderr)
      assert.is_nil(run.read(directory .. "/x.folded"))
      local name = io.popen("ls " .. run.quote(directory)):read "a"
                   :match "x%.%d+%.folded"
      assert.truthy(run.read(directory .. "/" .. name)
                    :find "%(main chunk%);work")
    end)
  end)

  it("ends with Ctrl-C, and keeps what all have", function ()
    lookedat.with(run.lua, ([[
      local f = io.popen("exec %s -e 'while true do math.sin(1) end'")
      say 'x'
      f:read "a"]]):format(run.lua), function (process)
      process:word()
      local path = process.directory .. "/x.tgr"
      local command = spied.start {"record", "--pid", tostring(process.pid),
                                   "-o", path, "--subprocesses"}
      local sub
      assert(waiting.till(function ()         -- until there are samples
        sub = others(process.directory)[1]
        return has_samples(sub)
      end, run.patience))
      command.handle:kill "sigint"
      spied.ended(command)
      assert.equal(0, command.status, command.stderr)
      assert.equal("complete", spied.info(path).state)
      assert.equal("complete", spied.info(sub).state)
      uv.kill(tonumber(sub:match "%d+$"), "sigkill")
    end)
  end)
end)

describe("top --pid", function ()
  it("shows where the time of a process goes", function ()
    lookedat.with(run.lua, [[
      local function busy () local x = 0 for i = 1, 1000 do x = x + i end end
      say 'x'
      while true do busy() end]], function (process)
      process:word()
      local command = spied.ended(spied.start {
        "top", "--pid", tostring(process.pid), "-n", "2", "--every", "1s"})
      assert.equal(0, command.status, command.stderr)
      assert.truthy(command.stdout:find("program.lua", 1, true))
      assert.truthy(command.stdout:find "\n[^\n]* busy +[^\n]*program.lua:")
      assert.is_nil(process.status)
    end)
  end)

  it("leaves when its tables cannot be written, and says so", function ()
    lookedat.with(run.lua, "say 'x' while true do end", function (process)
      process:word()
      local command = spied.ended(spied.start(
        {"top", "--pid", tostring(process.pid), "--every", "100ms"},
        "require 'process'.redirect('/dev/full', 1)"))
      assert.equal(1, command.status, command.stderr)
      assert.truthy(command.stderr:find("cannot write: ", 1, true))
      assert.is_nil(process.status)
    end)
  end)

  it("leaves when the process ends, and says so", function ()
    lookedat.with(run.lua, "say 'x' io.read()", function (process)
      process:waiting()
      local command = spied.start {"top", "--pid", tostring(process.pid),
                                   "--wall", "--every", "100ms"}
      spied.showing(command)
      process.stdin:close()
      spied.ended(command)
      assert.equal(0, command.status, command.stderr)
      assert.truthy(command.stderr:find "process %d+ has ended")
    end)
  end)

  it("refuses what it cannot show", function ()
    local result = run.command({run.build .. "/bin/tracegrip", "top", "--pid",
                                "1", "--calls"})
    assert.equal(2, result.status)
    assert.truthy(result.stderr:find("--calls is not for", 1, true))
    result = run.command({run.build .. "/bin/tracegrip", "top", "--pid",
                          "4194305"})
    assert.equal(1, result.status)
    assert.equal("", result.stdout)
    assert.truthy(result.stderr:find "^tracegrip: there is no process[^\n]*\n$")
  end)
end)

describe("a process of which samples are taken", function ()
  local busy = [[
    local function work () local x = 0 for i = 1, 1000 do x = x + i end end
    say 'x'
    while true do work() end]]

  local function status_of (pid)
    local text = run.read(("/proc/%d/status"):format(pid))
    return text:match "State:%s*(%a)", text:match "TracerPid:%s*(%d+)"
  end

  it("runs on if tracegrip is killed, also with --stop", function ()
    lookedat.with(run.lua, busy, function (process)
      process:word()
      for i = 1, 8 do
        local command = spied.start {
          "record", "--pid", tostring(process.pid), "--stop", "--sample",
          "10000", "-o", process.directory .. "/x.tgr", "--force"}
        spied.looking(command)
        uv.sleep(i)             -- it is killed at one moment or another
        command.handle:kill "sigkill"
        assert.equal(9, spied.ended(command).signal)
      end
      local state, tracer = status_of(process.pid)
      assert.is_nil(state:find "[tT]")
      assert.equal("0", tracer)
    end)
  end)

  it("has no torn samples with --stop", function ()
    -- It leaves without closing its state.
    spied.whole(run.lua, dense:format(600) .. " os.exit(0)", {"--stop"},
                function (path)
      local samples = samples_of(path)
      samples.dropped.late, samples.dropped.ticks = nil, nil
      -- At the very end its memory goes under the last looks.
      assert.is_true((samples.dropped.state or 0) <= 13)
      samples.dropped.state = nil
      assert.same({}, samples.dropped)
      assert.is_true(samples.taken > 0)
    end)
  end)

  it("may be of any making: nothing is taken for granted", function ()
    lookedat.with(run.lua, [[
      say 'x'
      local n = 0
      while true do
        n = n + 1
        local f = (loadstring or load)(
          ("local a, b = %d, 2 for i = 1, 50 do a = a + b end return a")
          :format(n), "=\27[31mchunk" .. n % 100)
        local co = coroutine.wrap(function () f() coroutine.yield() f() end)
        co() co()
        if n % 100 == 0 then collectgarbage() end
      end]], function (process)
      process:word()
      local path = process.directory .. "/x.tgr"
      local command = spied.ended(spied.start {
        "record", "--pid", tostring(process.pid), "-o", path, "--sample",
        "2000", "--duration", "1"})
      assert.equal(0, command.status, command.stderr)
      assert.equal("complete", spied.info(path).state)
    end)
  end)
end)

describe("a process that changes its memory", function ()
  local hostile = spied.cpath .. [[
    local scramble = require 'process'.scramble
    local co = {}
    for i = 1, 50 do
      co[i] = coroutine.create(function (n)
        local function inner (a) coroutine.yield(n) return a end
        return inner(n)
      end)
      coroutine.resume(co[i], i)
    end
    local function deep (n)
      if n > 0 then return 1 + deep(n - 1) end
      coroutine.wrap(function () scramble 'go' end)()
      return 0
    end
    say 'x'
    deep(100)]]

  for _, words in ipairs {{"--sample", "10000"}, {"--wall"}, {"--stop"}} do
    it(("is looked at within limits, and it is told what was none (%s)")
       :format(words[1]), function ()
      if os.getenv "LD_PRELOAD" then
        return          -- under a sanitizer a program has no heap of its own
      end
      lookedat.with(run.lua, hostile, function (process)
        process:word()
        local path = process.directory .. "/x.tgr"
        local all = {"record", "--pid", tostring(process.pid), "-o", path}
        table.move(words, 1, #words, #all + 1, all)
        local command = spied.start(all)
        spied.looking(command)
        -- Where the machine is busy it may run for long before it is looked at.
        assert(waiting.till(function () return has_samples(path) end,
                            run.patience))
        run.write(process.directory .. "/go", "")
        assert(spied.used(process.pid, 0.5))
        command.handle:kill "sigint"
        spied.ended(command)
        assert.equal(0, command.status, command.stderr)
        local samples = samples_of(path)
        assert.is_true(samples.taken > 0 and samples.dropped.state > 0)
        assert.equal("complete", spied.info(path).state)
        assert.is_nil(process.status)
      end)
    end)
  end
end)

describe("record --pid refuses in one line", function ()
  local function check (words, status, pattern)
    run.within(function (directory)
      local path = directory .. "/x.tgr"
      local all = {run.build .. "/bin/tracegrip", "record", "-o", path}
      table.move(words, 1, #words, #all + 1, all)
      local result = run.command(all, {env = {LUA = run.host}})
      assert.equal(status, result.status, result.stderr)
      assert.equal("", result.stdout)
      assert.truthy(result.stderr:find "^tracegrip: [^\n]*\n$", result.stderr)
      assert.truthy(result.stderr:find(pattern), result.stderr)
      assert.is_nil(run.read(path))
    end)
  end

  it("a number that is no process's", function ()
    check({"--pid", "4194305"}, 1, "there is no process 4194305")
  end)

  it("a process without Lua", function ()
    local handle, pid = uv.spawn("sleep", {args = {"60"}}, function () end)
    local ok, message = pcall(check, {"--pid", tostring(pid)}, 1,
                              "has no Lua in it")
    handle:kill "sigkill"
    handle:close()
    uv.run "nowait"
    assert(ok, message)
  end)

  it("what is of a program that it runs", function ()
    check({"--pid", "1", "--trace", "name"}, 2, "%-%-trace is not for samples")
    check({"--pid", "1", "x.lua"}, 2, "there is no program to run")
    check({"--stop", "x.lua"}, 2, "%-%-pid")
    check({"--subprocesses", "x.lua"}, 2, "%-%-pid")
    check({}, 2, "missing argument 'script'")
  end)
end)
