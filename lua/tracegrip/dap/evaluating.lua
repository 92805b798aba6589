-- evaluating.lua - code of the client's that the program runs: what is typed,
-- watched or pointed at, new values of variables, completions.
--
--   evaluating.handlers     command -> function (live, arguments, request), as
--                           session.lua has them; live: live.lua's back end
--
-- Where the program stands still, code sees the variables of a frame; where it
-- runs, globals, at the next safe point.

local core = require "tracegrip.core"
local looking = require "tracegrip.dap.looking"
local problem = require "tracegrip.dap.problem"
local remote = require "tracegrip.dap.remote"
local wire = require "tracegrip.wire"
core.own()

local GROUP = "dap"             -- of objects that outlive a pause
local COMPLETIONS = 1000

local handlers = {}
local evaluating = {handlers = handlers}

---------------------------------------------------------------------------
-- Running code
---------------------------------------------------------------------------

-- Code that is cancelled is ended where it is.
local function ask (live, method, params, request)
  local ok, result = pcall(live.program.ask, live.program, method, params,
                           request)
  if ok then
    return result
  elseif request and request.cancelled then
    live.program:post "Runtime.terminateExecution"
  end
  error(result, 0)
end

-- What an expression gives, as a RemoteObject; raises a problem with the error.
-- pure: it must change nothing, or fails.
local function run (live, expression, number, pure, request)
  local params = {expression = expression, throwOnSideEffect = pure or nil}
  local method = "Runtime.evaluate"
  if number and live.stopped then
    method = "Debugger.evaluateOnCallFrame"
    params.callFrameId = live.references:get_frame(number).call.callFrameId
  else
    params.objectGroup = GROUP
  end
  local result = ask(live, method, params, request)
  if result.exceptionDetails then
    problem.raise("%s", remote.error(result.exceptionDetails))
  end
  return result.result
end

-- A row as Lua.variables has them.
local function row_of (live, object, full)
  if object.objectId then
    return live.program:ask("Lua.describe", {objectId = object.objectId,
                                             full = full or nil}).variable
  end
  return {name = "", text = remote.text(object, full),
          type = remote.type(object)}
end

-- As the responses of several requests have it.
local function answer (live, object, frame, expression, full)
  local row = row_of(live, object, full)
  local one = looking.variable(live, nil, row)
  if one.variablesReference > 0 then
    local of = live.references:get_variables(one.variablesReference)
    of.frame, of.name = frame, expression
  end
  return {result = one.value, value = one.value, type = one.type,
          variablesReference = one.variablesReference,
          namedVariables = one.namedVariables,
          indexedVariables = one.indexedVariables}
end

local function without (body, field)
  body[field] = nil
  return body
end

-- What can be written behind: "a.b", "t[1]"; a call would be done again.
local function is_path (text)
  return string.find(text, "^[%a_][%w_.]*$") ~= nil
         or string.find(text, "^[%a_][%w_.]*%[[%w\"]+%]$") ~= nil
end

function handlers.evaluate (live, arguments, request)
  local text, context = arguments.expression, arguments.context
  local object = run(live, text, arguments.frameId, context == "hover",
                     request)
  return without(answer(live, object, arguments.frameId,
                        is_path(text) and text or nil,
                        context == "clipboard"), "value")
end

---------------------------------------------------------------------------
-- New values
---------------------------------------------------------------------------

-- What sets a field or a variable, as the protocol of JavaScript has it.
local SET = "function(a, b) { this[a] = b; }"

function handlers.setVariable (live, arguments, request)
  live:check_stopped()
  local of = live.references:get_variables(arguments.variablesReference)
  local object = run(live, arguments.value, of.frame, false, request)
  ask(live, "Runtime.callFunctionOn", {
    objectId = of.object, functionDeclaration = SET,
    arguments = wire.array {{value = arguments.name}, remote.argument(object)}
  }, request)
  return without(answer(live, object, of.frame), "result")
end

