-- Cycles of the collector: intervals, with the heap's size before and after.

local cjson = require "cjson.safe"
local recorded = require "spec.support.recorded"
local run = require "spec.support.run"

-- Runs code that has garbage to make, with what is allocated told of.
local function program (code, options, how, use)
  options = options or {memory = true}
  recorded.with([[
    collectgarbage "incremental"
    collectgarbage()
    collectgarbage "stop"
    local function garbage (n)
      for i = 1, n do local t = {i} end
    end
    local function nothing () end
  ]] .. code, options, how, function (info, recording, result, directory)
    assert.equal("", result.stderr)
    use(recording:traces()[1], info, directory)
  end)
end

-- {kind, before, after, from, to} of each, in the order of their ends.
local function collections (trace)
  local list = {}
  for _, packet in ipairs(recorded.packets(trace)) do
    if packet.type == "marker" and packet.method == "collection" then
      local kind, before, after = table.unpack(packet.arguments.values)
      list[#list + 1] = {
        kind = kind, before = before, after = after,
        from = packet.time - packet.duration, to = packet.time
      }
    end
  end
  return list
end

local function kinds (list, from)
  local names = {}
  for i = from, #list do
    names[#names + 1] = list[i].kind
  end
  return table.concat(names, " ")
end

describe("collections", function ()
  it("are told of, each with what it has freed", function ()
    program([[
      garbage(1000)
      collectgarbage()
      nothing()
      garbage(5000)
      collectgarbage()
      nothing()
    ]], nil, nil, function (trace)
      local list = collections(trace)
      local a, b = list[#list - 1], list[#list]
      assert.equal("full full", kinds(list, #list - 1))
      assert.is_true(a.before - a.after >= 1000 * 50)
      assert.is_true(b.before - b.after >= 5000 * 50)
      assert.is_true(b.before - b.after > 4 * (a.before - a.after))
      assert.is_true(a.from <= a.to and a.to <= b.from + 0.001
                     and b.from <= b.to,
                     ("%f to %f, %f to %f"):format(a.from, a.to, b.from, b.to))
    end)
  end)

  it("have the time of all their steps", function ()
    program([[
      local keep = {}
      for i = 1, 50000 do keep[i] = {} end
      collectgarbage "restart"
      for _ = 1, 15000 do
        garbage(10)
        nothing()
      end
    ]], nil, nil, function (trace)
      local list = collections(trace)
      -- A full one may take longer where it had to wait for a processor.
      local longest
      for _, c in ipairs(list) do
        if c.kind == "incremental" and (not longest or c.to - c.from
                                        > longest.to - longest.from) then
          longest = c
        end
      end
      assert.truthy(longest)
      local calls = 0
      for _, packet in ipairs(recorded.packets(trace)) do
        if packet.name == "nothing" and packet.time > longest.from
           and packet.time < longest.to then
          calls = calls + 1
        end
      end
      assert.is_true(calls > 1)
    end)
  end)

  it("are as many as the collector made, between two calls", function ()
    program([[
      collectgarbage "restart"
      garbage(100000)
      nothing()
    ]], {memory = true, trace = {"name", "time"}}, nil, function (trace, info)
      local list = collections(trace)
      assert.is_true(#list > 5)
      for i = 2, #list do
        assert.is_true(list[i].to >= list[i - 1].to)
        assert.is_true(list[i].from >= list[i - 1].to - 0.001)
      end
      assert.equal(#list, info.traces[1].memory.collections)
      assert.is_true(info.traces[1].memory.collecting_ms > 0)
    end)
  end)

  it("are there in generations too", function ()
    program([[
      collectgarbage "restart"
      collectgarbage "generational"
      local keep = {}
      for i = 1, 20000 do keep[i] = {} end
      garbage(100000)
      nothing()
      collectgarbage "incremental"
    ]], nil, nil, function (trace)
      local list = collections(trace)
      assert.matches("generational generational", kinds(list, 1), 1, true)
    end)
  end)

  it("are not told where the interpreter's memory is not read", function ()
    program("garbage(1000) collectgarbage() nothing()", nil, {direct = "0"},
            function (trace, info)
      assert.equal(0, #collections(trace))
      assert.is_nil(info.traces[1].memory.collections)
      assert.is_true(info.traces[1].memory.allocations >= 1000)
    end)
  end)

  it("are in no trace that does not ask what is allocated", function ()
    program("garbage(1000) collectgarbage() nothing()",
            {trace = {"name", "time", "markers", "memory"}}, nil,
            function (trace)
      assert.equal(0, #collections(trace))
    end)
  end)

  it("are intervals in viewers, and lines of the log", function ()
    program("garbage(1000) collectgarbage() nothing()", nil, nil,
            function (trace, _, directory)
      local list = collections(trace)
      local last = list[#list]
      local label = ("full collection, %d to %d bytes"):format(last.before,
                                                               last.after)
      local function exported (format)
        assert(trace:export(format, directory .. "/out"))
        return cjson.decode(run.read(directory .. "/out"))
      end
      local found
      for _, event in ipairs(exported("chrome").traceEvents) do
        if event.name == label then found = event end
      end
      assert.equal("X", found.ph)
      assert.equal("memory", found.cat)
      assert.is_true(math.abs(found.dur / 1000 - (last.to - last.from)) < 0.01)
      found = nil
      local markers = exported("firefox").threads[1].markers
      for i, data in ipairs(markers.data) do
        if data.label == label then
          found = markers.endTime[i] - markers.startTime[i]
        end
      end
      assert.is_true(math.abs(found - (last.to - last.from)) < 0.01)
      found = nil
      for _, row in ipairs(exported("gecko").threads[1].markers.data) do
        if row[6].label == label then found = row[3] - row[2] end
      end
      assert.is_true(math.abs(found - (last.to - last.from)) < 0.01)
      assert(trace:log {path = directory .. "/log"})
      assert.matches(('◆ collection "full", %d, %d'):format(last.before,
                                                            last.after),
                     run.read(directory .. "/log"), 1, true)
    end)
  end)
end)
