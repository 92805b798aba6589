-- What a debugger cannot have: every error that there is, by what asks for it,
-- in the words that it is answered with.

local debugger = require "spec.support.debugger"

local it = debugger.needed(it, pending)

local program = [[
local t = {1}
local n = 1
while not stop do end
]]

local NO, MISUSE = -32000, -32602

-- Each with a method, its parameters, code and message. SCRIPT, FRAME, OBJECT
-- and URL stand for what the session has.
local asked_while_it_stands = {
  {"Debugger.restartFrame", {callFrameId = "FRAME"}, NO,
   "A frame of Lua cannot be restarted"},
  {"Debugger.setBreakpointByUrl", {lineNumber = 2}, MISUSE,
   "Either url or urlRegex must be specified."},
  {"Debugger.setBreakpointByUrl", {lineNumber = 2, urlRegex = "("}, NO,
   "Regular expression not known here: ("},
  {"Debugger.setBreakpointByUrl", {lineNumber = 1, url = "URL"}, NO,
   "Breakpoint at specified location already exists."},
  {"Debugger.setBreakpointByUrl", {url = "URL"}, MISUSE,
   "Invalid parameters: lineNumber: integer expected"},
  {"Debugger.setBreakpoint",
   {location = {scriptId = "SCRIPT", lineNumber = 99}}, NO,
   "Could not resolve breakpoint"},
  {"Debugger.continueToLocation",
   {location = {scriptId = "SCRIPT", lineNumber = 99}}, NO,
   "There is no code at this line or after it"},
  {"Debugger.getScriptSource", {scriptId = "99"}, NO, "No script for id: 99"},
  {"Debugger.searchInContent",
   {scriptId = "SCRIPT", query = "(", isRegex = true}, NO,
   "Regular expression not known here: ("},
  {"Debugger.setBlackboxPatterns", {patterns = {"("}}, NO,
   "Regular expression not known here: ("},
  {"Debugger.setPauseOnExceptions", {state = "some"}, NO,
   "Unknown pause on exceptions mode: some"},
  {"Debugger.evaluateOnCallFrame", {callFrameId = "9.9", expression = "1"}, NO,
   "Could not find call frame with given id"},
  {"Debugger.setVariableValue", {callFrameId = "FRAME", scopeNumber = 9,
   variableName = "n", newValue = {}}, NO,
   "Could not find scope with given number"},
  {"Debugger.setVariableValue", {callFrameId = "FRAME", scopeNumber = 0,
   variableName = "none", newValue = {}}, NO, "There is no variable none"},
  {"Debugger.setVariableValue", {callFrameId = "FRAME", scopeNumber = 0,
   variableName = "n", newValue = {unserializableValue = "x"}}, MISUSE,
   "Invalid parameters: unserializableValue: not known here"},
  {"Debugger.setVariableValue", {callFrameId = "FRAME", scopeNumber = 0,
   variableName = "n", newValue = {value = {1}}}, MISUSE,
   "Invalid parameters: value: a string, a number or a boolean expected"},
  {"Runtime.getProperties", {objectId = "999"}, NO,
   "Could not find object with given id"},
  {"Runtime.callFunctionOn", {objectId = "OBJECT",
   functionDeclaration = "() => 1"}, NO,
   "Only JavaScript that sets or deletes a property is known here"},
  {"Runtime.callFunctionOn", {objectId = "OBJECT", arguments = {{}},
   functionDeclaration = "function(a, b) { this[a] = b; }"}, MISUSE,
   "Invalid parameters: arguments: a property's name expected"},
  {"Runtime.callFunctionOn", {objectId = "OBJECT",
   arguments = {{value = "none"}, {value = 1}},
   functionDeclaration = "function(a, b) { this[a] = b; }"}, NO,
   "There is nothing of that name that could be changed"},
  {"Runtime.evaluate", {expression = "(function () local t = {} t.t = t "
   .. "return t end)()", returnByValue = true}, NO,
   "Object reference chain is too long"},
  {"Profiler.stop", nil, NO, "No recording profiles found"},
  {"Profiler.takePreciseCoverage", nil, NO,
   "Precise coverage has not been started."},
  {"Runtime.evaluate", {expression = "1", returnByValue = 1}, MISUSE,
   "Invalid parameters: returnByValue: boolean expected"},
  {"Debugger.setBlackboxPatterns", {patterns = {a = "b"}}, MISUSE,
   "Invalid parameters: patterns: array expected"},
  {"Debugger.nothing", nil, -32601, "'Debugger.nothing' wasn't found"},
}

local asked_while_it_runs = {
  {"Debugger.resume", nil, NO, "Can only perform operation while paused."},
  {"Debugger.stepOver", nil, NO, "Can only perform operation while paused."},
  {"Profiler.setSamplingInterval", {interval = 10}, NO,
   "Cannot change sampling interval when profiling."},
}

local function filled (value, known)
  if type(value) ~= "table" then
    return known[value] or value
  end
  local copy = setmetatable({}, {
    __jsontype = next(value) == nil and "object" or nil
  })
  for key, inner in pairs(value) do
    copy[key] = filled(inner, known)
  end
  return copy
end

local function refuse (front, list, known)
  for _, one in ipairs(list) do
    local method, params, code, message = table.unpack(one, 1, 4)
    local result, problem = front:ask(method, filled(params, known))
    assert.is_nil(result, method)
    assert.same({code = code, message = message}, problem)
  end
end

describe("a request that cannot be carried out", function ()
  it("is answered by an error that says why", function ()
    debugger.debug(program, function (front, at)
      front:stop_at(2)
      local frame = front:go "resume".callFrames[1]
      refuse(front, asked_while_it_stands, {
        SCRIPT = frame.location.scriptId, FRAME = frame.callFrameId,
        OBJECT = frame.scopeChain[1].object.objectId,
        URL = at.callFrames[1].url
      })
      assert.same({}, front:ask "Debugger.resume")
      assert.same({}, front:ask "Profiler.start")
      refuse(front, asked_while_it_runs, {})
      assert.same({}, front:ask "Profiler.disable")
      assert.same({}, front:ask "Runtime.disable")
    end)
  end)
end)
