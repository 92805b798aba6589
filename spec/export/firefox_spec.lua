-- The Firefox Profiler's processed format: boxes, times, markers, arguments
-- against the packets and the report of the same trace.

local cjson = require "cjson"

local exported = require "spec.export.exported"
local profiles = require "spec.export.profiles"
local programs = require "spec.export.programs"
local run = require "spec.support.run"
local seen = require "spec.export.seen"

local DEEPEST = 10000
local null = cjson.null

-- What is not UTF-8 is shown as such.
local function as_text (text)
  if text and text:find("\\xF", 1, true) then
    return (text:gsub("\\xF[FE]", "\u{FFFD}"))
  end
  return text
end

local function export (program, how)
  how = how or {}
  how.formats = {"firefox"}
  local list = exported.of(program, how)
  for _, trace in ipairs(list) do
    trace.doc = seen.json(trace.text.firefox)
    trace.stacks = profiles.stacks(trace.doc.shared)
  end
  return list
end

local traces = {}

local function each_trace (sentence, check)
  for name, program in pairs(programs) do
    it(("%s (%s)"):format(sentence, name), function ()
      traces[name] = traces[name] or export(program)
      for _, trace in ipairs(traces[name]) do
        check(trace, seen.packets(trace.packets, {depth = DEEPEST}))
      end
    end)
  end
end

-- The one trace of a program.
local function one (program, how)
  return export(program, how)[1]
end

local function same_step (expected, got)
  assert.equal(expected.opens, got.opens)
  assert.equal(as_text(expected.name), got.name)
  assert.equal(as_text(expected.source), got.source)
  if expected.ns then
    assert.equal(expected.ns, got.ns)
  end
end