function handlers.setExpression (live, arguments, request)
  run(live, string.format("%s = %s", arguments.expression, arguments.value),
      arguments.frameId, false, request)
  local object = run(live, arguments.expression, arguments.frameId, false,
                     request)
  return without(answer(live, object, arguments.frameId,
                        arguments.expression), "result")
end

---------------------------------------------------------------------------
-- Completions
---------------------------------------------------------------------------

local keywords = {}
for word in string.gmatch([[and break do else elseif end false for function
    goto if in local nil not or repeat return then true until while]],
    "%l+") do
  keywords[#keywords + 1] = {name = word, type = "keyword"}
end

-- The line up to the cursor, which is behind character 'column'.
local function before_cursor (arguments, from)
  local number = arguments.line and arguments.line - from + 1 or 1
  local line, n = "", 0
  for one in string.gmatch(arguments.text .. "\n", "([^\n]*)\n") do
    n = n + 1
    if n == number then
      line = one
    end
  end
  local column = math.max(arguments.column - from, 0)
  local stop = utf8.len(line) and utf8.offset(line, column + 1)
  return string.sub(line, 1, (stop or #line + 1) - 1)
end

-- What stands before the name that has begun: "a.b:c" is "a.b", ":", "c".
local function split (text)
  local path, mark, begun = string.match(text,
                                         "([%a_][%w_.%[%]\"]*)([.:])([%w_]*)$")
  if path then
    return path, mark, begun
  end
  return nil, nil, string.match(text, "[%w_]*$")
end

local types = {["function"] = "function", keyword = "keyword",
               table = "module"}

local function add (targets, seen, row, mark, begun)
  local name = row.name
  if string.find(name, "^[%a_][%w_]*$") and not seen[name]
     and string.sub(name, 1, #begun) == begun
     and (mark ~= ":" or row.type == "function")
     and #targets < COMPLETIONS then
    seen[name] = true
    targets[#targets + 1] = {
      label = name, length = #begun,
      type = types[row.type] or mark and "field" or "variable"
    }
  end
end

local function rows_of (live, id, request)
  return live.program:ask("Lua.variables", {objectId = id}, request).variables
end

-- The id of what is to be opened next behind a table: that behind __index.
local function behind (live, rows, request)
  for _, name in ipairs {"[[Metatable]]", "__index"} do
    local found
    for _, row in ipairs(rows) do
      found = row.name == name and row.objectId or found
    end
    if not found then
      return nil
    elseif name == "__index" then
      return found
    end
    rows = rows_of(live, found, request)
  end
end

local LEVELS = 10               -- of classes

-- Methods are fields of tables behind __index, which are opened one after the
-- other: nothing of the program is called. A string's are those of "string".
local function fields_of (live, path, frame, request, use)
  local ok, object = pcall(run, live, path, frame, true, request)
  if ok and object.type == "string" then
    ok, object = pcall(run, live, "string", frame, true, request)
  end
  local id = ok and object.objectId
  for _ = 1, LEVELS do
    local rows = id and rows_of(live, id, request) or {}
    for _, row in ipairs(rows) do
      use(row)
    end
    id = behind(live, rows, request)
  end
end

local function variables_of (live, number, request, use)
  local frame = live.references:get_frame(number)
  for _, scope in ipairs(frame.call.scopeChain) do
    for _, row in ipairs(rows_of(live, scope.object.objectId, request)) do
      use(row)
    end
  end
end

function handlers.completions (live, arguments, request)
  local text = before_cursor(arguments, live.columns)
  local path, mark, begun = split(text)
  local targets, seen = wire.array {}, {}
  local function use (row)
    add(targets, seen, row, mark, begun)
  end
  if path then
    fields_of(live, path, arguments.frameId, request, use)
  elseif arguments.frameId and live.stopped then
    variables_of(live, arguments.frameId, request, use)
  else
    fields_of(live, "_G", nil, request, use)
  end
  for _, word in ipairs(path and {} or keywords) do
    use(word)
  end
  return {targets = targets}
end

return evaluating
