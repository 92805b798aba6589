-- evaluating.lua - the domain Runtime of a recording, and code over what was
-- recorded.
--
--   evaluating.methods      name -> function (session, params): a result
--   evaluating.in_frame     the same of Debugger.evaluateOnCallFrame
--
-- Code is Lua, as conditions are (replay/code.lua): it reads what was recorded
-- and computes. What stands alone in it goes somewhere:
--
--   stepBack()              before the call that has just ended, or begun
--   stepBackIn()            the moment before
--   stepBackOut()           before this frame was called
--   reverseContinue()       the breakpoint or error before
--   moment(N)               the moment of that number
--   history(t)              nowhere: the console lists the calls that had the
--                           table t

local core = require "tracegrip.core"
local code = require "tracegrip.replay.code"
local expression = require "tracegrip.inspect.expression"
local fault = require "tracegrip.inspect.fault"
local frames = require "tracegrip.replay.frames"
local programs = require "tracegrip.inspect.values"
local tables = require "tracegrip.replay.tables"
local values = require "tracegrip.replay.values"
local walking = require "tracegrip.inspect.recorded.walking"
local wire = require "tracegrip.wire"
core.own()

local CONTEXT = 1
local PAUSE = "backtrace"

local methods = {}
local evaluating = {methods = methods}

---------------------------------------------------------------------------
-- Ways back
---------------------------------------------------------------------------

local ways = {stepBack = "backOver", stepBackIn = "backIn",
              stepBackOut = "backOut", reverseContinue = "back"}

-- Where a text leads; nil: nowhere.
local function way_of (text)
  local name, given = text:match "^%s*(%a+)%s*%(%s*(%d*)%s*%)%s*;?%s*$"
  if name == "moment" then
    return math.tointeger(tonumber(given))
  end
  return given == "" and ways[name] or nil
end

---------------------------------------------------------------------------
-- Results
---------------------------------------------------------------------------

local exceptions = 0

local function details (text, exception)
  exceptions = exceptions + 1
  return {exceptionId = exceptions, text = text, lineNumber = 0,
          columnNumber = 0, exception = exception,
          executionContextId = CONTEXT}
end

local function failed (class, message)
  local object = {type = "object", subtype = "error", className = class,
                  description = message}
  return {result = object, exceptionDetails = details("Uncaught", object)}
end

local function described (session, params, group, value)
  if params.returnByValue == true and type(value) == "table" then
    return {type = "object", value = programs.plain(value)}
  end
  local grip, pool = values.grip(value)
  return session.remote:describe(grip, pool, group,
                                 params.generatePreview == true)
end

-- Several values, as one that shows all of them. Each has its own pool.
local function several (session, params, group, results)
  if params.returnByValue == true then
    return {type = "object", value = programs.plain(results)}
  end
  local texts, list = {}, {class = "values", pool = {}, items = {}}
  for i = 1, results.n do
    local grip, pool = values.grip(results[i])
    texts[i] = values.text(grip, pool)
    list.items[i] = {name = tostring(i), grip = grip, pool = pool}
  end
  list.name = table.concat(texts, ", ")
  return session.remote:box(list, group)
end

local function shown (session, params, group, results)
  if results.n < 2 then
    return {result = described(session, params, group, results[1])}
  end
  return {result = several(session, params, group, results)}
end

---------------------------------------------------------------------------
-- Code
---------------------------------------------------------------------------

-- A name alone that was not recorded is no nil.
local function unknown_name (text, names)
  local name = text:match "^%s*([%a_][%w_]*)%s*$"
  return name and load("local " .. name) and not code.knows(names, name)
         and name
end

-- The calls that had a table; or what is wrong with it, for the console.
local function list_calls (session, text, names)
  local ok, results = code.run(text, names)
  if not ok then
    return results
  end
  local number, message = tables.identity(values.grip(results[1]))
  if number then
    walking.list(session, number)
  end
  return message
end

