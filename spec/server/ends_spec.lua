-- Ends: of the program, of a state, of a client, of a process that is a copy.

local peers = require "spec.server.peer"
local run = require "spec.support.run"
local serving = require "spec.server.serving"

local it = run.needs("luv", it, pending)

local function attached (program, fields)
  local peer = program:peer()
  peer:request "attach"
  assert.equal("startedTrace",
               peer:request("startTrace", fields or {trace = {"name"}}).type)
  return peer
end

-- All packets up to the end of the connection: the frames' names and whys, and
-- what else came.
local function last_words (peer)
  local frames, others = {}, {}
  while true do
    local packet = peer:receive()
    if not packet then
      local said, more = table.concat(frames, " "), table.concat(others, " ")
      assert.is_true(peer.closed, "not hung up after: " .. said .. more)
      return said, more
    elseif packet.sequence then
      table.insert(frames, packet.why or packet.name)
    else
      table.insert(others, packet.type .. " " .. tostring(packet.why))
    end
  end
end

describe("the end of the program", function ()
  local function ends (code, status)
    local program <close> = serving.start([[
      function f () io.read() ]] .. code .. [[ end
      require("tracegrip").listen()
      io.read()
      f()
    ]])
    local peer <close> = attached(program, {trace = {"name"},
                                            include = {"^f$"}, c = false})
    program:tell()
    program:tell()
    local frames, others = last_words(peer)
    assert.equal(status, program:ended())
    return frames, others
  end

  it("by its return is told, after its frames", function ()
    local frames, others = ends("", 0)
    assert.equal("f return", frames)
    assert.equal("stoppedTrace terminated", others)
  end)

  it("by os.exit is told", function ()
    for _, how in ipairs {"", ", true"} do
      local frames, others = ends("os.exit(7" .. how .. ")", 7)
      assert.equal("f terminated", frames)
      assert.equal("stoppedTrace terminated", others)
    end
  end)

  it("by an error is told", function ()
    assert.equal("f exception", (ends("error 'x'", 1)))
  end)

  it("by a signal closes the connection", function ()
    local program <close> = serving.start [[
      require("tracegrip").listen()
      while true do string.rep("x", 3) end
    ]]
    local peer <close> = attached(program)
    program:kill "sigterm"
    assert.is_true(peer:hung_up())
    assert.equal(128 + 15, program:ended())
  end)

  it("does not wait for a client that does not read", function ()
    local program <close> = serving.start [[
      require("tracegrip").listen()
      io.read()
      for i = 1, 1e6 do string.rep("x", 3) end
    ]]
    local peer <close> = program:peer {deaf = true}
    peer:send({to = "trace1", type = "attach"},
              {to = "trace1", type = "startTrace", overflow = "stop"})
    peers.sleep(0.2)
    program:tell()
    assert.equal(0, program:ended())
  end)

  it("gives the clients that are only connected the end, too", function ()
    local program <close> = serving.start [[
      require("tracegrip").listen()
      io.read()
    ]]
    local peer <close> = program:peer()
    program:tell()
    assert.is_true(peer:hung_up())
    assert.equal(0, program:ended())
  end)
end)

