-- program.lua - running the user's program with a trace in it.
--
-- This process becomes the same interpreter running the same script, just as
-- the user would have started it: exit status, messages, arg, standard input,
-- signals are Lua's own. The trace gets in by LUA_INIT, which runs boot.lua;
-- boot.lua puts the environment back before anything else. Or it becomes any
-- command, and the trace gets into the Lua 5.4 that this runs.

local core = require "tracegrip.core"
local main = require "tracegrip.cli.main"
local target = require "tracegrip.target"
core.own()

local program = {}

local function literal (value)
  if type(value) ~= "table" then
    return ("%q"):format(value)
  end
  local fields = {}
  for k, v in pairs(value) do
    fields[#fields + 1] = ("[%s]=%s"):format(literal(k), literal(v))
  end
  return "{" .. table.concat(fields, ",") .. "}"
end

-- LUA_INIT as the user set it; the launcher may have put it aside.
local function original (name, aside)
  return os.getenv(aside) or os.getenv(name)
end

local function found (module, path)
  return target.absolute(assert(package.searchpath(module, path)))
end

-- What boot.lua is told: what to load, what to run, how to put things back.
local function plan (call, options, style)
  return literal {
    core = found("tracegrip.core", package.cpath),
    call = call, options = options, style = style,
    init = original("LUA_INIT", "TRACEGRIP_INIT"),
    init_5_4 = original("LUA_INIT_5_4", "TRACEGRIP_INIT_5_4")
  }
end

-- The interpreter as the user called it: it is what its messages start with.
local function interpreter_name ()
  local first = 0
  while arg[first - 1] do
    first = first - 1
  end
  return first < 0 and arg[first] or "lua5.4"
end

local function command_line (script, arguments)
  local words = {[0] = interpreter_name()}
  if script ~= "-" and script:sub(1, 1) == "-" then
    words[1] = "--"
  end
  words[#words + 1] = script
  return table.move(arguments, 1, #arguments, #words + 1, words)
end

local function environment (call, options, style)
  return {
    TRACEGRIP_BOOT = plan(call, options, style),
    LUA_INIT_5_4 = "@" .. found("tracegrip.boot", package.path),
    TRACEGRIP_INIT = false, TRACEGRIP_INIT_5_4 = false, TRACEGRIP_LIB = false
  }
end

-- Whether a shell would find the command; fails if it would not. That it can be
-- run is only seen when it is.
function program.check (command)
  local path = command:find("/", 1, true) and "" or os.getenv("PATH") or ""
  for directory in (path .. ":"):gmatch("([^:]*):") do
    local prefix = directory == "" and "" or directory .. "/"
    if core.filetype(prefix .. command) == "file" then
      return
    end
  end
  main.fail("cannot run %s: no such command", command)
end

-- Becomes the program. Returns only if that fails: nil, message.
--   call     the function of the C module that starts the trace, by name
--   options  its first argument, for tracegrip.start
--   style    its second
function program.become (script, arguments, call, options, style)
  return core.exec(core.interpreter(), command_line(script, arguments),
                   environment(call, options, style))
end

-- The same for a command, of which the trace knows nothing but that it heeds
-- LUA_INIT. A host of Lua may know the plain variable only; boot.lua sees to it
-- that other versions, which do too, are left alone.
function program.execute (command, arguments, call, options, style)
  local variables = environment(call, options, style)
  variables.LUA_INIT = variables.LUA_INIT_5_4
  arguments[0] = command
  return core.exec(command, arguments, variables)
end

return program
