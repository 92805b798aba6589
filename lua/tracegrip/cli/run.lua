-- run.lua - tracegrip run: a program with a live log of its calls.

local core = require "tracegrip.core"
local logstyle = require "tracegrip.cli.logstyle"
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

run.options = options.joined(logstyle.options("standard error"),
                             options.shared)

function run.declare (parser)
  parser:argument("script"):description(
    "The program; '-' is standard input.")
  parser:argument("arguments"):args("*"):description("The program's own.")
end

function run.run (parsed)
  local _, message = program.become(parsed.script, parsed.arguments, "log",
                                    options.collect(options.shared, parsed),
                                    logstyle.of(parsed, 2, parsed.script))
  main.fail("cannot run the program: %s", message)
end

return run
