-- bench.lua - what tracing costs: each mode against the same program untraced
-- and against an empty hook, interleaved in shuffled order in one process.
--
--   make bench BENCH_ARGS="-n 9 -m untraced,empty,time calls json"
--
-- An event is one call or return, counted by a hook of its own beforehand.
-- Added cost is time beyond the untraced run; its ratio is to the added cost
-- of the empty hook, by medians and by minima of the repetitions.

local hooks = require "bench_hook"

local all = {"name", "callsite", "time", "parameterNames", "arguments",
             "return", "throw", "yield"}
local values = {"name", "time", "arguments", "return", "throw", "yield"}

--- Modes with a trace: how many run at once, and their options; or with bare
-- ticks, so many a second of processor time.
local traced = {
  idle = {0},
  time = {1, {trace = {"name", "time"}}},
  values = {1, {trace = values, valueDepth = 0}},
  all0 = {1, {trace = all, valueDepth = 0}},
  all1 = {1, {trace = all, valueDepth = 1}},
  five = {5, {trace = {"name", "time"}}},
  twenty = {20, {trace = {"name", "time"}}},
  ring = {1, {trace = {"name", "time"}, overflow = "ring", buffer = 1 << 20}},
  file = {1, {trace = {"name", "time"}}, file = true},
  tick = {0, ticks = 1000},
  tick10k = {0, ticks = 10000},
  sample = {1, {sample = 1000}},
  sample10k = {1, {sample = 10000}},
  wall = {1, {sample = 1000, wall = true}},
  beside = {1, {trace = {"name", "time"}, sample = 1000}},
  windows = {1, {trace = {"name", "time"}, sample = 1000, windows = 10},
             lacks = true},
  memory = {1, {trace = {"name", "time"}, memory = true}},
}

local what = {
  {"untraced", "no hook"},
  {"empty", "an empty C hook"},
  {"idle", "tracegrip loaded and used before, no trace"},
  {"time", "name, time"},
  {"values", "name, time, arguments, return, throw, yield; valueDepth 0"},
  {"all0", "all eight types, valueDepth 0"},
  {"all1", "all eight types, valueDepth 1 (the default)"},
  {"five", "five traces at once: name, time"},
  {"twenty", "twenty traces at once: name, time"},
  {"ring", "name, time; the last MiB kept"},
  {"file", "name, time; recorded to a file"},
  {"tick", "the signals of 1,000 samples a second, and no samples"},
  {"tick10k", "the signals of 10,000 samples a second, and no samples"},
  {"sample", "no calls, 1,000 samples a second"},
  {"sample10k", "no calls, 10,000 samples a second"},
  {"wall", "no calls, 1,000 samples a second by the clock"},
  {"beside", "as time, and 1,000 samples a second"},
  {"windows", "the same, the hook off for a tenth of the time"},
  {"memory", "as time, and what is allocated"},
}

local settings = {reps = 7, modes = nil, programs = {}, seed = 1,
                  buffer = 4 << 30, overflow = "stop"}

local usage = [[
usage: bench.lua [options] [PROGRAM...]      (calls objects text pipes json;
                depth, which is 150,000 frames deep)
  -n REPS       repetitions of each mode (7)
  -m MODE,...   modes (all that can run): untraced empty idle time values all0
                all1 five twenty ring file tick tick10k
                sample sample10k wall beside windows memory
  -s SEED       of the shuffling (1)
  -b MEGABYTES  buffer of a trace (4096)
  -o POLICY     overflow: stop, ring
  -l FILE.lua   a program of your own: it returns the function to run
]]

