-- The protocol over a socket: every packet, state and error, to a client that
-- shares no code with ours.

local serving = require "spec.server.serving"
local it = require("spec.support.run").needs("luv", it, pending)

-- A program that does what it is told on its standard input, a Lua chunk a
-- line, and says "done" then.
local obedient = [[
  local tracegrip = require "tracegrip"
  local console = require "tracegrip.console"
  function f (x) return x end
  function g (x) return f(x) + 1 end
  env = setmetatable({tracegrip = tracegrip, console = console},
                     {__index = _G, __newindex = _G})
  assert(tracegrip.listen())
  for line in io.lines() do
    assert(load(line, "=line", "t", env))()
    io.write("done\n")
    io.flush()
  end
]]

local program, peer

-- The program runs a line; it waits in a read before and after.
local function run (line)
  program:tell(line)
  program:says "done\n"
end

local function without (packet, ...)
  for _, key in ipairs {...} do
    packet[key] = nil
  end
  return packet
end

-- Frames of a trace of the program's line, as text: those of our own functions.
local function text (frames)
  local words, depth = {}, {}
  for _, packet in ipairs(frames) do
    if packet.type == "enteredFrame" then
      table.insert(depth, packet.name or "?")
      if depth[#depth] == "f" or depth[#depth] == "g" then
        table.insert(words, depth[#depth] .. "(")
      end
    else
      local name = table.remove(depth)
      if name == "f" or name == "g" then
        table.insert(words, ")")
      end
    end
  end
  return table.concat(words)
end

local function refuses (code, packet, frames)
  assert.equal(code, packet.error)
  assert.is_string(packet.message)
  assert.same({}, frames or {})
  return packet
end

describe("the server's protocol", function ()
  before_each(function ()
    program = serving.start(obedient)
    peer = program:peer()
  end)

  after_each(function ()
    peer:close()
    program:close()
  end)

  describe("root", function ()
    it("greets before it is asked anything", function ()
      assert.equal("root", peer.hello.from)
      assert.equal("lua", peer.hello.applicationType)
      assert.is_table(peer.hello.traits)
      assert.is_nil(peer:receive(0.1))
    end)

    it("lists a tab for the state, with its actor", function ()
      assert.same({from = "root", selected = 0, tabs = {
        {actor = "tab1", title = "program.lua", url = "program.lua",
         traceActor = "trace1", scopeActor = "profiler1",
         heapActor = "heap1", pid = program.pid}}},
         peer:ask {to = "root", type = "listTabs"})
    end)

    it("echoes", function ()
      local packet = {to = "root", type = "echo", text = "a\"\\/\n\u{20ac}",
                      list = {1, 2.5, {deep = {true, false}}}, big = 1e15}
      local reply = peer:ask(packet)
      packet.from = "root"
      assert.same(packet, reply)
    end)

    it("does not echo a number that is beyond all floats", function ()
      refuses("badParameterType",
              peer:ask '{"to":"root","type":"echo","n":1e400}')
    end)

    it("tells what an actor can be asked for", function ()
      local function types (actor)
        return peer:ask({to = actor, type = "requestTypes"})
      end
      assert.same({from = "root", requestTypes = {"authenticate", "echo",
                                                  "listTabs"}},
                  types "root")
      assert.same({from = "tab1", requestTypes = {"attach", "detach",
                                                  "getTarget"}},
                  types "tab1")
      assert.same({from = "trace1", requestTypes = {"attach", "detach",
                                                    "startTrace",
                                                    "stopTrace"}},
                  types "trace1")
    end)

    it("lets a tab be attached to, which changes nothing", function ()
      assert.same({from = "tab1", type = "tabAttached", title = "program.lua",
                   url = "program.lua", traceActor = "trace1",
                   scopeActor = "profiler1", heapActor = "heap1",
                   pid = program.pid},
                  peer:request("attach", nil, "tab1"))
      assert.same({from = "tab1", type = "detached"},
                  peer:request("detach", nil, "tab1"))
    end)

    it("has a tab's actors also for those who look it up twice", function ()
      local tab = peer:ask({to = "root", type = "listTabs"}).tabs[1]
      assert.same({from = "tab1", frame = tab},
                  peer:request("getTarget", nil, "tab1"))
    end)

    it("says what is wrong with a packet", function ()
      refuses("missingParameter", peer:ask {type = "listTabs"})
      refuses("missingParameter", peer:ask {to = "root"})
      refuses("missingParameter", peer:ask '{"to":null,"type":"echo"}')
      refuses("badParameterType", peer:ask {to = 1, type = "listTabs"})
      refuses("badParameterType", peer:ask {to = "root", type = {}})
      local packet = refuses("unrecognizedPacketType",
                             peer:ask {to = "root", type = "dance"})
      assert.equal("root", packet.from)
      packet = refuses("noSuchActor", peer:ask {to = "trace9", type = "attach"})
      assert.equal("trace9", packet.from)
      packet = refuses("unrecognizedPacketType", peer:request "dance")
      assert.equal("trace1", packet.from)
      refuses("unrecognizedPacketType", peer:request("dance", nil, "tab1"))
    end)
  end)

  describe("states", function ()
    it("attach and detach, with all types there are", function ()
      assert.same({from = "trace1", type = "attached", traceTypes = {
        "name", "callsite", "time", "parameterNames", "arguments", "return",
        "throw", "yield", "location", "depth", "hitCount", "thread"}},
        peer:request "attach")
      refuses("wrongState", peer:request "attach")
      assert.same({from = "trace1", type = "detached"}, peer:request "detach")
      assert.equal("attached", peer:request "attach".type)
    end)

    it("refuse what needs a client when there is none", function ()
      for _, kind in ipairs {"detach", "startTrace", "stopTrace"} do
        refuses("wrongState", peer:request(kind))
      end
    end)

    it("refuse to stop what does not run", function ()
      peer:request "attach"
      refuses("wrongState", peer:request "stopTrace")
      peer:request("startTrace", {name = "one"})
      refuses("noSuchTrace", peer:request("stopTrace", {name = "two"}))
      assert.equal("one", peer:request "stopTrace".name)
      refuses("wrongState", peer:request "stopTrace")
    end)

    it("are not changed by what is refused", function ()
      peer:request "attach"
      refuses("noSuchTraceType",
              peer:request("startTrace", {trace = {"name", "color"}}))
      for key, value in pairs {trace = "name", name = 5, batch = 0,
                               maxDepth = "deep", color = "red"} do
        refuses("badParameterType",
                peer:request("startTrace", {[key] = value}))
      end
      refuses("wrongState", peer:request "stopTrace")
      run "g(1)"
      assert.is_nil(peer:receive(0.1))
      assert.equal("Trace 1", peer:request "startTrace".name)
    end)

    it("end traces at a detach, the latest first", function ()
      peer:request "attach"
      peer:request("startTrace", {name = "one", trace = {"name"}})
      peer:request("startTrace", {name = "two", trace = {}})
      run "g(1)"
      local reply, frames = peer:request "detach"
      assert.same({from = "trace1", type = "detached"}, reply)
      assert.equal("g(f())", text(frames))
      for _, name in ipairs {"two", "one"} do
        assert.same({from = "trace1", type = "stoppedTrace", why = "detached",
                     name = name}, peer:receive())
      end
      run "g(1)"
      assert.is_nil(peer:receive(0.1))
    end)
  end)

  describe("traces", function ()
    before_each(function ()
      peer:request "attach"
    end)

    it("have the name that was asked for, or one that is free", function ()
      local function name (given)
        local reply = peer:request("startTrace", {name = given})
        assert.equal("requested", reply.why)
        assert.equal("startedTrace", reply.type)
        return reply.name
      end
      assert.equal("Trace 2", name "Trace 2")
      assert.equal("Trace 1", name "")
      assert.equal("Trace 3", name())
      assert.equal("Trace 3", peer:request("stopTrace", {name = ""}).name)
      assert.equal("Trace 1", peer:request "stopTrace".name)
    end)

    it("do not take a name that the program uses", function ()
      run "console.startTrace('Trace 1')"
      assert.equal("Trace 1", peer:receive().name)
      assert.equal("Trace 2", peer:request "startTrace".name)
      run "mine = tracegrip.start {name = 'Trace 3'}"
      assert.equal("Trace 4", peer:request "startTrace".name)
    end)

    it("see frames from the start to the stop", function ()
      run "f(1)"
      peer:request("startTrace", {trace = {"name"}})
      run "g(1)"
      local reply, frames = peer:request "stopTrace"
      run "f(1)"
      assert.equal("stoppedTrace", reply.type)
      assert.equal("g(f())", text(frames))
      for i, packet in ipairs(frames) do
        assert.equal(i - 1, packet.sequence)
        assert.equal("trace1", packet.from)
      end
      assert.is_nil(peer:receive(0.1))
    end)

    it("come without being asked for", function ()
      peer:request("startTrace", {trace = {"name"}, include = {"^f$"}})
      run "g(1)"
      assert.equal("f", peer:receive().name)
      assert.equal("exitedFrame", peer:receive().type)
    end)

    it("have all that the specification names", function ()
      peer:request("startTrace", {include = {"^g$", "^f$"}})
      run "g(41)"
      local _, frames = peer:request "stopTrace"
      assert.equal(4, #frames)
      assert.is_number(frames[1].time)
      assert.is_true(frames[1].time < frames[4].time)
      assert.same({from = "trace1", type = "enteredFrame", sequence = 0,
                   name = "g", callsite = {url = "line", line = 1},
                   parameterNames = {"x"},
                   arguments = {values = {41}, objectPool = {}}},
                  without(frames[1], "time"))
      assert.same({from = "trace1", type = "exitedFrame", sequence = 3,
                   why = "return", ["return"] = {value = 42, objectPool = {}}},
                  without(frames[4], "time"))
    end)

    it("tell throws and yields", function ()
      peer:request("startTrace", {trace = {"name", "throw", "yield"},
                                  include = {"^line$"}, c = false})
      run "pcall(function () error({code = 7}) end)"
      run "coroutine.wrap(function () coroutine.yield(5) end)()"
      local _, frames = peer:request "stopTrace"
      local seen = {}
      for _, packet in ipairs(frames) do
        if packet.why and packet.why ~= "return" then
          seen[packet.why] = packet
        end
      end
      assert.equal(7, seen.exception.throw.objectPool[1].ownProperties.code
                      .value)
      assert.equal(5, seen.yield.yield.value)
    end)

    it("begin a new sequence and a new time after idle only", function ()
      peer:request("startTrace", {trace = {"time"}, include = {"^f$"}})
      run "f(1)"
      peer:request("startTrace", {trace = {"name"}, include = {"^f$"}})
      run "f(1)"
      peer:request "stopTrace"
      run "f(1)"
      local _, frames = peer:request "stopTrace"
      assert.equal(5, frames[#frames].sequence)
      peer:request("startTrace", {trace = {"time"}, include = {"^f$"}})
      run "f(1)"
      local _, again = peer:request "stopTrace"
      assert.equal(0, again[1].sequence)
      assert.is_true(again[1].time < 5000)
    end)

    it("share what they ask for, and take it with them", function ()
      peer:request("startTrace", {name = "one", trace = {"name"},
                                  include = {"^f$"}})
      local _, before = peer:request("startTrace", {
        name = "two", trace = {"depth"}, include = {"^f$"}})
      run "f(1)"
      local _, both = peer:request("stopTrace", {name = "one"})
      run "f(1)"
      local _, after = peer:request "stopTrace"
      assert.same({}, before)
      assert.same({from = "trace1", type = "enteredFrame", sequence = 0,
                   name = "f", depth = 0}, both[1])
      assert.same({from = "trace1", type = "enteredFrame", sequence = 2,
                   depth = 0}, after[1])
    end)

    -- A name that a pattern takes too long over is no loss to a trace without
    -- patterns. It takes long over one name only: what the program calls while
    -- it waits is the same loss to nobody.
    it("tell what they have lost that no packet tells", function ()
      local long = ("a"):rep(60)
      local hard = {trace = {"name"}, exclude = {"^" .. ("a-"):rep(20) .. "!"}}
      peer:request("startTrace", {name = "easy", trace = {"name"}})
      for _, name in ipairs {"asked", "left"} do
        hard.name = name
        peer:request("startTrace", hard)
      end
      run(("function %s () end %s()"):format(long, long))
      local reply = peer:request("stopTrace", {name = "asked"})
      assert.is_true(reply.lost.patterns > 0)
      assert.same({patterns = reply.lost.patterns}, reply.lost)
      peer:request "detach"
      local left, easy = peer:receive(), peer:receive()
      assert.same({"left", reply.lost}, {left.name, left.lost})
      assert.same({"easy"}, {easy.name, easy.lost})
    end)

    it("are replaced by one of the same name, without a word", function ()
      peer:request("startTrace", {name = "one", trace = {"name"},
                                  include = {"^f$"}})
      run "f(1)"
      local reply, frames = peer:request("startTrace", {
        name = "one", trace = {"depth"}, include = {"^f$"}})
      assert.equal("one", reply.name)
      assert.equal("f(" .. ")", text(frames))
      run "f(1)"
      reply, frames = peer:request "stopTrace"
      assert.equal("one", reply.name)
      assert.same({from = "trace1", type = "enteredFrame", sequence = 2,
                   depth = 0}, frames[1])
      refuses("wrongState", peer:request "stopTrace")
    end)

    it("come in batches if they are wanted", function ()
      peer:request("startTrace", {trace = {"name"}, batch = 3,
                                  include = {"^f$"}})
      run "for i = 1, 5 do f(i) end"
      local reply, batches = peer:request "stopTrace"
      assert.equal("stoppedTrace", reply.type)
      local sequence = 0
      for _, packet in ipairs(batches) do
        assert.equal("traces", packet.type)
        assert.equal("trace1", packet.from)
        assert.is_true(#packet.traces <= 3)
        for _, event in ipairs(packet.traces) do
          assert.equal(sequence, event.sequence)
          assert.is_nil(event.from)
          sequence = sequence + 1
        end
      end
      assert.equal(10, sequence)
    end)

    it("end by themselves, and it is told after their frames", function ()
      peer:request("startTrace", {trace = {"name"}, maxEvents = 4,
                                  include = {"^f$"}})
      run "for i = 1, 5 do f(i) end"
      local reply, frames = peer:reply()
      assert.same({from = "trace1", type = "stoppedTrace", why = "maxEvents",
                   name = "Trace 1"}, reply)
      assert.equal(4, #frames)
      refuses("wrongState", peer:request "stopTrace")
    end)

    it("do not outstay their time in a program that sleeps", function ()
      peer:request("startTrace", {duration = 100})
      assert.equal("duration", peer:reply().why)
      refuses("wrongState", peer:request "stopTrace")
    end)

    it("end when their buffer is full, if nobody is to wait", function ()
      peer:request("startTrace", {trace = {"name"}, overflow = "stop",
                                  buffer = 1 << 16})
      run "for i = 1, 3e5 do f(i) end"
      local reply, frames = peer:reply()
      assert.equal("overflow", reply.why)
      for i, packet in ipairs(frames) do
        assert.equal(i - 1, packet.sequence)
      end
    end)
  end)

  describe("the program's own traces", function ()
    it("are told of when a client is attached", function ()
      run "console.startTrace('before')"
      peer:request "attach"
      run "console.startTrace('one', {trace = {'name'}, include = {'^f$'}})"
      assert.same({from = "trace1", type = "startedTrace", name = "one",
                   why = "console.startTrace", tracing = {"name"}},
                  peer:receive())
      run "f(1)"
      run "console.stopTrace('one')"
      local reply, frames = peer:reply()
      assert.same({from = "trace1", type = "stoppedTrace", name = "one",
                   why = "console.stopTrace"}, reply)
      assert.equal("f()", text(frames))
      peer:request "detach"
      run "console.startTrace('two')"
      assert.is_nil(peer:receive(0.1))
    end)

    it("go on in the program after a detach", function ()
      peer:request "attach"
      run "console.startTrace('one')"
      assert.equal("one", peer:receive().name)
      assert.equal("detached", peer:request "detach".type)
      assert.equal("detached", peer:reply().why)
      run "g(1); print(console.stopTrace('one').active)"
      assert.truthy(program.out:find "false\n")
    end)

    it("may be stopped by the client", function ()
      peer:request "attach"
      run "console.startTrace('one')"
      peer:receive()
      local reply = peer:request "stopTrace"
      assert.equal("one", reply.name)
      assert.equal("requested", reply.why)
      refuses("wrongState", peer:request "stopTrace")
    end)

    it("replace the client's of that name, and the other way", function ()
      peer:request "attach"
      peer:request("startTrace", {name = "one", include = {"^nothing$"}})
      run "f(1) console.startTrace('one', {include = {'^nothing$'}})"
      assert.equal("console.startTrace", peer:receive().why)
      assert.equal("one", peer:request("startTrace", {name = "one"}).name)
      assert.equal("one", peer:request "stopTrace".name)
      refuses("wrongState", peer:request "stopTrace")
    end)
  end)

  it("answers requests that come in one piece, in order", function ()
    peer:send({to = "root", type = "echo", n = 1},
              {to = "trace1", type = "attach"},
              {to = "trace1", type = "startTrace", name = "one"},
              {to = "root", type = "echo", n = 2},
              {to = "trace1", type = "stopTrace"},
              {to = "trace7", type = "stopTrace"},
              {to = "trace1", type = "detach"},
              {to = "root", type = "listTabs"})
    local said = {}
    for i = 1, 8 do
      local packet = peer:reply()
      said[i] = packet.error or packet.type or packet.tabs and "tabs"
      said[i] = said[i] .. (packet.n and "!" or "")
    end
    assert.equal("echo! attached startedTrace echo! stoppedTrace noSuchActor "
                 .. "detached tabs", table.concat(said, " "))
  end)

  describe("with several clients", function ()
    it("attaches one at a time", function ()
      local other <close> = program:peer()
      peer:request "attach"
      refuses("wrongState", other:request "attach")
      refuses("wrongState", other:request "startTrace")
      refuses("wrongState", other:request "detach")
      peer:request("startTrace", {trace = {"name"}})
      assert.equal("root", other:ask({to = "root", type = "echo"}).from)
      run "f(1)"
      assert.equal("stoppedTrace", peer:request "stopTrace".type)
      assert.is_nil(other:receive(0.1))
      peer:request "detach"
      assert.equal("attached", other:request "attach".type)
      refuses("wrongState", peer:request "attach")
    end)

    it("lets the next one attach when one has gone", function ()
      local other <close> = program:peer()
      peer:request "attach"
      peer:request "startTrace"
      peer:reset()
      run "f(1)"
      local reply
      for _ = 1, 100 do
        reply = other:request "attach"
        if reply.type then
          break
        end
      end
      assert.equal("attached", reply.type)
      refuses("wrongState", other:request "stopTrace")
      run "print(debug.gethook())"
      assert.truthy(program.out:find("nil\n", 1, true)
                    or not program.out:find "external")
    end)
  end)
end)
