-- report.lua - tracegrip report: a row for every function.

local core = require "tracegrip.core"
local columns = require "tracegrip.cli.columns"
local diff = require "tracegrip.cli.diff"
local functions = require "tracegrip.cli.functions"
local json = require "tracegrip.cli.json"
local lines = require "tracegrip.cli.lines"
local main = require "tracegrip.cli.main"
local options = require "tracegrip.options"
local recording = require "tracegrip.cli.recording"
local source = require "tracegrip.cli.source"
local units = require "tracegrip.cli.units"
local usage = require "tracegrip.cli.usage"
core.own()

local report = {
  summary = "Shows where a recording's time went, a row for every function.",
  description = "Shows a row for every function of a recording: its calls, "
    .. "the time in it (self), the time from its call to its return (total), "
    .. "where it is defined. With --diff, what changed since another "
    .. "recording.",
  usage = "[options] FILE"
}

report.options = options.joined({
  {name = "sort", metavar = "KEY",
   choices = {"self", "total", "calls", "bytes", "total-bytes",
              "allocations", "live", "total-live", "peak-live",
              "total-peak-live"},
   default = "self", group = "The table",
   help = "What comes first. All from bytes on show memory in place of times, "
          .. "of a recording that was made with --memory: what was allocated, "
          .. "what is alive of it at the end, and was at the heap's peak."},
  {name = "limit", kind = "limit", metavar = "N", default = "30",
   group = "The table", help = "Rows shown; N may be 'all'."},
  {name = "diff", metavar = "OLD", group = "The table",
   help = "What became slower, faster, new or gone since the recording OLD."},
  lines.option("The table", "Below each function the lines that took its "
                            .. "time, of a recording with samples (record "
                            .. "--sample); or with --sort bytes or "
                            .. "allocations, that allocated; with live or "
                            .. "peak-live, that keep memory."),
  source.option,
  {name = "json", flag = "--json", value = true, group = "The table",
   help = "For programs: one JSON object, with all rows."},
}, options.reading, options.times)

function report.declare (parser)
  parser:argument("file"):description("The recording.")
end

---------------------------------------------------------------------------
-- Order
---------------------------------------------------------------------------

local sort_keys = {
  self = {"self_ms", "total_ms", "calls"},
  total = {"total_ms", "self_ms", "calls"},
  calls = {"calls", "self_ms", "total_ms"}
}

