-- The trace type "memory": how much Lua has allocated, now and then.

local cjson = require "cjson"

local run = require "spec.support.run"

local prelude = [[
local tracegrip = require "tracegrip"
local function f () end
-- Two million bytes at least, whatever the version of Lua.
local function large ()
  local list = {}
  for i = 1, 1 << 18 do list[i] = i end
  return list
end
local function busy (ms)
  local t = os.clock()
  repeat f() until os.clock() - t > ms / 1000
end
-- Of all sizes that a trace has: their number, the least and the largest.
local function sizes (trace, filter)
  local n, least, most = 0, math.huge, 0
  for p in trace:packets(filter) do
    if p.type == "memory" then
      n, least, most = n + 1, math.min(least, p.bytes), math.max(most, p.bytes)
    end
  end
  return n, least, most
end
]]

local function printed (program)
  local result = run.code(prelude .. program)
  assert.equal(0, result.status, result.stderr)
  return result.stdout
end

describe("memory", function ()
  it("is not recorded unless it is asked for", function ()
    assert.equal("0\n", printed [[
      local trace = tracegrip.start()
      busy(5)
      trace:stop()
      print((sizes(trace)))
    ]])
  end)

  it("is what collectgarbage counts", function ()
    assert.equal("true\ttrue\ttrue\n", printed [[
      collectgarbage() collectgarbage "stop"
      local trace = tracegrip.start {trace = {"name", "time", "memory"}}
      local before = collectgarbage "count" * 1024
      busy(5)
      local list = large()
      busy(5)
      local after = collectgarbage "count" * 1024
      trace:stop()
      local n, least, most = sizes(trace)
      print(n >= 2, math.abs(least - before) < 100000,
            #list > 0 and most - least > 2000000 and most <= after)
    ]])
  end)

  it("becomes smaller by a collection", function ()
    assert.equal("true\n", printed [[
      local list = large()
      local trace = tracegrip.start {trace = {"time", "memory"}}
      busy(3)
      list = nil
      collectgarbage()
      busy(3)
      trace:stop()
      local n, least, most = sizes(trace)
      print(most - least > 2000000)
    ]])
  end)

  it("is read once in a millisecond at most, and takes no sequence",
     function ()
    assert.equal("true\ttrue\n", printed [[
      local trace = tracegrip.start {trace = {"name", "time", "memory"}}
      busy(20)
      trace:stop()
      local last, apart, sequence, whole = -1, true, 0, true
      for p in trace:packets() do
        if p.type == "memory" then
          apart = apart and p.time - last >= 0.999
          last = p.time
        else
          whole = whole and p.sequence == sequence
          sequence = sequence + 1
        end
      end
      print(apart and last > 0, whole)
    ]])
  end)

  -- The collector is stopped: when it begins a cycle, a few bytes decide, and
  -- already the type's name in the program's text has so many.
  it("changes nothing for the program", function ()
    local program = [[
      local trace = tracegrip.start {trace = {"name", %s}}
      collectgarbage "stop"
      local before = collectgarbage "count"
      local list = {}
      for i = 1, 3000 do
        list[i %% 100] = {i, tostring(i)}
        f()
      end
      local count = collectgarbage "count" - before
      trace:stop()
      print(count > 100, count)
    ]]
    local timed = printed(program:format "'time'")
    assert.matches("^true\t", timed)
    assert.equal(timed, printed(program:format "'memory'"))
  end)

  it("is kept beside limits, rings and other traces", function ()
    assert.equal("true\ttrue\ttrue\t0\n", printed [[
      local types = {"name", "time", "memory"}
      local ring = tracegrip.start {trace = types, overflow = "ring",
                                    buffer = 600000}
      local short = tracegrip.start {trace = types, duration = 300}
      local other = tracegrip.start()
      busy(310)
      local late = tracegrip.start {trace = types}
      busy(10)
      ring:stop() short:stop() other:stop() late:stop()
      print((sizes(ring)) > 0, (sizes(short)) > 0, (sizes(late)) > 0,
            (sizes(other)))
    ]])
  end)

  it("is the same from a file, and with coroutines", function ()
    assert.equal("true\ttrue\n", printed [[
      local path = os.tmpname()
      local trace = tracegrip.start {trace = {"name", "time", "memory"}}
      for i = 1, 5 do
        coroutine.wrap(function () busy(2) coroutine.yield() end)()
      end
      trace:stop()
      assert(trace:save(path))
      local copy = assert(tracegrip.open(path)):traces()[1]
      local a, b, c = sizes(trace)
      local d, e, f = sizes(copy)
      os.remove(path)
      print(a > 0, a == d and b == e and c == f)
    ]])
  end)

  it("is a counter of chrome, firefox and gecko, and in no log", function ()
    run.within(function (directory)
      run.write(directory .. "/p.lua", prelude .. [[
        local trace = tracegrip.start {trace = {"name", "time", "memory"}}
        busy(10)
        trace:stop()
        local n, least, most = sizes(trace)
        for _, format in ipairs {"chrome", "firefox", "gecko"} do
          assert(trace:export(format, format))
        end
        assert(trace:log {path = "log"})
        print(n, most)
      ]])
      local result = run.file("p.lua", {cwd = directory})
      assert.equal("", result.stderr)
      local n, most = result.stdout:match "(%d+)\t(%d+)"
      local values, last = {}, 0
      local chrome = cjson.decode(run.read(directory .. "/chrome"))
      for _, event in ipairs(chrome.traceEvents) do
        if event.ph == "C" then
          assert.equal("Lua heap", event.name)
          values[#values + 1] = event.args.bytes
        end
      end
      assert.equal(tonumber(n), #values)
      assert.equal(tonumber(most), math.max(table.unpack(values)))
      local firefox = cjson.decode(run.read(directory .. "/firefox"))
      local counter = firefox.counters[1]
      assert.equal("Memory", counter.category)
      for i, change in ipairs(counter.samples.count) do
        last = last + change
        assert.equal(values[i], last)
      end
      assert.equal(#values, counter.samples.length)
      local gecko = cjson.decode(run.read(directory .. "/gecko")).counters[1]
      assert.equal("Memory", gecko.category)
      assert.same({time = 0, count = 1}, gecko.samples.schema)
      for i, row in ipairs(gecko.samples.data) do
        assert.equal(counter.samples.time[i], row[1])
        assert.equal(counter.samples.count[i], row[2])
      end
      assert.equal(#values, #gecko.samples.data)
      assert.is_nil(run.read(directory .. "/log"):find("◆", 1, true))
    end)
  end)
end)
