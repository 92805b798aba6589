-- looking.lua - what a client asks of a program that stands still: its threads,
-- which are coroutines, their frames, the variables in these.
--
--   looking.handlers        command -> function (live, arguments, request), as
--                           session.lua has them; live: live.lua's back end
--
-- Numbers of threads are those of coroutines (inspect/coroutines.lua): the main
-- one is 1. While the program runs, the ones known last are told.

local core = require "tracegrip.core"
local problem = require "tracegrip.dap.problem"
local remote = require "tracegrip.dap.remote"
local wire = require "tracegrip.wire"
core.own()

local THREADS = 1024            -- that are told at most
local FRAMES = 1000             -- the same of a request's
local HIDDEN = 1 << 30          -- number of the thread that is none
local NAME = "^[%a_][%w_]*$"

local handlers = {}
local looking = {handlers = handlers}

---------------------------------------------------------------------------
-- Threads
---------------------------------------------------------------------------

local function thread_name (one)
  return string.format("%s (%s)", one.name, one.status)
end

-- Of more than can be told, the last says how many there are.
local function list_threads (live)
  local result = live.program:ask("Lua.coroutines", {most = THREADS})
  local list = {}
  for i, one in ipairs(result.coroutines) do
    list[i] = {id = one.id, name = thread_name(one)}
  end
  local hidden = result.total - #list
  if hidden > 0 then
    list[THREADS] = {id = HIDDEN, name = string.format(
      "… %d of %d coroutines are not shown", hidden + 1, result.total)}
  end
  return list
end

function handlers.threads (live)
  if live.stopped then
    live.threads = list_threads(live)
  end
  return {threads = wire.array(live.threads)}
end

---------------------------------------------------------------------------
-- Frames
---------------------------------------------------------------------------

local function text_of_script (live, id)
  return function ()
    local result = live.program:try("Debugger.getScriptSource",
                                    {scriptId = id})
    return result and result.scriptSource or "?"
  end
end

-- The Source and the line at which a Location is shown; it counts from 0.
function looking.position (live, place)
  return live.places:position(place.scriptId, place.lineNumber,
                              text_of_script(live, place.scriptId))
end

local function stack_frame (live, call, thread)
  local source, line = looking.position(live, call.location)
  local name = call.functionName
  return {
    id = live.references:frame {call = call, thread = thread},
    name = name ~= "" and name or source and "(anonymous function)" or "[C]",
    source = source,
    line = source and live.places:line(line) or 0,
    column = source and live.columns or 0,
    presentationHint = not source and "subtle" or nil
  }
end

function handlers.stackTrace (live, arguments, request)
  live:check_stopped()
  if arguments.threadId == HIDDEN then
    return {stackFrames = wire.array {}, totalFrames = 0}
  end
  local first, levels = arguments.startFrame or 0, arguments.levels or 0
  local result = live.program:ask("Lua.stack", {
    coroutine = arguments.threadId, first = math.max(first, 0),
    count = levels > 0 and math.min(levels, FRAMES) or FRAMES
  }, request)
  local list = wire.array {}
  for i, call in ipairs(result.callFrames) do
    list[i] = stack_frame(live, call, arguments.threadId)
  end
  return {stackFrames = list, totalFrames = result.total}
end

local scopes = {
  ["local"] = {name = "Locals", hint = "locals"},
  closure = {name = "Upvalues"}, global = {name = "Globals", expensive = true}
}

function handlers.scopes (live, arguments)
  local frame = live.references:get_frame(arguments.frameId)
  local list = wire.array {}
  for i, scope in ipairs(frame.call.scopeChain) do
    local known = scopes[scope.type]
    list[i] = {
      name = known.name, presentationHint = known.hint,
      expensive = known.expensive == true,
      variablesReference = live.references:variables {
        object = scope.object.objectId, frame = arguments.frameId,
        scope = scope.type
      }
    }
  end
  return {scopes = list}
end

---------------------------------------------------------------------------
-- Variables
---------------------------------------------------------------------------

-- What gives a variable of these in Lua; nil: nothing that is written does.
local function expression_of (of, row)
  if of.scope then
    return string.find(row.name, NAME) and row.name or nil
  elseif of.name and row.field then
    return of.name .. row.field
  end
end

local kinds = {["function"] = "method"}

local function hint_of (row)
  local kind = string.find(row.name, "^%[%[") and "virtual" or kinds[row.type]
  return kind and {kind = kind}
end

-- A variable, or what an expression gives: nil without 'of'.
function looking.variable (live, of, row)
  local expression = of and expression_of(of, row)
  return {
    name = row.name, value = row.text, type = row.type,
    evaluateName = expression, presentationHint = hint_of(row),
    indexedVariables = row.indexed, namedVariables = row.named,
    variablesReference = row.objectId and live.references:variables {
      object = row.objectId, frame = of and of.frame, name = expression
    } or 0
  }
end

function handlers.variables (live, arguments, request)
  live:check_stopped()
  local of = live.references:get_variables(arguments.variablesReference)
  local result = live.program:ask("Lua.variables", {
    objectId = of.object, filter = arguments.filter,
    first = math.max(arguments.start or 0, 0),
    count = math.max(arguments.count or 0, 0)
  }, request)
  local list = wire.array {}
  for i, row in ipairs(result.variables) do
    list[i] = looking.variable(live, of, row)
  end
  return {variables = list}
end

---------------------------------------------------------------------------
-- Errors
---------------------------------------------------------------------------

function handlers.exceptionInfo (live)
  local data = live.stopped and live.stopped.error
  if not data then
    problem.raise("the program does not stand still at an error")
  end
  local text = remote.text(data, true)
  return {
    exceptionId = remote.type(data), description = text,
    breakMode = data.uncaught and "unhandled" or "always",
    details = {message = text, typeName = remote.type(data),
               stackTrace = live:backtrace()}
  }
end

return looking