describe("the end of a state", function ()
  it("takes its tab with it, and another goes on", function ()
    local program <close> = serving.start [[
      local states = require "states"
      local a, b = states.new(), states.new()
      local code = 'function f () end listening = '
                   .. 'require("tracegrip").listen()'
      a:run(code)
      b:run(code)
      io.read()
      a:run "f()"
      b:run "f()"
      a:close()
      print "closed"
      io.stdout:flush()
      io.read()
      b:run "f()"
      print "called"
      io.stdout:flush()
      io.read()
      b:close()
    ]]
    local _, port = program:await_address(2)
    local peer <close> = attached(program, {trace = {"name"},
                                            include = {"^f$"}})
    local other <close> = assert(peers.connect {port = port})
    assert.equal(2, #other:receive() and
                    #other:ask({to = "root", type = "listTabs"}).tabs)
    other:request("attach", nil, "trace2")
    other:request("startTrace", {trace = {"name"}, include = {"^f$"}},
                  "trace2")
    program:tell()
    program:says "closed"
    local frames, others = last_words(peer)
    assert.equal("f return", frames)
    assert.equal("stoppedTrace terminated", others)
    program:tell()
    program:says "called"
    local reply, seen = other:request("stopTrace", nil, "trace2")
    assert.equal("stoppedTrace", reply.type)
    assert.equal(4, #seen)
    assert.equal(1, #other:ask({to = "root", type = "listTabs"}).tabs)
    program:tell()
    assert.is_true(other:hung_up())
    assert.equal(0, program:ended())
  end)

  it("leaves no thread and no descriptor", function ()
    local program <close> = serving.start [[
      local states = require "states"
      local function round ()
        local a = states.new()
        a:run 'require("tracegrip").listen()'
        a:close()
      end
      round()
      print "one"
      io.stdout:flush()
      io.read()
      for i = 1, 20 do round() end
      print "all"
      io.stdout:flush()
      io.read()
    ]]
    program:says "one"
    local before = program:descriptors()
    program:tell()
    program:says "all"
    -- A thread that was waited for may be in the kernel's list still.
    peers.wait(function () return program:proc "Threads" == "1" end)
    assert.equal("1", program:proc "Threads")
    assert.equal(before, program:descriptors())
  end)
end)

describe("the end of a client", function ()
  local program

  before_each(function ()
    program = serving.start [[
      require("tracegrip").listen()
      local n = 0
      local function f () n = n + 1 end
      while true do
        f()
        if n % 1000 == 0 and not io.lines then break end
      end
    ]]
  end)

  after_each(function ()
    program:close()
  end)

  -- The next one finds nobody attached and nothing running.
  local function is_free ()
    local peer <close> = program:peer()
    local reply
    peers.wait(function ()
      reply = peer:request "attach"
      return reply.type
    end)
    assert.equal("attached", reply.type)
    assert.equal("wrongState", peer:request "stopTrace".error)
  end

  it("frees its actor, however it comes", function ()
    local peer = attached(program)
    peer:close()
    is_free()
    peer = attached(program)
    peer:reset()
    is_free()
    peer = attached(program)
    peer.socket:shutdown()
    is_free()
    peer:close()
    peer = program:peer()
    peer:request "attach"
    peer:close()
    is_free()
  end)

  it("leaves nothing behind after a hundred times", function ()
    for _ = 1, 5 do
      attached(program):close()
    end
    is_free()
    local before = program:descriptors()    -- one may be about to be closed
    for _ = 1, 100 do
      local peer <close> = program:peer()
      peer:request "attach"
      peer:request("startTrace", {trace = {"name"}})
    end
    is_free()
    peers.wait(function () return program:descriptors() <= before end)
    assert.is_true(program:descriptors() <= before)
    local limit = os.getenv "LD_PRELOAD" and 1000000 or 100000   -- make asan
    assert.is_true(tonumber(program:proc("VmRSS"):match "%d+") < limit)
  end)
end)

describe("a fork", function ()
  it("leaves the server to the parent", function ()
    local program <close> = serving.start [[
      local process = require "process"
      function f () end
      local listening = require("tracegrip").listen()
      io.read()
      local pid = process.fork()
      if pid == 0 then
        f()
        listening:close()
        process.sleep(0.3)
        os.exit(3, true)
      end
      f()
      print(process.wait(pid))
      io.stdout:flush()
      io.read()
      f()
      print "called"
      io.stdout:flush()
      io.read()
    ]]
    local peer <close> = attached(program, {trace = {"name"},
                                            include = {"^f$"}})
    program:tell()
    assert.equal("3", program:says "(%d+)\n")
    program:tell()
    program:says "called"
    local reply, frames = peer:request "stopTrace"
    assert.equal("stoppedTrace", reply.type)
    assert.equal(4, #frames)
  end)

  it("lets the child listen on its own", function ()
    local program <close> = serving.start [[
      local process = require "process"
      local tracegrip = require "tracegrip"
      tracegrip.listen()
      local pid = process.fork()
      if pid == 0 then
        tracegrip.listen()
        io.read()
        os.exit(0, true)
      end
      process.wait(pid)
    ]]
    local _, port = program:await_address(2)
    local one <close> = program:peer()
    local two <close> = assert(peers.connect {port = port})
    two:receive()
    assert.equal("attached", one:request "attach".type)
    local tabs = two:ask({to = "root", type = "listTabs"}).tabs
    local actor = tabs[#tabs].traceActor
    assert.equal("attached", two:request("attach", nil, actor).type)
    program:tell()
    assert.is_true(two:hung_up())
    assert.equal(0, program:ended())
  end)

  it("of a program that runs others changes nothing", function ()
    local program <close> = serving.start [[
      require("tracegrip").listen()
      io.read()
      print(os.execute "exit 3")
      print(io.popen("echo x"):read "a")
      io.stdout:flush()
      io.read()
    ]]
    local peer <close> = attached(program)
    program:tell()
    assert.equal("3", program:says "exit\t(%d)\nx\n")
    peer:close()
  end)
end)

describe("without the library luv", function ()
  it("listen says what it lacks", function ()
    local result = run.code [[
      package.cpath = package.cpath:match "^[^;]*"
      local handle, message, code = require("tracegrip").listen()
      print(handle, message, code)
    ]]
    assert.matches("^nil\t.*luv.*\tnoServer\n$", result.stdout)
  end)
end)
