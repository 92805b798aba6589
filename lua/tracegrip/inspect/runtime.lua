-- runtime.lua - the domain Runtime: values and code, whether the program stands
-- still or not.
--
--   runtime.methods           name -> function (session, params): a result
--   runtime.evaluated(session, params, frame)
--                             what both domains answer to code
--   runtime.uncaught(co, value, level)
--                             an error that ends the program, its frames from
--                             that level on
--   runtime.released          whether a debugger has said that the program may
--                             begin
--   runtime.stops             whether it is to stop at its first line then
--
-- session is a connection (agent.lua): send(method, params), and what it has
-- switched on.

local core = require "tracegrip.core"
local box = require "tracegrip.inspect.box"
local console = require "tracegrip.inspect.console"
local evaluate = require "tracegrip.inspect.evaluate"
local expression = require "tracegrip.inspect.expression"
local fault = require "tracegrip.inspect.fault"
local fields = require "tracegrip.inspect.fields"
local heap = require "tracegrip.inspect.heap"
local members = require "tracegrip.inspect.members"
local objects = require "tracegrip.inspect.objects"
local peek = require "tracegrip.inspect.peek"
local sessions = require "tracegrip.inspect.sessions"
local stacktrace = require "tracegrip.inspect.stacktrace"
local values = require "tracegrip.inspect.values"
local wire = require "tracegrip.wire"
local words = require "tracegrip.inspect.words"
core.own()

local CONTEXT = 1
local SEEN_LINES = "^%(evaluated%):(%d+):"

local methods = {}
local runtime = {methods = methods, released = false, stops = true}

local exceptions = 0

---------------------------------------------------------------------------
-- Beginning
---------------------------------------------------------------------------

function methods.enable (session)
  session:send("Runtime.executionContextCreated", {context = {
    id = CONTEXT, origin = "", name = _VERSION,
    uniqueId = string.format("%d.1", core.pid()), auxData = {isDefault = true}
  }})
  if not session.runtime then
    console.replay(session)
    session.runtime = true
  end
  return {}
end

function methods.discardConsoleEntries ()
  console.clear()
  return {}
end

function methods.disable (session)
  console.leave(session)
  return {}
end

function methods.runIfWaitingForDebugger (_, params)
  runtime.released = true
  runtime.stops = params.stop ~= false
  return {}
end

-- Its arrival is what ends the code that runs (csrc/inspect/evaluation.h): by
-- now that is over.
function methods.terminateExecution ()
  return {}
end

function methods.getIsolateId ()
  return {id = string.format("lua-%d", core.pid())}
end

function methods.getHeapUsage ()
  local bytes = math.floor(collectgarbage "count" * 1024)
  return {usedSize = bytes, totalSize = bytes, embedderHeapUsedSize = 0,
          backingStorageSize = 0}
end

function methods.globalLexicalScopeNames ()
  return {names = wire.array {}}
end

---------------------------------------------------------------------------
-- Code
---------------------------------------------------------------------------

local function details (text, line, exception)
  exceptions = exceptions + 1
  return {exceptionId = exceptions, text = text, lineNumber = line,
          columnNumber = 0, exception = exception,
          executionContextId = CONTEXT}
end

-- An error as the front end shows one: what it says, then where from. One that
-- has fields is an object that can be opened.
local function error_object (value, trace, group)
  local object = values.describe(value, group, true)
  if type(value) == "table" or type(value) == "userdata" then
    return object
  elseif object.type == "string" or not object.objectId then
    object = {type = "object", objectId = objects.keep(value, group)}
  end
  object.subtype, object.className = "error", "Error"
  object.description = trace
  return object
end

local function thrown (group, value, trace)
  local object = error_object(value, words.value(trace), group)
  local line = math.tointeger(tonumber(string.match(trace, SEEN_LINES))) or 1
  local text = object.subtype == "error" and "Uncaught"
               or "Uncaught " .. words.value(trace)
  return {result = object, exceptionDetails = details(text, line - 1, object)}
end

local FRAMES = 200              -- of an error's stack, as in V8

function runtime.uncaught (co, value)
  local stack = stacktrace.describe(stacktrace.capture(co, FRAMES))
  local innermost = stack[1] or {}
  values.fresh()
  sessions.each("runtime", function (session)
    local object = error_object(value, words.value(value), "console")
    local it = details("Uncaught", innermost.lineNumber or 0, object)
    it.scriptId, it.url = innermost.scriptId, innermost.url
    it.stackTrace = {callFrames = stack}
    session:send("Runtime.exceptionThrown", {
      timestamp = core.inspector.now(), exceptionDetails = it
    })
  end)
end

local function refused ()
  local object = {type = "object", subtype = "error", className = "EvalError",
                  description = "EvalError: Possible side-effect in debug-"
                                .. "evaluate"}
  return {result = object, exceptionDetails = details("Uncaught", 0, object)}
end

local function answer (value, params, group)
  if params.returnByValue == true and type(value) == "table" then
    return {result = {type = "object", value = values.plain(value)}}
  end
  return {result = values.describe(value, group,
                                   params.generatePreview == true)}
