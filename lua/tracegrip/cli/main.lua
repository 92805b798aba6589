-- main.lua - the command line: tracegrip COMMAND [options].
--
-- A command is a module tracegrip.cli.NAME, without hyphens, that returns a
-- table:
--   summary   one line for the list of commands
--   usage     what comes after "tracegrip NAME"
--   options   its option descriptions (see options.lua)
--   program   true if its operands are a program and its arguments, which may
--             look like options
--   dashes    true if they are one after "--" alone, and else are not
--   declare   function (parser): its operands
--   run       function (parsed) -> exit status; parsed.dashes tells whether
--             the operands came after "--"
-- To add one: that file, and its name in 'names' below.
--
-- Exit status: 0, 1 failure, 2 wrong usage; a program's own where one is run.
-- Wrong usage is one line on stderr.

local argparse = require "argparse"
local core = require "tracegrip.core"
local options = require "tracegrip.options"
core.own()

local main = {}

local names = {"run", "record", "info", "report", "diff-runs", "history",
               "tree", "log", "events", "export", "scrub", "view", "inspect",
               "serve", "attach", "top",
               "ps", "dump", "heap", "coverage", "dap"}

local FAILURE, USAGE = 1, 2

-- What a command raises to say, in one line, that the world said no.
local Failure = {__tostring = function (self) return self.message end}

function main.fail (...)
  error(setmetatable({message = string.format(...), status = FAILURE},
                     Failure))
end

-- What it raises about options that do not go together.
function main.misuse (...)
  error(setmetatable({message = string.format(...), status = USAGE}, Failure))
end

-- The library luv. Not loaded with a command's file, since help has to do
-- without: a rock of tracegrip does not bring it.
function main.luv ()
  core.occupy()
  local ok, uv = pcall(require, "luv")
  if not ok then
    main.fail("this command needs the library luv")
  end
  return uv
end

-- A message may repeat what it is about, which is anybody's text.
local function complain (status, ...)
  io.stderr:write("tracegrip: ", core.escaped(string.format(...)), "\n")
  return status
end

-- One line on standard error about something that the command can live with.
function main.note (...)
  complain(0, ...)
end

--- Refuses '-', where 'what' is written into a file alone.
function main.needs_file (path, what)
  if path == "-" then
    main.misuse("%s needs a file: -o - is none (./- is)", what)
  end
end

main.EPIPE = 32         -- Linux; a reader that went away knows that it did

--- Writes to standard output; false and why, if that cannot be.
function main.write (...)
  local ok, message, code = io.stdout:write(...)
  if ok then
    ok, message, code = io.stdout:flush()
  end
  return ok ~= nil or code == main.EPIPE, message
end

-- The same; the status.
local function answer (...)
  local ok, message = main.write(...)
  return ok and 0 or complain(FAILURE, "cannot write: %s", message)
end

local function known (name)
  for _, candidate in ipairs(names) do
    if candidate == name then
      return require("tracegrip.cli." .. name:gsub("%-", ""))
    end
  end
end

local function overview ()
  local lines = {
    "Usage: tracegrip COMMAND [options]", "",
    "Shows what a Lua program does: every call, its arguments and its results.",
    "", "Commands:"
  }
  for _, name in ipairs(names) do
    lines[#lines + 1] = ("   %-9s %s"):format(name, known(name).summary)
  end
  lines[#lines + 1] = ("   %-9s %s"):format("help", "Tells about a command.")
  lines[#lines + 1] = "\ntracegrip COMMAND --help tells what it takes; "
                      .. "tracegrip --version, the version.\n"
  return table.concat(lines, "\n")
end

local function parser_of (name, command)
  local parser = argparse("tracegrip " .. name)
    :description(command.description or command.summary)
    :usage("Usage: tracegrip " .. name .. " " .. command.usage)
    :help_max_width(79):help_description_margin(29):help_usage_margin(2)
  command.declare(parser)
  options.declare(parser, command.options)
  return parser
end

-- argparse would take a program's own options for ours: "--" stops it. Returns
-- the words for it, and whether that was there already.
local function protect (command, words)
  if not command.program then
    local there = false
    for _, word in ipairs(command.dashes and words or {}) do
      there = there or word == "--"
    end
    return options.settled(command.options, words, #words + 1), there
  end
  local i = options.program(command.options, words)
  local there = words[i] == "--"
  if not there then
    table.insert(words, i, "--")
  end
  return options.settled(command.options, words, i), there
end

local function misused (name, command, message)
  message = message:match("^[^\n]*")  -- and no guesses
  if message:find("^unknown option") then
    return complain(USAGE, "%s; known are %s --help", message,
                    options.flags(command.options))
  end
  return complain(USAGE, "%s (see tracegrip %s --help)", message, name)
end

local function execute (name, command, words)
  local settled, dashes = protect(command, words)
  local ok, parsed = parser_of(name, command):pparse(settled)
  if not ok then
    return misused(name, command, parsed)
  end
  parsed.dashes = dashes
  core.interruptible()
  local done, status = pcall(command.run, parsed)
  if done then
    return status or 0
  elseif getmetatable(status) == Failure then
    return complain(status.status, "%s", status)
  end
  error(status, 0)
end

local function help (name)
  if name == nil then
    return answer(overview())
  end
  local command = known(name)
  if not command then
    return complain(USAGE, "no command '%s' (see tracegrip help)", name)
  end
  return answer(parser_of(name, command):get_help(), "\n")
end

local function version ()
  local objection = core.objection()
  local single = require("tracegrip.cli.single").about()
  return answer("tracegrip ", core.version, " (", _VERSION, ")\nframes ",
                objection and "asked of the public API: " .. objection
                or "read from memory", "\n", single and single .. "\n" or "")
end

local function none ()
  io.stderr:write(overview())
  return USAGE
end

local special = {
  help = help, ["--help"] = function () return help() end,
  ["-h"] = function () return help() end, ["--version"] = version
}

-- 'words': the command line; returns the exit status.
function main.main (words)
  local name = words[1]
  if name == nil then
    return none()
  elseif special[name] then
    return special[name](words[2])
  end
  local command = known(name)
  if not command then
    return complain(USAGE, "no command '%s' (see tracegrip help)", name)
  end
  if words[2] == "--help" or words[2] == "-h" then
    return help(name)
  end
  return execute(name, command, table.move(words, 2, #words, 1, {}))
end

return main
