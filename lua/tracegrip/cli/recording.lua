-- recording.lua - what the commands that read recordings share: opening one,
-- saying what is wrong with it, the place where their rows go.

local core = require "tracegrip.core"
local main = require "tracegrip.cli.main"
local columns = require "tracegrip.cli.columns"
local meter = require "tracegrip.cli.meter"
local options = require "tracegrip.options"
local units = require "tracegrip.cli.units"
local usage = require "tracegrip.cli.usage"
core.own()

local recording = {}

recording.EPIPE = main.EPIPE

local WIDTH, WIDTH_MIN = 100, 40

-- What the world said, with the file's name in front once.
local function about (path, message)
  if message:sub(1, #path) == path then
    return message
  end
  return path .. ": " .. message
end

-- The recording in a file; its absence or damage is a failure of the command.
function recording.open (path)
  local opened, message = core.open(path)
  if not opened then
    main.fail("%s", about(path, message))
  end
  return opened
end

local words = {
  ["cut off"] = "is cut off", damaged = "is damaged",
  failed = "is incomplete", running = "is still being recorded"
}

-- When it was made, in words. A damaged header may say anything.
function recording.date (info)
  local ok, text = pcall(os.date, "%Y-%m-%d %H:%M:%S %z",
                         math.floor(info.date))
  return ok and text or "not known"
end

-- One line about a recording that did not end as it should have, nil of one
-- that did. 'info' is that of the recording.
function recording.remark (path, info)
  local what = words[info.state]
  if not what then
    return nil
  end
  local reason = info.reason and " (" .. info.reason .. ")" or ""
  return path .. " " .. what .. reason .. "; shown as far as it goes"
end

-- What a recording is, for who looks at it in a debugger.
function recording.told (path, info)
  local remark = recording.remark(path, info)
  return ("%s, recorded %s%s"):format(info.program or path,
                                      recording.date(info),
                                      remark and ": " .. remark or "")
end

-- The recording's trace of that name, its first one without a name, and what
-- is known of the recording. Says on standard error when that is not all.
function recording.trace (path, name)
  local opened = recording.open(path)
  local info = opened:info(true)
  local trace, message
  if name then
    trace, message = opened:trace(name)
  else
    trace, message = opened:traces()[1], "there is no trace in it"
  end
  if not trace then
    main.fail("%s", about(path, message))
  end
  local remark = recording.remark(path, info)
  if remark then
    main.note("%s", remark)
  end
  return trace, info
end

-- Says on standard error on how many names patterns gave up, if on any.
function recording.note_undecided (n)
  if n and n > 0 then
    main.note("patterns took too long over %s: not matched, by redact hidden",
              units.several(n, "name"))
  end
end

-- Says on standard error that a trace which was read ended at damage, if it did
-- and nothing has been said of that before; and what patterns could not tell.
function recording.note_damage (path, trace, info)
  if trace.damage and info.state ~= "damaged" then
    main.note("%s", recording.remark(path, {
      state = "damaged",
      reason = ("no event at byte %d"):format(trace.damage)}))
  end
  recording.note_undecided(trace.undecided)
end

-- Settles which times are shown, by --true or --raw; 'raw': those as recorded,
-- if nothing else is said. What was read in a report or a viewer is another
-- moment there.
function recording.choose_times (parsed, raw)
  local said = parsed.corrected or parsed.raw
  if parsed.corrected and parsed.raw then
    main.misuse("--true and --raw are two kinds of times")
  elseif raw and not said and (parsed.from or parsed.to) then
    main.note("--from and --to are times as recorded, with what tracing has "
              .. "cost (--raw); those of reports and viewers with --true")
  end
  parsed.raw = parsed.raw or raw and not parsed.corrected
end

-- What a method of a trace that reads all of it gives ("report", "tree"), for
-- the filters of the command line; shows how far it is. 'levels' is that of a
-- tree.
function recording.read (trace, method, parsed, levels)
  local filter = options.filter(parsed, trace)
  filter.levels, filter.lines = levels, parsed.lines
  return meter.during("reading", function (show)
    filter.progress = show
    return trace[method](trace, filter)
  end)
end

-- What a trace's method gave, which is nil and a message if it could not read
-- the file.
function recording.must (path, result, message)
  if not result then
    main.fail("%s", about(path, message))
  end
  return result
end

-- Columns to fit rows into; nil where they may be as long as they are.
function recording.width ()
  if not core.isatty(1) then
    return nil
  end
  local width = math.tointeger(tonumber(os.getenv("COLUMNS")))
  return math.max(width or core.columns(1) or WIDTH, WIDTH_MIN)
end

-- To standard output.
function recording.write (text)
  local ok, message = main.write(text)
  if not ok then
    main.fail("cannot write: %s", message)
  end
end

function recording.write_rows (rows)
  recording.write(table.concat(rows, "\n") .. "\n")
end

---------------------------------------------------------------------------
-- Words
---------------------------------------------------------------------------

local function sorted_pairs (counts)
  local list = {}
  for cause, n in pairs(counts) do
    if n > 0 then
      list[#list + 1] = {cause = cause, n = n}
    end
  end
  table.sort(list, function (a, b)
    return a.n > b.n or a.n == b.n and a.cause < b.cause
  end)
  return list
end

-- What is no event that was lost.
local lost_units = {
  dropped = "sample", functions = "function", patterns = "name"
}

-- {overflow = 3} -> "3 events (the buffer was full)"; "none".
function recording.losses (lost)
  local parts = {}
  for i, one in ipairs(sorted_pairs(lost)) do
    local unit = lost_units[one.cause] or "event"
    parts[i] = units.several(one.n, unit) .. " ("
               .. (core.losses[one.cause] or one.cause) .. ")"
  end
  return #parts > 0 and table.concat(parts, ", ") or "none"
end

-- Says on standard error what a trace of a file has lost, if it has.
function recording.note_losses (path, trace)
  local losses = recording.losses(trace.lost)
  if losses ~= "none" then
    main.note("%s lacks %s", path, losses)
  end
end

-- Adds to rows what is to be known of the ticks of its samples, nothing if
-- they came as they should; and one note more, if there is one.
function recording.add_notes (rows, info, report, last)
  local notes = info.ticks and table.move(info.ticks.notes, 1,
                                          #info.ticks.notes, 1, {}) or {}
  if report.windows then
    notes[#notes + 1] = ("calls were not seen for %s (--windows %d): numbers "
      .. "of calls are of those that were"):format(
      units.span(report.windows.calls_unseen_ms), report.windows.percent)
  end
  notes[#notes + 1] = last
  for i, note in ipairs(notes) do
    if i == 1 then
      rows[#rows + 1] = ""
    end
    local text, width = "note: " .. note, recording.width()
    for _, line in ipairs(width and columns.wrap(text, width) or {text}) do
      rows[#rows + 1] = line
    end
  end
end

-- "prog.lua: 1.23 ms, 20 events", and what is lost if anything is: of a report
-- of a trace that was asked for by this name, or by none.
function recording.heading (info, trace_name, report, lost)
  local parts = {
    units.span(report.duration_ms), units.several(report.events, "event")
  }
  if report.samples then
    parts[#parts + 1] = units.several(report.samples, "sample")
  end
  if report.memory then
    parts[#parts + 1] = usage.told(report.memory)
  end
  local losses = recording.losses(lost)
  if losses ~= "none" then
    parts[#parts + 1] = "lost " .. losses
  end
  local title = columns.clean(info.program or info.path)
  if trace_name then
    title = title .. ", trace " .. columns.clean(trace_name)
  end
  return title .. ": " .. table.concat(parts, ", ")
end

return recording
