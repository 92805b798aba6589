-- program.lua - running the user's program with a trace in it.
--
-- This process becomes the same interpreter running the same script, just as
-- the user would have started it: exit status, messages, arg, standard input,
-- signals are Lua's own. The trace gets in by LUA_INIT, which runs boot.lua;
-- boot.lua puts the environment back before anything else.

local core = require "tracegrip.core"
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
  return assert(package.searchpath(module, path))
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

-- Becomes the program. Returns only if that fails: nil, message.
--   call     the function of the C module that starts the trace, by name
--   options  its first argument, for tracegrip.start
--   style    its second
function program.become (script, arguments, call, options, style)
  return core.exec(core.interpreter(), command_line(script, arguments), {
    TRACEGRIP_BOOT = plan(call, options, style),
    LUA_INIT_5_4 = "@" .. found("tracegrip.boot", package.path),
    TRACEGRIP_INIT = false, TRACEGRIP_INIT_5_4 = false, TRACEGRIP_LIB = false
  })
end

return program