local function sorted (rows, by)
  local keys = sort_keys[by] or usage.keys[by]
  local list = table.move(rows, 1, #rows, 1, {})
  table.sort(list, function (a, b)
    for _, key in ipairs(keys) do
      if a[key] ~= b[key] then
        return a[key] > b[key]
      end
    end
    return functions.before(a, b)
  end)
  return list
end

---------------------------------------------------------------------------
-- The table
---------------------------------------------------------------------------

local function table_columns (whole_ms)
  return {
    functions.count("calls"),
    functions.time("self", "self_ms"), functions.share("self_ms", whole_ms, 5),
    functions.doubt(whole_ms, 4),
    functions.time("total", "total_ms"),
    functions.share("total_ms", whole_ms, 4),
    functions.call_time("min", 1), functions.call_time("mean", 3),
    functions.call_time("max", 2),
    functions.count("throws", 7), functions.count("yields", 6),
    functions.names()
  }
end

-- What is nobody's self time, as a row: where no traced function ran.
local function outside (result)
  local rest = result.duration_ms
  for _, row in ipairs(result.functions) do
    rest = rest - row.self_ms
  end
  local name = result.samples and "(not running)" or "(no traced function)"
  return rest >= 0.0005 and {name = name, self_ms = rest,
                             apart = result.samples ~= nil}
end

-- The rows shown, and one about the others.
local function limited (list, limit)
  return units.first(list, limit, "function")
end

-- The rows of a report of what was allocated.
local function memory_report (result, by, limit, width, lined)
  local memory = result.memory
  local shown, rest = limited(sorted(result.functions, by), limit)
  local others = usage.rest(by, memory)
  shown = lined and lines.rows(shown, limit == math.huge, usage.line_key(by))
          or table.move(shown, 1, #shown, 1, {})
  table.move(others, 1, #others, #shown + 1, shown)
  local out = columns.format(usage.columns(by, memory), shown, width)
  out[#out + 1] = rest
  local notes = usage.notes(memory)
  notes[#notes + 1] = lined and lines.unknown(result.functions) or nil
  return table.move(notes, 1, #notes, #out + 1, out)
end

-- What shares are shares of: with samples, of the time in which it ran.
local function whole_of (result)
  return result.duration_ms - (result.idle_ms or 0)
end

local DOUBTFUL = 0.05     -- of the whole: one standard error of a self time
local LONG = 100          -- ms in which there are ticks enough to tell more

-- What is to be said of self times that are estimates, and far off; nil: they
-- are not, or ticks have told them, or could not.
local function doubts (result)
  local worst, whole = 0, whole_of(result)
  for _, row in ipairs(result.samples and {} or result.functions) do
    worst = math.max(worst, row.self_error_ms)
  end
  return whole >= LONG and worst > DOUBTFUL * whole and (
    "tracing took so much that a self time may be off by %s: record --sample "
    .. "4000 --trace name,callsite,time measures them"):format(
    units.percent(worst, whole)) or nil
end

-- The rows of a trace's report, sorted, no more than 'limit' functions; with
-- the lines of functions if the report has been asked for them.
function report.format (result, by, limit, width)
  local rest_row = outside(result)
  local shown, rest = limited(sorted(result.functions, by), limit)
  shown = lines.rows(shown, limit == math.huge)
  shown[#shown + 1] = rest_row or nil
  local out = columns.format(table_columns(whole_of(result)), shown, width)
  out[#out + 1] = rest
  return out
end

---------------------------------------------------------------------------
-- The command
---------------------------------------------------------------------------

local function limit_of (parsed)
  local limit = parsed.limit or parsed.json and "all" or 30
  return limit == "all" and math.huge or limit
end

local function result_of (path, parsed)
  local trace, info = recording.trace(path, parsed.trace)
  local result, message = recording.read(trace, "report", parsed)
  recording.note_damage(path, trace, info)
  return recording.must(path, result, message), info, trace
end

local function print_json (result, by, limit)
  result.functions = limited(sorted(result.functions, by), limit)
  recording.write(json.text(result))
end

local function run_diff (parsed, by, limit)
  if usage.keys[by] then
    main.misuse("--diff compares times, and not %s", by)
  end
  local old, _, old_trace = result_of(parsed.diff, parsed)
  local new, info, new_trace = result_of(parsed.file, parsed)
  local result = diff.compare(old, new, by)
  local list, rest = limited(result.functions, limit)
  if parsed.json then
    result.functions = list
    return recording.write(json.text(result))
  end
  local out = diff.heading(result, info.program or parsed.file,
                           recording.losses(old_trace.lost),
                           recording.losses(new_trace.lost))
  out[#out + 1] = ""
  table.move(diff.format(list, by, recording.width()), 1, #list + 1,
             #out + 1, out)
  out[#out + 1] = rest
  recording.write_rows(out)
end

-- What goes with lines.
local function check (parsed, by)
  local flag = parsed.source and "--source" or parsed.lines and "--lines"
  if flag and parsed.diff then
    main.misuse("--diff compares functions, and not lines")
  elseif flag and usage.keys[by] and not usage.line_key(by) then
    main.misuse("%s shows what lines have themselves, and not %s", flag, by)
  end
  parsed.lines = flag and true
end

local function run_source (parsed, by, result, trace)
  source.run(parsed, trace, sorted(result.functions, by), limit_of(parsed),
             {whole_ms = whole_of(result), memory = result.memory,
              key = usage.keys[by] and usage.line_key(by)})
end

function report.run (parsed)
  local by, limit = parsed.sort or "self", limit_of(parsed)
  check(parsed, by)
  if parsed.diff then
    return run_diff(parsed, by, limit)
  end
  local result, info, trace = result_of(parsed.file, parsed)
  local memory = usage.asked(by, result.memory, parsed.file)
  if parsed.lines and not memory then
    lines.must(result.samples, parsed.file)
  end
  if parsed.source then
    return run_source(parsed, by, result, trace)
  end
  if parsed.json then
    return print_json(result, by, limit)
  end
  local out = (memory and memory_report or report.format)(
    result, by, limit, recording.width(), parsed.lines)
  table.insert(out, 1, recording.heading(info, parsed.trace, result,
                                           trace.lost))
  table.insert(out, 2, "")
  recording.add_notes(out, info, result, not memory and doubts(result) or nil)
  recording.write_rows(out)
end

return report
