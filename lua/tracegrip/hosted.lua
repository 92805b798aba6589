-- hosted.lua - a trace gets into a program that embeds Lua.
--
-- modules/preload.c runs this file in each Lua state of a host that the command
-- line has started with --preload, before the state's first chunk, with
--   version   the state's _VERSION
--   variable  function (name) -> a variable of the environment
--   parse     function (text) -> what a chunk of that text returns
--   attempt   Lua's pcall
--   open      function (path) -> the module tracegrip.core that is there
-- and without any global: a host opens what libraries it likes, and may have
-- changed them. What is raised here is told in a line, and the host goes on.
--
-- The plan is that of boot.lua, in the variables which all that the host runs
-- inherits.

local version, variable, parse, attempt, open = ...
local name = "TRACEGRIP_BOOT"
local plan = parse("return " .. variable(name))
local path = plan.cores[version]
if not path then
  return
end
local core = open(path)
core.own()

local undone = {cover = "counted", record = "recorded", log = "logged",
                listen = "open to clients"}

local function note (call, message)
  core.tell("tracegrip: this Lua state is not " .. undone[call] .. ": "
            .. message .. "\n")
end

-- A recording tells of the process that it is of.
local function describe (style)
  local words = core.commandline()
  style.program = words[0]
  style.arguments = words
end

-- Another state of the host, or another process, may have the port: then any
-- that is free. All states of a process are tabs of one server, so that clients
-- who know the first port find them too.
local function listen (options, style)
  local listening, message, code = core.listen(options, style)
  if not listening and code == "EADDRINUSE" and not options.path then
    options.port = 0
    listening, message = core.listen(options, style)
  end
  return listening, message
end

-- A debugger has a socket of its own, which may be the only one.
local function serve (one, listening)
  local debugged = one.options.inspect and listening
  if not debugged then
    core.tell("tracegrip: listening on " .. listening.address .. "\n")
  end
  if one.style.debugger then
    local message
    one.style.debugger.token = one.options.token
    debugged, message = listen(one.style.debugger)
    if not debugged then
      return note("listen", message)
    end
  end
  if debugged then
    core.tell("tracegrip: to debug, open " .. debugged.address .. "\n")
  end
  while one.style.wait and not core.waited(listening, 0.2) do end
  while one.style.breaks and not core.debuggerWaited(debugged, 0.2) do end
end

local function start (one)
  if one.call == "record" then
    describe(one.style)
  elseif one.call == "listen" then
    one.options.token = variable "TRACEGRIP_TOKEN"
  end
  local begin = one.call == "listen" and listen or core[one.call]
  local ok, result, message = attempt(begin, one.options, one.style)
  if not ok or not result then
    note(one.call, ok and message or result)
  elseif one.call == "listen" then
    serve(one, result)
  end
end

start(plan)
if plan.around then       -- we run under another command of ours
  start(parse("return " .. plan.around))
end
