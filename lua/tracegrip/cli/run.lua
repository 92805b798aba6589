-- run.lua - tracegrip run: a program with a live log of its calls.

local core = require "tracegrip.core"
local main = require "tracegrip.cli.main"
local options = require "tracegrip.options"
local program = require "tracegrip.cli.program"
core.own()

local run = {
  summary = "Runs a program and logs its calls as they happen.",
  description = "Runs a Lua program and logs its calls, their arguments and "
    .. "results as they happen, on standard error. The exit status is the "
    .. "program's own.",
  usage = "[options] script.lua [arguments]",
  program = true
}

local own = {
  {name = "output", flag = "-o", metavar = "FILE", group = "The log",
   help = "Write it to FILE; '-' is standard output."},
  {name = "color", metavar = "WHEN", group = "The log",
   choices = {"auto", "always", "never"}, default = "auto",
   help = "Use colours; auto: on a terminal, unless NO_COLOR is set."},
  {name = "times", flag = "--no-times", value = false, group = "The log",
   help = "Leave out all times, so that two logs can be compared."},
  {name = "summary", flag = "--no-summary", value = false, group = "The log",
   help = "Leave out the closing line."},
}

run.options = table.move(options.shared, 1, #options.shared, #own + 1, own)

function run.declare (parser)
  parser:argument("script"):description(
    "The program; '-' is standard input.")
  parser:argument("arguments"):args("*"):description("The program's own.")
end

local colors = {always = true, never = false}

local function style_of (parsed)
  local style = {
    color = colors[parsed.color], times = parsed.times ~= false,
    summary = parsed.summary ~= false
  }
  if parsed.output == nil or parsed.output == "-" then
    style.fd = parsed.output and 1 or 2
  else
    style.path = parsed.output
  end
  return style
end

function run.run (parsed)
  local _, message = program.become(parsed.script, parsed.arguments, "log",
                                    options.collect(parsed), style_of(parsed))
  main.fail("cannot run the program: %s", message)
end

return run
