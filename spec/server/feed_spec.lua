-- The server on a host that does what the spec says: what needs a program that
-- does something, or nothing, at an exact moment.

local uv = require "luv"

local fakehost = require "spec.server.fakehost"
local peers = require "spec.server.peer"
local server = require "tracegrip.server"

local host, channel, address, clients

local function listen (options, endpoint)
  local ok
  ok, address = host:listen(endpoint or 1, options)
  assert.is_true(ok)
  return tonumber(address:match ":(%d+)$")
end

local function connect (how)
  how = how or {}
  how.port = how.port or tonumber(address:match ":(%d+)$")
  local peer = assert(peers.connect(how))
  table.insert(clients, peer)
  if not how.deaf then
    peer:receive()
  end
  return peer
end

local function attached ()
  local peer = connect()
  assert.equal("attached", peer:request "attach".type)
  return peer
end

local function names (frames)
  local list = {}
  for i, packet in ipairs(frames) do
    list[i] = packet.name
  end
  return table.concat(list, " ")
end

-- All that is open of ours is closed. What clients have yet to get is sent for
-- so many ms at most.
local function stop (ms)
  if host then
    host:put {kind = "stop", ms = ms or 5000}
    peers.wait(function () return not next(host.kept) end)
    assert.same({}, host.kept)
    host = nil
  end
end

-- Calls f(pass), where pass(ms) has so much time pass for the server, which
-- then looks for what takes too long.
local function with_clock (f)
  local real, ahead = uv.now, 0
  uv.now = function () return real() + ahead end
  local ok, err = pcall(f, function (ms)
    ahead = ahead + ms
    peers.sleep(0.25)
  end)
  uv.now = real
  assert(ok, err)
end

