-- export.lua - tracegrip export: a recording for the viewers that people use.

local core = require "tracegrip.core"
local heapfile = require "tracegrip.cli.heapfile"
local main = require "tracegrip.cli.main"
local meter = require "tracegrip.cli.meter"
local options = require "tracegrip.options"
local recording = require "tracegrip.cli.recording"
local resource = require "tracegrip.resource"
local target = require "tracegrip.target"
local units = require "tracegrip.cli.units"
core.own()

local formats = core.exportFormats()

local function list_of_formats ()
  local lines = {}
  for i, format in ipairs(formats) do
    lines[i] = ("%s: %s"):format(format.name, format.what)
  end
  return table.concat(lines, "; ")
end

local export = {
  summary = "Writes a recording in a format that other tools open.",
  description = "Writes a recording in a format that other tools open. "
    .. list_of_formats() .. ". Of a heap snapshot (tracegrip heap) html is the "
    .. "one there is.",
  usage = "[options] FORMAT FILE"
}

local viewable = {
  {name = "limit", kind = "most", metavar = "N", group = "The export",
   default = "what the format's viewers can bear",
   help = "Only the N longest calls, or all; the time of those that are left "
          .. "out is drawn as (calls left out). Of a heap snapshot: the N "
          .. "objects that keep most alive."},
  {name = "minMs", kind = "ms", metavar = "MS", group = "The export",
   help = "The same as --min-duration: leave out calls that took less."},
}

local own = {
  {name = "sources", flag = "--sources", value = true, group = "The export",
   formats = {"firefox"},
   help = "firefox: with the program's text, if the recording has it."},
  {name = "output", flag = "-o", alias = "--output", metavar = "OUT",
   group = "The export", default = "FILE's name with the format's ending",
   help = "Where to; '-' is standard output. Compressed if it ends in .gz."},
  {name = "samples", flag = "--samples", value = true, group = "The export",
   formats = {"chrome"}, help = "chrome: samples too, on tracks of their own."},
  {name = "traceparent", kind = "traceparent", metavar = "PARENT",
   group = "The export", formats = {"otlp"},
   help = "otlp: the span around the program, 00-TRACE-SPAN-FLAGS "
          .. "(W3C Trace Context)."},
  {name = "resource", kind = "attribute", metavar = "KEY=VALUE", list = true,
   group = "The export", formats = {"otlp"},
   help = "otlp: an attribute of the program, such as service.version=1.4.0; "
          .. "stronger than OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES."},
  {name = "request", kind = "pattern", metavar = "PATTERN", list = true,
   group = "The export", formats = {"otlp"},
   help = "otlp: each outermost call of a function whose name or source a Lua "
          .. "pattern finds is a trace of its own, of kind SERVER."},
  {name = "weight", metavar = "WHAT", group = "The export",
   choices = {"time", "nanoseconds", "bytes", "allocations", "live",
              "peak-live"},
   formats = {"folded"}, default = "time",
   help = "folded: what stacks are weighted by; time is microseconds, 1 at "
          .. "least; all from bytes on are of recordings that were made "
          .. "with --memory: live are bytes that are alive at the end, "
          .. "peak-live those that were when the heap was at its peak."},
  {name = "lines", flag = "--lines", value = true, group = "The export",
   formats = {"folded"},
   help = "folded: a frame is a function with the line at which it stood, "
          .. "FUNCTION:LINE; times need samples (record --sample), weights "
          .. "from bytes on do not."},
  {name = "geckoVersion", metavar = "VERSION", choices = {"5", "36"},
   group = "The export", formats = {"gecko"}, default = "36",
   help = "gecko: the version of the format."},
}

-- The options that say what is in an export, for view as well.
export.viewable = options.joined(viewable, options.reading,
                                 options.times)

export.options = options.joined(own, export.viewable, options.corrected)

function export.declare (parser)
  local names = {}
  for i, format in ipairs(formats) do
    names[i] = format.name
  end
  parser:argument("format"):choices(names):description(
    "One of " .. table.concat(names, ", ") .. ".")
  parser:argument("file"):description("The recording, or a heap snapshot.")
end

---------------------------------------------------------------------------
-- What is asked for
---------------------------------------------------------------------------

function export.format (name)
  for _, format in ipairs(formats) do
    if format.name == name then
      return format
    end
  end
end

-- What was given of an option; of a list the first.
local function given (parsed, option)
  local value = parsed[option.name]
  if type(value) == "table" then
    return value[1]
  end
  return value
end

-- An option of another format is a mistake, not to be passed over.
function export.check (parsed)
  for _, option in ipairs(export.options) do
    local only = option.formats and option.formats[1]
    if only and given(parsed, option) and parsed.format ~= only then
      main.misuse("%s is for %s, not for %s", options.flags {option}, only,
                  parsed.format)
    end
  end
end

-- The recording's name without its ending; a number there is that of a process,
-- which tells several recordings apart.
local function stem (path)
  local start, ending = path:match("^(.*[^/])(%.[^./]+)$")
  if not start or ending:find("^%.%d+$") then
    return path
  end
  return start
end

-- 'what' is exported.
local function output_of (parsed, what)
  local output = parsed.output
                 or stem(parsed.file) .. export.format(parsed.format).ending
  if core.samefile(parsed.file, output) then
    main.fail("%s is the %s itself (-o writes elsewhere)", output, what)
  elseif output ~= "-" then
    local ok, message = target.spares(output)
    if not ok then
      main.fail("cannot write: %s (-o writes elsewhere)", message)
    end
  end
  return output
