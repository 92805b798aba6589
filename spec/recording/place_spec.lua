-- The file and what may happen to it: it cannot be made, it is taken, its
-- descriptor is closed, it is removed, the process forks or becomes another.

local lfs = require "lfs"

local recorded = require "spec.support.recorded"
local run = require "spec.support.run"

local types = {trace = {"name"}}

-- What record() returns in a child, started as nobody if it says so.
local function refused (path, code, prepare)
  run.within(function (directory)
    run.write(directory .. "/program.lua", ([[
      local core = require "tracegrip.core"
      local process = require "process"
      local path = %q
      %s
      local before = process.descriptors(4096)
      local trace, message, code = core.record({}, {path = path})
      assert(trace == nil, "it was started")
      assert(not debug.gethook())
      assert(process.descriptors(4096) == before, "a descriptor is left")
      io.write(message, " ", code)
    ]]):format(path, prepare or ""))
    assert(lfs.mkdir(directory .. "/closed"))
    os.execute("chmod 777 " .. directory .. "; chmod 555 " .. directory
               .. "/closed")
    local result = run.file("program.lua", {cwd = directory,
                                            env = run.modules})
    assert.equal("", result.stderr)
    local whole = path:sub(1, 1) == "/" and path or directory .. "/" .. path
    assert.equal(whole .. ": " .. code, result.stdout)
    for name in lfs.dir(directory) do
      assert.is_nil(name:match "^rec", name)
    end
  end)
end

describe("a recording that cannot be made is an error before it starts:",
         function ()
  it("no such directory", function ()
    refused("missing/rec", "No such file or directory 2")
  end)

  it("a directory", function ()
    refused("closed", "Is a directory 21")
  end)

  it("a read-only directory", function ()
    refused("closed/rec", "Permission denied 13", "process.nobody()")
  end)

  it("a file that may not be written", function ()
    refused("program.lua", "Permission denied 13", "process.nobody()")
  end)

  it("a fifo", function ()
    refused("fifo", "Invalid argument 22", "process.mkfifo(path)")
  end)

  it("a device", function ()
    refused("/dev/full", "Invalid argument 22")
  end)

  it("no room for a file's beginning", function ()
    refused("rec", "File too large 27", "process.limit(30000)")
  end)

  it("a second one in the same program", function ()
    recorded.with([[
      local core = require "tracegrip.core"
      print(core.record({}, {path = "other"}))
      print(io.open "other")
    ]], types, nil, function (info, _, result)
      -- musl has other words for the first.
      assert.matches("^nil\tother: [%w ]* ?[Rr]esource busy\t16\n"
                     .. "nil\tother: No such file or directory\t2\n$",
                     result.stdout)
      assert.equal("complete", info.state)
    end)
  end)
end)

