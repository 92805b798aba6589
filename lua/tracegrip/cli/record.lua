-- record.lua - tracegrip record: a program and a file of all it calls.

local core = require "tracegrip.core"
local main = require "tracegrip.cli.main"
local options = require "tracegrip.options"
local program = require "tracegrip.cli.program"
local target = require "tracegrip.target"
core.own()

local record = {
  summary = "Runs a program and records its calls in a file.",
  description = "Runs a Lua program and records its calls, their arguments "
    .. "and results in a file, for info, report, tree and log. The file is "
    .. "good at any moment, also if the program is killed. The exit status is "
    .. "the program's own. After '--' comes a command that runs Lua 5.4 in "
    .. "some way: its first Lua process is recorded in FILE, others in "
    .. "FILE.PID; if it runs none, there is no FILE.",
  usage = "[options] -o FILE script.lua [arguments]\n"
    .. "       tracegrip record [options] -o FILE -- command [arguments]",
  program = true
}

local own = {
  {name = "output", flag = "-o", alias = "--output", metavar = "FILE",
   required = true, group = "The recording",
   help = "Where to. A recording that is there is replaced."},
  {name = "force", flag = "--force", value = true, group = "The recording",
   help = "Replace FILE whatever it is."},
  {name = "ring", flag = "--ring", value = true, group = "The recording",
   help = "Keep the last --buffer bytes only: the same as --overflow ring."},
  {name = "sources", flag = "--sources", value = true,
   group = "The recording",
   help = "Keep the text of the program's sources with it."},
}

local RING = 64 << 20      -- bytes kept if nothing else is said

local traced = options.vary {
  buffer = {help = "What the recording may have of events.",
            default = "no limit; 64M of a ring"},
  overflow = {help = "When that is full: keep the beginning (stop) or the "
                     .. "end (ring)."}
}

record.options = options.joined(own, traced)

function record.declare (parser)
  parser:argument("script"):description(
    "The program, or the command; '-' is standard input.")
  parser:argument("arguments"):args("*"):description("The program's own.")
end

---------------------------------------------------------------------------
-- The file
---------------------------------------------------------------------------

-- The place is free and can be written to, or the command fails. The file is
-- made by whoever records.
function record.prepare (path, force)
  local ok, message, code = target.clear(path, force)
  if ok then
    ok, message = target.try(path)
  end
  if not ok then
    main.fail("cannot write the recording: %s%s", message,
              code and " (--force replaces it)" or "")
  end
end

---------------------------------------------------------------------------
-- The command
---------------------------------------------------------------------------

local function options_of (parsed)
  local chosen = options.collect(traced, parsed)
  if parsed.ring then
    chosen.overflow = "ring"
  end
  if chosen.overflow == "ring" then
    chosen.buffer = chosen.buffer or RING
  end
  return chosen
end

-- What the program is told to record on. It may change its directory first.
local function tape_of (parsed)
  return {
    path = target.absolute(parsed.output), exclusive = true,
    sources = parsed.sources, program = parsed.script,
    arguments = parsed.arguments
  }
end

function record.run (parsed)
  local become = parsed.dashes and program.execute or program.become
  local chosen, tape = options_of(parsed), tape_of(parsed)
  if parsed.dashes then
    program.check(parsed.script)
  end
  record.prepare(parsed.output, parsed.force)
  local _, message = become(parsed.script, parsed.arguments, "record", chosen,
                            tape)
  main.fail("cannot run the program: %s", message)
end

return record
