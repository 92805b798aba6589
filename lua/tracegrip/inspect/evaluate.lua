-- evaluate.lua - code that a debugger wants run in the program.
--
--   evaluate.run(text, where)     -> true, values | false, error, traceback
--     where: frame    whose variables it sees; none: globals only
--            client   for whom; it is ended when they go
--            fixed    it uses no extra arguments (...); nil: it may
--            timeout  seconds of the processor; none: as long as it takes
--   evaluate.compile(text)        -> function | nil, message; to be run often
--   evaluate.perform(f, where)    the same as run, of such a function
--   evaluate.check(text)          nil, or why it does not compile, and whether
--                                 more of it would
--
-- It runs on a coroutine of its own, with nothing of ours on its stack, and can
-- be ended at any instruction (csrc/inspect/evaluation.h). An expression gives
-- its values, statements give none. Variables are reached through the code's
-- _ENV; a function that keeps it longer than the program stands still finds
-- upvalues and globals there.

local core = require "tracegrip.core"
local frames = require "tracegrip.inspect.frames"
local names = require "tracegrip.inspect.names"
core.own()

local setupvalue = debug.setupvalue

local NAME = "=(evaluated)"

local evaluate = {}

---------------------------------------------------------------------------
-- Compiling
---------------------------------------------------------------------------

local UNFINISHED = "<eof>$"

-- nil, message: that of the form which comes further.
local function compile (text, env)
  local chunk, message = load("return " .. text, NAME, "t", env)
  if chunk then
    return chunk
  end
  local statements, problem = load(text, NAME, "t", env)
  return statements, string.find(message, UNFINISHED) and message or problem
end

function evaluate.check (text)
  local chunk, message = compile(text)
  if chunk then
    return nil
  end
  return message, string.find(message, UNFINISHED) ~= nil
end

-- One that the source has and the program has not here is an error of the code.
local function variable (frame, name)
  local found = frame and type(name) == "string" and names.find(frame, name)
  if found and found.missing then
    error(found.missing, 3)
  end
  return found
end

-- A metamethod of the globals' table is called in our place (a tail call): what
-- it says of its caller is of the code.
local function handler (globals, event)
  local meta = type(globals) == "table" and debug.getmetatable(globals)
  local f = type(meta) == "table" and rawget(meta, event)
  return type(f) == "function" and f or nil
end

local function global (globals, name, frame)
  local value
  if type(globals) == "table" then
    value = rawget(globals, name)
  end
  if value == nil then
    value = names.special(frame, name)
  end
  local f = value == nil and handler(globals, "__index")
  if f then
    return f(globals, name)
  elseif value == nil then
    return globals[name]
  end
  return value
end

local function set_global (globals, name, value)
  local f = handler(globals, "__newindex")
  if f and rawget(globals, name) == nil then
    return f(globals, name, value)
  end
  globals[name] = value
end

local function globals_of (frame)
  return frame and frames.globals(frame) or _G
end

local function environment (frame)
  return setmetatable({}, {
    __index = function (_, name)
      local found = variable(frame, name)
      if found then
        return found.get()
      end
      return global(globals_of(frame), name, frame)
    end,
    __newindex = function (_, name, value)
      local found = variable(frame, name)
      if found then
        return found.set(value)
      end
      return set_global(globals_of(frame), name, value)
    end
  })
end

---------------------------------------------------------------------------
-- Running
---------------------------------------------------------------------------

function evaluate.compile (text)
  return compile(text)
end

-- _ENV is the one upvalue that a chunk has. A frame that is the same one again
-- (frames.enter) has kept its own.
function evaluate.perform (chunk, where)
  local frame = where.frame
  local env = frame and frame.environment or environment(frame)
  if frame then
    frame.environment = env
  end
  setupvalue(chunk, 1, env)
  if where.fixed then
    return core.inspector.run(chunk, where.client, where.timeout)
  end
  local arguments = frame and frames.varargs(frame) or {n = 0}
  return core.inspector.run(chunk, where.client or 0, where.timeout,
                            table.unpack(arguments, 1, arguments.n))
end

function evaluate.run (text, where)
  local chunk, message = compile(text)
  if not chunk then
    return false, message, message
  end
  return evaluate.perform(chunk, where)
end

return evaluate
