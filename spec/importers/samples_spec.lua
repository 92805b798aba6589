-- Samples as the viewers' own importers read them: the same trees and times as
-- tracegrip's tree has, and the shares that the program is known to have.
--
-- TG_SOAK=10 samples for ten seconds; then shares are within two points.

local cjson = require "cjson"
local lfs = require "lfs"

local expected = require "spec.importers.expected"
local recorded = require "spec.support.recorded"
local run = require "spec.support.run"

local home = run.build .. "/importers"

local SECONDS = math.min(tonumber(os.getenv "TG_SOAK") or 1.2, 10)
local whole               -- time of the recording, in ms
local shares = {sixty = 0.6, thirty = 0.3, ten = 0.1}

-- Where calls are traced a tick is seen with the next call or return: 'step'.
local functions = [[
  local function step (x) return x + 1 end
  local function sixty (n)
    local x = 0
    for i = 1, 6 * n do x = i % 7 == 0 and step(x) or x + i % 7 end
    return x
  end
  local function thirty (n)
    local x = 0
    for i = 1, 3 * n do x = i % 7 == 0 and step(x) or x + i % 7 end
    return x
  end
  local function ten (n)
    local x = 0
    for i = 1, n do x = i % 7 == 0 and step(x) or x + i % 7 end
    return x
  end
  local function work (n)
    local a = sixty(n)
    local b = thirty(n)
    return a + b + ten(n)
  end
]]

local function busy (seconds, turns)
  return functions .. ([[
    local start = os.clock()
    while os.clock() - start < %s do work(math.random(%d)) end
  ]]):format(seconds, turns)
end

-- The outermost nodes of a trace's tree, as importers have them.
local function convert (children)
  local list = {}
  for i, child in ipairs(children or {}) do
    list[i] = {
      name = child.name, label = expected.label(child),
      source = expected.source(child), self = child.self_ms,
      total = child.total_ms, roots = convert(child.children)
    }
  end
  return list
end

local function by_label (node)
  return node.label or node.name
end

local function by_name (node)
  return node.name
end

-- Chunks that have one name are told apart by their files: the program's and
-- the command line's, which has a sample where it lost the processor.
local function by_plain_name (node)
  return (node.name:gsub(" %(.*:%d+%)$", ""))
end

-- What a function took of the whole, with those that it calls.
local function share_of (name, nodes, all)
  local sum = 0
  for _, node in ipairs(nodes) do
    sum = sum + (node.name == name and node.total / all
                 or share_of(name, node.roots, all))
  end
  return sum
end

-- Whether a share is what it should be, as far as so many samples can tell.
local function check_shares (nodes, samples)
  local all = 0
  for _, node in ipairs(nodes) do
    all = all + node.total
  end
  for name, share in pairs(shares) do
    local deviation = math.sqrt(share * (1 - share) / samples)
    assert.near(share, share_of(name, nodes, all),
                SECONDS < 10 and 5 * deviation + 0.02 or 0.02, name)
  end
end

-- What a script makes of a file: its threads.
local function import (script, file)
  local result = run.command({"node", script .. ".mjs", file}, {cwd = home})
  assert.equal("", result.stderr)
  local one = cjson.decode(result.stdout)[1]
  assert.is_nil(one.error)
  return one.threads
end

-- Records a program; calls use(trace, export), where export(format) gives the
-- file.
local function sampled (code, options, use)
  recorded.with(code, options, {timeout = 60}, function (_, recording, _, dir)
    local trace = recording:traces()[1]
    use(trace, function (format, raw)
      local file = dir .. "/exported." .. format
      assert(trace:export(format, file, {raw = raw}))
      return file
    end)
  end)
end

-- The panel's table "Bottom-up", where calls that touch might be put into each
-- other: 'times' are those of the report. Around all samples there is a box,
-- which has the time in which nothing ran: 'rest' or a little less.
local function check_table (times, rest, threads)
  for _, thread in ipairs(threads) do
    for _, row in ipairs(thread.bottomUp) do
      if row.name == "v8 samples" then
        assert.is_true(row.self < rest + 3 + 0.01 * whole,
                       row.self .. " of " .. rest)
      else
        assert.near(times[row.name] or 0, row.self, 3 + 0.01 * whole, row.name)
      end
    end
  end
end

