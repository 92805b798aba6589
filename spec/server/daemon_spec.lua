-- A program that listens and then goes into the background: the process that is
-- left is reached where the first one was.

local peers = require "spec.server.peer"
local run = require "spec.support.run"
local serving = require "spec.server.serving"

local describe = run.needs("luv", describe, pending)

-- The child's tab is another one than the parent's was.
local function attached (program)
  local peer = program:peer()
  local tabs = peer:ask({to = "root", type = "listTabs"}).tabs
  assert.equal(1, #tabs)
  peer.actor = tabs[1].traceActor
  assert.equal("attached", peer:request("attach", nil, peer.actor).type)
  return peer
end

-- What all of these begin with. The parents end when they are told so by the
-- end of their standard input, which the children do not read.
local head = [[
  local process = require "process"
  local tracegrip = require "tracegrip"
  local first = process.pid()
  function f () return 1 end
  local function say (word)
    print(word)
    io.stdout:flush()
  end
  local function background (stays)
    local pid = process.fork()
    if pid == 0 then
      say(process.pid())
    else
      if stays then process.wait(pid) else io.read() end
      process.leave(0)
    end
  end
]]

-- A program, and the number of the child that stays. 'child' ends.
local function started (code, env)
  local program = serving.start(head .. code, env)
  return program, tonumber(program:says "(%d+)\n")
end

local LINE = "tracegrip: the parent has ended, process (%d+) is listening on "
             .. "([^\n]+)\n"

-- Waits for the line in which a child says that it listens; its number.
local function taken_over (program)
  local pid, address
  peers.wait(function ()
    pid, address = program.err:match(LINE)
    return pid
  end)
  assert.is_string(pid, program.err)
  assert.equal(program.address, address)
  return tonumber(pid)
end

-- Also of one for whom nobody has waited.
local function has_ended (pid)
  for _ = 1, 500 do
    local state = (run.read(("/proc/%d/stat"):format(pid)) or ""):match "%) (.)"
    if not state or state == "Z" then
      return true
    end
    peers.sleep(0.02)
  end
  return false
end

-- Until a file is there.
local LOOP = [[
  while not io.open(done) do
    f()
    process.sleep(0.01)
  end
]]

-- A program with LOOP in its child; closing it ends that.
local function daemon (code, env)
  local done = os.tmpname()
  os.remove(done)
  local program, pid = started("local done = " .. ("%q"):format(done) .. "\n"
                               .. code .. LOOP, env)
  return setmetatable({}, {
    __index = {program = program, pid = pid},
    __close = function ()
      run.write(done, "")
      local gone = has_ended(pid)
      program:close()
      os.remove(done)
      assert.is_true(gone, "the child has not ended")
    end
  })
end

describe("a child whose parent has ended", function ()
  local function is_reached (program)
    local peer <close> = attached(program)
    local reply = peer:request("startTrace", {trace = {"name"},
                                              include = {"^f$"}}, peer.actor)
    assert.equal("startedTrace", reply.type)
    assert.equal("f", peer:receive(10).name)
    assert.equal("stoppedTrace",
                 peer:request("stopTrace", nil, peer.actor).type)
  end

  it("is reached at the same address", function ()
    local d <close> = daemon "tracegrip.listen() background()"
    d.program:tell()
    assert.equal(d.pid, taken_over(d.program))
    is_reached(d.program)
  end)

  it("is not asked for by who is attached to the parent", function ()
    local d <close> = daemon "tracegrip.listen() background()"
    local old <close> = d.program:peer()
    assert.equal("attached", old:request "attach".type)
    d.program:tell()
    assert.is_true(old:hung_up(5))
    taken_over(d.program)
    is_reached(d.program)
  end)

  it("is reached by the environment's address and token", function ()
    local d <close> = daemon("background()", {
      TRACEGRIP_LISTEN = "127.0.0.1:0", TRACEGRIP_TOKEN = "secret",
      [run.variable "LUA_INIT"] = "require 'tracegrip.auto'"
    })
    d.program:tell()
    taken_over(d.program)
    local peer <close> = d.program:peer()
    assert.equal("notAuthenticated", peer:request "attach".error)
  end)

  it("is reached on a Unix socket", function ()
    local d <close> = daemon [[
      tracegrip.listen {path = "socket"} background()
    ]]
    d.program:tell()
    taken_over(d.program)
    d.program.path = d.program.directory .. "/socket"
    is_reached(d.program)
  end)

  it("is reached when it was forked twice", function ()
    local d <close> = daemon [[
      tracegrip.listen()
      if process.fork() > 0 then
        io.read()
        process.leave(0)
      elseif process.fork() > 0 then
        process.leave(0)
      end
      say(process.pid())
    ]]
    d.program:tell()
    assert.equal(d.pid, taken_over(d.program))
    is_reached(d.program)
  end)

  it("is a parent to its own children then", function ()
    local d <close> = daemon [[
      tracegrip.listen()
      background()
      while not io.open "first" do f() process.sleep(0.01) end
      background()
    ]]
    local first = d.pid
    d.program:tell()
    assert.equal(first, taken_over(d.program))
    run.write(d.program.directory .. "/first", "")
    local second = tonumber(d.program:says "(%d+)\n")
    d.program.err = ""
    d.program:tell()
    assert.equal(second, taken_over(d.program))
    is_reached(d.program)
  end)

  it("is reached where it has closed all descriptors, with the collector",
     function ()
    local d <close> = daemon [[
      local listening = tracegrip.listen()
      background()
      process.closeall()
      local open = io.open
      function io.open (...) collectgarbage() return open(...) end
    ]]
    d.program:tell()
    taken_over(d.program)
    is_reached(d.program)
  end)

  it("is reached while it is traced, and goes on recording", function ()
    local d <close> = daemon [[
      local trace = tracegrip.start {name = "mine", trace = {"name"}}
      tracegrip.listen()
      background()
    ]]
    d.program:tell()
    taken_over(d.program)
    is_reached(d.program)
  end)

  it("is reached in a coroutine", function ()
    local d <close> = daemon [[
      tracegrip.listen()
      background()
      local co = coroutine.wrap(function ()
        while not io.open(done) do
          f()
          process.sleep(0.01)
        end
      end)
      co()
    ]]
    d.program:tell()
    taken_over(d.program)
    is_reached(d.program)
  end)

  it("is told of to debuggers", function ()
    local d <close> = daemon [[
      tracegrip.listen {port = 0, inspect = 0}
      background()
    ]]
    local port = d.program.err:match "to debug, open [^\n]+:(%d+)/"
    d.program:tell()
    taken_over(d.program)
    peers.wait(function ()
      return d.program.err:find "ended, to debug process"
    end)
    local pid, again = d.program.err:match
                         "ended, to debug process (%d+), open [^\n]+:(%d+)/"
    assert.equal(d.pid, tonumber(pid))
    assert.equal(port, again)
  end)

  it("writes nothing to what it has in the place of standard error",
     function ()
    local d <close> = daemon [[
      tracegrip.listen()
      background()
      process.redirect("file", 2)
      say "ready"
    ]]
    d.program:says "ready"
    d.program:tell()
    peers.wait(function () return d.program.status end)
    for _ = 1, 500 do
      local peer = peers.connect {port = d.program.port}
      if peer then
        peer:close()
        break
      end
      peers.sleep(0.02)
    end
    is_reached(d.program)
    assert.equal("", run.read(d.program.directory .. "/file"))
    assert.is_nil(d.program.err:find(LINE))
  end)
end)

describe("a child whose parent has ended is not reached", function ()
  -- What it says on standard error after the parent's line. The parent ends
  -- when the child is ready.
  local function says (code)
    local d <close> = daemon(code)
    d.program:says "ready\n"
    d.program:tell()
    d.program:says "looked\n"
    return d.program.err:match "^[^\n]*\n(.*)$"
  end

  -- Until the parent is gone, and for longer than a child waits with that.
  local look = [[
    while process.parent() == first do f() process.sleep(0.01) end
    local gone = process.now()
    while process.now() - gone < 2 do
      f()
      process.sleep(0.01)
      collectgarbage()
    end
    say "looked"
  ]]

  it("if the parent has closed its address", function ()
    assert.equal("", says([[
      local listening = tracegrip.listen()
      if process.fork() > 0 then
        io.read()
        listening:close()
        process.leave(0)
      end
      say(process.pid())
      say "ready"
    ]] .. look))
  end)

  it("if it has closed the address itself", function ()
    assert.equal("", says([[
      local listening = tracegrip.listen()
      background()
      listening:close()
      say "ready"
    ]] .. look))
  end)

  it("if another one has the address by then, which it says", function ()
    local d <close> = daemon [[
      tracegrip.listen()
      if process.fork() > 0 then
        background()
      end
    ]]
    d.program:tell()
    taken_over(d.program)
    local why
    peers.wait(function ()
      why = d.program.err:match "process %d+ cannot be reached: ([^\n]*)\n"
      return why
    end)
    assert.equal("cannot listen on " .. d.program.address
                 .. ": somebody listens there", why)
  end)
end)

describe("a child whose parent lives on", function ()
  it("says nothing, and gets no signal", function ()
    local program <close> = started [[
      tracegrip.listen()
      background(true)
      for _ = 1, 20 do
        f()
        collectgarbage()
        if process.sleep(0.01) > 0 then say "interrupted" end
      end
      say "through"
      process.leave(0)
    ]]
    program:says "^%d*\n?through\n"
    assert.equal(0, program:ended(5))
    assert.matches("^[^\n]*\n$", program.err)
  end)
end)
