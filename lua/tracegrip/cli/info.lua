-- info.lua - tracegrip info: what is in a recording.

local core = require "tracegrip.core"
local columns = require "tracegrip.cli.columns"
local json = require "tracegrip.cli.json"
local meter = require "tracegrip.cli.meter"
local recording = require "tracegrip.cli.recording"
local spying = require "tracegrip.cli.spying"
local units = require "tracegrip.cli.units"
core.own()

local info = {
  summary = "Tells what is in a recording.",
  usage = "[options] FILE",
  options = {
    {name = "limit", kind = "limit", metavar = "N", default = "40",
     group = "Output", help = "Traces shown; N may be 'all'."},
    {name = "json", flag = "--json", value = true, group = "Output",
     help = "For programs: one JSON object."},
  }
}

function info.declare (parser)
  parser:argument("file"):description("The recording.")
end

-- A word as a shell would take it.
local function quoted (word)
  word = columns.clean(word)
  if word:find("^[%w_@%%+=:,./-]+$") then
    return word
  end
  return "'" .. word:gsub("'", "'\\''") .. "'"
end

local function arguments_of (about)
  if not about.arguments then
    return "not known"
  end
  local list = {}
  for i, word in ipairs(about.arguments) do
    list[i] = quoted(word)
  end
  return #list > 0 and table.concat(list, " ") or "none"
end

local function state_of (about)
  local reason = #about.traces == 0 and "it has no trace" or nil
  if about.reason then
    reason = about.reason .. (reason and "; " .. reason or "")
  end
  return about.state .. (reason and ": " .. reason or "")
end

-- The following are those of a trace, which may not be there: the program was
-- killed before it had begun.
local function events_of (about)
  local each = about.bytes_per_event
  if not about.events or not each then
    return about.events and units.count(about.events)
  end
  local text = ("%s, %.1f bytes each"):format(units.count(about.events), each)
  if (about.saved_bytes or 0) == 0 then
    return text
  end
  return ("%s, %.1f before compression"):format(text,
                                                about.bytes / about.events)
end

-- A recording of which only the beginning is there may not say who made it.
local function versions_of (about)
  local versions = about.versions
  local known = versions.tracegrip
                and ("tracegrip %s, %s, "):format(versions.tracegrip,
                                                  versions.lua) or ""
  return known .. "format " .. versions.format
end

-- Its own, and what the program waited for a client.
local function duration_of (about)
  return about.duration_ms and units.span(about.duration_ms)
         .. (about.waited_ms and ", and " .. units.span(about.waited_ms)
             .. " waited for a client" or "")
end

-- Of a trace with windows: what of the duration calls are lacking of.
local function windows_of (about)
  local w, whole = about.windows, about.duration_ms
  return w and whole > 0
         and ("calls were not seen for %s, %.1f %% (--windows %d)"):format(
           units.span(w.calls_unseen_ms), 100 * w.calls_unseen_ms / whole,
           w.percent)
end

local function memory_of (about)
  local m = about.memory
  if not m then
    return nil
  end
  local text = ("%s in %s, %s freed; at most %s at a time"):format(
    units.bytes(m.allocated_bytes), units.several(m.allocations, "allocation"),
    units.bytes(m.freed_bytes), units.bytes(m.peak_bytes))
  if m.live_bytes then
    text = ("%s; %s of it alive at the end"):format(text,
                                                    units.bytes(m.live_bytes))
  end
  if m.every_bytes then
    text = ("%s; one block in %s was counted"):format(
      text, units.bytes(m.every_bytes))
  end
  if m.collections then
    text = ("%s; %s, %s"):format(text,
                                 units.several(m.collections, "collection"),
                                 units.span(m.collecting_ms))
  end
  return text
end

-- What is in the duration, and in no time but a log's.
local function tracing_of (about)
  local cost, whole = about.tracing_ms, about.duration_ms
  return cost and whole > 0 and ("%s of that, %.1f %%"):format(
    units.span(cost), 100 * cost / whole)
end

-- Where the connection was closed, or the file could not grow, nobody has
-- counted what came then.
local function lost_of (about)
  local losses = about.lost and recording.losses(about.lost)
  local unknown = about.state == "failed"
                  or about.state == "cut off" and not about.arguments
  if losses == "none" and unknown then
    return "not known: what came after that"
  end
  return losses