describe("firefox", function ()
  each_trace("has a box for each call, to the nanosecond",
  function (trace, steps)
    local stacks = trace.stacks
    local threads = seen.by_track(steps)
    for _, thread in ipairs(trace.doc.threads) do
      local got = profiles.steps(thread, stacks)
      local expected = threads[thread.tid]
      assert.equal(#expected, #got)
      for i, step in ipairs(expected) do
        same_step(step, got[i])
      end
      threads[thread.tid] = nil
    end
    assert.same({}, threads)
  end)

  each_trace("adds up to the self time of each stack, exactly",
  function (trace, steps)
    local sums = {}
    for _, thread in ipairs(trace.doc.threads) do
      profiles.add_stacks(sums, thread, trace.stacks)
    end
    if #steps > 0 and steps[#steps].why == "unfinished" then
      return
    end
    for path, stack in pairs(seen.stacks(steps)) do
      assert.equal(stack.self, sums["1;" .. as_text(path)] or 0, path)
    end
    for path, stack in pairs(seen.stacks(steps, true)) do
      if stack.thread > 1 then
        assert.equal(stack.self, sums[as_text(path)] or 0, path)
      end
    end
  end)

  each_trace("adds up to the report, function by function", function (trace)
    local selfs = {}
    profiles.add_functions(selfs, trace.doc.threads[1], trace.stacks)
    for _, f in ipairs(trace.report.functions) do
      local source = f.line and f.url .. ":" .. f.line
      local key = as_text(seen.label(f.name, source) .. " " .. (source or "C"))
      assert.near(f.self_ms * 1e6, selfs[key] or 0, 0.5, key)
    end
  end)

  each_trace("has a marker for each call", function (trace, steps)
    local expected = {}
    for tid, list in pairs(seen.by_track(steps)) do
      for _, step in ipairs(list) do
        if step.opens then
          local key = ("%d %s %d"):format(tid, as_text(step.name), step.ns)
          expected[key] = (expected[key] or 0) + 1
        end
      end
    end
    for _, thread in ipairs(trace.doc.threads) do
      local strings = trace.doc.shared.stringArray
      for _, m in ipairs(profiles.markers(thread, strings)) do
        local key = ("%d %s %d"):format(thread.tid, m.fn, m.from)
        assert.equal("Lua call", m.name)
        assert.equal("LuaCall", m.data.type)
        assert.is_true(m.to >= m.from)
        assert.is_truthy(expected[key], key)
        expected[key] = expected[key] > 1 and expected[key] - 1 or nil
      end
    end
    assert.same({}, expected)
  end)

  each_trace("has tables of one length, and parents first", function (trace)
    local shared = trace.doc.shared
    for _, name in ipairs {"stackTable", "frameTable", "funcTable",
                           "sources", "resourceTable", "nativeSymbols",
                           "sourceLocationTable"} do
      for key, column in pairs(shared[name]) do
        if key ~= "length" then
          assert.equal(shared[name].length, #column, name .. "." .. key)
        end
      end
    end
    for i, offset in ipairs(shared.stackTable.prefixOffset) do
      assert.is_true(offset >= 0 and offset < i)
    end
    for _, thread in ipairs(trace.doc.threads) do
      for _, key in ipairs {"stack", "time", "weight"} do
        assert.equal(thread.samples.length, #thread.samples[key])
      end
    end
  end)

  each_trace("ends each thread with no stack, in order of time",
  function (trace)
    local meta = trace.doc.meta
    for _, thread in ipairs(trace.doc.threads) do
      local s = thread.samples
      for i = 2, s.length do
        assert.is_true(s.time[i] >= s.time[i - 1])
      end
      assert.equal(null, s.stack[s.length])
      assert.equal(0, s.weight[s.length])
      assert.is_true(s.time[1] >= meta.profilingStartTime)
      assert.is_true(s.time[s.length] < meta.profilingEndTime)
    end
  end)
end)

describe("the graph in the timeline", function ()
  local program = [[
    local function count (n) for i = 1, n do end end
    local text = ("x"):rep(1 << 20)
    local co = coroutine.wrap(function ()
      while true do coroutine.yield() end
    end)
    start()
    co()
    for _ = 1, 3 do
      count(2000000)
      for _ = 1, 20 do text:reverse() end
    end
    co()
    count(1000000)
  ]]

  it("is busy where the program was, and in its colours", function ()
    local trace = one(program, {export = {c = true}})
    local length = trace.report.duration_ms
    for _, thread in ipairs(trace.doc.threads) do
      local drawn, real = profiles.graph(thread, trace.stacks)
      for category, ms in pairs(real) do
        assert.near(ms, drawn[category], length / 200)
      end
    end
  end)

  it("is empty where a coroutine was suspended", function ()
    local trace = one(program)
    local drawn, real = profiles.graph(trace.doc.threads[2], trace.stacks)
    local busy, wanted = 0, 0
    for category, ms in pairs(drawn) do
      busy, wanted = busy + ms, wanted + real[category]
    end
    assert.is_true(busy < wanted + trace.report.duration_ms / 1000)
  end)
end)

describe("what firefox shows of a call:", function ()
  local function markers_of (trace, thread)
    local list = profiles.markers(trace.doc.threads[thread or 1],
                                  trace.doc.shared.stringArray)
    table.sort(list, function (a, b) return a.from < b.from end)
    return list
  end

  -- Lines of the marker table, in order of their beginning.
  local function lines_of (trace, thread)
    local t, lines = trace.doc.threads[thread or 1].markers, {}
    local strings, order = trace.doc.shared.stringArray, {}
    for i = 1, t.length do
      order[i] = i
    end
    table.sort(order, function (a, b)
      return t.startTime[a] < t.startTime[b]
    end)
    for i, place in ipairs(order) do
      local data = t.data[place]
      lines[i] = strings[data.fn + 1] .. (data.args or "")
                 .. (data.out and " " .. data.out or "")
    end
    return lines
  end

  it("its arguments and results", function ()
    local trace = one [[
      local function f (...) return ... end
      start()
      f() f(1, "two") f({x = 1})
    ]]
    local list = markers_of(trace)
    assert.same({"f()", 'f(1, "two") → 1, "two"', "f({x = 1}) → {x = 1}"},
                lines_of(trace))
    assert.is_nil(list[1].data.out)
  end)

  it("where it is defined, and where it was called from", function ()
    local trace = one "local function f () end\nstart()\nf()\ntostring(1)"
    local strings = trace.doc.shared.stringArray
    local list = markers_of(trace)
    assert.equal("p.lua:1", strings[list[1].data.at + 1])
    assert.equal("p.lua:3", list[1].data.from)
    assert.is_nil(list[2].data.at)
    assert.equal("p.lua:4", list[2].data.from)
  end)

  it("its kind and its errors, by colour, in rows of one category",
  function ()
    local trace = one [[
      local function fail () error("no", 0) end
      start()
      pcall(fail)
      coroutine.wrap(tostring)(1)
      collectgarbage("count")
    ]]
    local colors = {}
    local thread = trace.doc.threads[1]
    for i, m in ipairs(profiles.markers(thread,
                                        trace.doc.shared.stringArray)) do
      colors[m.fn] = m.data.color
      assert.equal(1, thread.markers.category[i])
    end
    assert.equal("yellow", colors.pcall)
    assert.equal("red", colors.fail)
    assert.equal("red", colors.error)
    assert.equal("purple", colors["coroutine.wrap"])
    assert.equal("orange", colors.collectgarbage)
    local schema = trace.doc.meta.markerSchema[1]
    assert.equal("color", schema.colorField)
    assert.equal("{marker.data.fn}{marker.data.args} {marker.data.out}",
                 schema.tableLabel)
  end)

  it("what it throws and yields, that it goes on", function ()
    local trace = one [[
      local function fail () error("no", 0) end
      local function body (a) return coroutine.yield(a + 1) end
      start()
      pcall(fail)
      local co = coroutine.wrap(body)
      co(1) co(2)
    ]]
    local inner = {
      "body(1) ⇢ yield 2", "coroutine.yield(2) ⇢ yield 2",
      "body resumed → 2", "coroutine.yield resumed → 2"
    }
    assert.same(inner, lines_of(trace, 2))
    assert.same({
      'pcall(function: fail) → false, "no"', 'fail() !! error "no"',
      'error("no", 0) !! error "no"',
      "coroutine.wrap(function: body) → function <[C]>", "co(1) → 2",
      inner[1], inner[2], "co(2) → 2", inner[3], inner[4]
    }, lines_of(trace))
  end)

  it("that it has not ended, or was left by a tail call", function ()
    local trace = one [[
      local function g () return 1 end
      local function f () return g() end
      local function last () start() f() local x = tostring(1) error "out" end
      last()
    ]]
    assert.equal("→ tail call", markers_of(trace)[1].data.out)
    trace = one "start() local co = coroutine.wrap(coroutine.yield) co()"
    assert.equal("⇢ yield", markers_of(trace, 2)[1].data.out)
    trace = export(programs.unfinished)[1]
    for _, m in ipairs(markers_of(trace)) do
      if m.to == trace.report.duration_ms * 1e6 // 1 then
        assert.equal("still open where the trace ends", m.data.out)
      end
    end
  end)

  it("where it is, line by line", function ()
    local trace = one [[
local function leaf () end
local function f ()
  leaf()
  local x = 1

  leaf()
end
start()
f()
]]
    local stacks = trace.stacks
    local lines = {}
    local samples = trace.doc.threads[1].samples
    for i = 1, samples.length do
      local stack = samples.stack[i] ~= null
                    and stacks[samples.stack[i]]
      if stack then
        local frame = stack[#stack]
        local line = frame.name .. " " .. frame.line
        if line ~= lines[#lines] then
          lines[#lines + 1] = line
        end
      end
    end
    assert.equal("f 3, leaf 1, f 6, leaf 1, f 6", table.concat(lines, ", "))
  end)

  it("its kind", function ()
    local trace = one [[
      local function inner () end
      local function body () coroutine.wrap(inner)() end
      start()
      collectgarbage()
      coroutine.wrap(body)()
      tostring(1)
    ]]
    local names = {}
    for i, category in ipairs(trace.doc.meta.categories) do
      names[i - 1] = category.name
    end
    local kinds, t = {}, trace.doc.shared.frameTable
    local funcs = trace.doc.shared.funcTable
    for i, func in ipairs(t.func) do
      local name = trace.doc.shared.stringArray[funcs.name[func + 1] + 1]
      kinds[name] = names[t.category[i]]
    end
    assert.equal("GC", kinds.collectgarbage)
    assert.equal("Coroutine", kinds["coroutine.wrap"])
    assert.equal("Coroutine", kinds["(in coroutine inner)"])
    assert.equal("Lua", kinds.body)
    assert.equal("C", kinds.tostring)
    assert.equal("grey", trace.doc.meta.categories[1].color)
  end)
end)

describe("arguments in the stack chart", function ()
  local function arguments_of (program, how)
    local trace = one(program, how)
    local thread = trace.doc.threads[1]
    local text = profiles.arguments(thread)
    local list = {}
    for _, step in ipairs(profiles.steps(thread,
                          trace.stacks)) do
      if step.opens then
        local place = step.argument
        list[#list + 1] = place and place >= 0 and text(place)
                          or ("%d"):format(place)
      end
    end
    return list
  end

  local function shows (sentence, call, expected)
    it(sentence, function ()
      local list = arguments_of("local function f (...) end\nstart()\nf("
                                .. call .. ")")
      assert.equal(expected, list[#list])
    end)
  end

  shows("are none", "", "-2")
  shows("are plain values", "nil, true, false", "3: nil, true, false")
  shows("are small integers", "-1, 0, 13", "3: -1, 0, 13")
  shows("are integers", "14, -2, math.mininteger, 1 << 40",
        "4: 14, -2, -9223372036854775808n, 1099511627776.0")
  shows("are floats", "1.5, 1/0, -1/0", "3: 1.5, inf, -inf")
  shows("are strings", [["", "caf\u{E9}", "a\0b"]],
        '3: "", "caf\u{E9}", "a\\0b"')
  shows("are four at most", "1, 2, 3, 4, 5, 6", "6: 1, 2, 3, 4")
  shows("are sequences", "{1, 'two', {3}}", '1: table(3) [1, "two", table]')
  shows("are records", "{x = 1}", "1: table(1) {x: 1}")
  shows("are other tables", "{[true] = 1}", "1: table(1) {true -> 1}")
  shows("are empty tables", "{}, {{}}", "2: table(0) {}, table(1) [table]")
  shows("are functions", "print, function (a, b) end",
        "2: function print(), function (anonymous function)(a, b)")
  shows("are threads and userdata", "coroutine.create(print), io.stdout",
        "2: thread, FILE*")
  shows("are objects by class", "setmetatable({1}, {__name = 'Point'})",
        "1: Point(1) [1]")

  it("are cut where their tables are", function ()
    local list = arguments_of([[
      local function f (...) end
      local long = {}
      for i = 1, 100 do long[i] = i end
      local x = ("x"):rep(300)
      start()
      f(long) f(x) f({a = 1, b = 2, c = 3})
    ]], {trace = {valueProperties = 2, valueString = 5}})
    assert.equal("1: table(3) [1, 2, ...]", list[1])
    assert.equal('1: "xxxxx\u{2026}"', list[2])
    assert.is_truthy(list[3]:find "^1: table%(3%) {%w: %d, %w: %d}$")
  end)

  it("are within the size of an entry", function ()
    local list = arguments_of([[
      local function f (...) end
      local t, u = {}, {}
      for i = 1, 30 do
        t[("k"):rep(90) .. i] = ("v"):rep(5000)
        u[{}] = ("w"):rep(5000)
      end
      local s = ("\u{E9}"):rep(5000)
      start()
      f(t, u, t, u) f(s, s, s, s, s)
    ]], {trace = {valueProperties = "all", valueString = "all"}})
    assert.equal(2, #list)
    assert.is_truthy(list[2]:find "^5: ")
  end)

  it("keep secrets", function ()
    local trace = one([[
      local function login (user, password) end
      start()
      login("me", "hunter2") login({password = "hunter2"}, "hunter2")
    ]], {trace = {redact = {"password"}}})
    assert.is_nil(trace.text.firefox:find "hunter2")
    local text = profiles.arguments(trace.doc.threads[1])
    local places = trace.doc.threads[1].samples.argumentValues
    local shown = {}
    for _, place in ipairs(places) do
      shown[#shown + 1] = place ~= null and text(place) or nil
    end
    assert.same({'2: "me", "<redacted>"',
                 '2: table(1) {password: "<redacted>"}, "<redacted>"'}, shown)
  end)

  it("are absent if they were not recorded", function ()
    local trace = one("start() tostring(1)",
                      {trace = {trace = {"name", "time", "location"}}})
    assert.is_nil(trace.doc.threads[1].tracedValuesBuffer)
    assert.is_nil(trace.doc.threads[1].samples.argumentValues)
  end)
end)

describe("a profile", function ()
  local function extra (trace, label)
    for _, entry in ipairs(trace.doc.meta.extra[1].entries) do
      if entry.label == label then
        return entry.value
      end
    end
  end

  it("says where its time 0 is on the clock of packets", function ()
    local trace = one "start() tostring(1)"
    local first = trace.packets[1].time
    local start = trace.doc.meta.profilingStartTime
    assert.near(first, start, 1e-9)
    assert.equal(first, tonumber(extra(trace, "Time 0"):match "^[%d.]+"))
  end)

  it("of nothing has a thread", function ()
    local trace = one "start()"
    assert.equal(1, #trace.doc.threads)
    assert.equal("main", trace.doc.threads[1].name)
  end)

  it("has a thread for each coroutine, by name and life", function ()
    local trace = one [[
      local function worker () coroutine.yield() end
      start()
      for i = 1, 3 do coroutine.wrap(worker)() end
      local done = coroutine.wrap(function () end)
      done()
    ]]
    local t = trace.doc.threads
    assert.equal(5, #t)
    assert.is_true(t[1].isMainThread)
    assert.equal("whole program", t[1].name)
    assert.equal("worker (p.lua:1), coroutine 2", t[2].name)
    assert.equal("p.lua:4, coroutine 5", t[5].name)
    assert.equal(null, t[2].unregisterTime)
    assert.is_true(t[5].unregisterTime >= t[5].registerTime)
    assert.equal(t[1].pid, t[5].pid)
    assert.equal("string", type(t[1].pid))
  end)

  it("has the rest of very many coroutines in one thread", function ()
    local trace = one([[
      local function body (n) coroutine.yield(n) return tostring(n) end
      start()
      local list = {}
      for i = 1, 1200 do list[i] = coroutine.wrap(body) list[i](i) end
      for i = 1, 1200 do list[i]() end
    ]], {formats = {"firefox"}})
    local threads = trace.doc.threads
    assert.equal(1000, #threads)
    assert.equal("other coroutines", threads[1000].name)
    local stacks, opened = trace.stacks, {0, 0}
    for i, thread in ipairs(threads) do
      local which = i == 1 and 1 or 2
      for _, step in ipairs(profiles.steps(thread, stacks)) do
        opened[which] = opened[which] + (step.opens and 1 or 0)
      end
    end
    local calls = trace.exported.firefox.calls
    assert.equal(calls, opened[1])
    local others = 0
    for _, packet in ipairs(trace.packets) do
      others = others + (packet.type == "enteredFrame" and packet.thread > 1
                         and 1 or 0)
    end
    assert.equal(others, opened[2])
  end)

  it("says what is beyond the limit", function ()
    local trace = one([[
      local function f (n) if n > 0 then f(n - 1) end end
      start()
      for i = 1, 10 do f(5) end
    ]], {export = {limit = 20}})
    assert.equal(20, trace.exported.firefox.calls)
    assert.equal(40, trace.exported.firefox.leftOut)
    local told = extra(trace, "Left out")
    assert.matches("^40 calls shorter than [%d.]+ us left out %([%d.]+ ms%)$",
                   told)
    local notes = {}
    for _, m in ipairs(profiles.markers(trace.doc.threads[1],
                                        trace.doc.shared.stringArray)) do
      notes[#notes + 1] = m.data.note
    end
    assert.same({told}, notes)
  end)

  it("says what was lost", function ()
    local trace = one([[
      local function f (s) return s end
      start()
      for i = 1, 20000 do f("some text " .. i) end
    ]], {trace = {buffer = 65536}})
    local value = extra(trace, "Not recorded")
    assert.is_truthy(value and value:find "overflow")
    local marks = profiles.markers(trace.doc.threads[1],
                                   trace.doc.shared.stringArray)
    assert.equal(value, marks[#marks].data.note)
    assert.equal("Incomplete trace", marks[#marks].name)
  end)

  it("keeps the markers of the longest calls", function ()
    local trace = one([[
      local function short () end
      local function long () for i = 1, 2000 do local x = i end end
      start()
      for i = 1, 250000 do short() if i % 10000 == 0 then long() end end
    ]], {packets = false})
    local long = 0
    local marks = profiles.markers(trace.doc.threads[1],
                                   trace.doc.shared.stringArray)
    for _, m in ipairs(marks) do
      long = long + (m.fn == "long" and 1 or 0)
    end
    assert.equal(200000, #marks)
    assert.equal(25, long)
    assert.is_truthy(extra(trace, "Markers"):find "^those of the 200000 long")
  end)

  it("folds what is deeper than 10,000 frames", function ()
    local trace = one([[
      local function f (n) if n > 0 then return 1 + f(n - 1) end return 0 end
      start()
      f(99999)
    ]], {packets = false})
    assert.equal(10000, trace.exported.firefox.calls)
    assert.equal(90000, trace.exported.firefox.folded)
    assert.is_truthy(extra(trace, "Folded"):find "^90000 calls deeper")
  end)

  it("has the text of sources on request", function ()
    local program = "start()\nload('return 1', '=string')()\nprint()\n"
    program = "local function f () return load('return 2')() end\n" .. program
              .. "f()"
    local trace = one(program, {export = {sources = true}})
    local shared, texts = trace.doc.shared, {}
    for i, name in ipairs(shared.sources.filename) do
      texts[shared.stringArray[name + 1]] = shared.sources.content[i]
    end
    assert.equal(program, texts["p.lua"])
    assert.equal("return 2", texts['[string "return 2"]'])
    trace = one(program)
    for _, text in ipairs(trace.doc.shared.sources.content) do
      assert.equal(null, text)
    end
  end)
end)

describe("a recording's profile", function ()
  it("has the program, its arguments and its sources", function ()
    local program = [[
      local core = require "tracegrip.core"
      local _, trace = core.record({}, {path = "r", sources = true,
        program = "this.lua", arguments = {"one", "two words"}})
      local function f () end
      f()
      load("return 'text'")()
      trace:stop()
      local recording = core.open "r"
      os.rename("program.lua", "gone")
      recording:export("firefox", "-", {sources = true})
    ]]
    local result = run.code(program)
    assert.equal("", result.stderr)
    local doc = seen.json(result.stdout)
    local shared, texts = doc.shared, {}
    for i, name in ipairs(shared.sources.filename) do
      texts[shared.stringArray[name + 1]] = shared.sources.content[i]
    end
    assert.equal(program, texts["program.lua"])
    assert.equal("return 'text'", texts['[string "return \'text\'"]'])
    assert.equal("this.lua", doc.meta.product)
    assert.equal("one two words", doc.meta.extra[1].entries[2].value)
  end)
end)
