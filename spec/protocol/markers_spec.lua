-- Markers of the program's console, for clients that ask for them.

local transcript = require "spec.support.transcript"
local said = transcript.said

-- What the program says between a start and a stop, twice.
local program = [[
local function f () console.log("here", {n = 1}) end
ask "attach"
ask("startTrace", {name = "a", trace = %s, include = {"^f$"}, batch = %s})
f()
console.time "x" console.timeEnd "x"
f()
ask "stopTrace"
]]

local function of (types, batch)
  local list = {}
  for _, packet in ipairs(said(program:format(types, batch or "nil"))) do
    for _, event in ipairs(packet.traces or {packet}) do
      if event.sequence or event.type == "marker" then
        list[#list + 1] = event
      end
    end
  end
  return list
end

local function lines (list)
  local text = {}
  for i, packet in ipairs(list) do
    text[i] = packet.sequence or packet.method
  end
  return table.concat(text, " ")
end

describe("markers", function ()
  it("are not among the types that a trace has by default", function ()
    assert.equal("0 1 2 3", lines(of "nil"))
  end)

  it("come between the frames, whose sequence has no hole", function ()
    assert.equal("0 log 1 time timeEnd 2 log 3",
                 lines(of "{'name', 'markers'}"))
    assert.equal("0 log 1 time timeEnd 2 log 3",
                 lines(of("{'name', 'markers'}", 2)))
  end)

  it("have what the trace asks for of calls, and always their values",
     function ()
    local marker = of "{'markers'}"[2]
    assert.same({from = "trace1", type = "marker", method = "log",
                 arguments = marker.arguments}, marker)
    assert.same("here", marker.arguments.values[1])
    assert.same({enumerable = true, configurable = true, writable = true,
                 value = 1},
                marker.arguments.objectPool[1].ownProperties.n)
    marker = of "{'markers', 'time', 'callsite', 'depth', 'thread'}"[2]
    assert.equal("number", type(marker.time))
    assert.same({1, 1, 2}, {marker.depth, marker.thread, marker.callsite.line})
  end)

  it("tell how long a timer ran, in milliseconds", function ()
    local list = of "{'markers', 'time'}"
    local began, ended = list[4], list[5]
    assert.is_nil(began.duration)
    assert.near(ended.time - began.time, ended.duration, 0.000002)
  end)

  it("come with no trace of the program's that was not asked for", function ()
    local list = said [[
      ask "attach"
      console.startTrace "own"
      console.log "seen by the program alone"
      local trace = console.stopTrace "own"
      local n = 0
      for p in trace:packets() do
        n = n + (p.type == "marker" and 1 or 0)
      end
      mark(tostring(n))
    ]]
    assert.same({"name", "callsite", "time", "parameterNames", "arguments",
                 "return", "throw", "yield"}, list[2].tracing)
    assert.same({"attached", "startedTrace", "stoppedTrace"},
                {list[1].type, list[2].type, list[3].type})
    assert.is_nil(list[4])
  end)
end)
