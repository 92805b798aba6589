-- The profiler service over the wire: its four requests to a program that runs,
-- sleeps or ends.

local peers = require "spec.server.peer"
local serving = require "spec.server.serving"
local it = require("spec.support.run").needs("luv", it, pending)

local profiler = "profiler1"

-- A program that does what it is told to, a line each, and says when it has.
local obedient = [[
  gethook = debug.gethook   -- which tells of ours, too

  function square (n)
    return n * n
  end

  function sum (n)
    local all = 0
    for i = 1, n do
      all = all + square(i)
    end
    return all
  end

  local generator = coroutine.wrap(function ()
    while true do
      square(1)
      coroutine.yield()
    end
  end)

  function step ()
    generator()
  end

  local tracegrip = require "tracegrip"
  console = require "tracegrip.console"
  tracegrip.listen(OPTIONS)
  for line in io.lines() do
    load(line)()
    print("done", gethook() ~= nil)
    io.stdout:flush()
  end
]]

-- options: what listen is told, as text.
local function start (options)
  return serving.start((obedient:gsub("OPTIONS", options or "")))
end

-- Has it do something; whether there is a hook afterwards.
local function tell (program, line)
  program:tell(line)
  return program:says "done\t(%a+)" == "true"
end

-- Waits until the program has come to what was begun.
local function await_begin (program)
  assert.is_true(peers.wait(function () return tell(program, "") end))
end

local function ask (peer, kind, fields)
  return peer:request(kind, fields, profiler)
end

local function begin (peer, mode)
  local reply = ask(peer, "startProfiler",
                    {startMode = mode or 1, windowID = 5})
  assert.equal("startedProfiler", reply.type)
  return reply.sessionID
end

local function finish (peer, id)
  local reply = ask(peer, "stopProfiler", {sessionID = id})
  assert.equal("stoppedProfiler", reply.type, reply.message)
  return reply
end

local function events (peer, id, fields)
  local q = {sessionID = id, timelineID = 1}
  for key, value in pairs(fields or {}) do
    q[key] = value
  end
  local reply = ask(peer, "getEvents", q)
  assert.equal("events", reply.type, reply.message)
  return reply.eventList, reply.interval
end

-- Function -> hits, all its events added up.
local function hits (peer, id, fields)
  fields = fields or {}
  fields.mode = 3
  local sums = {}
  for _, event in ipairs(events(peer, id, fields)) do
    local name = event.functionCall.name
    sums[name] = (sums[name] or 0) + event.hits
  end
  return sums
end

-- What is wrong with a request.
local function refusal (peer, kind, fields)
  local reply = ask(peer, kind, fields)
  assert.equal(profiler, reply.from)
  assert.is_string(reply.message)
  return reply.error, reply.status
end

-- Whether it has a hook after a while, if it had one before.
local function hooked (program)
  local hook
  peers.wait(function ()
    hook = tell(program, "")
    return not hook
  end)
  return hook
end

