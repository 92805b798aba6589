-- What a client's traces and sessions took is given back when they are over,
-- also in a program whose collector never runs.

local peers = require "spec.server.peer"
local serving = require "spec.server.serving"
local it = require("spec.support.run").needs("luv", it, pending)

local ROUNDS, SOME = 400, 100
local GROWTH = 16 << 20   -- bytes; each trace has 256 KiB and more

local program = [[
  require("tracegrip").listen()
  collectgarbage "stop"
  local function leaf (x) return x + 1 end
  while true do
    leaf(1)
  end
]]

local function resident (target)
  return tonumber((target:proc "VmRSS":match "%d+")) << 10
end

-- How much the program grows by these rounds, once it has had some of them.
local function growth (round)
  if os.getenv "ASAN_OPTIONS" then
    pending "the sanitizer keeps what is freed"
  end
  local target <close> = serving.start(program)
  local before
  for i = 1, ROUNDS do
    if i == SOME then
      before = resident(target)
    end
    round(target)
  end
  return resident(target) - before
end

-- A request that is done.
local function ask (peer, kind, fields, to)
  local reply = peer:request(kind, fields, to)
  assert.is_nil(reply.error)
  return reply
end

-- The one before may have gone a moment ago, and the server not know of it yet.
local function ask_until_done (peer, kind, fields, to)
  local reply
  peers.wait(function ()
    reply = peer:request(kind, fields, to)
    return reply.error == nil
  end)
  assert.is_nil(reply.error)
  return reply
end

local function start (peer)
  ask_until_done(peer, "attach")
  ask(peer, "startTrace", {include = {"^nothing$"}})
end

describe("a program whose collector never runs", function ()
  it("keeps nothing of traces that a client stopped", function ()
    local bytes = growth(function (target)
      local peer <close> = target:peer()
      start(peer)
      ask(peer, "stopTrace")
      ask(peer, "detach")
    end)
    assert.is_true(bytes < GROWTH, bytes)
  end)

  it("keeps nothing of traces whose client is gone", function ()
    local bytes = growth(function (target)
      local peer <close> = target:peer()
      start(peer)
    end)
    assert.is_true(bytes < GROWTH, bytes)
  end)

  it("keeps nothing of traces that ended by themselves", function ()
    local peer
    local bytes = growth(function (target)
      if not peer then
        peer = target:peer()
        ask(peer, "attach")
      end
      ask(peer, "startTrace", {maxEvents = 1, trace = {}})
      assert.equal("maxEvents", peer:reply().why)
    end)
    peer:close()
    assert.is_true(bytes < GROWTH, bytes)
  end)

  it("keeps nothing of profiler sessions", function ()
    local bytes = growth(function (target)
      local peer <close> = target:peer()
      local id = ask_until_done(peer, "startProfiler",
                                {startMode = 1, windowID = 1},
                                "profiler1").sessionID
      ask(peer, "stopProfiler", {sessionID = id}, "profiler1")
    end)
    assert.is_true(bytes < GROWTH, bytes)
  end)

  it("keeps nothing of sessions that nobody stopped", function ()
    local bytes = growth(function (target)
      local peer <close> = target:peer()
      ask_until_done(peer, "startProfiler", {startMode = 1, windowID = 1},
                     "profiler1")
    end)
    assert.is_true(bytes < GROWTH, bytes)
  end)
end)