-- What stands alone in the console and is no code, to be called; nil: it is
-- code.
local function command_of (session, text, names)
  local way = way_of(text)
  local of = text:match "^%s*history%s*(%b())%s*;?%s*$"
  if way then
    return function () walking.on(session, way) end
  end
  return of and function () return list_calls(session, of, names) end
end

local SIDE_EFFECT = "EvalError: Possible side-effect in debug-evaluate"

local function evaluated (session, params, frame)
  walking.check_still(session)
  local text = expression.lua(fault.string(params, "expression"))
  local group = fault.string(params, "objectGroup", true) or frame and PAUSE
  frame = frame or {thread = session.walk:moment().running, index = 1,
                    tells = true}
  local names = frames.names(session.walk, frame.thread, frame.index,
                             frame.tells)
  local command = command_of(session, text, names)
  if command and params.throwOnSideEffect == true then
    return failed("EvalError", SIDE_EFFECT)
  elseif command then
    local message = command()
    return message and failed("Error", message)
           or {result = {type = "undefined"}}
  end
  local name = unknown_name(text, names)
  if name then
    return failed("ReferenceError", ("ReferenceError: %s was not recorded here")
                                    :format(name))
  end
  local ok, results = code.run(text, names)
  if not ok then
    return failed("Error", results)
  end
  return shown(session, params, group, results)
end

function methods.evaluate (session, params)
  return evaluated(session, params)
end

function evaluating.in_frame (session, params)
  return evaluated(session, params, session.pausing:frame(
    fault.string(params, "callFrameId")))
end

-- In V8's words, so that the console goes on to a next line.
function methods.compileScript (_, params)
  local message = code.check(expression.lua(fault.string(params,
                                                         "expression")))
  if not message then
    return {}
  end
  local text = "SyntaxError: " .. (message:find "<eof>$"
                                   and "Unexpected end of input" or message)
  return {exceptionDetails = details("Uncaught", {
    type = "object", subtype = "error", className = "SyntaxError",
    description = text
  })}
end

---------------------------------------------------------------------------
-- Objects
---------------------------------------------------------------------------

function methods.getProperties (session, params)
  if params.accessorPropertiesOnly == true then
    session.remote.objects.get(params.objectId)
    return {result = wire.array {}}
  end
  local list, internal = session.remote:properties(
    params.objectId, params.generatePreview == true)
  return {result = list, internalProperties = internal}
end

function methods.releaseObject (session, params)
  session.remote.objects.release(params.objectId)
  return {}
end

function methods.releaseObjectGroup (session, params)
  session.remote.objects.release_group(params.objectGroup)
  return {}
end

function methods.callFunctionOn ()
  fault.raise("Nothing can be changed or called in a recording")
end

function methods.queryObjects ()
  fault.raise("A recording does not know which objects there were")
end

---------------------------------------------------------------------------
-- The session
---------------------------------------------------------------------------

function methods.enable (session)
  session:send("Runtime.executionContextCreated", {context = {
    id = CONTEXT, origin = "", name = "recording",
    uniqueId = ("%d.1"):format(core.pid()), auxData = {isDefault = true}
  }})
  if not session.runtime then
    session.runtime = true
    session.console:introduce()
  end
  return {}
end

function methods.disable (session)
  session.runtime = false
  return {}
end

function methods.discardConsoleEntries (session)
  session.remote.objects.release_group(session.console.GROUP)
  return {}
end

-- Once: the walk is paused ever after, or searches.
function methods.runIfWaitingForDebugger (session)
  if not session.begun then
    session.begun = true
    walking.begin(session)
  end
  return {}
end

function methods.terminateExecution (session)
  walking.halt(session)
  return {}
end

function methods.getIsolateId ()
  return {id = ("lua-%d"):format(core.pid())}
end

function methods.getHeapUsage ()
  fault.raise("A recording has no heap")
end

function methods.globalLexicalScopeNames ()
  return {names = wire.array {}}
end

return evaluating
