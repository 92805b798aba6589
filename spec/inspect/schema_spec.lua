-- Every message that any session of these specs gets is compared with the
-- protocol's published schema (spec/support/schema.lua); this one asks for all
-- that there is.

local debugger = require "spec.support.debugger"
local schema = require "spec.support.schema"

local program = [[
local Class = setmetatable({}, {__name = "Class"})
Class.__index = Class
function Class:method (a, ...)
  local t = {1, 2, "x", [1.5] = true, f = print, co = coroutine.create(print)}
  local n, big, nan, bytes = nil, math.maxinteger, 0/0, "\xff"
  return t, n, big, nan, bytes, self, a, ...
end
local o = setmetatable({}, Class)
local co = coroutine.wrap(function () o:method(io.stdout, 2) end)
co()
]]

local it = schema.known() and debugger.needed(it, pending)
           or function (name)
  pending(name .. ": no devtools-protocol here (make importers)")
end

describe("a session's messages", function ()
  it("are all valid by the schema", function ()
    debugger.debug(program, function (front, paused)
      local script = paused.callFrames[1].location.scriptId
      front:ask("Debugger.setAsyncCallStackDepth", {maxDepth = 32})
      front:ask("Debugger.setBlackboxPatterns", {patterns = {"^node:"}})
      front:ask("Debugger.setSkipAllPauses", {skip = false})
      front:ask("Debugger.setBreakpointsActive", {active = true})
      front:stop_at(3, "/** DEVTOOLS_LOGPOINT */ console.log(self, {1})")
      front:stop_at(6)
      paused = front:go "resume"
      local frame = paused.callFrames[1]
      for _, scope in ipairs(frame.scopeChain) do
        for _, preview in ipairs {true, false} do
          local result = front:ask("Runtime.getProperties", {
            objectId = scope.object.objectId, ownProperties = true,
            generatePreview = preview
          }).result
          for _, one in ipairs(result) do
            if one.value.objectId then
              front:ask("Runtime.getProperties",
                        {objectId = one.value.objectId})
            end
          end
        end
      end
      front:value(paused, 1, "t")
      front:value(paused, 1, "error {}")
      front:value(paused, 1, "t.x()", {throwOnSideEffect = true})
      front:ask("Runtime.evaluate", {expression = "1 + "})
      front:ask("Runtime.compileScript", {
        expression = "x = ", sourceURL = "", persistScript = false
      })
      front:ask "Runtime.globalLexicalScopeNames"
      front:ask "Runtime.getHeapUsage"
      front:ask "Runtime.getIsolateId"
      front:ask("Debugger.getScriptSource", {scriptId = script})
      front:ask("Debugger.searchInContent", {scriptId = script,
                                             query = "local"})
      front:ask("Debugger.getPossibleBreakpoints",
                {start = {scriptId = script, lineNumber = 0}})
      front:ask("Debugger.setBreakpoint",
                {location = {scriptId = script, lineNumber = 9}})
      front:ask("Debugger.setVariableValue", {
        callFrameId = frame.callFrameId, scopeNumber = 0, variableName = "a",
        newValue = {value = 1}
      })
      front:ask("Runtime.callFunctionOn", {
        objectId = frame.this.objectId, arguments = {{value = "k"},
                                                     {value = "v"}},
        functionDeclaration = "function(a, b) { this[a] = b; }"
      })
      front:ask("Runtime.releaseObject", {objectId = frame.this.objectId})
      front:ask("Runtime.releaseObjectGroup", {objectGroup = "console"})
      for _, method in ipairs {"log", "warn", "group", "groupEnd", "trace",
                               "count", "table", "timeEnd", "timeLog"} do
        front:value(paused, 1, ("require 'tracegrip.console'.%s({{a = 1}}, t)")
                               :format(method))
      end
      front:ask "Runtime.discardConsoleEntries"
      front:ask "Profiler.enable"
      front:ask("Profiler.setSamplingInterval", {interval = 100})
      front:ask "Profiler.start"
      front:ask "Profiler.stop"
      front:ask("Profiler.startPreciseCoverage", {callCount = true,
                                                  detailed = true})
      front:go "stepOut"
      front:ask "Profiler.takePreciseCoverage"
      front:ask "Profiler.getBestEffortCoverage"
      front:ask "Profiler.stopPreciseCoverage"
      front:ask "Debugger.resume"
      front:ended()
      assert.is_true(front.valid > 50)
    end)
  end)
end)
