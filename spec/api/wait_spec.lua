-- overflow "wait": the program waits for a reader on another thread. Needs the
-- test build, whose core.drain is such a reader: `make oom SPEC=...`.

local run = require "spec.support.run"

local found, core = pcall(require, "tracegrip.core")
local can_drain = found and core.drain ~= nil

-- Programs print one line.
local head = [[
local core = require "tracegrip.core"
local function lost (trace)
  local n = 0
  for _, count in pairs(trace.lost) do n = n + count end
  return n
end
local function calls (n, g)
  for i = 1, n do g(i) end
end
local function say (read, ...)
  print(read.packets, read.whole, read.ended, ...)
end
local options = {trace = {"name", "arguments"}, include = {"^f$"},
                 buffer = 65536, overflow = "wait"}
local function f () end
]]

local function execute (body)
  local result = run.code(head .. body)
  assert.equal("", result.stderr)
  assert.equal(0, result.status)
  return (result.stdout:gsub("%s+", " "))
end

describe("overflow 'wait'", function ()
  it("without a reader beside the program keeps the beginning", function ()
    assert.equal("true 200000 ", execute [[
      local t = core.start(options)
      calls(100000, f)
      t:stop()
      local n = 0
      for _ in t:packets() do n = n + 1 end
      print(n > 1000 and n < 100000, n + lost(t))
    ]])
  end)

  if not can_drain then
    pending("the rest needs the test build: make oom")
    return
  end

  it("loses nothing of millions of events in a small buffer", function ()
    assert.equal("4000000 true true 0 ", execute [[
      local t = core.start(options)
      local drain = core.drain(t, {})
      calls(2000000, f)
      t:stop()
      say(drain:join(), lost(t))
    ]])
  end)

  it("loses nothing to a reader that rests now and then", function ()
    assert.equal("200000 true true 0 ", execute [[
      local t = core.start(options)
      local drain = core.drain(t, {every = 20000, pause = 20})
      calls(100000, f)
      t:stop()
      say(drain:join(), lost(t))
    ]])
  end)

  it("lets through what is larger than the buffer", function ()
    assert.equal("2000 true true 0 ", execute [[
      options.valueString = "all"
      local t = core.start(options)
      local drain = core.drain(t, {})
      calls(1000, function (i) f(("x"):rep(i % 50 == 0 and 300000 or 900)) end)
      t:stop()
      say(drain:join(), lost(t))
    ]])
  end)

  it("goes through coroutines and errors", function ()
    assert.equal("true true 0 true ", execute [[
      options.include = nil
      local t = core.start(options)
      local drain = core.drain(t, {})
      for i = 1, 10000 do
        local co = coroutine.wrap(function (x)
          f(x)
          coroutine.yield(x)
          error(x)
        end)
        pcall(co, i)
        pcall(co)
      end
      t:stop()
      local read = drain:join()
      print(read.whole, read.ended, lost(t), read.packets > 200000)
    ]])
  end)

  it("loses patience with a reader that hangs, and counts", function ()
    assert.equal("true true false true overflow ", execute [[
      local t = core.start(options)
      local drain = core.drain(t, {hangs = 1000, patience = 200})
      local from = os.time()
      calls(200000, f)
      t:stop()
      -- what the trace kept was never read: only its losses are known
      local read = drain:join()
      print(read.packets == 1000, read.whole, read.ended,
            os.time() - from <= 60 and lost(t) > 300000, t.ended)
    ]])
  end)

  it("does not wait for a reader that has left", function ()
    assert.equal("true true true overflow ", execute [[
      local t = core.start(options)
      local drain = core.drain(t, {leaves = 1000})
      local from = os.time()
      calls(200000, f)
      t:stop()
      local read = drain:join()
      print(read.packets == 1000, read.whole,
            os.time() - from <= 60 and lost(t) > 300000, t.ended)
    ]])
  end)

  it("waits for nobody in a forked child", function ()
    assert.equal("3 20000 true true 0 ", execute(([[
      package.cpath = %q .. package.cpath
      local states = require "states"
      local t = core.start(options)
      local drain = core.drain(t, {})
      calls(5000, f)
      local status
      for _ = 1, 20 do
        status = states.fork(function ()
          calls(20000, f)
          os.exit(lost(t) > 1000 and 3 or 4)
        end)
      end
      calls(5000, f)
      t:stop()
      io.write(status, " ")
      say(drain:join(), lost(t))
    ]]):format(run.build .. "/spec/?.so;")))
  end)

  it("never waits with 'stop', also for a reader", function ()
    assert.equal("true true true true ", execute [[
      options.overflow = "stop"
      local t = core.start(options)
      local drain = core.drain(t, {every = 1000, pause = 100})
      calls(20000, f)
      t:stop()
      local read = drain:join()
      print(read.whole, read.ended, read.packets < 40000,
            read.packets + lost(t) == 40000)
    ]])
  end)

  it("stops where the trace stops, although others go on", function ()
    assert.equal("20000 true true 0 60000 ", execute [[
      local whole = core.start {trace = {"name"}, include = {"^f$"}}
      calls(10000, f)
      local t = core.start(options)
      local drain = core.drain(t, {})
      calls(10000, f)
      t:stop()
      calls(10000, f)
      whole:stop()
      local n = 0
      for _ in whole:packets() do n = n + 1 end
      say(drain:join(), lost(t), n)
    ]])
  end)

  it("lets a trace be collected, and its state closed, while it is read",
  function ()
    assert.equal("20000 true true ", execute [[
      local drain
      do
        local t = core.start(options)
        drain = core.drain(t, {every = 1000, pause = 5})
        calls(10000, f)
        t:stop()
      end
      collectgarbage()
      say(drain:join())
      KEPT = core.start(options)
      drain = core.drain(KEPT, {every = 100, pause = 5})
      calls(1000, f)
    ]])
  end)
end)
