-- Programs with something to do are attached to, traced and left, again and
-- again: what they work out stays right, and nobody finds a hook afterwards.

local uv = require "luv"

local peers = require "spec.server.peer"
local run = require "spec.support.run"
local serving = require "spec.server.serving"

local it = run.needs("luv", it, pending)

local VISITS = run.some(15, 40)         -- of each kind three, or eight

-- Takes frames, in batches or not, which must nest and have no holes; tells how
-- many there were.
local function counter ()
  local open, sequence = 0, 0
  local function take (event)
    assert.equal(sequence, event.sequence)
    sequence = sequence + 1
    open = open + (event.type == "enteredFrame" and 1 or -1)
    assert.is_true(open >= 0)
  end
  return function (packet)
    for _, event in ipairs(packet.traces or {packet}) do
      take(event)
    end
  end, function () return sequence end
end

-- One visit: how many frames were seen.
local function visit (program, fields, moment)
  local peer <close> = program:peer()
  local count
  peer.each, count = counter()
  local reply
  peers.wait(function ()
    reply = peer:request "attach"
    return reply.type
  end)
  assert.equal("attached", reply.type)
  assert.equal("startedTrace", peer:request("startTrace", fields).type)
  if fields.maxEvents then
    assert.equal("maxEvents", peer:reply().why)
    assert.equal(fields.maxEvents, count())
  else
    peers.sleep(moment)
    assert.equal("stoppedTrace", peer:request "stopTrace".type)
  end
  assert.equal("detached", peer:request "detach".type)
  return count()
end

-- Kinds of visits, which take turns.
local visits = {
  {trace = {"name"}, batch = 100, maxEvents = 1000},
  {trace = {"name", "time", "arguments", "return"}, maxEvents = 500},
  {trace = {}, batch = 50, overflow = "stop", buffer = 1 << 16},
  {maxEvents = 3000},
  {include = {"^work$"}, trace = {"name", "depth", "hitCount"}},
}

