-- coverage.lua - tracegrip coverage: a program, and which of its lines have
-- run.

local core = require "tracegrip.core"
local main = require "tracegrip.cli.main"
local program = require "tracegrip.cli.program"
local target = require "tracegrip.target"
core.own()

local coverage = {
  summary = "Runs a program and counts the lines that run.",
  description = "Runs a Lua program and counts how often its functions are "
    .. "called and its lines reached, also in coroutines. At its end, however "
    .. "it ends but by a signal, the counts are written for lcov, genhtml and "
    .. "all that read their format. The exit status is the program's own.",
  usage = "[options] script.lua [arguments]",
  program = true,
  options = {
    {name = "output", flag = "-o", alias = "--output", metavar = "FILE",
     default = "coverage.info", group = "The counts",
     help = "Where to. A file that is there is replaced."},
    {name = "include", kind = "pattern", metavar = "PATTERN", list = true,
     group = "The counts",
     help = "Only files whose name a Lua pattern finds, as the program loads "
            .. "them: ./lib/a.lua."},
    {name = "exclude", kind = "pattern", metavar = "PATTERN", list = true,
     group = "The counts",
     help = "No file whose name a Lua pattern finds."},
  }
}

function coverage.declare (parser)
  parser:argument("script"):description(
    "The program; '-' is standard input.")
  parser:argument("arguments"):args("*"):description("The program's own.")
end

local DEFAULT = "coverage.info"

-- The place is tried out, for at the end it is too late.
local function check (path)
  local problem = target.problem(path)
  if problem then
    main.fail("cannot write the counts: %s", problem)
  end
  local existed = core.filetype(path)
  local file, message = io.open(path, "ab")
  if not file then
    main.fail("cannot write the counts: %s", message)
  end
  file:close()
  if not existed then
    os.remove(path)
  end
end

-- The program may change its directory, and Lua's path knows ours.
local function absolute (path)
  return (path:gsub("[^;]+", target.absolute))
end

function coverage.run (parsed)
  local output = parsed.output or DEFAULT
  check(output)     -- also that a relative one is somewhere
  local _, message = program.become(parsed.script, parsed.arguments, "cover", {
    path = absolute(package.path), cpath = absolute(package.cpath),
    text = program.literal {
      output = target.absolute(output), shown = output,
      directory = core.directory() or "/",
      include = parsed.include, exclude = parsed.exclude
    }
  })
  main.fail("cannot run the program: %s", message)
end

return coverage
