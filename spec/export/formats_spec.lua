-- What is exported against the packets and the report of the same trace: every
-- call, its time to the nanosecond, its place.

local exported = require "spec.export.exported"
local programs = require "spec.export.programs"
local seen = require "spec.export.seen"

local DEEPEST = 3000

-- Functions that Chrome's own events would be taken for.
local function shown_name (name)
  return name == "Paint" and "Paint()" or name
end

-- What is not UTF-8 is shown as such.
local function as_text (text)
  if text and text:find("\\xF", 1, true) then
    return (text:gsub("\\xF[FE]", "\u{FFFD}"))
  end
  return text
end

-- As assert.equal, which takes its time also where nothing is wrong.
local function same (expected, got)
  if expected ~= got then
    assert.equal(expected, got)
  end
end

local function same_frame (expected, got)
  same(expected.opens, got.opens)
  same(as_text(expected.name), got.name)
  same(as_text(expected.source), as_text(got.source))
end

-- Every program, exported once.
local traces = {}

local function each_trace (sentence, check)
  for name, program in pairs(programs) do
    it(("%s (%s)"):format(sentence, name), function ()
      traces[name] = traces[name] or exported.of(program)
      for _, trace in ipairs(traces[name]) do
        check(trace, seen.packets(trace.packets, {depth = DEEPEST}), name)
      end
    end)
  end
end