local function split (text)
  local list = {}
  for word in text:gmatch "[^,]+" do
    list[#list + 1] = word
  end
  return list
end

local flags = {
  ["-n"] = function (v) settings.reps = assert(tonumber(v), usage) end,
  ["-m"] = function (v) settings.modes = split(v) end,
  ["-s"] = function (v) settings.seed = assert(tonumber(v), usage) end,
  ["-b"] = function (v) settings.buffer = assert(tonumber(v), usage) << 20 end,
  ["-o"] = function (v) settings.overflow = v end,
  ["-l"] = function (v) table.insert(settings.programs, v) end,
}

local function read_arguments (words)
  local i = 1
  while words[i] do
    local flag = flags[words[i]]
    if flag then
      flag(assert(words[i + 1], usage))
      i = i + 1
    elseif words[i]:sub(1, 1) == "-" then
      io.stderr:write(usage)
      os.exit(2)
    else
      table.insert(settings.programs, words[i])
    end
    i = i + 1
  end
  if #settings.programs == 0 then
    settings.programs = {"calls", "objects", "text", "pipes", "json"}
  end
end

local function engine ()
  local found, core = pcall(require, "tracegrip.core")
  if not found then
    print "# no tracegrip.core: untraced and empty hook only"
    return nil
  end
  return core
end

-- A mode that this tracegrip may not have.
local function lacks (core, how)
  local found, trace = pcall(core.start, table.unpack(how, 2))
  if found then
    trace:stop()
  end
  return not found
end

local function default_modes (core)
  local modes = {}
  for _, entry in ipairs(what) do
    local how = traced[entry[1]]
    if not how or core and not (how.lacks and lacks(core, how)) then
      modes[#modes + 1] = entry[1]
    end
  end
  return modes
end

--- A trace in memory, or one on a file.
local function start (core, options, file)
  if not file then
    return core.start(options)
  end
  local path = os.tmpname()
  options.name = nil
  local _, trace = assert(core.record(options, {path = path}))
  os.remove(path)
  return trace
end

--- Starts what a mode needs; returns a function that ends it and gives the
-- bytes of events recorded.
local function begin (core, mode)
  if mode == "empty" then
    hooks.hook "empty"
  end
  local how = traced[mode] or {0}
  local count, options = table.unpack(how)
  hooks.ticks(how.ticks)
  local traces = {}
  for i = 1, count do
    local mine = {name = "bench " .. i, buffer = settings.buffer,
                  overflow = settings.overflow}
    for key, value in pairs(options) do
      mine[key] = value
    end
    traces[i] = start(core, mine, traced[mode].file)
  end
  return function ()
    for i = #traces, 1, -1 do
      traces[i]:stop()
    end
    hooks.hook()
    hooks.ticks()
    return traces
  end
end

local function result_of (traces)
  local lost = 0
  for _, trace in ipairs(traces) do
    for _, count in pairs(trace.lost or {}) do
      lost = lost + count
    end
  end
  return traces[1] and traces[1].bytes, lost
end

--- One measured run: {ns, bytes, lost}.
local function measure (core, mode, run, expected)
  collectgarbage()
  collectgarbage()
  local now = hooks.now
  local finish = begin(core, mode)
  local t0 = now()
  local answer = run()
  local t1 = now()
  local traces = finish()
  assert(answer == expected, "tracing changed the program's result")
  local bytes, lost = result_of(traces)
  return {ns = t1 - t0, bytes = bytes, lost = lost}
end

local function shuffled (list)
  local copy = table.move(list, 1, #list, 1, {})
  for i = #copy, 2, -1 do
    local j = math.random(i)
    copy[i], copy[j] = copy[j], copy[i]
  end
  return copy
end

local function count_events (run)
  hooks.hook "count"
  local answer = run()
  local events = hooks.count()
  hooks.hook()
  return events, answer
end

local function summary (runs)
  local ns, lost = {}, 0
  for i, result in ipairs(runs) do
    ns[i] = result.ns
    lost = lost + result.lost
  end
  table.sort(ns)
  return {median = ns[(#ns + 1) // 2], least = ns[1], lost = lost,
          bytes = runs[1].bytes}
end

--- All modes of one program, `reps` times: mode -> summary, and the events.
local function bench (core, run, modes)
  local events, expected = count_events(run)
  local runs = {}
  for _, mode in ipairs(modes) do
    runs[mode] = {}
  end
  for _ = 1, settings.reps do
    for _, mode in ipairs(shuffled(modes)) do
      table.insert(runs[mode], measure(core, mode, run, expected))
    end
  end
  local results = {}
  for mode, list in pairs(runs) do
    results[mode] = summary(list)
  end
  return results, events
end

local function ratio (results, mode, which)
  local base, empty = results.untraced, results.empty
  if not (base and empty) then
    return nil
  end
  return (results[mode][which] - base[which]) / (empty[which] - base[which])
end

local function row (results, events, mode)
  local r, base = results[mode], results.untraced or results[mode]
  return {
    ms = r.median / 1e6,
    times = r.median / base.median,
    ns = (r.median - base.median) / events,
    least = (r.least - base.least) / events,
    added = ratio(results, mode, "median"),
    added_least = ratio(results, mode, "least"),
    bytes = r.bytes and r.bytes / events,
    lost = r.lost,
  }
end

local function cell (format, value)
  return value and string.format(format, value) or "-"
end

local function print_row (mode, r)
  print(string.format("  %-9s %9s %7s %9s %9s %9s %9s %7s%s", mode,
    cell("%.1f", r.ms), cell("%.2f", r.times), cell("%.1f", r.ns),
    cell("%.1f", r.least), cell("%.2f", r.added), cell("%.2f", r.added_least),
    cell("%.1f", r.bytes), r.lost and r.lost > 0
    and string.format("  lost %d", r.lost) or ""))
end

local function print_head (title)
  print()
  print(title)
  print(string.format("  %-9s %9s %7s %9s %9s %9s %9s %7s", "mode", "ms",
    "ratio", "ns/event", "(least)", "x empty", "(least)", "bytes"))
end

local function mean (rows, key)
  local sum = 0
  for _, r in ipairs(rows) do
    if not r[key] or r[key] <= 0 then
      return nil
    end
    sum = sum + math.log(r[key])
  end
  return math.exp(sum / #rows)
end

local function print_means (rows, modes)
  print_head("geometric mean of " .. #settings.programs .. " programs")
  for _, mode in ipairs(modes) do
    local r = {}
    for _, key in ipairs {"ms", "times", "ns", "least", "added", "added_least",
                          "bytes"} do
      r[key] = mean(rows[mode], key)
    end
    print_row(mode, r)
  end
end

local function load_program (name)
  local here = arg[0]:match "^(.*)/" or "."
  local path = name:find "%.lua$" and name or here .. "/work/" .. name .. ".lua"
  return dofile(path)
end

read_arguments(arg)
local core = engine()
local modes = settings.modes or default_modes(core)
math.randomseed(settings.seed)
print(string.format("# %s, %d repetitions, order shuffled with seed %d",
                    _VERSION, settings.reps, settings.seed))
for _, entry in ipairs(what) do
  print(string.format("# %-9s %s", entry[1], entry[2]))
end
print "# ns/event: added time per call or return; x empty: added time in"
print "# terms of the empty hook's; bytes: of the stream, per call or return"

local rows = {}
for _, mode in ipairs(modes) do
  rows[mode] = {}
end
for _, name in ipairs(settings.programs) do
  local results, events = bench(core, load_program(name), modes)
  print_head(string.format("%s: %d events", name, events))
  for _, mode in ipairs(modes) do
    local r = row(results, events, mode)
    table.insert(rows[mode], r)
    print_row(mode, r)
  end
end
if #settings.programs > 1 then
  print_means(rows, modes)
end
