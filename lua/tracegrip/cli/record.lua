-- record.lua - tracegrip record: a program and a file of all it calls.

local core = require "tracegrip.core"
local descendants = require "tracegrip.cli.descendants"
local following = require "tracegrip.cli.following"
local main = require "tracegrip.cli.main"
local options = require "tracegrip.options"
local preload = require "tracegrip.cli.preload"
local program = require "tracegrip.cli.program"
local sending = require "tracegrip.cli.sending"
local spying = require "tracegrip.cli.spying"
local target = require "tracegrip.target"
local versions = require "tracegrip.cli.versions"
core.own()

local record = {
  summary = "Runs a program and records its calls in a file.",
  description = "Runs a Lua program and records its calls, their arguments "
    .. "and results in a file, for info, report, tree and log. The file is "
    .. "good at any moment, also if the program is killed. The exit status is "
    .. "the program's own. After '--' comes a command that runs Lua in "
    .. "some way: its first Lua process is recorded in FILE, others, also "
    .. "those that these run, in FILE.PID. If it runs none, record says so "
    .. "and FILE is what it was.",
  usage = "[options] -o FILE script.lua [arguments]\n"
    .. "       tracegrip record [options] [--preload] -o FILE -- command "
    .. "[arguments]\n"
    .. "       tracegrip record --pid PID [options] -o FILE",
  program = true
}

local own = {
  {name = "output", flag = "-o", alias = "--output", metavar = "FILE",
   required = true, group = "The recording",
   help = "Where to. A recording that is there is replaced when this one "
          .. "begins."},
  {name = "force", flag = "--force", value = true, group = "The recording",
   help = "Replace FILE whatever it is."},
  {name = "ring", flag = "--ring", value = true, group = "The recording",
   help = "Keep the last --buffer bytes only: the same as --overflow ring."},
  {name = "maxSize", kind = "bytes", metavar = "BYTES",
   group = "The recording",
   help = "What the file may have, 1M at least: then the trace ends, or with "
          .. "--ring overwrites."},
  {name = "compress", kind = "compression", metavar = "HOW",
   group = "The recording", default = "zstd",
   help = "zstd: what is full is compressed, by a thread of its own; or "
          .. "none. A ring is never."},
  {name = "sources", flag = "--sources", value = true,
   group = "The recording",
   help = "Keep the text of the program's sources with it."},
  preload.option, spying.pid, spying.outside, spying.stop,
  spying.native,
  descendants.option,
}

local RING = 64 << 20      -- bytes kept if nothing else is said
local SMALLEST = 1 << 20   -- file that may be asked for

local traced = options.vary {
  buffer = {help = "What the recording may have of events.",
            default = "no limit; 64M of a ring"},
  overflow = {help = "When that is full: keep the beginning (stop) or the "
                     .. "end (ring)."}
}

record.options = options.joined(own, sending.options, traced)

function record.declare (parser)
  parser:argument("script"):args("?"):description(
    "The program, or the command; '-' is standard input.")
  parser:argument("arguments"):args("*"):description("The program's own.")
end

---------------------------------------------------------------------------
-- The file
---------------------------------------------------------------------------

-- The place can be had and written to, or the command fails. The file is made
-- by whoever records.
function record.prepare (path, force)
  main.needs_file(path, "a recording")
  local ok, message, code = target.free(path, force)
  if ok then
    ok, message = core.claimable(path)
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
  chosen.maxSize = parsed.maxSize
  if chosen.maxSize and chosen.maxSize < SMALLEST then
    main.misuse("--max-size is 1M at least")
  end
  chosen.compress = parsed.compress
  if chosen.overflow == "ring" and not chosen.maxSize then
    chosen.buffer = chosen.buffer or RING
  end
  return chosen
end

-- What the program is told to record on. It may change its directory first.
local function file_of (parsed)
  local path, message = target.absolute(parsed.output)
  if not path then
    main.fail("cannot write the recording: %s", message)
  end
  return {
    path = path, exclusive = true,
    run = core.family(), force = parsed.force, sources = parsed.sources,
    tells = true, program = parsed.script, arguments = parsed.arguments
  }
end

local function record_script (parsed, chosen, file)
  local script, arguments = parsed.script, parsed.arguments
  program.must_load(script, arguments)
  local _, message = program.become(script, arguments, "record", chosen, file)
  main.fail("cannot run the program: %s", message)
