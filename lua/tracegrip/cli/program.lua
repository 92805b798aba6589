-- program.lua - running the user's program with a trace in it.
--
-- This process becomes the same interpreter running the same script, just as
-- the user would have started it: exit status, messages, arg, standard input,
-- signals are Lua's own. The trace gets in by LUA_INIT_5_4, which runs
-- boot.lua; that puts the environment back before anything else. Or it runs any
-- command, and the trace gets into every Lua 5.4 below, which finds the same in
-- its environment. Other versions of Lua do not know this variable.

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

local BOOT = "TRACEGRIP_BOOT"

-- The plan of a "record --" that this command runs under; nil.
local function outer_plan ()
  local text = os.getenv(BOOT)
  local chunk = text and load("return " .. text, "=" .. BOOT, "t", {})
  return chunk and chunk()
end

local function found (module, path)
  return target.absolute(assert(package.searchpath(module, path)))
end

-- What boot.lua is told: what to load, what to run, how to put things back. A
-- command's programs belong to us and to no "record --" that we run under.
local function plan (call, options, style, stay)
  local outer = outer_plan()
  local init = original("LUA_INIT_5_4", "TRACEGRIP_INIT_5_4")
  return literal {
    core = found("tracegrip.core", package.cpath),
    call = call, options = options, style = style, stay = stay,
    init_5_4 = stay and outer and outer.init_5_4 or init,
    around = outer and not stay and os.getenv(BOOT) or nil
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

local function environment (call, options, style, stay)
  return {
    [BOOT] = plan(call, options, style, stay),
    LUA_INIT_5_4 = "@" .. found("tracegrip.boot", package.path),
    LUA_INIT = original("LUA_INIT", "TRACEGRIP_INIT") or false,
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

-- Becomes the program as if we had not been there; the same.
function program.untraced (script, arguments)
  return core.exec(core.interpreter(), command_line(script, arguments), {
    LUA_INIT = original("LUA_INIT", "TRACEGRIP_INIT") or false,
    LUA_INIT_5_4 = original("LUA_INIT_5_4", "TRACEGRIP_INIT_5_4") or false,
    TRACEGRIP_INIT = false, TRACEGRIP_INIT_5_4 = false, TRACEGRIP_LIB = false
  })
end

-- Runs a command to its end, of which the trace knows nothing but that its
-- Lua 5.4 heeds LUA_INIT_5_4. Returns how it ended: "exit" or "signal", number;
-- nil, message if it cannot be run.
function program.execute (command, arguments, call, options, style)
  arguments[0] = command
  return core.spawn(command, arguments,
                    environment(call, options, style, true))
end

return program