describe("the profiler actor", function ()
  local program, peer

  before_each(function ()
    program = start()
    peer = program:peer()
  end)

  after_each(function ()
    peer:close()
    program:close()
  end)

  it("belongs to a tab", function ()
    local tabs = peer:ask({to = "root", type = "listTabs"}).tabs
    assert.equal(profiler, tabs[1].scopeActor)
    assert.same({"getEvents", "releaseSession", "startProfiler",
                 "stopProfiler"}, ask(peer, "requestTypes").requestTypes)
  end)

  it("tells what the program did", function ()
    local id = begin(peer)
    tell(program, "sum(3) sum(4)")
    local session = finish(peer, id)
    assert.equal(id, session.sessionID)
    assert.equal(5, session.windowID)
    assert.same({{timelineID = 1, frameID = 1}}, session.timelineList)
    assert.is_true(session.duration > 0)
    assert.is_nil(session.lost)
    local sums = hits(peer, id)
    assert.equal(2, sums.sum)
    assert.equal(7, sums.square)
    assert.is_false(hooked(program))
  end)

  it("has a tree of events", function ()
    local id = begin(peer)
    tell(program, "sum(3) sum(4)")
    finish(peer, id)
    local list, interval = events(peer, id)
    local children = {}
    for i, event in ipairs(list) do
      assert.equal(i, event.eventID)
      local parent = list[event.parentEventID]
      if parent then
        assert.is_true(parent.interval.start <= event.interval.start)
        assert.is_true(parent.interval["end"] >= event.interval["end"])
      end
      if event.functionCall.name == "sum" then
        children[#children + 1] = event.childCount
        assert.equal("program.lua", event.functionCall.source)
        assert.equal(event.childCount,
                     #events(peer, id, {eventID = event.eventID}))
      end
    end
    assert.same({3, 4}, children)
    assert.equal(list[1].interval.start, interval.start)
  end)

  it("has a timeline for each coroutine", function ()
    local id = begin(peer)
    tell(program, "step() step() step()")
    local session = finish(peer, id)
    assert.equal(2, #session.timelineList)
    assert.equal(3, hits(peer, id).step)
    assert.equal(3, hits(peer, id, {timelineID = 2}).square)
  end)

  it("stops in the middle of a call", function ()
    local code = [[
      while true do
        for i = 1, 100000 do sum(2) end
        io.stdout:write("more ", tostring(gethook() ~= nil), "\n")
        io.stdout:flush()
      end]]
    program:tell((code:gsub("%s+", " ")))
    local id = begin(peer)
    -- What it said before it was traced may not have been read yet.
    program:says "more true\n"
    program:says "more true\n"
    local session = finish(peer, id)
    local sums = hits(peer, id)
    assert.is_true(sums.sum > 10)
    assert.is_true(math.abs(sums.square - 2 * sums.sum) <= 2)
    -- Half of it is tracing's, which is taken out; others may want the
    -- processor, too.
    assert.is_true(session.duration > 5)
  end)

  it("answers for a program that sleeps", function ()
    local id = begin(peer)
    local session = finish(peer, id)
    assert.same({{timelineID = 1, frameID = 1}}, session.timelineList)
    assert.equal(0, session.duration)
    assert.same({}, events(peer, id))
    assert.same({}, events(peer, id, {mode = 4}))
    assert.equal("badRequest", refusal(peer, "getEvents", {
      sessionID = id, timelineID = 1, eventID = 1
    }))
    local other = begin(peer)
    tell(program, "sum(5)")
    assert.equal(other, finish(peer, other).sessionID)
    assert.equal(5, hits(peer, other).square)
    assert.same({}, events(peer, id))
    assert.is_false(hooked(program))
  end)

  it("tells of a program that has fallen asleep", function ()
    local id = begin(peer)
    tell(program, "sum(2)")
    peers.sleep(0.2)
    assert.is_true(finish(peer, id).duration > 150)
    assert.equal(2, hits(peer, id).square)
  end)

  it("begins with the first main chunk if it is to", function ()
    local id = begin(peer, 2)
    tell(program, "sum(2)")
    finish(peer, id)
    local list = events(peer, id)
    assert.equal("(main chunk)", list[1].functionCall.name)
  end)

  it("keeps sessions until they are released", function ()
    for i = 1, 3 do
      assert.equal(i, begin(peer))
      tell(program, ("sum(%d)"):format(i))
      finish(peer, i)
    end
    for i = 1, 3 do
      assert.equal(i, hits(peer, i).square)
    end
    assert.equal("releasedSession",
                 ask(peer, "releaseSession", {sessionID = 2}).type)
    assert.equal("badRequest", refusal(peer, "releaseSession",
                                       {sessionID = 2}))
    assert.equal(3, hits(peer, 3).square)
    assert.equal("releasedSession", ask(peer, "releaseSession").type)
    assert.equal("badRequest", refusal(peer, "getEvents", {
      sessionID = 3, timelineID = 1
    }))
  end)

  it("refuses what makes no sense", function ()
    local function bad (kind, fields)
      local code, status = refusal(peer, kind, fields)
      assert.equal("badRequest", code)
      assert.equal(3, status)
    end
    bad "startProfiler"
    bad("startProfiler", {startMode = 3, windowID = 1})
    bad("startProfiler", {startMode = 1, windowID = -1})
    bad("startProfiler", {startMode = 1, windowID = 1, name = "x"})
    bad("stopProfiler", {sessionID = 1})
    bad("getEvents", {sessionID = 1, timelineID = 1})
    bad("releaseSession", {sessionID = 1})
    local id = begin(peer)
    bad("startProfiler", {startMode = 1, windowID = 1})
    bad "stopProfiler"
    bad("stopProfiler", {sessionID = id + 1})
    bad("getEvents", {sessionID = id, timelineID = 1})
    bad("releaseSession", {sessionID = id})
    assert.equal("releasedSession", ask(peer, "releaseSession").type)
    tell(program, "sum(2)")
    finish(peer, id)
    bad("stopProfiler", {sessionID = id})
    bad("getEvents", {sessionID = id, timelineID = 2})
    bad("getEvents", {sessionID = id, timelineID = 1, eventID = 1000})
    bad("getEvents", {sessionID = id, timelineID = 1, mode = 5})
    bad("getEvents", {sessionID = id, timelineID = 1, maxDepth = 0})
    bad("getEvents", {sessionID = id, timelineID = 1, interval = 3})
    assert.equal("unrecognizedPacketType", (refusal(peer, "attach")))
    assert.equal(2, hits(peer, id).square)
  end)

  it("does not answer with more than goes into an answer", function ()
    local id = begin(peer)
    tell(program, "sum(60000)")
    finish(peer, id)
    assert.equal("badRequest", refusal(peer, "getEvents", {
      sessionID = id, timelineID = 1
    }))
    assert.equal(60000, hits(peer, id).square)
    assert.is_true(#events(peer, id, {maxDepth = 1}) < 20)
  end)

  it("leaves the program alone when its client goes", function ()
    begin(peer)
    assert.is_true(tell(program, "sum(2)"))
    peer:reset()
    assert.is_false(hooked(program))
    peer = program:peer()
    local id = begin(peer)
    assert.equal(1, id)
    tell(program, "sum(3)")
    finish(peer, id)
    assert.equal(3, hits(peer, id).square)
  end)

  it("is not seen by the program", function ()
    local id = begin(peer)
    tell(program, "assert(console.stopTrace() == nil)")
    tell(program, "console.startTrace('mine')")
    tell(program, "sum(2)")
    tell(program, "assert(console.stopTrace().name == 'mine')")
    finish(peer, id)
    assert.equal(2, hits(peer, id).square)
  end)

  it("has nothing to do with who is attached", function ()
    local other <close> = program:peer()
    assert.equal("attached", peer:request "attach".type)
    peer:request("startTrace", {name = "mine"})
    local id, second = begin(other), begin(peer)
    tell(program, "sum(2)")
    local _, frames = peer:request "stopTrace"
    assert.is_true(#frames >= 6)
    tell(program, "sum(3)")
    assert.equal("detached", peer:request "detach".type)
    tell(program, "sum(4)")
    finish(other, id)
    assert.equal(9, hits(other, id).square)
    finish(peer, second)
    assert.equal(9, hits(peer, second).square)
    assert.is_false(hooked(program))
  end)

  it("is not a forked child's", function ()
    local id = begin(peer)
    tell(program, "process = require 'process' sum(2)")
    tell(program, "child = process.fork() if child == 0 then "
                  .. "sum(1000) sum(1000) os.exit(gethook() and 1 or 0) end")
    tell(program, "print('child', process.wait(child)) sum(3)")
    assert.matches("0$", program.out:match "child\t([^\n]*)")
    finish(peer, id)
    assert.equal(5, hits(peer, id).square)
  end)

  it("keeps no memory of what it has released", function ()
    local function session (n)
      local id = begin(peer)
      tell(program, "sum(20000)")
      finish(peer, id)
      assert.equal(20000, hits(peer, id).square)
      if n % 2 == 0 then
        ask(peer, "releaseSession")
      else
        peer:close()
        peer = program:peer()
      end
    end
    local function memory ()
      return tonumber(program:proc("VmRSS"):match "%d+")
    end
    for n = 1, 30 do
      session(n)
    end
    local before = memory()
    for n = 1, 60 do
      session(n)
    end
    if not os.getenv "LD_PRELOAD" then    -- a sanitizer keeps what is freed
      assert.is_true(memory() - before < 4096, memory() - before)
    end
  end)

  it("goes with the program", function ()
    local id = begin(peer)
    tell(program, "sum(2)")
    program:tell "os.exit(true, true)"
    assert.equal(0, program:ended())
    assert.is_true(peer:hung_up())
    assert.equal(1, id)
  end)
end)

describe("the profiler of a host with wishes of its own", function ()
  it("keeps the beginning, and tells that there was more", function ()
    local program <close> = start "{options = {buffer = 65536}}"
    local peer <close> = program:peer()
    local id = begin(peer)
    await_begin(program)
    tell(program, "for i = 1, 1000 do sum(100) end")
    assert.is_false(hooked(program))
    local session = finish(peer, id)
    assert.is_true(session.lost > 0)
    local sums = hits(peer, id)
    assert.is_true(sums.square > 1000 and sums.square < 50000)
  end)

  it("never loses what it began with, whatever it asks for", function ()
    local program <close> = start [[{options = {
      overflow = "ring", buffer = 65536, include = {"^square$"}
    }}]]
    local peer <close> = program:peer()
    local id = begin(peer)
    await_begin(program)
    tell(program, "for i = 1, 1000 do sum(100) end")
    finish(peer, id)
    local list = events(peer, id, {maxDepth = 1})
    assert.equal(1, list[1].eventID)
    for _, event in ipairs(list) do
      assert.equal("square", event.functionCall.name)
    end
  end)

  it("ends in time, even if the program sleeps", function ()
    local program <close> = start "{options = {duration = 4000}}"
    local peer <close> = program:peer()
    local id = begin(peer)
    await_begin(program)
    tell(program, "sum(2)")
    peers.sleep(4.2)
    local session = finish(peer, id)
    -- What is beside it decides when it begins, by some ms.
    assert.near(4000, session.duration, 150)
    assert.equal(2, hits(peer, id).square)
  end)

  it("refuses to keep more than so much for all clients", function ()
    local program <close> = start "{options = {buffer = 200 << 20}}"
    local a <close> = program:peer()
    local b <close> = program:peer()
    local c <close> = program:peer()
    local id = begin(a)
    begin(b)
    local fields = {startMode = 1, windowID = 1}
    local code, status = refusal(c, "startProfiler", fields)
    assert.equal("outOfMemory", code)
    assert.equal(7, status)
    finish(a, id)
    begin(c)
    assert.equal("outOfMemory", (refusal(a, "startProfiler", fields)))
    b:close()
    peers.wait(function ()      -- until the server knows that it has gone
      return not ask(a, "startProfiler", fields).error
    end)
  end)

  it("tells what was compiled if it has the arguments", function ()
    local program <close> = start "{options = {trace = {'arguments'}}}"
    local peer <close> = program:peer()
    local id = begin(peer)
    tell(program, "load('return 1', '=it')")
    finish(peer, id)
    local urls = {}
    for _, event in ipairs(events(peer, id, {eventTypeList = {5}})) do
      urls[event.scriptCompilation.url or ""] = true
    end
    assert.is_true(urls["=it"] or urls.it)
  end)
end)

describe("profilers of several states", function ()
  it("do not mix", function ()
    local program <close> = serving.start [[
      local states = require "states"
      local list = {states.new(), states.new()}
      for i, state in ipairs(list) do
        state:run(("require('tracegrip').listen {path = 's%d'}"):format(i))
      end
      for line in io.lines() do
        for i, state in ipairs(list) do
          state:run(("local function f%d () end for i = 1, %d do f%d() end")
                    :format(i, 10 * i, i))
        end
        print "done"
        io.stdout:flush()
      end
    ]]
    local _, _, path = program:await_address(2)
    local peer <close> = assert(peers.connect {path = path})
    peer:receive()
    local tabs = peer:ask({to = "root", type = "listTabs"}).tabs
    assert.equal(2, #tabs)
    for _, tab in ipairs(tabs) do
      peer:request("startProfiler", {startMode = 1, windowID = 1},
                   tab.scopeActor)
    end
    program:tell()
    program:says "done"
    for i, tab in ipairs(tabs) do
      peer:request("stopProfiler", {sessionID = 1}, tab.scopeActor)
      local list = peer:request("getEvents", {
        sessionID = 1, timelineID = 1, mode = 3
      }, tab.scopeActor).eventList
      local sums = {}
      for _, event in ipairs(list) do
        sums[event.functionCall.name] = event.hits
      end
      assert.equal(10 * i, sums["f" .. i])
      assert.is_nil(sums["f" .. 3 - i])
    end
  end)
end)
