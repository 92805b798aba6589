-- run.lua - tracegrip run: a program with a live log of its calls.

local core = require "tracegrip.core"
local logstyle = require "tracegrip.cli.logstyle"
local main = require "tracegrip.cli.main"
local options = require "tracegrip.options"
local preload = require "tracegrip.cli.preload"
local program = require "tracegrip.cli.program"
core.own()

local run = {
  summary = "Runs a program and logs its calls as they happen.",
  description = "Runs a Lua program and logs its calls, their arguments and "
    .. "results as they happen, on standard error. The exit status is the "
    .. "program's own.",
  usage = "[options] script.lua [arguments]\n"
    .. "       tracegrip run [options] --preload -- command [arguments]",
  program = true
}

run.options = options.joined(logstyle.options("standard error"),
                             {preload.option}, options.shared)

function run.declare (parser)
  parser:argument("script"):description(
    "The program, or the command; '-' is standard input.")
  parser:argument("arguments"):args("*"):description("The program's own.")
end

-- A command may have any number of Lua states, which all log there.
local function check_command (parsed)
  if not parsed.dashes then
    preload.misused()
  end
  program.check(parsed.script, true)
  if parsed.output and parsed.output ~= "-" then
    main.misuse("with --preload the log is on standard error, or with -o - on "
                .. "standard output")
  end
end

function run.run (parsed)
  local become = program.become
  if parsed.preload then
    check_command(parsed)
    become = program.become_host
  end
  local _, message = become(parsed.script, parsed.arguments, "log",
                            options.collect(options.shared, parsed),
                            logstyle.of(parsed, 2, parsed.script))
  main.fail("cannot run the program: %s", message)
end

return run
