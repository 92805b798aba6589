-- table.lua [--windows] [PROGRAM...] - how true the times of traced programs
-- are: the tables of docs/truetimes.md.
--
--   make truth TRUTH_ARGS="calls json"
--   make truth TRUTH_ARGS="--windows calls json"
--
-- The latter has windows alone, with thousands of ticks in them.
--
-- Each program runs untraced, sampled from outside of its interpreter by ticks
-- of processor time, which is the truth; then in each of the ways that
-- measure.lua has. All of them take turns, since what else a machine does
-- changes where an untraced program spends its time, too: 'truth again' is how
-- far one half of these runs is from the other. An error is how far a
-- function's share is from the truth, in points of a hundred, of functions
-- above five: mean and worst. 'chance' is what so many ticks leave if nothing
-- is wrong with them, of those beside calls and of those that struck in
-- windows. Nothing fails by a figure.

local run = require "spec.support.run"
local shares = require "spec.truth.shares"

local NEAR = 3              -- points within which a program's errors are
local ROUNDS = 5
local LONG, DENSE, SHORT = 0.25, 0.1, 0.02    -- seconds of untraced time of a
                            -- run: the more is recorded, the shorter
local WINDOW_ROUNDS, WINDOWED = 4, 0.6      -- where windows alone are measured

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

-- An option that this tracegrip has not is no way.
local function has_windows ()
  return (measure("windows", "sines", 10)) ~= nil
end

local function add_to (sum, report)
  for name, value in pairs(report.functions) do
    sum.functions[name] = (sum.functions[name] or 0) + value
  end
  sum.whole = sum.whole + report.whole
end

local function nothing ()
  return {functions = {}, whole = 0}
end

-- Short runs are seldom interrupted; the medians of all count.
local function trace_calls (found, program, turns)
  local reports = must("calls", program, turns)
  table.insert(found.corrected, shares.of(reports[1]))
  table.insert(found.raw, shares.of(reports[2]))
end

local function add_truth (found, program, seconds, n)
  local truth = must("truth", program, seconds)[1]
  add_to(found.truth, truth)
  add_to(n % 2 == 0 and found.even or found.odd, truth)
end

-- Everything once; of truth each second run is apart as well.
local function run_round (found, program, second, n)
  add_truth(found, program, LONG * second, n)
  trace_calls(found, program, SHORT * second)
  add_to(found.alone, must("samples", program, LONG * second)[1])
  add_to(found.beside, must("beside", program, DENSE * second)[1])
  if found.windows then
    add_to(found.windows, must("windows", program, DENSE * second)[1])
  end
end

local function find_all (program, windows)
  local second = turns_of(program)
  local found = {truth = nothing(), odd = nothing(), even = nothing(),
                 raw = {}, corrected = {}, alone = nothing(),
                 beside = nothing(), windows = windows and nothing()}
  for n = 1, ROUNDS do
    run_round(found, program, second, n)
  end
  return found
end

-- {title, errors, ticks} of each way.
local function ways_of (program, windows)
  local found = find_all(program, windows)
  local truth = shares.of(found.truth)
  local function compare (title, list, ticks)
    return {title, errors = shares.errors(truth, list), ticks = ticks}
  end
  local function of_chance (title, ticks)
    return {title, errors = shares.chance(truth, ticks), ticks = ticks}
  end
  local again = shares.errors(shares.of(found.odd), shares.of(found.even))
  local ways = {
    {"truth again", errors = again},
    compare("recorded", shares.medians(found.raw)),
    compare("corrected", shares.medians(found.corrected)),
    compare("samples alone", shares.of(found.alone)),
    compare("samples beside", shares.of(found.beside)),
    of_chance("chance, of ticks", found.beside.whole)
  }
  if windows then
    table.insert(ways, compare("windows", shares.of(found.windows)))
    table.insert(ways, of_chance("chance, of ticks in windows",
                                 found.windows.whole))
  end
  return ways
end

local function cell (errors, ticks)
  return ("%.1f / %.1f"):format(errors.mean, errors.worst)
         .. (ticks and (", %d"):format(ticks) or "")
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
  put_row(means)
  put_row(near)
end

-- The same with windows alone.
local function ways_of_windows (program)
  local second = turns_of(program)
  local found = {truth = nothing(), odd = nothing(), even = nothing(),
                 windows = nothing()}
  for n = 1, WINDOW_ROUNDS do
    add_truth(found, program, WINDOWED * second, n)
    add_to(found.windows,
           must("manywindows", program, WINDOWED * second)[1])
  end
  local truth, ticks = shares.of(found.truth), found.windows.whole
  return {
    {"truth again", errors = shares.errors(shares.of(found.odd),
                                           shares.of(found.even))},
    {"windows", errors = shares.errors(truth, shares.of(found.windows))},
    {"chance, of ticks in windows", errors = shares.chance(truth, ticks),
     ticks = ticks}
  }
end

local measured = ways_of
if arg[1] == "--windows" then
  table.remove(arg, 1)
  measured = ways_of_windows
end
local programs = #arg > 0 and arg or all
local windows, sums = has_windows(), {}
for i, program in ipairs(programs) do
  local ways = measured(program, windows)
  if i == 1 then
    put_head(ways)
  end
  local words = {"`" .. program .. "`"}
  for _, way in ipairs(ways) do
    table.insert(words, cell(way.errors, way.ticks))
  end
  put_row(words)
  add(sums, ways)
end
put_sums(sums, #programs)