-- The nodes that are to be those of the tree, of all threads.
local function only (threads)
  assert.equal(1, #threads)
  return threads[1]
end

local function plain (threads)
  return only(threads).roots
end

-- A document's first frame is the coroutine.
local function in_main (threads)
  return plain(threads)[1].roots
end

local function weighted (threads)
  local own = only(threads).samples
  assert.equal("tracing-ms", own.weightType)
  return own.roots
end

-- Without weights, what was late or missed is there more than once.
local function counted (threads)
  local own = only(threads).samples
  assert.equal("samples", own.weightType)
  assert.equal(1, own.interval)
  return own.roots
end

-- An event is around the samples.
local function on_their_track (threads)
  for _, thread in ipairs(threads) do
    if thread.name == "main (samples)" then
      return thread.roots[1].roots
    end
  end
end

-- The tree has the processor time of each tick. What others had in between is
-- left out of lines of time now and then only, when it is as long as a tick's
-- own: so a function has some ticks more there than in the tree, or less.
-- Microseconds are whole ones, of each line.
local function rounded (node)
  return 0.01 + 0.002 * node.total
end

local function drawn (node)
  return 3 + 0.01 * whole + 0.002 * node.total
end

local ways = {
  {"speedscope", "speedscope", plain, drawn},
  {"speedscope", "cpuprofile", plain, drawn},
  {"speedscope", "folded", in_main, rounded, by_name},
  {"engine", "cpuprofile", plain, drawn},
  {"engine", "chrome", on_their_track, drawn},
  {"profiler", "firefox", weighted, drawn},
  {"profiler", "gecko", counted},       -- how many is a matter of rounding
}

describe("samples", function ()
  if not lfs.attributes(home .. "/node_modules")
     or lfs.attributes(home .. "/missing") then
    it("are read by the viewers' importers", function ()
      pending("no importers (make importers)")
    end)
    return
  end

  local wanted, samples
  local own_times = {}        -- by label
  local rest                  -- of the time, in which nothing ran
  local made = {}             -- by script and format

  lazy_setup(function ()
    sampled(busy(SECONDS, 20000), {sample = 1000}, function (trace, export)
      wanted = convert(trace:tree().children)
      local report = trace:report()
      whole = report.duration_ms
      samples = select(3, recorded.ticks(trace))
      rest = report.duration_ms
      for _, row in ipairs(report.functions) do
        own_times[expected.label(row)] = row.self_ms
        rest = rest - row.self_ms
      end
      for _, way in ipairs(ways) do
        local script, format = way[1], way[2]
        made[script .. format] = import(script, export(format))
      end
    end)
  end)

  for _, way in ipairs(ways) do
    local script, format, roots_of, off, reads = table.unpack(way)
    it(("of %s are what tree has, in %s"):format(format, script), function ()
      local threads = made[script .. format]
      local nodes = roots_of(threads)
      check_shares(nodes, samples)
      if script == "engine" then
        check_table(own_times, rest, threads)
      end
      assert.is_nil(off and expected.difference(wanted, nodes, {
        reads = reads or by_label, read = reads and by_plain_name or by_name,
        calls = false, off = off,
        missing = true
      }))
    end)
  end

  -- Only sums can tell what is in calls that are shorter than a tick. A row of
  -- Firefox' own format stands for an interval, which is as long as the trace
  -- has taken by the clock: of thousands of calls each is off by a part of one.
  it("and calls weigh in the Firefox Profiler what tree has", function ()
    local code = functions .. [[
      local function api (n)
        sixty(n)
        ten(n)
      end
      local start = os.clock()
      while os.clock() - start < 0.6 do api(300) thirty(400) end
    ]]
    local options = {
      sample = 1000, trace = {"name", "callsite", "time"}, include = "^api$"
    }
    sampled(code, options, function (trace, export)
      local tree = convert(trace:tree().children)
      for format, off in pairs {firefox = 0.01, gecko = 100} do
        local own = only(import("profiler", export(format))).samples
        if format == "gecko" then
          off = off * own.interval
        end
        assert.is_nil(expected.difference(tree, own.roots, {
          reads = by_label, read = by_name, calls = false,
          off = function () return off end
        }), format)
      end
    end)
  end)

  -- Each box of the engine begins and ends at a whole microsecond, and a tick
  -- that comes with a call's end may be taken for the one behind it. One that
  -- comes before the program is called shows the chunk that has begun the
  -- trace, which is taken for its caller (docs/samples.md): then once more. So
  -- it is where others had the processor at a call's end for long. Compared
  -- are lines of time, which packets tell: the tree has sums by ticks.
  it("and calls are one tree as the engine's own integrator makes it",
     function ()
    local options = {
      sample = 1000, trace = {"name", "callsite", "time", "location", "thread"},
      include = {"^work$", "main chunk"}
    }
    local rounds, near, compared, difference = 0, 0.01, false, nil
    local function compare (trace, export)
      local calls = expected.own(trace)[1]
      if #calls > 1 or calls[1].roots[1].name ~= "work" then
        return
      end
      compared = true
      local nodes = plain(import("integrator", export("chrome")))
      difference = expected.difference(calls, nodes, {
        reads = by_label, read = by_name, calls = false, missing = true,
        off = function () return near * calls[1].total end
      })
    end
    while (not compared or difference) and rounds < 8 do
      rounds = rounds + 1
      near = rounds > 4 and 0.03 or near
      sampled(busy(1, 200000), options, compare)
    end
    assert.is_true(compared)
    assert.is_nil(difference)
  end)
end)