end

-- Of samples of another process: how many looks were taken again, how many were
-- given up for what reason, and what was not looked at.
local function samples_of (about)
  local s = about.samples
  if not s or not s.retried then
    return nil
  end
  return table.concat({
    units.count(s.taken) .. " taken from outside",
    units.count(s.retried) .. " again", table.unpack(spying.losses(s.dropped))
  }, "; ")
end

-- How those of samples came, if not as they should.
local function ticks_of (about)
  local notes = about.ticks and about.ticks.notes or {}
  return #notes > 0 and table.concat(notes, "; ")
end

-- The names and how their values are found; nil: nothing is said of it.
local facts = {
  {"program", function (about) return columns.clean(about.program or "?") end},
  {"arguments", arguments_of},
  {"directory", function (about)
    return columns.clean(about.directory or "not known")
  end},
  {"date", recording.date},
  {"process", function (about) return tostring(about.pid or "not known") end},
  {"versions", versions_of},
  {"frames", function (about) return about.frames or "not known" end},
  {"state", state_of},
  {"scrubbed", function (about)
    return about.scrubbed and "values have been taken out" or nil
  end},
  {"duration", duration_of},
  {"tracing", tracing_of},
  {"windows", windows_of},
  {"events", events_of},
  {"memory", memory_of},
  {"lost", lost_of},
  {"samples", samples_of},
  {"ticks", ticks_of},
  {"threads", function (about)
    return about.threads and units.count(about.threads)
  end},
  {"functions", function (about) return units.count(about.functions) end},
  {"file", function (about)
    return units.bytes(about.file_bytes) .. ", "
           .. units.bytes(about.bytes) .. " of events"
  end},
  {"room", function (about) return about.room and about.room.words end},
}

local trace_columns = {
  {title = "trace", text = function (row) return columns.clean(row.name) end},
  {title = "start", right = true,
   text = function (row) return units.column(row.start_ms) end},
  {title = "duration", right = true, text = function (row)
    return row.stop_ms and units.column(row.stop_ms - row.start_ms) or ""
  end},
  {title = "events", right = true,
   text = function (row) return units.count(row.events) end},
  {title = "markers", right = true, sparse = true, text = function (row)
    return (row.markers or 0) > 0 and units.count(row.markers) or ""
  end},
  {title = "samples", right = true, sparse = true, text = function (row)
    return row.samples
           and ("%s at %s/s%s"):format(units.count(row.samples),
                                       units.count(row.sample),
                                       row.wall and " by the clock" or "")
           or ""
  end},
  {title = "lost", right = true, sparse = true, text = function (row)
    local sum = 0
    for _, n in pairs(row.lost or {}) do
      sum = sum + n
    end
    return sum > 0 and units.count(sum) or ""
  end},
  {title = "ended by", sparse = true,
   text = function (row) return row.ended or "" end},
  {title = "types", cut = "back", least = 10,
   text = function (row) return table.concat(row.types or {}, " ") end},
}

-- The rows about a recording; 'about' is what its info says. No more than
-- 'limit' of its traces, or all without one.
function info.format (about, width, limit)
  local out = {}
  for _, fact in ipairs(facts) do
    local text = fact[2](about)
    if text then    -- nil and false: there is nothing to say
      out[#out + 1] = ("%-10s %s"):format(fact[1] .. ":", text)
    end
  end
  if #about.traces == 0 then
    return out
  end
  out[#out + 1] = ""
  local shown, rest = units.first(about.traces, limit, "trace")
  local rows = columns.format(trace_columns, shown, width)
  rows[#rows + 1] = rest
  return table.move(rows, 1, #rows, #out + 1, out)
end

local LIMIT = 40

function info.run (parsed)
  local opened = recording.open(parsed.file)
  local about = meter.during("reading", function (show)
    return opened:info(false, show)
  end)
  if parsed.json then
    recording.write(json.text(about))
  else
    local limit = parsed.limit or LIMIT
    recording.write_rows(info.format(about, recording.width(),
                                     limit ~= "all" and limit or nil))
  end
end

return info
