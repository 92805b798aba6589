-- program.lua - running the user's program with a trace in it.
--
-- This process becomes the same interpreter running the same script, just as
-- the user would have started it: exit status, messages, arg, standard input,
-- signals are Lua's own. The trace gets in by LUA_INIT_5_4 (or LUA_INIT_5_5),
-- which runs boot.lua; that puts the environment back before anything else. Or
-- it runs any command, and the trace gets into every Lua below that there is a
-- module for, which finds the same in its environment. Other versions of Lua do
-- not know these variables.

local core = require "tracegrip.core"
local literal = require "tracegrip.literal"
local main = require "tracegrip.cli.main"
local preload = require "tracegrip.cli.preload"
local single = require "tracegrip.cli.single"
local target = require "tracegrip.target"
local versions = require "tracegrip.cli.versions"
core.own()

local program = {}

-- LUA_INIT as the user set it; the launcher may have put it aside.
local function original (name, aside)
  return os.getenv(aside) or os.getenv(name)
end

local BOOT = "TRACEGRIP_BOOT"
local INIT = versions.variable("LUA_INIT", versions.own)
local ASIDE = versions.variable("TRACEGRIP_INIT", versions.own)

-- The plan of a "record --" or coverage that this command runs under; nil.
local function outer_plan ()
  local text = os.getenv(BOOT)
  local chunk = text and load("return " .. text, "=" .. BOOT, "t", {})
  return chunk and chunk()
end

-- What the user wants each version to run first.
local function user_inits ()
  local inits = {}
  for _, version in ipairs(versions.list) do
    local name = versions.variable("LUA_INIT", version)
    inits[name] = original(name, versions.variable("TRACEGRIP_INIT", version))
  end
  return inits
end

-- What boot.lua is told: what to load, what to run, how to put things back. A
-- command's programs belong to us, and to what we run under if that does
-- something else: one counts, the other records.
local function plan (call, options, style, stay)
  local outer = outer_plan()
  local cores = {}
  for _, version in ipairs(versions.installed()) do
    cores["Lua " .. version] = versions.core(version)
  end
  return literal {
    cores = cores, call = call, options = options, style = style, stay = stay,
    inits = outer and outer.inits or user_inits(),
    around = outer and (not stay or outer.call ~= call) and os.getenv(BOOT)
             or nil,
    counted = outer and outer.call == "cover" or nil,
    before = not stay and original(INIT, ASIDE) or nil
  }
end

-- The interpreter as the user called it: it is what its messages start with.
local function interpreter_name ()
  local first = 0
  while arg[first - 1] do
    first = first - 1
  end
  return first < 0 and arg[first] or "lua" .. versions.own
end

local function command_line (script, arguments)
  local words = {[0] = interpreter_name()}
  if script ~= "-" and script:sub(1, 1) == "-" then
    words[1] = "--"
  end
  words[#words + 1] = script
  return table.move(arguments, 1, #arguments, #words + 1, words)
end

-- The environment as it was before the launcher put things aside.
local function restored ()
  return {
    LUA_INIT = original("LUA_INIT", "TRACEGRIP_INIT") or false,
    [INIT] = original(INIT, ASIDE) or false,
    TRACEGRIP_INIT = false, [ASIDE] = false, TRACEGRIP_LIB = false
  }
end

-- 'stay': for a command, and all that it runs; 'hosts': also into hosts of Lua.
local function environment (call, options, style, stay, hosts)
  local env = restored()
  env.LD_PRELOAD = hosts and preload.variable() or nil
  local boot = assert(package.searchpath("tracegrip.boot", package.path))
  env[BOOT] = plan(call, options, style, stay)
  for _, version in ipairs(stay and versions.installed() or {versions.own}) do
    env[versions.variable("LUA_INIT", version)] = "@" .. target.absolute(boot)
  end
  return env
end

-- The environment in which a command's programs do that: names with their
-- values, false: without it.
function program.environment (call, options, style)
  return environment(call, options, style, true)
end

-- Whether a shell would find the command; fails if it would not. That it can be
-- run is only seen when it is. With 'hosts' a line tells if we cannot get in.
function program.check (command, hosts)
  single.refuse()
  local path = command:find("/", 1, true) and "" or os.getenv("PATH") or ""
  for directory in (path .. ":"):gmatch("([^:]*):") do
    local prefix = directory == "" and "" or directory .. "/"
    if core.filetype(prefix .. command) == "file" then
      return hosts and preload.check(command, prefix .. command)
    end
  end
  main.fail("cannot run %s: no such command", command)
end

-- Whether the interpreter will run the script; of a pipe nobody knows yet.
local function is_program (script)
  return core.filetype(script) == "other" or script == "-"
         or loadfile(script) ~= nil
end

-- Without a program there is nothing to look at: the interpreter says why, in
-- our place, and with its status.
function program.must_load (script, arguments)
  if not is_program(script) then
    local _, message = program.untraced(script, arguments)
    main.fail("cannot run the program: %s", message)
  end
end

-- Becomes the program. Returns only if that fails: nil, message.
--   call     the function of the C module that starts the trace, by name
--   options  its first argument, for tracegrip.start
--   style    its second
function program.become (script, arguments, call, options, style)
  return core.exec(core.interpreter(), command_line(script, arguments),
                   environment(call, options, style))
end

-- Runs the program as a child of this process, which core.ended tells the end
-- of: its number | nil, message. With 'stay' it is a command, as below.
function program.launch (script, arguments, call, options, style, stay, hosts)
  local words = command_line(script, arguments)
  local path = core.interpreter()
  if stay then
    arguments[0] = script
    words, path = arguments, script
  end
  return core.launch(path, words,
                     environment(call, options, style, stay, hosts))
end

-- Runs a script, or with 'command' any command, as if we had not been there:
-- its number, for who looks at it from outside; core.ended tells its end. nil,
-- message if it cannot be run.
function program.launch_untraced (script, arguments, command)
  local words, path = command_line(script, arguments), core.interpreter()
  if command then
    arguments[0] = script
    words, path = arguments, script
  end
  return core.launch(path, words, restored())
end

-- Becomes a command in which hosts of Lua are traced; the same.
function program.become_host (command, arguments, call, options, style)
  arguments[0] = command
  return core.exec(command, arguments,
                   environment(call, options, style, true, true))
end

-- Becomes the program as if we had not been there; the same.
function program.untraced (script, arguments)
  return core.exec(core.interpreter(), command_line(script, arguments),
                   restored())
end

-- Runs a command to its end, of which the trace knows nothing but that its Lua
-- heeds LUA_INIT_5_4 or LUA_INIT_5_5, or is in a host. Returns how it ended:
-- "exit" or "signal", number; nil, message if it cannot be run.
function program.execute (command, arguments, call, options, style, hosts)
  arguments[0] = command
  return core.spawn(command, arguments,
                    environment(call, options, style, true, hosts))
end

-- The same of a script, or with 'command' of any command; what Lua programs it
-- starts are traced as well, if they can load what we are.
function program.follow (script, arguments, call, options, command, hosts)
  if command then
    return program.execute(script, arguments, call, options, nil, hosts)
  end
  return core.spawn(core.interpreter(), command_line(script, arguments),
                    environment(call, options, nil, not single.is))
end

return program