describe("the server, on a channel that is told what to say,", function ()
  before_each(function ()
    clients = {}
    host = fakehost.new()
    channel = host:open(1, "one.lua")
    server.start(host)
    listen {host = "127.0.0.1", port = 0}
  end)

  after_each(function ()
    for _, peer in ipairs(clients) do
      peer:close()
    end
    stop()
  end)

  it("answers at once for a program that takes no orders", function ()
    local peer = attached()
    assert.equal("Trace 1", peer:request "startTrace".name)
    assert.equal("Trace 2", peer:request "startTrace".name)
    assert.equal("Trace 2", peer:request "stopTrace".name)
    assert.equal("detached", peer:request "detach".type)
    assert.equal("Trace 1", peer:receive().name)
    assert.same({"attach", "start 1 Trace 1", "start 2 Trace 2", "stop 2",
                 "leave"}, channel.asked)
  end)

  it("sends frames before the reply that ends their trace", function ()
    local peer = attached()
    peer:request "startTrace"
    channel:enters("f", "g")
    local reply, frames = peer:request "stopTrace"
    assert.equal("stoppedTrace", reply.type)
    assert.equal("f g", names(frames))
  end)

  it("sends frames without being asked", function ()
    local peer = attached()
    peer:request "startTrace"
    channel:enters("f")
    assert.equal("f", peer:receive().name)
    peers.sleep(0.05)
    channel:enters("g")
    assert.equal("g", peer:receive().name)
  end)

  it("answers although frames never end", function ()
    local peer = attached()
    peer:request "startTrace"
    channel.endless = true
    channel:enters(("x"):rep(1000))
    for _ = 1, 5 do
      peer:send {to = "root", type = "echo"}
    end
    for _ = 1, 5 do
      assert.equal("echo", peer:reply().type)
    end
    assert.equal("stoppedTrace", peer:request "stopTrace".type)
  end)

  it("tells what the program does in order with the frames", function ()
    local peer = attached()
    peer:request("startTrace", {name = "one"})
    channel:enters "f"
    channel:tells {kind = "started", id = 99, name = "two", types = {}}
    channel:enters "g"
    channel:tells {kind = "stopped", id = 99}
    channel:enters "h"
    local said = {}
    for i = 1, 5 do
      local packet = peer:receive()
      said[i] = packet.name .. (packet.why and " " .. packet.why or "")
    end
    assert.same({"f", "two console.startTrace", "g", "two console.stopTrace",
                 "h"}, said)
  end)

  it("tells frames of before a trace joins before its startedTrace",
     function ()
    local peer = attached()
    peer:request("startTrace", {name = "one"})
    channel:tells {kind = "taken", id = 1}
    local start = channel.start
    function channel:start (id, options)   -- the program comes to it soon
      self:enters "older"
      self:tells {kind = "taken", id = id}
      self:enters "newer"
      return start(self, id, options)
    end
    local reply, frames = peer:request("startTrace", {name = "two"})
    assert.equal("two", reply.name)
    assert.equal("older", names(frames))
    assert.equal("newer", peer:receive().name)
    reply, frames = peer:request("startTrace", {name = "two"})
    assert.equal("two", reply.name)
    assert.equal("older", names(frames))
    assert.same({"start 3 two", "stop 2"},
                {table.unpack(channel.asked, #channel.asked - 1)})
  end)

  it("lets a trace join at once if the program sleeps", function ()
    local peer, least = attached(), math.huge
    for i = 1, 20 do
      local before = uv.hrtime()
      assert.equal("Trace " .. i, peer:request "startTrace".name)
      least = math.min(least, uv.hrtime() - before)
    end
    assert.is_true(least < 1e9, least)
  end)

  it("lets the program's trace replace the client's", function ()
    local peer = attached()
    peer:request("startTrace", {name = "one"})
    channel:tells {kind = "taken", id = 1}
    channel:tells {kind = "started", id = 99, name = "one", types = {"name"}}
    assert.same({"name"}, peer:receive().tracing)
    channel:tells {kind = "ended", id = 1, why = "overflow"}
    assert.is_nil(peer:receive(0.05))
    assert.equal("one", peer:request "stopTrace".name)
    assert.equal("wrongState", peer:request "stopTrace".error)
  end)

  it("lets a trace that was yet to begin replace the program's", function ()
    local peer = attached()
    peer:request("startTrace", {name = "one"})
    channel:tells {kind = "started", id = 99, name = "one", types = {"name"}}
    peer:receive()
    channel:tells {kind = "taken", id = 1}
    channel:tells {kind = "stopped", id = 99}
    assert.is_nil(peer:receive(0.05))
    channel:tells {kind = "ended", id = 1, why = "maxEvents"}
    assert.equal("maxEvents", peer:receive().why)
    assert.equal("wrongState", peer:request "stopTrace".error)
  end)

  it("ignores what becomes of a trace that was stopped", function ()
    local peer = attached()
    peer:request "startTrace"
    peer:request "stopTrace"
    channel:tells {kind = "taken", id = 1}
    channel:tells {kind = "ended", id = 1, why = "overflow"}
    channel:tells {kind = "stopped", id = 55}
    assert.is_nil(peer:receive(0.05))
  end)

  it("says why a trace ended, also one that never began", function ()
    local peer = attached()
    for i, why in ipairs {"overflow", "maxEvents", "duration", "memory"} do
      peer:request "startTrace"
      channel:tells {kind = why == "memory" and "refused" or "ended", id = i,
                  why = why}
      assert.same({from = "trace1", type = "stoppedTrace", why = why,
                   name = "Trace " .. i}, peer:receive())
    end
    assert.equal("wrongState", peer:request "stopTrace".error)
  end)

  it("starts anew on a channel that cannot be read on", function ()
    local peer = attached()
    peer:request "startTrace"
    channel:tells {kind = "broken"}
    assert.equal("memory", peer:receive().why)
    assert.equal("attach", channel.asked[#channel.asked])
    assert.equal("Trace 2", peer:request "startTrace".name)
  end)

  it("watches over the duration of a program that sleeps", function ()
    local peer = attached()
    peer:request("startTrace", {duration = 30})
    channel:tells {kind = "taken", id = 1}
    assert.equal("duration", peer:receive().why)
    assert.equal("stop 1", channel.asked[#channel.asked])
    assert.equal("wrongState", peer:request "stopTrace".error)
  end)

  it("avoids names that the program uses", function ()
    channel.others = {"Trace 1", "Trace 3"}
    local peer = attached()
    assert.equal("Trace 2", peer:request "startTrace".name)
    assert.equal("Trace 4", peer:request "startTrace".name)
  end)

  it("does not keep others waiting for a client that is deaf", function ()
    local deaf = connect {deaf = true}
    deaf:send({to = "trace1", type = "attach"},
              {to = "trace1", type = "startTrace"})
    peers.wait(function () return channel.asked[2] end)
    channel.endless = true
    channel:enters(("x"):rep(100000))
    local peer = connect()
    for _ = 1, 20 do
      assert.equal("wrongState", peer:request "attach".error)
      peers.sleep(0.005)
    end
  end)

  it("drops a client that takes nothing, and its traces", function ()
    local port = listen {host = "127.0.0.1", port = 0, defaults =
                         '20:{"stallTimeout":0.3}'}
    local deaf = connect {deaf = true, port = port}
    deaf:send({to = "trace1", type = "attach"},
              {to = "trace1", type = "startTrace"})
    peers.wait(function () return channel.asked[2] end)
    channel.endless = true
    channel:enters(("x"):rep(100000))
    assert.is_truthy(peers.wait(function ()
      return channel.asked[#channel.asked] == "leave"
    end))
  end)

  it("drops a client that the program would not wait for", function ()
    local peer = attached()
    peer:request "startTrace"
    channel:enters "f"
    channel:tells {kind = "ended", id = 1, why = "stall"}
    assert.equal("f", peer:receive().name)
    assert.equal("stall", peer:receive().why)
    assert.is_true(peer:hung_up())
    assert.equal("leave", channel.asked[#channel.asked])
  end)

  it("tells the end of a state, then has no such actor", function ()
    local stranger = connect()
    host:open(2, "two.lua")
    listen({host = "127.0.0.1", port = 0}, 2)
    local peer = attached()
    peer:request("startTrace", {name = "one"})
    peer:request("startTrace", {name = "two"})
    channel:enters "f"
    channel:tells {kind = "gone"}
    host:put {kind = "closed", endpoint = 1}
    local reply, frames = peer:reply()
    assert.equal("f", names(frames))
    assert.equal("two terminated", reply.name .. " " .. reply.why)
    assert.equal("one terminated", peer:receive().name .. " " .. reply.why)
    assert.equal("noSuchActor", peer:request "attach".error)
    assert.equal(1, #peer:ask({to = "root", type = "listTabs"}).tabs)
    assert.equal("close", channel.asked[#channel.asked])
    assert.is_true(stranger:hung_up())     -- it came by that state's address
  end)

  it("has a tab for each state, and one client for each", function ()
    host:open(2, "two.lua")
    listen({host = "127.0.0.1", port = 0}, 2)
    local one, two = connect(), connect()
    local tabs = one:ask({to = "root", type = "listTabs"}).tabs
    assert.equal("one.lua trace1", tabs[1].title .. " " .. tabs[1].traceActor)
    assert.equal("two.lua trace2", tabs[2].title .. " " .. tabs[2].traceActor)
    assert.equal("attached", one:request "attach".type)
    assert.equal("attached", two:request("attach", nil, "trace2").type)
    assert.equal("wrongState", two:request "attach".error)
    assert.equal("attached", one:request("detach").type and "attached")
    host:put {kind = "closed", endpoint = 1}
    peers.wait(function ()
      return #two:ask({to = "root", type = "listTabs"}).tabs == 1
    end)
    assert.equal(1, #two:ask({to = "root", type = "listTabs"}).tabs)
    assert.equal("startedTrace", two:request("startTrace", nil, "trace2").type)
  end)

  it("lets the host's options stand under the client's", function ()
    host:open(2, "two.lua")
    channel = host.channels[2]
    local text = '{"options":{"redact":["pass"],"maxEvents":10,'
                 .. '"valueDepth":3,"trace":["name"]}}'
    listen({host = "127.0.0.1", port = 0, defaults = #text .. ":" .. text}, 2)
    local peer = connect()
    peer:request("attach", nil, "trace2")
    peer:request("startTrace", {redact = {"key"}, maxEvents = 50,
                                valueDepth = 1}, "trace2")
    assert.same({name = "Trace 1", redact = {"key"}, maxEvents = 50,
                 valueDepth = 1, trace = {"name"}}, channel.options)
    peer:request("startTrace", {maxEvents = 5, trace = {"time"}}, "trace2")
    assert.same({name = "Trace 2", maxEvents = 5,
                 valueDepth = 3, trace = {"time"}}, channel.options)
  end)

  it("hangs up on the clients of an address that is closed", function ()
    local port = listen {host = "127.0.0.1", port = 0}
    local peer = connect {port = port}
    peer:request "attach"
    host:unlisten(1, address)
    assert.is_true(peer:hung_up())
    assert.is_nil((peers.connect {port = port}))
    assert.equal("leave", channel.asked[#channel.asked])
  end)

  it("hangs up when a state goes, although the host has yet to say so",
     function ()
    local port = listen {host = "127.0.0.1", port = 0}
    local peer = connect {port = port}
    peer:request "attach"
    peer:request "startTrace"
    channel.lacks = {memory = 2}
    channel:tells {kind = "gone"}
    local reply = peer:reply()
    assert.same({"terminated", {memory = 2}}, {reply.why, reply.lost})
    assert.is_true(peer:hung_up())
    assert.is_nil((peers.connect {port = port}))
  end)

  it("has no descriptors left when it ends", function ()
    local peer = attached()
    peer:request "startTrace"
    channel:enters "f"
    channel:tells {kind = "gone"}
    host:put {kind = "closed", endpoint = 1}
    stop()
    assert.is_true(peer:hung_up())
    local _, frames = peer:reply()
    assert.equal("f", names(frames))
  end)

  it("reads a client for as long as it ends what it begins", function ()
    with_clock(function (pass)
      local peer = connect()
      local echo = peers.bytes {to = "root", type = "echo"}
      local half = echo:sub(1, 9)
      peer:raw(half)
      for _ = 1, 4 do
        pass(6000)
        peer:raw(echo:sub(10) .. half)
        assert.equal("echo", (peer:receive() or {}).type)
      end
      pass(10001)
      assert.is_true(peer:hung_up())
    end)
  end)

  it("lets nobody be kept out by those who say nothing", function ()
    with_clock(function (pass)
      local used = attached()
      local idle = {}
      for i = 1, 63 do
        idle[i] = connect()
      end
      local late = assert(peers.connect {port = address:match ":(%d+)$"})
      table.insert(clients, late)
      local answer = late:receive()
      assert.equal("root tooManyClients", answer.from .. " " .. answer.error)
      assert.is_true(late:hung_up())
      pass(5000)
      assert.equal("echo", idle[1]:ask({to = "root", type = "echo"}).type)
      pass(5001)
      for _ = 2, 63 do
        assert.equal(0, connect():ask({to = "root", type = "listTabs"})
                        .selected)
      end
      assert.is_true(peers.wait(function ()
        return peers.connected(idle) == 1
      end))
      assert.is_falsy(idle[1].closed)
      assert.equal("startedTrace", used:request "startTrace".type)
    end)
  end)

  it("closes in time although a client does not read", function ()
    local deaf = connect {deaf = true}
    deaf:send({to = "trace1", type = "attach"},
              {to = "trace1", type = "startTrace"})
    peers.wait(function () return channel.asked[2] end)
    channel.endless = true
    channel:enters(("x"):rep(100000))
    peers.sleep(0.1)
    local start = uv.hrtime()
    stop(50)
    assert.is_true(uv.hrtime() - start < 4e9)
  end)
end)
