-- boot.lua - a trace gets into a program before its first line.
--
-- The command line starts the program's interpreter with LUA_INIT_5_4 naming
-- this file and TRACEGRIP_BOOT saying what to do (see cli/program.lua). The
-- environment is put back first, the user's own LUA_INIT runs as it would
-- have, and then the trace starts. No global, no loaded module and no path
-- tells the program that this file was here.
--
-- Under a command that was given to "record --" another version of Lua may
-- come by: it runs the user's LUA_INIT and nothing else. So this file is
-- written in what all versions understand.

-- luacheck: read globals loadstring

local name = "TRACEGRIP_BOOT"
local text = os.getenv(name)
if not text then            -- somebody else has tidied the environment
  return
end
local plan = (loadstring or load)("return " .. text, "=" .. name)()

local FAILURE, USAGE = 1, 2

local function give_up (status, message)
  io.stderr:write("tracegrip: ", tostring(message), "\n")
  os.exit(status)
end

-- As lua.c does it.
local function run_init (variable, init)
  if init:sub(1, 1) == "@" then
    dofile(init:sub(2))
    return
  end
  local chunk, problem = (loadstring or load)(init, "=" .. variable)
  if not chunk then
    error(problem, 0)
  end
  chunk()
end

if _VERSION ~= "Lua 5.4" then
  if plan.init then
    run_init("LUA_INIT", plan.init)
  end
  return
end

local open, message = package.loadlib(plan.core, "luaopen_tracegrip_core")
if not open then
  give_up(FAILURE, message)
end
local core = open("tracegrip.core", plan.core)
core.own(true)

core.setenv(name, nil)
core.setenv("LUA_INIT_5_4", plan.init_5_4)
core.setenv("LUA_INIT", plan.init)

-- What is secret is not in the plan, which the environment shows.
if plan.call == "listen" then
  plan.options.token = os.getenv("TRACEGRIP_TOKEN")
  core.setenv("TRACEGRIP_TOKEN", nil)
end

-- A versioned variable hides the other.
if plan.init_5_4 then
  run_init("LUA_INIT_5_4", plan.init_5_4)
elseif plan.init then
  run_init("LUA_INIT", plan.init)
end

-- A recording tells of the process that it is of, which a command may have
-- started in any way.
if plan.call == "record" and type(arg) == "table" and arg[0] then
  plan.style.program = arg[0]
  plan.style.arguments = {table.unpack(arg)}
end

local ok, result, problem = pcall(core[plan.call], plan.options, plan.style)
if not ok then
  give_up(USAGE, result)
elseif not result then
  give_up(FAILURE, problem)
end

-- Ctrl-C ends the program before it has begun.
local function begin ()
  io.stderr:write("tracegrip: listening on ", result.address, "\n")
  while plan.style.wait and not core.waited(result, 0.2) do end
end

if plan.call == "listen" and not pcall(begin) then
  os.exit(128 + 2)
end
