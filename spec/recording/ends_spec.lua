-- However a process ends, its recording is there, and info tells how it was.

local normal = require "spec.support.normal"
local recorded = require "spec.support.recorded"

local types = {trace = {"name", "return", "throw", "yield"}}

-- A program that calls f, has a coroutine wait, and ends inside of g.
local function program (ending)
  return [[
    local function f () end
    local wait = coroutine.wrap(function () coroutine.yield() end)
    local function g () ]] .. ending .. [[ end
    f()
    wait()
    g()
  ]]
end

local function ends (sentence, ending, status, check)
  it(sentence, function ()
    recorded.with(program(ending), types, nil,
                  function (info, recording, result, directory)
      assert.equal(status, result.status, result.stderr)
      local packets = recorded.packets(recording)
      local whole, open = normal.check(packets)
      assert.is_true(whole, open)
      assert.equal(info.events, #packets)
      assert.equal(0, recorded.lost(recording))
      local lines = normal.outline(packets)
      assert.equal("  > f", lines[4])
      check(info, lines, open, recording, directory)
    end)
  end)
end

-- Closed in order: all frames exit, the last one that of the main chunk.
local function complete (last)
  return function (info, lines, open)
    assert.equal("complete", info.state)
    assert.is_nil(info.reason)
    assert.equal(0, open)
    assert.equal(last, lines[#lines])
    assert.equal(1, #info.traces)
    assert.is_nil(info.traces[1].ended)
  end
end

-- Not closed: open where it was killed, and that is said.
local function cut_off (last, frames)
  return function (info, lines, open)
    assert.equal("cut off", info.state)
    assert.matches("process " .. info.pid .. " ended without closing it",
                   info.reason)
    assert.equal(frames or 3, open)
    assert.equal(last, lines[#lines])
  end
end

describe("the recording of a program that ends by", function ()
  ends("its last line", "", 0, complete "< (main chunk) return ")

  ends("an error", "error 'broken'", 1,
       complete '< (main chunk) exception "program.lua:3: broken"')

  ends("os.exit", "os.exit(3)", 3, complete "< (main chunk) terminated")

  ends("os.exit that closes the state", "os.exit(4, true)", 4,
       complete "< (main chunk) terminated")

  ends("os.exit in a coroutine",
       "coroutine.wrap(function () os.exit(5) end)()", 5,
       complete "< (main chunk) terminated")

  ends("abort", "process.abort()", 128 + 6, cut_off "    > process.abort")

  ends("a signal", "process.kill(process.pid(), 15)", 128 + 15,
       cut_off "    > process.kill")

  ends("SIGKILL", "process.kill(process.pid(), 9)", 128 + 9,
       cut_off "    > process.kill")

  ends("_exit", "process.leave(6)", 6, cut_off "    > process.leave")

  -- The handler fails again and again, until Lua gives up with an error of its
  -- own that nobody is called with: it is not known.
  ends("an error in an error", "error(setmetatable({}, {__tostring = error}))",
       1, complete "< (main chunk) exception nil")
end)

describe("a recording", function ()
  it("is complete when its state closes, whatever comes then", function ()
    recorded.with([[
      setmetatable({}, {__gc = function () process.abort() end})
    ]], types, nil, function (info, _, result)
      assert.equal(134, result.status)
      -- the finalizer of the tracer runs first: it was made last
      assert.is_truthy(info.state == "complete" or info.state == "cut off")
    end)
  end)

  it("knows which program it is of", function ()
    recorded.with("math.abs(1)", types, {
      tape = {program = "some/program", arguments = {"a", "b c", ""}}
    }, function (info, _, _, directory)
      assert.equal(directory .. "/rec", info.path)
      assert.equal("some/program", info.program)
      assert.same({"a", "b c", ""}, info.arguments)
      assert.is_true(math.abs(info.date - os.time()) < 600)
      assert.matches("^%d+%.%d+%.%d+$", info.versions.tracegrip)
      assert.matches("^Lua 5%.[45]", info.versions.lua)
      assert.equal(6, info.versions.format)
      assert.is_true(info.pid > 1)
      assert.equal(1, info.threads)
      assert.is_true(info.functions >= 2)
      assert.is_true(info.bytes > 0 and info.bytes < info.file_bytes)
      assert.equal(info.bytes / info.events, info.bytes_per_event)
      assert.equal(4, info.events)
      assert.is_true(info.duration_ms > 0 and info.duration_ms < 10000)
    end)
  end)

  it("ends by itself where its options say, and the program goes on",
     function ()
    recorded.with("for i = 1, 100 do math.abs(i) end io.write 'on'",
                  {maxEvents = 10}, nil, function (info, recording, result)
      assert.equal("on", result.stdout)
      assert.equal("complete", info.state)
      assert.equal("maxEvents", info.traces[1].ended)
      assert.equal(10, #recorded.packets(recording))
      assert.equal(10, info.events)
    end)
  end)

  it("with a buffer has the beginning, and counts the rest", function ()
    local code = "for i = 1, 10000 do math.abs(i) end io.write 'on'"
    recorded.with(code, {buffer = 65536}, nil,
                  function (info, recording, result)
      assert.equal("on", result.stdout)
      assert.equal("overflow", info.traces[1].ended)
      assert.is_true(info.bytes <= 65536)
      local n = #recorded.packets(recording)
      assert.equal(20004, n + recording.lost.overflow)
      assert.equal(n, info.events)
      assert.equal(recording.lost.overflow, info.lost.overflow)
    end)
  end)

  it("ends after a duration", function ()
    recorded.with([[
      local now = process.now
      local from = now()
      while now() - from < 0.2 do end
      print((now() - from) * 1000)
    ]], {duration = 50}, nil, function (info, _, result)
      assert.equal("duration", info.traces[1].ended)
      assert.is_true(info.duration_ms >= 49
                     and info.duration_ms < tonumber(result.stdout),
                     info.duration_ms)
    end)
  end)

  it("can be read while it is made", function ()
    recorded.with([[
      local core = require "tracegrip.core"
      local function f () end
      f()
      local recording = assert(core.open "rec")
      local info = recording:info()
      print(info.state, info.reason)
      for packet in recording:packets() do
        if packet.name == "f" then print "f is there" end
      end
    ]], types, nil, function (info, _, result)
      assert.equal("complete", info.state)
      assert.matches("^running\tprocess %d+ is recording on it\nf is there\n$",
                     result.stdout)
    end)
  end)
end)
