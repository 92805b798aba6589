-- Traces that the program starts while it is recorded are in the recording too,
-- each with its own types and limits; the recording itself it does not see.

local normal = require "spec.support.normal"
local recorded = require "spec.support.recorded"
local run = require "spec.support.run"

local prelude = [[
  local tracegrip = require "tracegrip"
  local console = require "tracegrip.console"
  local core = require "tracegrip.core"
  local function f () end
  local function g () f() end
]]

-- Nothing of tracegrip's own, and of the program what its names say.
local function names (trace)
  return table.concat(recorded.names(trace), " ")
end

local function named (sentence, code, options, check)
  it(sentence, function ()
    recorded.with(prelude .. code, options, nil,
                  function (info, recording, result, directory)
      assert.equal("", result.stderr)
      assert.equal("complete", info.state)
      for _, trace in ipairs(recording:traces()) do
        assert.is_true(normal.check(recorded.packets(trace)))
      end
      check(recording, info, result, directory)
    end)
  end)
end

describe("a trace of the program's own in a recording", function ()
  named("is found by its name, with its part and its types", [[
    g()
    console.startTrace("one", {trace = {"name", "depth"}})
    g()
    console.startTrace("two", {trace = {"name"}})
    f()
    console.stopTrace("one")
    f()
    console.stopTrace("two")
    g()
  ]], {trace = {"name"}}, function (recording, info)
    assert.equal(3, #info.traces)
    assert.same({"program", "one", "two"}, {
      info.traces[1].name, info.traces[2].name, info.traces[3].name
    })
    assert.equal("g f f", names(recording:trace "one"))
    assert.equal("f f", names(recording:trace "two"))
    assert.equal(recording:trace().name, "program")
    assert.matches("g f g f f f g f$", names(recording))
    assert.same({"name", "depth"}, info.traces[2].types)
    local packets = recorded.packets(recording:trace "one")
    assert.equal(0, packets[1].depth)
    assert.equal(1, packets[2].depth)
    assert.equal(#packets, info.traces[2].events)
    assert.is_true(info.traces[2].start_ms > info.traces[1].start_ms)
    assert.is_true(info.traces[2].stop_ms < info.traces[3].stop_ms)
    local none, message, code = recording:trace "three"
    assert.is_nil(none)
    assert.equal("no trace named 'three' in this recording", message)
    assert.equal("noSuchTrace", code)
  end)

  named("that is started again is there twice; its name is the last one's", [[
    console.startTrace("one")
    f()
    console.startTrace("one")
    g()
    console.stopTrace("one")
  ]], {}, function (recording, info)
    assert.equal(3, #info.traces)
    assert.equal("f", names(recording:traces()[2]))
    assert.equal("g f", names(recording:trace "one"))
  end)

  named("that runs on ends with the recording", [[
    console.startTrace("on")
    f()
  ]], {}, function (recording, info)
    assert.equal("f", names(recording:trace "on"))
    assert.is_true(info.traces[2].stop_ms <= info.traces[1].stop_ms)
    assert.is_nil(info.traces[2].ended)
  end)

  named("has limits of its own", [[
    console.startTrace("few", {maxEvents = 3})
    console.startTrace("short", {duration = 2000, trace = {"name"}})
    console.startTrace("small", {buffer = 4096, trace = {"name"}})
    for i = 1, 20000 do f() end
    process.sleep(2.2)
    for i = 1, 10 do f() end
    local small = console.stopTrace("small")
    print(small.lost.overflow)
  ]], {trace = {"name"}}, function (recording, info, result)
    local ended = {}
    for i, trace in ipairs(info.traces) do
      ended[i] = trace.name .. " " .. tostring(trace.ended)
    end
    assert.same({"program nil", "few maxEvents", "short duration",
                 "small overflow"}, ended)
    assert.equal(3, #recorded.packets(recording:trace "few"))
    local small = recording:trace "small"
    assert.equal(result.stdout:match "%d+", tostring(small.lost.overflow))
    assert.is_true(#recorded.packets(recording:trace "short") > 0)
  end)

  named("that counts what it loses counts to the end of the recording", [[
    small = tracegrip.start {name = "small", buffer = 4096, trace = {"name"}}
    for i = 1, 5000 do f() end
  ]], {trace = {"name"}}, function (recording)
    local small = recording:trace "small"
    assert.equal("overflow", small.ended)
    assert.equal(10000, #recorded.packets(small) + small.lost.overflow)
  end)

  named("narrows by its filters and values", [[
    local function h (s) return s end
    console.startTrace("c", {include = {"^math"}, trace = {"name"}})
    console.startTrace("lua", {c = false, maxDepth = 1, valueString = 3})
    g(math.abs(1))
    h "abcdef"
    console.stopTrace "c"
    console.stopTrace "lua"
  ]], {}, function (recording)
    assert.equal("math.abs", names(recording:trace "c"))
    assert.equal("g h", names(recording:trace "lua"))
    local packets = recorded.packets(recording:trace "lua")
    assert.equal("abc", packets[3].arguments.values[1].initial)
  end)

  it("older than the recording is there from where that begins", function ()
    run.within(function (directory)
      run.write(directory .. "/program.lua", prelude .. [[
        local older = tracegrip.start {name = "older", trace = {"name"}}
        for i = 1, 10 do f() end
        core.record({trace = {"name"}}, {path = "rec"})
        g()
        older:stop()
        f()
        local n = 0
        for _ in older:packets() do n = n + 1 end
        print(n)
      ]])
      local result = run.file("program.lua", {cwd = directory})
      assert.equal("24\n", result.stdout)
      local recording = assert(recorded.open(directory .. "/rec"))
      assert.equal("g f", names(recording:trace "older"))
      assert.equal("g f f print", names(recording))
    end)
  end)

  named("says the same live and recorded", [[
    local traces = {}
    for i = 1, 20 do
      traces[i] = tracegrip.start {name = "t" .. i, maxDepth = i % 4 + 1,
                                   trace = {"name", "depth"}}
      g()
      if i > 5 then traces[i - 5]:stop() end
    end
    for i = 1, 20 do
      traces[i]:stop()
      assert(traces[i]:export("packets", "t" .. i))
    end
  ]], {trace = {"name"}}, function (recording, _, _, directory)
    for i = 1, 20 do
      assert(recording:trace("t" .. i):export("packets", directory .. "/r"))
      assert.equal(run.read(directory .. "/t" .. i),
                   run.read(directory .. "/r"))
    end
  end)
end)

describe("a program that is recorded", function ()
  named("does not see that", [[
    print(debug.gethook())
    print(console.stopTrace())
    print(console.stopTrace "program")
    print(console.startTrace())
    print(console.startTrace())
    print(console.stopTrace().name, console.stopTrace().name)
    print(console.stopTrace())
    print((tracegrip.start {name = "program"}).name)
    print(console.startTrace "program", console.stopTrace "program")
  ]], {}, function (_, _, result)
    assert.equal([[
nil
nil	no trace is running	wrongState
nil	no trace is running	wrongState
Trace 1
Trace 2
Trace 2	Trace 1
nil	no trace is running	wrongState
program
program	tracegrip.trace: program (stopped)
]], (result.stdout:gsub("^fail", "nil")))
  end)

  it("prints the same as without", function ()
    local code = [[
      local co = coroutine.wrap(function (...)
        print(debug.traceback("x"), select("#", ...))
        coroutine.yield(1)
      end)
      co(1, 2)
      print(pcall(error, "e"), collectgarbage "count" > 0)
      print(debug.gethook())
      debug.sethook(function () end, "c")
      print(debug.gethook() ~= nil)
      os.exit(7)
    ]]
    local plain = run.code(code)
    recorded.with(code, {}, nil, function (_, _, result)
      assert.equal(plain.stdout, result.stdout)
      assert.equal(plain.stderr, result.stderr)
      assert.equal(plain.status, result.status)
    end)
  end)
end)
