-- The format of Firefox itself: samples at an interval against the steps of the
-- same trace, exact markers.

local exported = require "spec.export.exported"
local profiles = require "spec.export.profiles"
local programs = require "spec.export.programs"
local seen = require "spec.export.seen"

local DEEPEST = 10000

-- What is not UTF-8 is shown as such; a location is one line.
local function as_text (text)
  return text and (text:gsub("\\xF[FE]", "\u{FFFD}"):gsub("\n", "\\n"))
end

local function export (program, version, how)
  how = how or {}
  how.formats = {"gecko"}
  how.export = how.export or {}
  how.export.geckoVersion = version
  local list = exported.of(program, how)
  for _, trace in ipairs(list) do
    trace.doc = seen.json(trace.text.gecko)
  end
  return list
end

-- The innermost calls of a stack and its length: enough to tell stacks apart,
-- and less than all of a deep one.
local function summary (stack)
  local names = {#stack}
  for i = #stack, math.max(1, #stack - 3), -1 do
    names[#names + 1] = stack[i].name .. " " .. (stack[i].source or "C")
  end
  return table.concat(names, ";")
end

local function calls_of (stack)
  local calls = {}
  for _, frame in ipairs(stack) do
    if profiles.is_call(frame) then
      calls[#calls + 1] = frame
    end
  end
  return calls
end

-- The stack of a thread at moments in ascending order, from its steps.
local function replay (steps)
  local stack, at = {}, 1
  return function (ns)
    while steps[at] and steps[at].ns and steps[at].ns <= ns do
      if steps[at].opens then
        stack[#stack + 1] = {name = as_text(steps[at].name),
                             source = as_text(steps[at].source)}
      else
        stack[#stack] = nil
      end
      at = at + 1
    end
    return stack
  end
end

local traces = {}

local function each_trace (sentence, check)
  for name, program in pairs(programs) do
    for _, version in ipairs {36, 5} do
      it(("%s (%s, version %d)"):format(sentence, name, version), function ()
        local key = name .. version
        traces[key] = traces[key] or export(program, version)
        for _, trace in ipairs(traces[key]) do
          check(trace, seen.packets(trace.packets, {depth = DEEPEST}),
                version)
        end
      end)
    end
  end
end

describe("gecko", function ()
  each_trace("has what ran at each moment", function (trace, steps)
    local tracks = seen.by_track(steps)
    for _, thread in ipairs(trace.doc.threads) do
      local stacks = profiles.gecko_stacks(thread)
      local stack_at = replay(tracks[thread.tid])
      for _, sample in ipairs(profiles.gecko_samples(thread, stacks)) do
        local calls = calls_of(sample.stack)
        assert.equal(summary(stack_at(sample.ns)), summary(calls))
      end
    end
  end)

  each_trace("samples at whole intervals, and all that ran",
  function (trace)
    local interval = trace.doc.meta.interval * 1e6 // 1 | 0
    assert.is_true(interval >= 1000)
    for _, thread in ipairs(trace.doc.threads) do
      local stacks = profiles.gecko_stacks(thread)
      local samples, before = profiles.gecko_samples(thread, stacks), nil
      for _, sample in ipairs(samples) do
        assert.equal(0, sample.ns % interval)
        if before then
          local gap = sample.ns - before.ns
          assert.is_true(gap == interval or gap > 0 and #before.stack == 0)
        end
        before = sample
      end
      assert.equal(0, before and #before.stack or 0)
    end
  end)

  each_trace("has a marker for each call, to the nanosecond",
  function (trace, steps, version)
    local expected, open = {}, {}
    local function expect (tid, from, to)
      expected[("%d %s %d %d"):format(tid, as_text(from.name), from.ns,
                                      to.ns)] = true
    end
    for _, step in ipairs(version == 36 and steps or {}) do
      if step.opens then
        open[#open + 1] = step
      else
        local from = table.remove(open)
        if step.ns then
          expect(1, from, step)
          expect(from.thread, from, step)
        end
      end
    end
    for _, thread in ipairs(trace.doc.threads) do
      local list = version == 36 and profiles.gecko_markers(thread) or {}
      for _, m in ipairs(list) do
        assert.equal("Lua call", m.name)
        expected[("%d %s %d %d"):format(thread.tid, m.fn, m.from, m.to)] = nil
      end
      assert.is_true(version == 36 or #thread.markers.data == 0)
    end
    assert.same({}, expected)
  end)

  each_trace("has the tables of its version", function (trace, _, version)
    local doc = trace.doc
    assert.equal(version, doc.meta.version)
    assert.equal("GeckoMain", doc.threads[1].name)
    for _, thread in ipairs(doc.threads) do
      assert.equal(version == 36, thread.markers.schema.phase ~= nil)
      for i, row in ipairs(thread.stackTable.data) do
        local prefix = row[thread.stackTable.schema.prefix + 1]
        assert.is_true(type(prefix) ~= "number" or prefix < i - 1)
      end
    end
  end)
end)

describe("a Gecko profile", function ()
  it("has at most about half a million samples of a thread", function ()
    local list = export([[
      local function spin (n) for i = 1, n do local x = i * i end end
      start()
      local clock = os.clock()
      while os.clock() - clock < 0.8 do spin(20000) end
    ]], 36)
    local doc = list[1].doc
    assert.is_true(#doc.threads[1].samples.data <= 500002)
    assert.is_true(doc.meta.interval >= 0.002)
  end)

  it("says what is lost, in version 5 too", function ()
    for _, version in ipairs {36, 5} do
      local trace = export([[
        local function f (s) return s end
        start()
        for i = 1, 20000 do f("some text " .. i) end
      ]], version, {trace = {buffer = 65536}})[1]
      local thread = trace.doc.threads[1]
      local last = thread.markers.data[#thread.markers.data]
      assert.equal("Incomplete trace", thread.stringTable[last[1] + 1])
      assert.is_truthy(last[#last].note:find "overflow")
    end
  end)

  it("has places that are read as such, whatever files are named", function ()
    local trace = export([[
      start()
      load("local function f () end f()", "@/home/My Lua (old)/a b.lua")()
      load("local function f () end f()", "@two\nlines\r\u{2028}.lua")()
    ]], 36)[1]
    local strings = table.concat(trace.doc.threads[1].stringTable, "\n")
    assert.is_truthy(strings:find(
      "f (/home/My Lua\u{A0}(old)/a b.lua:1)", 1, true))
    assert.is_truthy(strings:find("f (two\\nlines\\r .lua:1)", 1, true))
  end)
end)