end

local ATTRIBUTES = 32     -- as many as an export takes

local function said (parsed)
  local list = resource.said(parsed.resource, function (text)
    main.note("%s", text)
  end)
  if #list > 2 * ATTRIBUTES then
    main.misuse("--resource and OTEL_RESOURCE_ATTRIBUTES have more than %d "
                .. "attributes together", ATTRIBUTES)
  end
  return list
end

-- The options for a trace's export from those of the command line.
local function choices (parsed, trace, progress)
  parsed.minDuration = parsed.minDuration or parsed.minMs
  local chosen = options.filter(parsed, trace)
  chosen.limit = parsed.limit == "all" and math.maxinteger or parsed.limit
  chosen.samples, chosen.sources = parsed.samples, parsed.sources
  chosen.levels, chosen.weight = parsed.levels, parsed.weight
  chosen.lines = parsed.lines
  chosen.traceparent, chosen.request = parsed.traceparent, parsed.request
  chosen.resource = parsed.format == "otlp" and said(parsed) or nil
  chosen.geckoVersion = tonumber(parsed.geckoVersion)
  chosen.progress = progress
  return chosen
end

---------------------------------------------------------------------------
-- What became of it
---------------------------------------------------------------------------

-- What is not in an export, and what would change that: a list.
local function omissions (result)
  local list = {}
  if result.leftOut > 0 then
    local shorter = result.shortest_ms
                    and "shorter than " .. units.span(result.shortest_ms) .. " "
                    or ""
    list[1] = ("%s %sleft out, %s in all (--limit N)"):format(
      units.several(result.leftOut, "call"), shorter,
      units.span(result.leftOut_ms))
  end
  if result.folded > 0 then
    list[#list + 1] = ("%s deeper than %s part of those around them "
                       .. "(--max-depth N, or --min-ms MS)"):format(
      units.several(result.folded, "call"), units.count(result.depth))
  end
  if result.withoutValues > 0 then
    list[#list + 1] = ("%s without their values, so that viewers can open it "
                       .. "(--min-ms MS)"):format(
      units.several(result.withoutValues, "call"))
  end
  return list
end

-- "1,234 calls", "5,678 samples", or both; markers where there is nothing else.
local function contents (result)
  local samples = result.samples and units.several(result.samples, "sample")
  if result.calls == 0 and (samples or result.markers) then
    return samples or units.several(result.markers, "marker")
  end
  return units.several(result.calls, "call")
         .. (samples and ", " .. samples or "")
end

-- What it has, "12 KiB", where its time 0 is, so that a time which is read in a
-- viewer can be given to --from; what is missing from it and why: one line.
function export.told (result, trace, format)
  local parts = {
    contents(result) .. ", " .. units.bytes(result.bytes),
    table.unpack(omissions(result))
  }
  local any = result.calls > 0 or (result.samples or 0) > 0 or result.markers
  if any and format ~= "packets" and format ~= "folded" then
    table.insert(parts, 2, ("time 0 is %.3f ms"):format(result.start_ms))
  end
  if not any then
    parts[#parts + 1] = "there is nothing to be seen: no call was recorded, or "
                        .. "the filters leave none"
  end
  local losses = recording.losses(trace.lost)
  if losses ~= "none" then
    parts[#parts + 1] = "lost " .. losses
  end
  return table.concat(parts, "; ")
end

---------------------------------------------------------------------------
-- The command
---------------------------------------------------------------------------

local ALL_OBJECTS = 2^31 | 0

-- Writes what 'parsed' asks for of a trace to 'output'. 'turn', optional, is
-- called now and then, and ends the export by raising something. The result of
-- trace:export, or nil, message, code.
function export.write (parsed, trace, output, turn)
  return meter.during("exporting", function (show)
    local function progress (part)
      if turn then turn() end
      if show then show(part) end
    end
    return trace:export(parsed.format, output,
                        choices(parsed, trace,
                                (turn or show) and progress))
  end)
end

-- Of a heap snapshot there is a page, and nothing that a recording's options
-- are for.
local function run_snapshot (parsed)
  if parsed.format ~= "html" then
    main.misuse("%s is a heap snapshot, whose format is html", parsed.file)
  end
  for _, option in ipairs(export.options) do
    local own_one = option.name == "output" or option.name == "limit"
    if not own_one and given(parsed, option) ~= nil then
      main.misuse("%s is for recordings, not for heap snapshots",
                  options.flags {option})
    end
  end
  local output = output_of(parsed, "snapshot")
  local limit = parsed.limit == "all" and ALL_OBJECTS
                or parsed.limit and math.min(parsed.limit, ALL_OBJECTS)
  local text = heapfile.write_page(parsed.file, heapfile.name_of(parsed.file),
                                   output, limit)
  if text then
    main.note("%s: %s", output == "-" and "exported" or output, text)
  end
end

function export.run (parsed)
  export.check(parsed)
  if heapfile.is_snapshot(parsed.file) then
    return run_snapshot(parsed)
  end
  recording.choose_times(parsed, export.format(parsed.format).raw)
  local output = output_of(parsed, "recording")
  local trace, info = recording.trace(parsed.file, parsed.trace)
  local result, message, code = export.write(parsed, trace, output)
  recording.note_damage(parsed.file, trace, info)
  if result then
    local where = output == "-" and "exported" or output
    main.note("%s: %s", where, export.told(result, trace, parsed.format))
  elseif code ~= recording.EPIPE then
    main.fail("%s", message)
  end
end

return export