local function keys (map)
  local list = {}
  for key in pairs(map) do
    list[#list + 1] = key
  end
  table.sort(list)
  return list
end

describe("chrome", function ()
  -- Many boundaries at one moment are a nanosecond apart.
  local function same_step (expected, got, offset, before)
    same_frame({opens = expected.opens, name = shown_name(expected.name),
                source = expected.source}, got)
    same(expected.resumed, expected.opens and got.resumed or nil)
    same(expected.tail, got.tail)
    same(true, got.ns > before)
    local late = expected.ns and got.ns - expected.ns - offset or 0
    if late < 0 or late > 40 then
      assert.equal(0, late)
    end
  end

  -- The first track is the whole program's, others are coroutines'.
  local function by_track (steps)
    local threads = seen.by_thread(steps)
    threads[1] = #steps > 0 and steps or nil
    return threads
  end

  each_trace("has each call where it was", function (trace, steps)
    local tracks = seen.chrome(seen.json(trace.text.chrome))
    local threads = by_track(steps)
    assert.same(keys(threads), keys(tracks))
    if #steps == 0 then
      return
    end
    local offset = tracks[1][1].ns - steps[1].ns
    for thread, list in pairs(threads) do
      local before = 999
      assert.equal(#list, #tracks[thread])
      for i, step in ipairs(list) do
        same_step(step, tracks[thread][i], offset, before)
        before = tracks[thread][i].ns
      end
    end
  end)

  local fields = {["return"] = "returns", exception = "throw", yield = "yield",
                  unfinished = "unfinished"}

  each_trace("says how each call ended", function (trace, steps)
    local tracks = seen.chrome(seen.json(trace.text.chrome))
    for thread, list in pairs(by_track(steps)) do
      for i, step in ipairs(list) do
        local args = tracks[thread][i].args
        if not step.opens and not step.tail then
          same(true, args[fields[step.why]] ~= nil)
        end
      end
    end
  end)

  each_trace("names each thread", function (trace, steps)
    local _, names = seen.chrome(seen.json(trace.text.chrome))
    local threads = seen.by_thread(steps)
    local many = #keys(threads) > (threads[1] and 1 or 0)
    assert.equal(many and "whole program" or "main", names[1])
    for thread in pairs(threads) do
      local name = ", coroutine " .. thread
      assert.equal(thread == 1 and names[1] or name, names[thread]:sub(-#name))
    end
  end)

  -- On its own track, a coroutine that resumes another has a gap there.
  each_trace("has no time twice on the tracks of coroutines",
  function (trace, steps)
    if #steps == 0 or steps[#steps].why == "unfinished" then
      return      -- times that are not known
    end
    local tracks, _, _, waits = seen.chrome(seen.json(trace.text.chrome))
    local own = {}
    for _, stack in pairs(seen.stacks(steps, true)) do
      own[stack.thread] = (own[stack.thread] or 0) + stack.self
    end
    for thread, list in pairs(tracks) do
      if thread ~= 1 then
        local sum = -(waits[thread] or 0)
        local depth, since = 0, nil
        for _, step in ipairs(list) do
          since = depth == 0 and step.ns or since
          depth = depth + (step.opens and 1 or -1)
          sum = sum + (depth == 0 and step.ns - since or 0)
        end
        assert.near(own[thread], sum, 4 * #list)
      end
    end
  end)
end)

describe("speedscope", function ()
  local function without_notes (steps)
    local list = {}
    for _, step in ipairs(steps) do
      if not step.name:find "^%[[edu]" and not step.name:find "^%(in " then
        list[#list + 1] = step
      end
    end
    return list
  end

  each_trace("has each call where it was, to the nanosecond",
  function (trace, steps)
    local lists, profiles = seen.speedscope(seen.json(trace.text.speedscope))
    local offset
    for thread, list in pairs(seen.by_track(steps)) do
      local got = {}
      for i, profile in ipairs(profiles) do
        local name = profile.name
        if (tonumber(name:match ", coroutine (%d+)$") or 1) == thread then
          got = without_notes(lists[i])
        end
      end
      assert.equal(#list, #got)
      for i, step in ipairs(list) do
        same_frame(step, got[i])
        if step.ns then
          offset = offset or got[i].ns - step.ns
          same(offset, got[i].ns - step.ns)
        end
      end
    end
  end)

  each_trace("closes all it opens, and its times ascend", function (trace)
    local doc = seen.json(trace.text.speedscope)
    for _, profile in ipairs(doc.profiles) do
      local open, now = {}, profile.startValue
      for _, event in ipairs(profile.events) do
        same(true, event.at >= now)
        now = event.at
        if event.type == "O" then
          open[#open + 1] = event.frame
        else
          same(table.remove(open), event.frame)
        end
      end
      assert.equal(0, #open)
      assert.is_true(profile.endValue >= now)
    end
  end)
end)

-- The least number of a list from 'first' on.
local function least (list, first)
  local n = math.huge
  for i = first, #list do
    n = math.min(n, list[i])
  end
  return n
end

-- The time from the first step to the last, of a trace that all have ended in.
local function length_of (steps)
  return #steps > 0 and steps[#steps].ns - steps[1].ns or 0
end

-- How far samples may be off, in ns, so that each is later than the one before:
-- where many calls follow each other at one moment.
local OFF = 40

-- Nodes against the stacks of the steps; self times where all have ended.
local function same_stacks (steps, nodes, length, paths)
  local got = seen.node_stacks(nodes, paths)
  local finished = #steps == 0 or steps[#steps].why ~= "unfinished"
  for path, stack in pairs(seen.stacks(steps)) do
    local text = as_text(path)
    assert.equal(stack.calls, got[text] and got[text].calls, text)
    if finished then
      assert.near(stack.self, got[text].self, 2 * stack.calls + OFF)
    end
    got[text] = nil
  end
  assert.same({}, got)
  assert.is_true(not finished or length >= length_of(steps))
end

describe("cpuprofile", function ()
  -- Its document and what seen.cpuprofile makes of that, for all of these.
  local known = {}

  local function profile_of (trace)
    if not known[trace] then
      local doc = seen.json(trace.text.cpuprofile)
      known[trace] = table.pack(doc, seen.cpuprofile(doc))
    end
    return table.unpack(known[trace])
  end

  lazy_teardown(function () known = {} end)

  each_trace("has each call and all time", function (trace, steps)
    same_stacks(steps, select(2, profile_of(trace)))
  end)

  each_trace("begins with the first call, and never stands still",
  function (trace, steps)
    local doc = profile_of(trace)
    assert.equal(0, doc.timeDeltas[1])
    assert.equal(#steps > 0, doc.samples[1] ~= 1)
    assert.is_true(#steps == 0 or least(doc.timeDeltas, 2) >= 0.001)
  end)

  each_trace("counts hits as microseconds", function (trace)
    local _, nodes = profile_of(trace)
    for _, node in pairs(nodes) do
      assert.near(node.self / 1000, node.hits,
                  0.51 + (2 * node.calls + OFF) / 1000)
    end
  end)

  each_trace("ends when its samples do", function (trace)
    local doc, _, length = profile_of(trace)
    assert.equal(#doc.samples, #doc.timeDeltas)
    assert.equal(length,
                 math.floor((doc.endTime - doc.startTime) * 1000 + 0.5))
    assert.equal(1, doc.samples[#doc.samples])
  end)
end)

describe("chrome with samples", function ()
  -- The stacks of samples, by microsecond: {us, path}.
  local function samples_of (profile)
    local list, texts, us = {}, {}, 0
    local _, _, paths = seen.cpuprofile(profile)
    for i, id in ipairs(profile.samples) do
      us = us + profile.timeDeltas[i]
      texts[id] = texts[id] or seen.path(paths[id])
      list[i] = {us = us, path = texts[id]}
    end
    return list
  end

  -- Whether a stack is open at some time from 'from' to 'to'; 'at' is a change
  -- before that.
  local function is_open (changes, at, path, from, to)
    while changes[at] and changes[at].ns <= to do
      local ends = changes[at + 1] and changes[at + 1].ns or math.huge
      if ends >= from and as_text(changes[at].path) == path then
        return true
      end
      at = at + 1
    end
  end

  -- At the end of each microsecond the latest sample is what is open then, but
  -- for the nanoseconds that samples are apart.
  local function same_times (steps, profile)
    local _, changes = seen.stacks(steps)
    local samples, start, at, i = samples_of(profile), steps[1].ns, 1, 1
    for us = 0, samples[#samples].us do
      while samples[i + 1] and samples[i + 1].us <= us do
        i = i + 1
      end
      local to = start + us * 1000 + 999
      while changes[at + 1] and changes[at + 1].ns < to - OFF do
        at = at + 1
      end
      if not is_open(changes, at, samples[i].path, to - OFF, to) then
        assert.equal(changes[at].path, samples[i].path, us .. " us")
      end
    end
    assert.is_true(samples[#samples].us * 1000 >= length_of(steps) - 1000)
  end

  for name, program in pairs(programs) do
    it(("has the stack at each microsecond (%s)"):format(name), function ()
      local list = exported.of(program, {formats = {"chrome", "packets"},
                                         export = {samples = true}})
      for _, trace in ipairs(list) do
        local profile = seen.samples(seen.json(trace.text.chrome))
        local steps = seen.packets(trace.packets, {depth = DEEPEST})
        assert.is_true(least(profile.timeDeltas, 2) >= 1)
        assert.not_matches('"timeDeltas":%[[^%]]*%.', trace.text.chrome)
        if #steps > 0 and steps[#steps].why ~= "unfinished" then
          same_times(steps, profile)
        end
      end
    end)
  end
end)

describe("folded", function ()
  -- Names as they are written: places only where names are shared. 'known' are
  -- paths that were written before, since deep ones differ by a frame.
  local function written (path, ambiguous, known)
    if not known[path] then
      local below, frame = path:match "^(.*);([^;]*)$"
      local name, source = (frame or path):match "^(.*) ([^ ]*)$"
      if ambiguous[name] then
        name = ("%s (%s)"):format(name, source == "C" and "[C]" or source)
      end
      known[path] = (below and written(below, ambiguous, known) .. ";" or "")
                    .. (name or "")
    end
    return known[path]
  end

  -- Names that several functions have.
  local function shared_names (steps)
    local sources, shared = {}, {}
    for _, step in ipairs(steps) do
      local source = step.source or "C"
      local name = step.plain
      shared[name] = shared[name] or sources[name] and sources[name] ~= source
      sources[name] = source
    end
    return shared
  end

  -- Microseconds by stack, without what is said of missing calls.
  local function by_stack (lines)
    local list = {}
    for line, number in pairs(lines) do
      local name, below = line:match "^(.-);(.*)"
      below = below:gsub(" %[%d+ calls deeper%]", "")
      list[(name:match "^main" or name) .. ";" .. below] = number
    end
    return list
  end

  -- What stands for each thread: "main", or the function that is first in it.
  local function roots_of (steps)
    local roots = {"main"}
    for _, step in ipairs(steps) do
      roots[step.thread] = roots[step.thread]
        or seen.body(step.plain, step.source) .. ", coroutine"
    end
    return roots
  end

  -- Nanoseconds by stack as it is written, and all of them.
  local function times_of (steps)
    local times, total, known = {}, 0, {}
    local shared, roots = shared_names(steps), roots_of(steps)
    for path, stack in pairs(seen.stacks(steps, true, true)) do
      local thread, rest = path:match "^(%d+);(.*)"
      local line = roots[tonumber(thread)] .. ";"
                   .. written(rest, shared, known)
      times[line] = (times[line] or 0) + stack.self
      total = total + stack.self
    end
    return times, total
  end

  each_trace("has each stack's time, to the microsecond",
  function (trace, steps, program)
    if #steps == 0 or steps[#steps].why == "unfinished" then
      return      -- times that are not known
    end
    local lines, sum = seen.folded(trace.text.folded)
    local list = by_stack(lines)
    local times, total = times_of(steps)
    local short = 0                 -- stacks shown longer than they are
    for line, ns in pairs(times) do
      if program ~= "names" then    -- of which some are changed
        assert.is_true(math.abs((list[line] or 0) - ns / 1000) < 1, line)
        assert.equal(ns > 0, list[line] ~= nil, line)
      end
      short = short + (ns > 0 and ns < 1000 and 1 or 0)
    end
    assert.is_true(sum - total / 1000 >= -0.5)
    assert.is_true(sum - total / 1000 <= 0.5 + short)
  end)
end)

describe("packets", function ()
  each_trace("are what packets() gives", function (trace)
    local n = 0
    for line in trace.text.packets:gmatch "[^\n]+" do
      n = n + 1
      local packet, expected = seen.json(line), trace.packets[n]
      same(expected.type, packet.type)
      same(expected.sequence, packet.sequence)
      same(expected.name, packet.name)
      same(expected.time, packet.time)
    end
    assert.equal(#trace.packets, n)
  end)
end)

describe("every export", function ()
  each_trace("says how many calls it shows", function (trace, steps)
    local calls, all = 0, 0
    for _, step in ipairs(steps) do
      calls = calls + (step.opens and 1 or 0)
    end
    for _, packet in ipairs(trace.packets) do
      all = all + (packet.type == "enteredFrame" and 1 or 0)
    end
    for format, result in pairs(trace.exported) do
      local shown = format == "packets" and all or calls
      assert.equal(shown, result.calls)
      assert.equal(all - shown, result.folded)
      assert.equal(0, result.leftOut)
      assert.equal(trace.sizes[format], result.bytes)
    end
  end)

  each_trace("has no word that means another kind of file", function (trace)
    for _, format in ipairs {"chrome", "cpuprofile"} do
      assert.is_nil(trace.text[format]:find "enhancedTraceVersion")
    end
  end)
end)
