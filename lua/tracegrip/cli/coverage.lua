-- coverage.lua - tracegrip coverage: a program, or a command, and which lines
-- of all its Lua processes have run.
--
-- The program is a child of this process, and each process counts in a file of
-- its own (csrc/counts/ledger.h): when the program has ended, in whatever
-- way, these are read here, and written as one.

local core = require "tracegrip.core"
local counts = require "tracegrip.coverage.counts"
local formats = require "tracegrip.coverage.formats"
local main = require "tracegrip.cli.main"
local outputs = require "tracegrip.coverage.outputs"
local paths = require "tracegrip.coverage.paths"
local preload = require "tracegrip.cli.preload"
local program = require "tracegrip.cli.program"
local report = require "tracegrip.coverage.report"
local versions = require "tracegrip.cli.versions"
core.own()

local coverage = {
  summary = "Runs a program and counts the lines that run.",
  description = "Runs a Lua program and counts how often its functions are "
    .. "called and its lines reached, also in coroutines, forked children and "
    .. "other Lua programs that it starts. When it has ended, in whatever way, "
    .. "the counts of all are written as one, for lcov, Cobertura or a "
    .. "browser. The exit status is the program's own, or 1 if nothing was "
    .. "counted, or less than --fail-under. After '--' comes a command that "
    .. "runs Lua in some way: busted, make, a shell script.",
  usage = "[options] script.lua [arguments]\n"
    .. "       tracegrip coverage [options] [--preload] -- command [arguments]",
  program = true,
  options = {
    {name = "output", flag = "-o", alias = "--output", metavar = "FILE",
     list = true, default = "coverage.info", group = "The counts",
     help = "Where to. A file that is there is replaced. May be given more "
            .. "than once, for several formats."},
    {name = "format", kind = "text", metavar = "FORMAT", group = "The counts",
     choices = formats.names, default = "by the file's name: .xml cobertura, "
     .. ".html html, others lcov", help = "lcov, cobertura or html."},
    {name = "include", kind = "pattern", metavar = "PATTERN", list = true,
     group = "Which files",
     help = "Only files whose name a Lua pattern finds, as the program loads "
            .. "them (./lib/a.lua) or as seen from here (lib/a.lua). Files "
            .. "beside these that are never loaded are listed too."},
    {name = "exclude", kind = "pattern", metavar = "PATTERN", list = true,
     group = "Which files",
     help = "No file whose name a Lua pattern finds."},
    {name = "untested", metavar = "PATH", list = true, group = "Which files",
     help = "List this file, or all *.lua in this folder and below, though "
            .. "nobody loads them; --include and --exclude hold for them."},
    {name = "loaded", flag = "--loaded", value = true, group = "Which files",
     help = "No files beside those that are loaded."},
    {name = "failUnder", kind = "percent", metavar = "PERCENT",
     group = "The result",
     help = "Exit with status 1 if less of the lines was reached."},
    {name = "brief", flag = "--brief", value = true, group = "The result",
     help = "Tell the sum only, and not of each file."},
    preload.option,
  }
}

function coverage.declare (parser)
  parser:argument("script"):description(
    "The program, or the command; '-' is standard input.")
  parser:argument("arguments"):args("*"):description("The program's own.")
end

---------------------------------------------------------------------------
-- Where to, and of what
---------------------------------------------------------------------------

local function outputs_of (parsed)
  local names = parsed.output
  if #names == 0 then
    names = {formats.default(parsed.format or "lcov")}
  end
  for _, name in ipairs(names) do
    main.needs_file(name, "coverage")
  end
  local list, message = outputs.of(names, parsed.format)
  return list or main.fail("%s", message)
end

local function untested_of (parsed, directory)
  local list = {}
  for i, path in ipairs(parsed.untested) do
    if not core.filetype(path) then
      main.fail("--untested %s: no such file or folder", path)
    end
    list[i] = paths.absolute(path, directory)
  end
  return list
end

-- What no counts at all mean, and what is to be done.
local function nothing (parsed)
  if not parsed.dashes then
    return "the program ran no code of a file"
  end
  local heeding = parsed.preload and preload.heeding() or versions.heeding()
  return "the command ran no " .. heeding
         .. ", or no code of a file (lua -E heeds nothing)"
end

local function plan_of (parsed)
  local directory = core.directory() or "/"
  return {
    outputs = outputs_of(parsed), directory = directory,
    include = parsed.include, exclude = parsed.exclude,
    untested = untested_of(parsed, directory),
    beside = #parsed.include > 0 and not parsed.loaded,
    failUnder = parsed.failUnder, files = not parsed.brief,
    width = core.columns(2), nothing = nothing(parsed)
  }
end

---------------------------------------------------------------------------
-- The command
---------------------------------------------------------------------------

-- How the program has ended, and what was counted.
local function execute (parsed)
  local folder, message = counts.folder()
  if not folder then
    main.fail("cannot keep counts: %s", message)
  end
  local how, status = program.follow(parsed.script, parsed.arguments, "cover",
                                     {directory = folder}, parsed.dashes,
                                     parsed.preload)
  local counted = how and counts.take(folder)
  counts.remove(folder)
  if not how then
    main.fail("cannot run the program: %s", status)
  end
  return how, status, counted
end

-- We end as the program has ended, with its status or by its signal; but what
-- was asked for and is not there is no success.
function coverage.run (parsed)
  local plan = plan_of(parsed)
  if parsed.dashes then
    program.check(parsed.script, parsed.preload)
  elseif parsed.preload then
    preload.misused()
  else
    program.must_load(parsed.script, parsed.arguments)
  end
  local how, status, counted = execute(parsed)
  local ok, message = report.make(counted, plan)
  if not ok then
    main.note("%s", message)
  end
  if how == "signal" then
    core.die(status)
  end
  return not ok and status == 0 and 1 or status
end

return coverage