end

local function note_nothing (parsed)
  local path = parsed.output
  local older = core.filetype(path)
                and "; " .. path .. " is of an earlier run" or ""
  local heeding = parsed.preload and preload.heeding()
                  or versions.heeding() .. " (--preload reaches programs that "
                     .. "embed it)"
  main.note("nothing was recorded: the command ran no %s%s", heeding, older)
end

-- We end as the command has ended: by its signal, or with its exit status,
-- which is returned. Without a recording a command's success is no success: the
-- script that asked for one goes by the status.
local function end_alike (parsed, file, how, status)
  local failed = parsed.dashes and not target.is_of(file.path, file.run)
  if failed then
    note_nothing(parsed)
  end
  if how == "signal" then
    core.die(status)
  end
  return failed and status == 0 and 1 or status
end

-- Returns its exit status.
local function record_command (parsed, chosen, file)
  local how, status = program.execute(parsed.script, parsed.arguments,
                                      "record", chosen, file, parsed.preload)
  if not how then
    main.fail("cannot run the program: %s", status)
  end
  return end_alike(parsed, file, how, status)
end

-- The same with its calls sent as they come: the program is a child then, and
-- this process its reader. Returns its exit status.
local function record_sent (parsed, chosen, file, plan)
  local script, arguments, command = parsed.script, parsed.arguments,
                                     parsed.dashes
  if not command then
    program.must_load(script, arguments)
  end
  local follower = following.start(plan, file, chosen, script, command)
  local ok, message = program.launch(script, arguments, "record", chosen, file,
                                     command, parsed.preload)
  if not ok then
    main.fail("cannot run the program: %s", message)
  end
  local how, status = follower:await()
  follower:drain()
  return end_alike(parsed, file, how, status)
end

-- What goes with samples from outside.
local from_outside = {}
for name in ("pid outside stop native subprocesses output force sample wall "
             .. "duration"):gmatch "%S+" do
  from_outside[name] = true
end

local function is_given (value)
  return value ~= nil and (type(value) ~= "table" or next(value) ~= nil)
end

local function check_outside (parsed)
  local flag = parsed.pid and "--pid" or "--outside"
  if parsed.pid and (parsed.script or parsed.outside) then
    main.misuse("--pid looks at a process that runs: there is no program to "
                .. "run%s", parsed.outside and " (--outside)" or "")
  end
  for _, option in ipairs(record.options) do
    if is_given(parsed[option.name]) and not from_outside[option.name] then
      main.misuse("%s is not for samples that are taken from outside (%s)",
                  options.flags {option}, flag)
    end
  end
end

local function check_program (parsed)
  if not parsed.script then
    main.misuse("missing argument 'script' (see tracegrip record --help)")
  end
  for _, name in ipairs {"stop", "native", "subprocesses"} do
    if parsed[name] and not parsed.outside then
      main.misuse("--%s is for samples that are taken from outside: --pid or "
                  .. "--outside", name)
    end
  end
end

-- Returns the program's exit status; as with 'record --', success without a
-- recording is none.
local function record_outside (parsed)
  if parsed.dashes then
    program.check(parsed.script)
  end
  local function launch ()
    return program.launch_untraced(parsed.script, parsed.arguments,
                                   parsed.dashes)
  end
  local how, status, recorded = spying.record_own(parsed, record.prepare,
                                                  launch)
  if how == "signal" then
    core.die(status)
  end
  return not recorded and status == 0 and 1 or status
end

function record.run (parsed)
  if parsed.pid or parsed.outside then
    check_outside(parsed)
  end
  if parsed.pid then
    return spying.record(parsed, record.prepare)
  end
  check_program(parsed)
  if parsed.outside then
    return record_outside(parsed)
  end
  local chosen, file = options_of(parsed), file_of(parsed)
  local plan = sending.plan(parsed)
  chosen.traceparent = sending.parent(parsed)
  if parsed.dashes then
    program.check(parsed.script, parsed.preload)
  elseif parsed.preload then
    preload.misused()
  end
  record.prepare(parsed.output, parsed.force)
  local run = plan and record_sent or parsed.dashes and record_command
              or record_script
  return run(parsed, chosen, file, plan)
end

return record
