-- evaluate.lua - code that a debugger wants run in the program.
--
--   evaluate.run(text, where)     -> true, value | false, error, traceback
--     where: frame    whose variables it sees; none: globals only
--            timeout  seconds of the processor; none: as long as it takes
--   evaluate.peek(text, frame)    -> true, value | false: what is no path of
--                                 names and constants, or calls a metamethod
--   evaluate.check(text)          nil, or why it does not compile, and whether
--                                 more of it would
--
-- It runs on a coroutine of its own, which has no hook and nothing of ours on
-- its stack. An expression gives its value, statements give none. Variables are
-- reached through the code's _ENV; a function that keeps it longer than the
-- program stands still finds upvalues and globals there.

local core = require "tracegrip.core"
local frames = require "tracegrip.inspect.frames"
core.own()

local create, resume, status = coroutine.create, coroutine.resume,
                               coroutine.status
local close, clock, sethook = coroutine.close, os.clock, debug.sethook
local traceback, getmetatable = debug.traceback, debug.getmetatable

local NAME = "=(evaluated)"
local STEP = 1000               -- instructions between two looks at the clock

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
  return statements, message:find(UNFINISHED) and message or problem
end

function evaluate.check (text)
  local chunk, message = compile(text)
  if chunk then
    return nil
  end
  return message, message:find(UNFINISHED) ~= nil
end

-- Names that the front end itself asks for are JavaScript's.
local function special (frame, name)
  if name == "globalThis" then
    return true, frame and frames.globals(frame) or _G
  elseif name == "this" then
    return true, frame and frames.this(frame) or (not frame and _G or nil)
  end
end

local function environment (frame)
  local globals = frame and frames.globals(frame) or _G
  return setmetatable({}, {
    __index = function (_, name)
      local found = frame and type(name) == "string"
                    and frames.find(frame, name)
      if found then
        return found.get()
      end
      local value = globals[name]
      if value == nil then
        return select(2, special(frame, name))
      end
      return value
    end,
    __newindex = function (_, name, value)
      local found = frame and type(name) == "string"
                    and frames.find(frame, name)
      if found then
        found.set(value)
      else
        globals[name] = value
      end
    end
  })
end

---------------------------------------------------------------------------
-- Running
---------------------------------------------------------------------------

-- Once the time is over each instruction fails: code that catches the first
-- error comes no further.
local function limit (co, timeout)
  local deadline = clock() + timeout
  local function look ()
    if clock() > deadline then
      sethook(co, look, "", 1)
      error("the evaluation took too long", 0)
    end
  end
  sethook(co, look, "", STEP)
end

function evaluate.run (text, where)
  local frame = where.frame
  local chunk, message = compile(text, environment(frame))
  if not chunk then
    return false, message, message
  end
  local co = create(chunk)
  if where.timeout then
    limit(co, where.timeout)
  end
  local arguments = frame and frames.varargs(frame) or {n = 0}
  local ok, value = resume(co, table.unpack(arguments, 1, arguments.n))
  if status(co) == "suspended" then
    close(co)
    return false, "a debugger's code cannot yield", "attempt to yield"
  elseif not ok then
    local shown = type(value) == "string" and value
                  or ("(error object is a %s value)"):format(type(value))
    return false, value, traceback(co, shown)
  end
  return true, value
end

---------------------------------------------------------------------------
-- Without side effects
---------------------------------------------------------------------------

local function field (value, key)
  if type(value) == "string" then
    return true, string[key]
  elseif type(value) ~= "table" then
    return false
  end
  local found = rawget(value, key)
  local meta = found == nil and getmetatable(value)
  if type(meta) == "table" and rawget(meta, "__index") ~= nil then
    local index = rawget(meta, "__index")
    if type(index) ~= "table" then
      return false
    end
    return field(index, key)
  end
  return true, found
end

local function root (name, frame)
  local found = frame and frames.find(frame, name)
  if found then
    return true, found.get()
  end
  local ok, value = field(frame and frames.globals(frame) or _G, name)
  if ok and value == nil then
    return true, select(2, special(frame, name))
  end
  return ok, value
end

local literals = {["true"] = true, ["false"] = false}

local function literal (text)
  if literals[text] ~= nil then
    return true, literals[text]
  elseif text == "nil" then
    return true, nil
  elseif tonumber(text) then
    return true, tonumber(text)
  end
  local quoted = text:match '^"([^"\\]*)"$' or text:match "^'([^'\\]*)'$"
  return quoted ~= nil, quoted
end

function evaluate.peek (text, frame)
  text = text:match "^%s*(.-)%s*$"
  local ok, value = literal(text)
  if ok then
    return true, value
  end
  local name, rest = text:match "^([%a_][%w_]*)(.*)$"
  if not name or not compile(text) then
    return false
  end
  ok, value = root(name, frame)
  while ok and rest ~= "" do
    local key, more = rest:match "^%.([%a_][%w_]*)(.*)$"
    if not key then
      local inner
      inner, more = rest:match "^%[([^%[%]]+)%](.*)$"
      local good
      good, key = literal(inner or "")
      if not inner or not good or key == nil then
        return false
      end
    end
    ok, value = field(value, key)
    rest = more
  end
  return ok, value
end

return evaluate
