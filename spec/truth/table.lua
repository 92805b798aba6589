-- table.lua [PROGRAM...] - how true the times of traced programs are: the table
-- of docs/truetimes.md.
--
--   make truth TRUTH_ARGS="calls json"
--
-- Each program runs untraced, sampled from outside of its interpreter by ticks
-- of processor time, which is the truth; then in each of the ways that
-- measure.lua has. An error is how far a function's share is from the truth, in
-- points of a hundred, of functions above five: mean and worst. 'ticks' is how
-- many there were beside calls, 'chance' what so many leave if nothing is wrong
-- with them. Nothing fails by a figure.

local run = require "spec.support.run"
local shares = require "spec.truth.shares"

local NEAR = 3              -- points within which a program's errors are
local LONG, DENSE, SHORT = 1.2, 0.5, 0.02     -- seconds of untraced time
local SHORT_RUNS = 9

local all = {"calls", "closures", "deep", "empty", "errors", "fib", "gsub",
             "gsubs", "json", "objects", "oop", "pingpong", "recur", "sines",
             "sort", "tokens"}

-- The text that measure.lua prints; nil if it cannot.
local function measure (mode, program, turns)
  local here = run.root .. "/spec/truth/"
  local result = run.command({
    run.lua, here .. "measure.lua", mode,
    here .. "programs/" .. program .. ".lua", ("%.0f"):format(turns)
  }, {env = run.modules, timeout = 600})
  return result.status == 0 and result.stdout or nil, result.stderr
end

local function must (mode, program, turns)
  local text, message = measure(mode, program, turns)
  if text == nil then
    io.stderr:write(message)
    os.exit(1)
  end
  return shares.read(text)
end

-- How many turns take a second.
local function turns_of (program)
  local turns = 100
  repeat
    turns = turns * 4
    local seconds = must("time", program, turns)[1].whole
    if seconds > 0.1 then
      return turns / seconds
    end
  until false
end

-- Short runs are seldom interrupted; the medians of several count.
local function trace_calls (program, turns)
  local corrected, raw = {}, {}
  for i = 1, SHORT_RUNS do
    local reports = must("calls", program, turns)
    corrected[i], raw[i] = shares.of(reports[1]), shares.of(reports[2])
  end
  return shares.medians(corrected), shares.medians(raw)
end

-- An option that this tracegrip has not is no way.
local function has_windows ()
  return (measure("windows", "sines", 10)) ~= nil
end

-- {title, errors, ticks} of each way.
local function ways_of (program, windows)
  local second = turns_of(program)
  local truth = shares.of(must("truth", program, LONG * second)[1])
  local corrected, raw = trace_calls(program, SHORT * second)
  local alone = must("samples", program, LONG * second)[1]
  local beside = must("beside", program, DENSE * second)[1]
  local ways = {{"raw", raw}, {"corrected", corrected},
                {"samples alone", shares.of(alone)},
                {"samples beside", shares.of(beside)}}
  if windows then
    local open = must("windows", program, DENSE * second)[1]
    table.insert(ways, {"windows", shares.of(open)})
  end
  for _, way in ipairs(ways) do
    way.errors = shares.errors(truth, way[2])
  end
  table.insert(ways, {"chance", errors = shares.chance(truth, beside.whole)})
  return ways, beside.whole
end

local function cell (errors)
  return ("%.1f / %.1f"):format(errors.mean, errors.worst)
end

local function put_row (words)
  print("| " .. table.concat(words, " | ") .. " |")
  io.stdout:flush()
end

local function put_head (ways)
  local titles, line = {"program"}, {"---"}
  for _, way in ipairs(ways) do
    table.insert(titles, way[1])
    table.insert(line, "---:")
  end
  table.insert(titles, "ticks")
  table.insert(line, "---:")
  put_row(titles)
  put_row(line)
end

-- Adds the errors of each way; tells how many programs are near.
local function add (sums, ways)
  for i, way in ipairs(ways) do
    sums[i] = sums[i] or {mean = 0, worst = 0, near = 0}
    sums[i].mean = sums[i].mean + way.errors.mean
    sums[i].worst = sums[i].worst + way.errors.worst
    sums[i].near = sums[i].near + (way.errors.worst <= NEAR and 1 or 0)
  end
end

local function put_sums (sums, count)
  local means, near = {"mean"}, {"within 3 points"}
  for _, sum in ipairs(sums) do
    table.insert(means, cell {mean = sum.mean / count,
                              worst = sum.worst / count})
    table.insert(near, ("%d of %d"):format(sum.near, count))
  end
  table.insert(means, "")
  table.insert(near, "")
  put_row(means)
  put_row(near)
end

local programs = #arg > 0 and arg or all
local windows, sums = has_windows(), {}
for i, program in ipairs(programs) do
  local ways, ticks = ways_of(program, windows)
  if i == 1 then
    put_head(ways)
  end
  local words = {"`" .. program .. "`"}
  for _, way in ipairs(ways) do
    table.insert(words, cell(way.errors))
  end
  table.insert(words, ("%d"):format(ticks))
  put_row(words)
  add(sums, ways)
end
put_sums(sums, #programs)