-- most: how many events a visit waits for.
local function visit_often (program, times, most)
  local seen = 0
  for i = 1, times do
    local fields = {}
    for key, value in pairs(visits[i % #visits + 1]) do
      fields[key] = value
    end
    fields.maxEvents = fields.maxEvents and math.min(fields.maxEvents, most)
    if fields.overflow then
      local peer <close> = program:peer()
      peer:request "attach"
      peer:request("startTrace", fields)
      peers.sleep(0.005)        -- and it just goes
    else
      seen = seen + visit(program, fields, 0.001)
    end
  end
  return seen
end

describe("a program that is attached to again and again", function ()
  it("and computes comes to the same results", function ()
    local program <close> = serving.start [[
      require("tracegrip").listen()
      local function fib (n) return n < 2 and n or fib(n - 1) + fib(n - 2) end
      local function text (n)
        local parts = {}
        for i = 1, n do parts[i] = ("%d:%s"):format(i, ("x"):rep(i % 7)) end
        return #table.concat(parts, ",")
      end
      function work (n)
        local t = setmetatable({}, {__index = function (_, k) return k * n end})
        local ok, err = pcall(error, {n})
        return t[3] + (ok and 0 or err[1])
      end
      local rounds, wrong = 0, 0
      io.stdin:setvbuf "no"
      local stop = false
      while not io.open "stop" do
        if fib(15) ~= 610 or text(100) ~= 688 or work(5) ~= 20 then
          wrong = wrong + 1
        end
        rounds = rounds + 1
      end
      print(rounds > 0, wrong, debug.gethook())
    ]]
    local seen = visit_often(program, VISITS, 5000)
    assert.is_true(seen > 1000)
    run.write(program.directory .. "/stop", "")
    assert.equal(0, program:ended(), program.err)
    assert.equal("true\t0\tnil\n", program.out)
  end)

  it("and schedules coroutines comes to the same results", function ()
    local program <close> = serving.start [[
      require("tracegrip").listen()
      local function work (n)
        local sum = 0
        for i = 1, n do
          sum = sum + coroutine.yield(i)
        end
        return sum
      end
      local function run (tasks, rounds)
        local threads, sums = {}, {}
        for i = 1, tasks do
          threads[i] = coroutine.create(work)
          coroutine.resume(threads[i], rounds)
        end
        for _ = 1, rounds do
          for i = 1, tasks do
            local ok, value = coroutine.resume(threads[i], i)
            assert(ok)
            sums[i] = value
          end
        end
        return sums
      end
      local forever = coroutine.wrap(function ()
        local wrong = 0
        while not io.open "stop" do
          for i, sum in ipairs(run(10, 20)) do
            if sum ~= 20 * i then wrong = wrong + 1 end
          end
          local gen = coroutine.wrap(function ()
            for i = 1, 3 do coroutine.yield(i) end
            error "end"
          end)
          local n = gen() + gen() + gen()
          if n ~= 6 or pcall(gen) then wrong = wrong + 1 end
        end
        return wrong
      end)
      print(forever(), debug.gethook())
    ]]
    local seen = visit_often(program, VISITS, 5000)
    assert.is_true(seen > 1000)
    run.write(program.directory .. "/stop", "")
    assert.equal(0, program:ended(), program.err)
    assert.equal("0\tnil\n", program.out)
  end)

  it("and serves echoes gives the same answers", function ()
    local program <close> = serving.start [[
      local uv = require "luv"
      require("tracegrip").listen()
      local server = uv.new_tcp()
      server:bind("127.0.0.1", 0)
      server:listen(16, function ()
        local client = uv.new_tcp()
        server:accept(client)
        client:read_start(function (_, bytes)
          if bytes then
            client:write(bytes:upper())
          else
            client:close()
          end
        end)
      end)
      print(server:getsockname().port)
      io.stdout:flush()
      uv.run()
    ]]
    local port = tonumber(program:says "(%d+)\n")
    local socket, answer, asked = uv.new_tcp(), {}, {}
    socket:connect("127.0.0.1", port, function ()
      socket:read_start(function (_, bytes)
        answer[#answer + 1] = bytes
      end)
    end)
    local timer = uv.new_timer()
    timer:start(1, 1, function ()
      asked[#asked + 1] = ("line %d of many\n"):format(#asked)
      socket:write(asked[#asked])
    end)
    local seen = visit_often(program, VISITS, 20)
    timer:close()
    local expected = table.concat(asked):upper()
    peers.wait(function () return #table.concat(answer) >= #expected end)
    socket:close()
    uv.run "nowait"
    assert.equal(expected, table.concat(answer))
    assert.is_true(seen > 100)
  end)

  it("and waits in C is reached when it goes on", function ()
    local program <close> = serving.start [[
      require("tracegrip").listen()
      function f () end
      while io.read() do f() end
    ]]
    local peer <close> = program:peer()
    assert.equal("attached", peer:request "attach".type)
    assert.equal("startedTrace",
                 peer:request("startTrace", {trace = {"name"}}).type)
    program:tell()
    local name
    repeat
      name = peer:receive().name
    until name == "f"
    assert.equal("stoppedTrace", peer:request "stopTrace".type)
  end)

  it("and waits in C is not disturbed by who only attaches", function ()
    local program <close> = serving.start [[
      local process = require "process"
      local console = require "tracegrip.console"
      require("tracegrip").listen()
      function f () end
      print "waits"
      io.stdout:flush()
      print("woken", process.sleep(1))
      io.stdout:flush()
      io.read()
      console.startTrace "mine"
      f()
      console.stopTrace "mine"
      io.read()
    ]]
    local peer <close> = program:peer()
    program:says "waits"
    for _ = 1, 100 do
      assert.equal("attached", peer:request "attach".type)
      assert.equal("detached", peer:request "detach".type)
    end
    peer:request "attach"
    assert.equal("0", program:says "woken\t(%d+)\n")
    program:tell()
    assert.equal("mine", peer:reply().name)     -- it is attached all the same
    local _, frames = peer:reply()
    assert.equal("f", frames[1].name)
  end)

  it("and never calls anything is answered all the same", function ()
    local program <close> = serving.start [[
      require("tracegrip").listen()
      local n = 0
      while true do n = n + 1 end
    ]]
    local peer <close> = program:peer()
    for _ = 1, 20 do
      assert.equal("attached", peer:request "attach".type)
      assert.equal("startedTrace", peer:request "startTrace".type)
      assert.equal("detached", peer:request "detach".type)
      assert.equal("stoppedTrace", peer:reply().type)
    end
  end)

  it("and sits in a coroutine that never yields is seen", function ()
    local program <close> = serving.start [[
      require("tracegrip").listen()
      function work () end
      coroutine.wrap(function ()
        coroutine.wrap(function ()
          while true do work() end
        end)()
      end)()
    ]]
    for _ = 1, 10 do
      assert.equal(1000, visit(program, {trace = {"name"}, maxEvents = 1000}))
    end
  end)

  it("is not waited for by its own reads and writes", function ()
    local program <close> = serving.start [[
      require("tracegrip").listen()
      for line in io.lines() do
        io.write(line, "!\n")
        io.flush()
      end
    ]]
    for i = 1, 50 do
      local peer <close> = program:peer()
      peer:request "attach"
      peer:request "startTrace"
      program:tell("line " .. i)
      assert.equal("line " .. i, program:says "(line %d+)!\n")
    end
    assert.is_nil(program.status)
  end)

  it("waits for a client that does not read as long as it was told", function ()
    for _, patience in ipairs {0, 1} do
      local program <close> = serving.start(([[
        local gethook = debug.gethook   -- which tells of the tracer's, too
        local clock = require("process").now
        local queue = io.open "/proc/thread-self/schedstat"
        -- How long others have kept it from a processor.
        local function kept ()
          if not queue then return 0 end
          queue:seek "set"
          return tonumber(queue:read "a":match "^%%d+ (%%d+)") / 1e9
        end
        require("tracegrip").listen {stallTimeout = %g}
        local function f () end
        local longest, own, from, before = 0, 0, clock(), kept()
        local function round ()
          for i = 1, 100 do f() end
          local now, queued = clock(), kept()
          longest = math.max(longest, now - from)
          own = math.max(own, now - from - (queued - before))
          from, before = now, queued      -- no moment is left out
          return gethook() ~= nil
        end
        local traced = 0        -- rounds; no other hook of ours stays
        repeat
          traced = round() and traced + 1 or 0
        until traced == 100
        repeat until not round()
        round()                 -- it may have waited at that round's end
        print(longest, own)
      ]]):format(patience))
      local deaf <close> = program:peer()
      assert.equal("attached", deaf:request "attach".type)
      assert.equal("startedTrace", deaf:request "startTrace".type)
      deaf.socket:read_stop()
      local longest, own = program:says "([%d.e-]+)\t([%d.e-]+)\n"
      assert.is_true(tonumber(longest) > patience / 2, longest)
      -- The server may be kept from a processor meanwhile. Where it is not told
      -- how long to wait, that is five seconds.
      assert.is_true(tonumber(own) < patience + 2, own)
    end
  end)

  it("is as fast as before when nobody is there", function ()
    local program <close> = serving.start [[
      local function fib (n) return n < 2 and n or fib(n - 1) + fib(n - 2) end
      local function time ()
        local best = math.huge
        for _ = 1, 40 do
          local t = os.clock()
          fib(22)
          best = math.min(best, os.clock() - t)
        end
        return best
      end
      local before = time()
      require("tracegrip").listen()
      print "here"
      io.stdout:flush()
      while not io.open "stop" do fib(10) end
      -- Others may have had the processor at all of the times of a while: what
      -- slows the program down does so at every try.
      local ratio
      for _ = 1, 10 do
        ratio = time() / before
        if ratio < 1.5 then break end
      end
      print(ratio)
    ]]
    program:says "here"
    visit(program, {trace = {"name"}, include = {"^fib$"}, maxEvents = 100})
    peers.sleep(0.3)
    run.write(program.directory .. "/stop", "")
    local ratio = tonumber(program:says "([%d.]+)\n")
    assert.is_true(ratio < 1.5, "ratio " .. ratio)
  end)
end)
