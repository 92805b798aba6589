-- Filters for reading: what they leave of a trace's packets, compared with
-- plain Lua's narrowing of all packets, and with another trace of the same run
-- that has asked for no more in the first place.

local run = require "spec.support.run"

-- A program with everything that a filter could trip over: errors, tail calls,
-- coroutines on two levels, recursion, C functions that call back. `finish` is
-- called at the end.
local work = [[
  local function leaf (t, x) return t, x end
  local function fail (secret) error({code = secret, list = {1, {2, {3}}}}) end
  local function tail (n) return leaf({n, {n, {n}}}, ("x"):rep(n * 40)) end
  local function recur (n) if n > 0 then recur(n - 1) tail(n) end end
  local function gen (n)
    for i = 1, n do coroutine.yield({i, key = "value"}, ("y"):rep(300)) end
    return "done"
  end
  local function outer (n)
    local inner = coroutine.wrap(gen)
    for i = 1, n do
      coroutine.yield(inner(n + 1))
      pcall(fail, "token " .. i)
    end
  end
  local function spin () local n = 0 for i = 1, 3000 do n = n + i end end
  local function slow () for i = 1, 3 do spin() leaf({}) end end
  local function main ()
    local co = coroutine.create(outer)
    for i = 1, 3 do
      coroutine.resume(co, 3)
      recur(i)
      string.gsub("abc", ".", function (c) return (leaf(c)) end)
      slow()
    end
  end
  main()
]]

local prelude = ([[
  local path = package.path
  package.path = %q .. "/?.lua;" .. path
  local tracegrip = require "tracegrip"
  local compare = require "spec.report.compare"
  package.path = path
  local function say (wrong) print(wrong or "same") end
]]):format(run.root)

local function prints (expected, ...)
  local result = run.code(prelude .. table.concat({...}, "\n"))
  assert.equal("", result.stderr)
  assert.equal(expected, result.stdout)
end

