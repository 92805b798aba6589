-- No client is fast, slow or busy enough to be a burden to the others or to the
-- program. `make soak` has the first for longer.

local uv = require "luv"
local it = require("spec.support.run").needs("luv", it, pending)

local peers = require "spec.server.peer"
local serving = require "spec.server.serving"

local SECONDS = tonumber(os.getenv "TG_SOAK") or 3
local GROWTH = 32 << 10         -- KiB of memory that the program may have more
local LONGEST = 256 << 20       -- bytes that one gets before another is served

-- Nothing but calls, as fast as they can be; and once, as many as it is told.
local busy = [[
  local function leaf (x) return x + 1 end
  local function mid (x) return leaf(leaf(x)) end
  require("tracegrip").listen(OPTIONS)
  local n, rounds = 0, tonumber(io.read())
  while rounds ~= 0 do
    n, rounds = mid(n), rounds and rounds - 1
  end
  io.stdout:write "free\n"
  io.stdout:flush()
  io.read()
]]

local function start (options)
  return serving.start((busy:gsub("OPTIONS", options)))
end

local function memory (program)
  return tonumber(program:proc("VmRSS"):match "%d+")
end

-- A client that traces and does nothing with what comes but count it.
local function stream (program)
  local peer = program:peer {deaf = true}
  peer:send({to = "trace1", type = "attach"},
            {to = "trace1", type = "startTrace", trace = {"name", "time"},
             batch = 1000})
  return peer
end

local function count_bytes (peer)
  peer.socket:read_start(function (_, bytes)
    peer.received = peer.received + #(bytes or "")
    peer.closed = not bytes
  end)
end

-- From connecting to an answer.
local function visit (program)
  local peer <close> = program:peer()
  assert.equal(0, peer:ask({to = "root", type = "listTabs"}).selected)
end

describe("a client as fast as can be", function ()
  it("costs the program no memory, and the others no time", function ()
    local program <close> = start("{}")
    program:tell "for ever"
    local peer <close> = stream(program)
    count_bytes(peer)
    peers.wait(function () return peer.received > 1 << 20 end)
    local before, most, longest = memory(program), 0, 0
    local ended = uv.hrtime() + SECONDS * 1e9
    -- For so long, and until it has had more than anybody could keep for it.
    while uv.hrtime() < ended or peer.received <= GROWTH << 10 do
      peers.sleep(0.1)
      local received = peer.received
      visit(program)
      longest = math.max(longest, peer.received - received)
      most = math.max(most, memory(program))
    end
    assert.is_true(most - before < GROWTH, most - before)
    assert.is_true(longest < LONGEST, longest)
    assert.is_falsy(peer.closed)
  end)
end)

describe("a client with many requests that are much work", function ()
  it("lets others be served between them", function ()
    local program <close> = start("{}")
    local peer <close> = program:peer()
    local other <close> = program:peer()
    local function ask (kind, fields)
      return peer:request(kind, fields, "profiler1")
    end
    assert.is_nil(ask("startProfiler", {startMode = 1, windowID = 1}).error)
    program:tell "20000"
    program:says "free"
    assert.is_nil(ask("stopProfiler", {sessionID = 1}).error)
    local answers = 0
    peer.socket:read_stop()
    peer.socket:read_start(function (_, bytes)
      answers = answers + select(2, bytes:gsub('"error":"badRequest"', ""))
    end)
    -- Each is refused, for too many events, but not before they are there.
    local hundred = peers.bytes({to = "profiler1", type = "getEvents", mode = 1,
                                 sessionID = 1, timelineID = 1}):rep(100)
    -- On a busy machine many may be answered before the other has asked.
    local least = math.huge
    for _ = 1, 5 do
      answers = 0
      peer:raw(hundred)
      peers.wait(function () return answers > 0 end)
      other:ask {to = "root", type = "listTabs"}
      least = math.min(least, answers)
      peers.wait(function () return answers == 100 end)
      assert.equal(100, answers)
      if least < 50 then
        break
      end
    end
    assert.is_true(least < 50, least)
  end)
end)

describe("a session that takes long to be made", function ()
  -- Whether others were.
  local function serves_others ()
    local program <close> = start("{}")
    local peer <close> = program:peer()
    local other <close> = program:peer()
    peer:request("startProfiler", {startMode = 1, windowID = 1}, "profiler1")
    program:tell "300000"
    program:says "free"
    local before = peer.received
    peer:send {to = "profiler1", type = "stopProfiler", sessionID = 1}
    other:ask {to = "root", type = "listTabs"}
    other:ask {to = "root", type = "listTabs"}
    local first = peer.received == before
    local session = peer:reply()
    assert.is_nil(session.error)
    assert.is_nil(session.lost)
    local sums = peer:request("getEvents", {sessionID = 1, timelineID = 1,
                                            mode = 3}, "profiler1").eventList
    local hits = {}
    for _, sum in ipairs(sums) do
      hits[sum.functionCall.name] = sum.hits
    end
    assert.equal(300000, hits.mid)
    assert.equal(600000, hits.leaf)
    return first
  end

  -- On a busy machine it may be made before the others have asked.
  it("lets others be served meanwhile", function ()
    local served = false
    for _ = 1, 5 do
      served = served or serves_others()
    end
    assert.is_true(served)
  end)

  it("is forgotten with a client that does not wait for it", function ()
    local program <close> = start("{}")
    do
      local peer <close> = program:peer()
      peer:request("startProfiler", {startMode = 1, windowID = 1}, "profiler1")
      program:tell "300000"
      program:says "free"
      peer:send {to = "profiler1", type = "stopProfiler", sessionID = 1}
      visit(program)
    end
    for _ = 1, 5 do
      visit(program)
    end
    assert.is_nil(program.status)
    assert.is_nil(program.err:find "server:")
  end)
end)

-- Reads in pieces, with a pause after each, to the end. What came last.
local function read_slowly (peer, bytes, pause)
  local tail, room = "", bytes
  local function read (_, piece)
    peer.closed = not piece
    piece = piece or ""
    tail, room = (tail .. piece):sub(-2000), room - #piece
    peer.received = peer.received + #piece
    if room <= 0 then
      peer.socket:read_stop()
    end
  end
  while not peer.closed do
    room = bytes
    peer.socket:read_start(read)
    peers.wait(function () return room <= 0 or peer.closed end)
    peers.sleep(pause)
  end
  return tail
end

describe("a client that does not read for a while", function ()
  it("is told that the program did not wait, at its own pace", function ()
    local program <close> = start("{stallTimeout = 3}")
    local peer <close> = stream(program)
    program:tell "1000000"
    program:says "free"
    local tail = read_slowly(peer, 1 << 20, 0.05)
    assert.matches('{"from":"trace1","type":"stoppedTrace","name":"Trace 1",'
                   .. '"why":"stall"}$', tail)
    assert.is_true(peer.received > 10 << 20)
  end)
end)