end

-- What code gives: its value, or several values as a list of them; else what
-- 'failed' makes of the error.
local function shown (params, group, failed, ok, ...)
  if not ok then
    return failed(group, ...)
  elseif select("#", ...) < 2 then
    return answer((...), params, group)
  elseif params.returnByValue == true then
    return answer({...}, params, group)
  end
  return answer(values.several(...), params, group)
end

function runtime.evaluated (session, params, frame)
  local text = expression.lua(fault.string(params, "expression"))
  local group = fault.string(params, "objectGroup", true)
                or frame and objects.PAUSE
  if params.throwOnSideEffect == true then
    return shown(params, group, refused, peek.values(text, frame))
  end
  local timeout = tonumber(params.timeout)
  return shown(params, group, thrown, evaluate.run(text, {
    frame = frame, client = session.client,
    timeout = timeout and timeout / 1000
  }))
end

function methods.evaluate (session, params)
  return runtime.evaluated(session, params, nil)
end

-- An empty answer says that it compiles; so that the console goes on to a next
-- line it has to be told, in V8's words, that something is missing.
function methods.compileScript (_, params)
  local code = expression.lua(fault.string(params, "expression"))
  local message, more = evaluate.check(code)
  if not message then
    return {}
  end
  local text = "SyntaxError: " .. (more and "Unexpected end of input"
                                        or message)
  return {exceptionDetails = details("Uncaught", 0, {
    type = "object", subtype = "error", className = "SyntaxError",
    description = text
  })}
end

---------------------------------------------------------------------------
-- Objects
---------------------------------------------------------------------------

local function descriptor (one, group, preview, own)
  return {name = one.name, value = values.describe(one.value, group, preview),
          writable = true, configurable = true, enumerable = true,
          isOwn = own}
end

-- The front end asks twice: there are no accessors, so the first answer is
-- empty.
function methods.getProperties (_, params)
  local value, group = objects.get(fault.string(params, "objectId"))
  if params.accessorPropertiesOnly == true then
    return {result = wire.array {}}
  end
  local list = {}
  local function add (properties, own)
    for _, one in ipairs(properties) do
      if params.nonIndexedPropertiesOnly ~= true
         or math.type(one.key) ~= "integer" then
        list[#list + 1] = descriptor(one, group,
                                     params.generatePreview == true, own)
      end
    end
  end
  add(values.properties(value), true)
  if params.ownProperties ~= true then
    add(values.inherited(value), false)
  end
  local internal = wire.array(values.internals(value, group))
  return {result = wire.array(list), internalProperties = internal}
end

-- Objects whose metatable that is, or has it for what they inherit.
function methods.queryObjects (_, params)
  local prototype = objects.get(fault.string(params, "prototypeObjectId"))
  if type(prototype) ~= "table" then
    fault.raise("Prototype should be instance of Object")
  end
  local list = heap.instances(prototype)
  return {objects = values.describe(list, fault.string(params, "objectGroup",
                                                       true), false)}
end

function methods.releaseObject (_, params)
  objects.release(fault.string(params, "objectId"))
  return {}
end

function methods.releaseObjectGroup (_, params)
  objects.release_group(fault.string(params, "objectGroup"))
  return {}
end

local function change (object, name, value)
  if box.is(object) then
    return object.set and object.set(name, value)
  elseif type(object) ~= "table" then
    return false
  end
  rawset(object, fields.key(object, name), value)
  return true
end

-- The front end sends JavaScript. These two pieces of it are how it sets and
-- deletes a property.
local known_functions = {
  ["function(a,b){this[a]=b;}"] = function (object, name, value)
    return change(object, name, value), nil
  end,
  ["function(a){deletethis[a];return!(ainthis);}"] = function (object, name)
    return change(object, name, nil), true
  end
}

-- The others are what VS Code completes names by.
local function complete (params)
  local object = objects.get(fault.string(params, "objectId"))
  local begin = values.argument((params.arguments or {})[2] or {})
  return {result = {type = "object", value = members.answer(
    object, type(begin) == "string" and begin or "")}}
end

function methods.callFunctionOn (_, params)
  local code = string.gsub(fault.string(params, "functionDeclaration"), "%s+",
                           "")
  if members.asked(code) then
    return complete(params)
  end
  local known = known_functions[code]
  if not known then
    fault.raise("Only JavaScript that sets or deletes a property is known "
                .. "here")
  end
  local object = objects.get(fault.string(params, "objectId"))
  local arguments = fault.object(params, "arguments")
  local name = values.argument(arguments[1] or {})
  if type(name) ~= "string" and math.type(name) ~= "integer" then
    fault.misuse("Invalid parameters: arguments: a property's name expected")
  end
  local done, result = known(object, words.value(name),
                             values.argument(arguments[2] or {}))
  if not done then
    fault.raise("There is nothing of that name that could be changed")
  end
  return {result = values.describe(result)}
end

return runtime
