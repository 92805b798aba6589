-- log.lua - tracegrip log: a recording as the live log.

local core = require "tracegrip.core"
local logstyle = require "tracegrip.cli.logstyle"
local main = require "tracegrip.cli.main"
local options = require "tracegrip.options"
local recording = require "tracegrip.cli.recording"
core.own()

local log = {
  summary = "Shows a recording as the log that run prints.",
  description = "Shows the calls of a recording with their arguments and "
    .. "results, as tracegrip run does while a program runs.",
  usage = "[options] FILE"
}

log.options = options.joined({
  {name = "limit", kind = "most", metavar = "N", default = "all",
   group = "The log", help = "The first N events: calls, results and markers. "
   .. "How many there are more is the line after them."}
}, logstyle.options(), options.reading,
                             options.corrected, options.times, options.values)

function log.declare (parser)
  parser:argument("file"):description("The recording.")
end

function log.run (parsed)
  recording.choose_times(parsed, true)
  local style = logstyle.of(parsed, 1, parsed.file)
  style.limit = parsed.limit ~= "all" and parsed.limit or nil
  local trace, info = recording.trace(parsed.file, parsed.trace)
  local ok, message, code = trace:log(style, options.filter(parsed, trace))
  recording.note_damage(parsed.file, trace, info)
  recording.note_losses(parsed.file, trace)
  if not ok and code ~= recording.EPIPE then
    main.fail("%s", message)
  end
end

return log
