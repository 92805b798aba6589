-- boot.lua - a trace gets into a program before its first line.
--
-- The command line starts a program with LUA_INIT_5_4 (or LUA_INIT_5_5) naming
-- this file and TRACEGRIP_BOOT saying what to do (see cli/program.lua). The
-- user's own variable of that name, or else his LUA_INIT, runs as it would
-- have, and then the trace starts. No global, no loaded module and no path
-- tells the program that this file was here.
--
-- A script is started by itself: the environment is put back before anything
-- else, and what keeps it from being traced ends it. A command that was given
-- to "record --", and what coverage runs, may run any number of programs, which
-- may run others: there both variables stay for all of them, and a program that
-- cannot be recorded says so and runs without.

local name = "TRACEGRIP_BOOT"
local text = os.getenv(name)
if not text then            -- somebody else has tidied the environment
  return
end
local plan = load("return " .. text, "=" .. name)()

local FAILURE, USAGE = 1, 2
local variable = "LUA_INIT_" .. _VERSION:match("%d+%.%d+"):gsub("%.", "_")

-- A process of a command runs without.
local function do_without (call, message)
  io.stderr:write("tracegrip: this process is not "
                  .. (call == "cover" and "counted" or "recorded") .. ": "
                  .. message .. "\n")
end

local function give_up (status, message)
  if plan.stay then
    do_without(plan.call, message)
    return
  end
  io.stderr:write("tracegrip: " .. message .. "\n")
  os.exit(status)
end

local function core_of (path)
  local open, message = package.loadlib(path, "luaopen_tracegrip_core")
  if not open then
    return nil, message
  end
  local ok, core = pcall(open, "tracegrip.core", path)
  if not ok then
    return nil, core
  end
  core.own(true)
  return core
end

-- As lua.c does it.
local function run_init (called, init)
  if init:sub(1, 1) == "@" then
    dofile(init:sub(2))
    return
  end
  local chunk, message = load(init, "=" .. called)
  if not chunk then
    error(message, 0)
  end
  chunk()
end

-- The command of a "record --" may run a Lua for which it has no module.
local path = plan.cores[_VERSION]
local core, problem
if path then
  core, problem = core_of(path)
end
if problem then
  give_up(FAILURE, problem)
end

-- A versioned variable hides the other.
local function run_inits (versioned)
  local init = os.getenv "LUA_INIT"
  if versioned then
    run_init(variable, versioned)
  elseif init then
    run_init("LUA_INIT", init)
  end
end

-- Under "record --" this program's variable names this file as well, which is
-- to trace what the program starts; and this one too unless we record it. What
-- counts lines is in nobody's way.
local function run_alone ()
  local theirs = (plan.call ~= "record" or plan.counted) and plan.around or nil
  core.setenv(variable, plan.before)
  core.setenv(name, theirs)
  run_inits(theirs and plan.before or plan.inits[variable])
  core.setenv(name, plan.around)
end

-- What is secret is not in the plan, which the environment shows.
if plan.call == "listen" then
  plan.options.token = os.getenv("TRACEGRIP_TOKEN")
  if plan.style.debugger then
    plan.style.debugger.token = plan.options.token
  end
  core.setenv("TRACEGRIP_TOKEN", nil)
end

if plan.stay then
  run_inits(plan.inits[variable])
else
  run_alone()
end
if not core then
  return
end

-- A recording tells of the process that it is of, which a command may have
-- started in any way. Returns what is started; nil, status, message.
local function start (one)
  if one.call == "record" and type(arg) == "table" and arg[0] then
    one.style.program = arg[0]
    one.style.arguments = {table.unpack(arg)}
  end
  if one.call == "listen" and not one.options.title then
    one.options.title = type(arg) == "table" and arg[0] or "lua"
  end
  local ok, result, message = pcall(core[one.call], one.options, one.style)
  if not ok then
    return nil, USAGE, result
  end
  return result, FAILURE, message
end

-- Who starts programs to debug them (dap/book.lua) reads in a directory where
-- they are. Without it there is nobody who would let this one begin.
local told = plan.style and plan.style.tell
if told then
  local book = io.open(told)
  if not book then
    return
  end
  book:close()
end

local result, status, message = start(plan)
if not result then
  return give_up(status, message)
end

-- What a command runs may be of two that do different things.
if plan.stay and plan.around then
  local other = load("return " .. plan.around, "=" .. name)()
  local started, _, trouble = start(other)
  if not started then
    do_without(other.call, trouble)
  end
end

-- Debuggers have a socket of their own, which may be the only one.
local function open_to_debuggers ()
  if plan.options.inspect then
    return result
  elseif plan.style.debugger then
    local listening, refusal = core.listen(plan.style.debugger)
    return listening or give_up(FAILURE, refusal)
  end
end

-- What the program prints is seen when it is printed. False: there is nobody
-- any more. A process may become another program, which has another port.
local function enter (address)
  io.stdout:setvbuf "line"
  if plan.style.alone then
    core.setenv(variable, plan.inits[variable])
    core.setenv(name, nil)
  end
  local title = type(arg) == "table" and arg[0] or "lua"
  local page = io.open(string.format("%s/%d.%s", told, core.pid(),
                                     address:match "ws=%S-:(%d+)/"), "w")
  if not page then
    return false
  end
  page:write(string.format("%d %s %s\n", core.pid(), address,
                           (title:gsub("%c", " "))))
  page:close()
  return true
end

-- Ctrl-C ends the program before it has begun.
local function begin ()
  if not plan.options.inspect then
    io.stderr:write("tracegrip: listening on " .. result.address .. "\n")
  end
  local debugged = open_to_debuggers()
  local comes = not told or enter(debugged.address)
  if debugged and not told then
    io.stderr:write("tracegrip: to debug, open " .. debugged.address .. "\n")
  end
  while plan.style.wait and not core.waited(result, 0.2) do end
  while plan.style.breaks and comes
        and not core.debuggerWaited(debugged, 0.2) do end
end

if plan.call == "listen" and not pcall(begin) then
  os.exit(128 + 2)
end