describe("opening", function ()
  local function unopened (path, message, code)
    local recording, text, what = recorded.open(path)
    assert.is_nil(recording)
    assert.equal(path .. ": " .. message, text)
    assert.equal(code, what)
  end

  it("what is no recording gives nil, message and code", function ()
    run.within(function (directory)
      unopened(directory .. "/none", "No such file or directory", 2)
      unopened(directory, "a directory, not a recording", "notARecording")
      run.write(directory .. "/some", "")
      unopened(directory .. "/some", "an empty file, not a recording",
               "notARecording")
      for _, text in ipairs {"\n", "\137TGREC\r\n", ("x"):rep(10000),
                             ("\0"):rep(10000)} do
        run.write(directory .. "/some", text)
        unopened(directory .. "/some", "not a recording", "notARecording")
      end
      unopened("/dev/null", "not a recording", "notARecording")
    end)
  end)

  it("one is over: to stop it changes nothing", function ()
    recorded.with("", types, nil, function (info, recording)
      local trace = recording:stop()
      assert.is_false(trace.active)
      assert.same(info, recording:info())
    end)
  end)

  it("one of another version or machine says so", function ()
    recorded.with("", types, nil, function (_, _, _, directory)
      local path = directory .. "/rec"
      local text = run.read(path)
      local function changed (place, bytes)
        run.write(path, text:sub(1, place) .. bytes
                        .. text:sub(place + #bytes + 1))
      end
      changed(8, "\7")
      unopened(path, "recorded by another version of tracegrip",
               "notARecording")
      changed(16, "\1\2\3\4")
      unopened(path, "recorded on a machine with another byte order",
               "notARecording")
    end)
  end)
end)

local busy = "local function f () end for i = 1, 5000 do f() end "

-- The recording is whole, with as many calls of f.
local function whole (info, recording, calls)
  local n = 0
  for packet in recording:packets() do
    if packet.name == "f" then
      n = n + 1
    end
  end
  assert.equal("complete", info.state)
  assert.equal(calls, n)
end

describe("a recording does not mind a program that", function ()
  local function minds (sentence, code, calls, check)
    it(sentence, function ()
      recorded.with(code, types, nil, function (info, recording, result, dir)
        assert.equal("", result.stderr)
        assert.equal(0, result.status)
        whole(info, recording, calls)
        if check then
          check(result, dir)
        end
      end)
    end)
  end

  minds("goes to another directory and closes all descriptors", [[
    local function f () end
    process.chdir "/"
    process.closeall()
    for i = 1, 500000 do f() end
  ]], 500000)

  minds("goes to another directory", busy .. "process.chdir '/' " .. busy,
        10000)

  minds("closes all descriptors", busy .. [[
    process.closeall()
    for i = 1, 500000 do f() end
  ]], 505000)

  minds("has a file of its own under our number", busy .. [[
    process.closeall()
    process.openall("mine", 4096)
    for i = 1, 500000 do f() end
  ]], 505000, function (_, directory)
    assert.equal("", run.read(directory .. "/mine"))
  end)

  it("closes all descriptors and removes the file", function ()
    run.within(function (directory)
      local result = recorded.run(directory, busy .. [[
        assert(os.execute "ln rec other")
        process.closeall()
        os.remove "rec"
        for i = 1, 500000 do f() end
        io.write "on"
      ]], types)
      assert.equal("on", result.stdout)
      local recording = assert(recorded.open(directory .. "/other"))
      local info = recording:info()
      assert.equal("failed", info.state)
      assert.matches("Bad file descriptor", info.reason)
      assert.equal("disk", info.traces[1].ended)
      local n = #recorded.packets(recording)
      -- beside f: main, execute, assert, closeall, remove, write
      assert.equal(2 * (505000 + 6), n + info.lost.disk)
      assert.is_true(n > 10000, n)
    end)
  end)

  it("removes the file", function ()
    run.within(function (directory)
      local result = recorded.run(directory, busy .. [[
        os.remove "rec"
        for i = 1, 500000 do f() end
        print(io.open "rec")
      ]], types)
      assert.equal("", result.stderr)
      assert.equal("nil\trec: No such file or directory\t2\n", result.stdout)
      assert.is_nil(recorded.open(directory .. "/rec"))
    end)
  end)

  minds("renames it", busy .. "os.rename('rec', 'r') os.rename('r', 'rec') "
        .. busy, 10000)

  minds("runs commands and reads their output", [[
    local function f () end
    f()
    print(os.execute "exit 3")
    print(io.popen("ls"):read "a")
    f()
  ]], 2, function (result)
    assert.equal("nil\texit\t3\nprogram.lua\nrec\n\n", result.stdout)
  end)
end)

-- Files in a directory that begin with "rec", sorted.
local function recordings (directory)
  local list = {}
  for name in lfs.dir(directory) do
    if name:find "^rec" then
      list[#list + 1] = name
    end
  end
  table.sort(list)
  return list
end

describe("a forked child", function ()
  local function forks (sentence, code, check)
    it(sentence, function ()
      run.within(function (directory)
        local result = recorded.run(directory, code, types)
        assert.equal("", result.stderr)
        assert.equal(0, result.status)
        local all, infos = {}, {}
        for i, name in ipairs(recordings(directory)) do
          all[i] = assert(recorded.open(directory .. "/" .. name))
          infos[i] = all[i]:info()
        end
        check(all, infos, result, directory)
      end)
    end)
  end

  local child = [[
    local function parent () end
    local function child (n) for i = 1, n do parent() end end
    local function fork (f)
      local pid = process.fork()
      if pid == 0 then
        f()
        os.exit(0)
      end
      return pid
    end
    parent()
  ]]

  forks("records into a file of its own, and its parent into its own",
        child .. [[
    local pid = fork(function () child(20000) end)
    child(10000)
    process.wait(pid)
    print(pid)
  ]], function (all, infos, result)
    assert.equal(2, #all)
    assert.equal(infos[1].path .. "." .. tonumber(result.stdout),
                 infos[2].path)
    assert.equal(tonumber(result.stdout), infos[2].pid)
    assert.equal("complete", infos[1].state)
    assert.equal("complete", infos[2].state)
    -- main, parent, fork, process.fork, child ..., process.wait, print
    assert.equal(2 * (10000 + 7), infos[1].events)
    assert.equal(infos[1].events, #recorded.packets(all[1]))
    -- older frames are silent: process.fork, f, os.exit stays open
    local packets = recorded.packets(all[2])
    assert.equal(infos[2].events, #packets)
    assert.equal(2 * (20000 + 3), #packets)
    assert.equal("os.exit", packets[#packets - 1].name)
    assert.equal(0, recorded.lost(all[2]))
  end)

  forks("that runs another program leaves no file", child .. [[
    local pid = fork(function () os.execute "true" process.leave(0) end)
    for i = 1, 3 do os.execute "true" end
    process.wait(pid)
  ]], function (all)
    assert.equal(2, #all)     -- its os.execute was recorded
  end)

  forks("of a child has a file too", child .. [[
    process.wait(fork(function ()
      parent()
      process.wait(fork(function () child(5) end))
    end))
  ]], function (all, infos)
    assert.equal(3, #all)
    for i = 1, 3 do
      assert.equal("complete", infos[i].state)
      assert.equal(infos[i].events, #recorded.packets(all[i]))
    end
  end)

  forks("that is killed leaves its file and its parent's as they are",
        child .. [[
    local pid = fork(function ()
      child(1000)
      process.kill(process.pid(), 9)
    end)
    process.wait(pid)
    child(1000)
  ]], function (all, infos)
    assert.equal("complete", infos[1].state)
    assert.equal("cut off", infos[2].state)
    assert.equal(infos[2].events, #recorded.packets(all[2]))
    assert.is_true(infos[2].events >= 2001)
  end)

  forks("that outlives its parent keeps nothing of the parent's", child .. [[
    fork(function ()
      io.open("begun", "w"):close()
      process.sleep(1)
    end)
    repeat
      process.sleep(0.01)
      local begun = io.open "begun"
    until begun
    child(10)
    process.leave(0)
  ]], function (all, infos)
    assert.equal("cut off", infos[1].state)   -- and not "running"
    assert.equal(infos[1].events, #recorded.packets(all[1]))
  end)

  -- what the parent goes on to write is not the child's
  forks("has of a trace older than itself what was there, and its own",
        child .. [[
    local tracegrip = require "tracegrip"
    local trace = tracegrip.start {name = "older", trace = {"name"}}
    child(3)
    local pid = process.fork()
    if pid == 0 then
      process.sleep(0.1)
      child(2)
      trace:stop()
      local n, wrong = 0, 0
      for packet in trace:packets() do
        n = n + 1
        if packet.sequence ~= n - 1 or packet.name == "alone" then
          wrong = wrong + 1
        end
      end
      print(n, wrong)
      os.exit(0)
    end
    local function alone () end
    for i = 1, 100 do alone() end
    process.wait(pid)
  ]], function (_, _, result)
    -- child, 3 times parent, fork, sleep, child, twice parent, stop hidden
    assert.equal(("%d\t0\n"):format(8 + 2 + 2 + 6), result.stdout)
  end)
end)

describe("two processes on one path", function ()
  it("have a file each", function ()
    run.within(function (directory)
      local result = recorded.run(directory, [[
        local function f () end
        local pid = process.fork()
        if pid > 0 then
          process.wait(pid)
          f()
        else
          f() f()
        end
      ]], types)
      assert.equal(0, result.status)
      assert.equal(2, #recordings(directory))
    end)
    local second = run.lua .. [[ -e 'local core = require "tracegrip.core"
      print((core.record({}, {path = "rec"})))']]
    recorded.with(([[
      local ok, _, status = os.execute(%q)
      print(ok, status)
    ]]):format(second), types, nil, function (info, _, result, directory)
      assert.equal("complete", info.state)
      local all = recordings(directory)
      assert.equal(2, #all)
      assert.equal(("%s/%s\ntrue\t0\n"):format(directory, all[2]),
                   result.stdout)
      local other = assert(recorded.open(directory .. "/" .. all[2]))
      assert.equal("complete", other:info().state)
    end)
  end)

  it("one after the other: the second replaces the first", function ()
    run.within(function (directory)
      recorded.run(directory, busy, types)
      local before = lfs.attributes(directory .. "/rec", "size")
      recorded.run(directory, "", types)
      assert.same({"rec"}, recordings(directory))
      assert.is_true(lfs.attributes(directory .. "/rec", "size") < before)
    end)
  end)

  it("one after the other, but exclusive: the second has its own", function ()
    run.within(function (directory)
      recorded.run(directory, busy, types)
      local text = run.read(directory .. "/rec")
      recorded.run(directory, "", types, {tape = {exclusive = true}})
      assert.equal(2, #recordings(directory))
      assert.equal(text, run.read(directory .. "/rec"))
    end)
  end)
end)
