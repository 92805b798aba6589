-- logstyle.lua - how a log looks and where it goes: what run and log share.

local core = require "tracegrip.core"
local main = require "tracegrip.cli.main"
local target = require "tracegrip.target"
core.own()

local logstyle = {}

-- 'standard' says where it goes by itself, if that is to be told.
function logstyle.options (standard)
  return {
    {name = "output", flag = "-o", alias = "--output", metavar = "FILE",
     group = "The log", help = "Write it to FILE; '-' is standard output.",
     default = standard},
    {name = "force", flag = "--force", value = true, group = "The log",
     help = "Write over FILE also if it is a recording."},
    {name = "color", metavar = "WHEN", group = "The log",
     choices = {"auto", "always", "never"}, default = "auto",
     help = "Use colours; auto: on a terminal, unless NO_COLOR is set."},
    {name = "times", flag = "--no-times", value = false, group = "The log",
     help = "Leave out all times, so that two logs can be compared."},
    {name = "summary", flag = "--no-summary", value = false,
     group = "The log", help = "Leave out the closing line."},
  }
end

local colors = {always = true, never = false}

local function check_output (parsed)
  if parsed.output == nil or parsed.output == "-" then
    return
  end
  local ok, message = target.spares(parsed.output, parsed.force)
  if not ok then
    main.fail("cannot write the log: %s%s", message,
              parsed.force and "" or " (--force replaces it)")
  end
end

-- The style for the C side; 'fd' is where it goes without -o. 'source' is the
-- file that is read or run, which is not to be written to.
function logstyle.of (parsed, fd, source)
  if source and parsed.output and core.samefile(source, parsed.output) then
    main.fail("%s is what is read itself (-o writes elsewhere)",
              parsed.output)
  end
  check_output(parsed)
  local style = {
    color = colors[parsed.color], times = parsed.times ~= false,
    summary = parsed.summary ~= false
  }
  if parsed.output == nil or parsed.output == "-" then
    style.fd = parsed.output and 1 or fd
  else
    style.path = parsed.output
  end
  return style
end

return logstyle