-- A trace of everything under a filter, a function of its packets' source text.
local function narrows (sentence, filter)
  it(sentence, function ()
    prints("same\nsame\ntrue\n",
           "local all = {trace = tracegrip.traceTypes}",
           "local trace = tracegrip.start(all)", work, "trace:stop()", ([[
      local packets = compare.collect(trace)
      local function time (share)
        local i = #packets * share // 100
        while packets[i].why do i = i + 1 end   -- an entry
        return packets[i].time
      end
      local function span (name)
        for i, p in ipairs(packets) do
          if p.name == name then
            return packets[i + 1].time - p.time
          end
        end
      end
      local filter = {%s}
      say(compare.filter(trace, packets, filter))
      say(compare.report(trace, filter))
      local n = #compare.collect(trace, filter)
      print(n > 0 and n < #packets or filter.trace ~= nil)
    ]]):format(filter))
  end)
end

-- Two traces of one run: one of everything, read through a filter, and one
-- with the filter as its options. (Hits are those of the trace, whatever part
-- of it is read.)
local function equals (sentence, filter, base)
  it(sentence, function ()
    prints("same\nfalse\n", ([[
      local wide = {trace = {}, valueDepth = "all", valueString = "all"}
      for i, name in ipairs(tracegrip.traceTypes) do
        wide.trace[i] = name ~= "hitCount" and name or "name"
      end
      for key, value in pairs {%s} do wide[key] = value end
      local filter = {%s}
      local narrow = {}
      for key, value in pairs(wide) do narrow[key] = value end
      for key, value in pairs(filter) do narrow[key] = value end
      local one = tracegrip.start(wide)
      local two = tracegrip.start(narrow)]]):format(base or "", filter),
      work, "one:stop() two:stop()", [[
      local all = compare.collect(one)
      local got = compare.collect(one, filter)
      say(compare.difference(compare.collect(two), got, "packets"))
      print(compare.difference(all, got, "packets") == nil)
    ]])
  end)
end

describe("a filter narrows", function ()
  narrows("by name", [[include = "^leaf$"]])
  narrows("by source", [[include = "program%.lua"]])
  narrows("by what is not wanted", [[exclude = {"^leaf$", "^coroutine"}]])
  narrows("by both", [[include = {"program", "yield"}, exclude = "^recur$"]])
  narrows("to Lua functions", [[c = false]])
  narrows("by depth", [[maxDepth = 2]])
  narrows("by depth of what is shown", [[maxDepth = 2, exclude = "^main$"]])
  narrows("to the main coroutine", [[thread = 1]])
  narrows("to a coroutine", [[thread = 2]])
  narrows("to a coroutine within another", [[thread = 3]])
  narrows("from a time on", [[from = time(40)]])
  narrows("to a time", [[to = time(60)]])
  narrows("to a window", [[from = time(25), to = time(75)]])
  narrows("to a moment", [[from = time(50), to = time(50)]])
  narrows("to calls that took long", [[minDuration = span("spin") / 2]])
  narrows("to types", [[trace = {"name", "time", "location", "thread"}]])
  narrows("by all at once", [[from = time(20), to = time(95), thread = 1,
    c = false, exclude = "^spin$", maxDepth = 3, minDuration = 0.0005]])

  it("to nothing", function ()
    prints(("0\t0\t0\n"):rep(4),
           "local trace = tracegrip.start()", work, "trace:stop()", [[
      for _, filter in ipairs {{include = "nobody"}, {thread = 99},
                               {from = 1e9}, {from = 1, to = 0}} do
        local report = trace:report(filter)
        print(#compare.collect(trace, filter), report.events,
              #trace:tree(filter).children)
      end
    ]])
  end)
end)

describe("what a filter leaves is what a trace so started has", function ()
  equals("include", [[include = {"^leaf$", "^recur$"}]])
  equals("exclude", [[exclude = {"^main$", "wrap"}]])
  equals("c", [[c = false]])
  equals("maxDepth", [[maxDepth = 3]])
  equals("minDuration", [[minDuration = 0.002]])
  equals("trace", [[trace = {"name", "depth", "yield"}]])
  equals("trace without any", [[trace = {}]])
  equals("valueDepth", [[valueDepth = 1]])
  equals("valueDepth 0", [[valueDepth = 0]])
  equals("valueProperties", [[valueProperties = 1]])
  equals("valueString", [[valueString = 20]])
  equals("valueObjects", [[valueObjects = 2]])
  equals("redact", [[redact = {"^secret$", "^key$"}]])
  equals("redact beside a trace's own", [[redact = {"^secret$", "^key$"}]],
         [[redact = {"^secret$"}]])
  equals("all at once", [[include = {"program", "yield"}, exclude = "^spin$",
    maxDepth = 4, valueDepth = 1, valueString = 10, valueObjects = 3,
    trace = {"name", "arguments", "yield", "throw", "thread"}]])
end)

describe("a filter", function ()
  -- The trace's own depth limit counts frames that the filter hides.
  it("gives nothing that the trace has not", function ()
    prints("a 0, b 1\nb 0\n0\n", [[
      local function c () end
      local function b () c() end
      local function a () b() end
      local other = tracegrip.start()
      local trace = tracegrip.start {maxDepth = 2, exclude = "^stop$",
                                     trace = {"name", "depth"}}
      a()
      trace:stop() other:stop()
      local function show (filter)
        local list = {}
        for p in trace:packets(filter) do
          list[#list + 1] = p.name and p.name .. " " .. p.depth
        end
        print(table.concat(list, ", "))
      end
      show()
      show {exclude = "^a$"}
      local n = 0
      for _ in trace:packets {include = "^c$"} do n = n + 1 end
      print(n)
    ]])
  end)

  it("leaves a limit of events where it was", function ()
    prints("3\n", [[
      local function b () end
      local function a () b() end
      local trace = tracegrip.start {maxEvents = 10}
      local other = tracegrip.start()
      for i = 1, 100 do a() end
      trace:stop() other:stop()
      print(trace:report({include = "^a$"}).functions[1].calls)
    ]])
  end)

  it("never widens", function ()
    prints("same\n", [[
      local narrow = {trace = {"name", "arguments"}, valueDepth = 0,
                      valueString = 5, c = false, maxDepth = 3}
      local trace = tracegrip.start(narrow)
      local other = tracegrip.start {trace = tracegrip.traceTypes,
                                     valueDepth = 3}]],
      work, "trace:stop() other:stop()", [[
      say(compare.difference(compare.collect(trace), compare.collect(trace, {
        trace = tracegrip.traceTypes, valueDepth = "all", maxDepth = 100,
        valueString = 1000, c = true
      }), "packets"))
    ]])
  end)

  it("may be nil or empty", function ()
    prints("same\nsame\n", "local trace = tracegrip.start()", work,
           "trace:stop()", [[
      local all = compare.collect(trace)
      say(compare.difference(all, compare.collect(trace, nil), "packets"))
      say(compare.difference(all, compare.collect(trace, {}), "packets"))
    ]])
  end)

  it("goes with every way of reading", function ()
    prints("6 3 3 6 2\n", [[
      local function b () end
      local function a () b() end
      local trace = tracegrip.start()
      for i = 1, 3 do a() end
      trace:stop()
      local filter = {include = "^a$"}
      assert(trace:export("packets", "out.jsonl", filter))
      assert(trace:log({path = "out.log", summary = false}, filter))
      local function lines (path)
        local n = 0
        for _ in io.lines(path) do n = n + 1 end
        return n
      end
      print(table.concat({
        #compare.collect(trace, filter),
        trace:report(filter).functions[1].calls,
        trace:tree(filter).children[1].calls, lines "out.jsonl",
        lines "out.log" // 3
      }, " "))
    ]])
  end)

  it("that is wrong is an error that says what is right", function ()
    local known = "(known: trace, include, exclude, c, maxDepth, minDuration, "
      .. "valueDepth, valueProperties, valueString, valueObjects, redact, "
      .. "redactPreset, redactIgnoreCase, "
      .. "thread, from, to, raw, lines, progress)\n"
    prints("unknown option 'buffer' " .. known
           .. "unknown option 'overflow' " .. known
           .. "unknown option 'maxEvents' " .. known
           .. "unknown option 'duration' " .. known
           .. "unknown option 'name' " .. known
           .. "unknown option '1' " .. known .. [[
option 'thread': a positive integer expected, got 0
option 'from': a non-negative number of milliseconds expected, got -1
option 'to': a non-negative number of milliseconds expected, got x
option 'include': malformed pattern (missing ']')
no such trace type 'x'
bad argument #1 to 'report' (table expected, got number)
]], [[
      local trace = tracegrip.start()
      trace:stop()
      for _, filter in ipairs {
        {buffer = 5000}, {overflow = "ring"}, {maxEvents = 5}, {duration = 1},
        {name = "x"}, {"leaf"}, {thread = 0}, {from = -1}, {to = "x"},
        {include = "["}, {trace = {"x"}}, 5
      } do
        local ok, message = pcall(function () trace:report(filter) end)
        print((message:gsub("^program.lua:%d+: ", "")
               :gsub("(type 'x').*", "%1")))
      end
    ]])
  end)

  it("for starting a trace knows nothing of windows", function ()
    prints("false\tunknown option 'from'\n", [[
      local ok, message = pcall(tracegrip.start, {from = 1})
      print(ok, message:match "^[^(]*'")
    ]])
  end)
end)
