-- protocol.lua - the methods of the Chrome DevTools Protocol that are known
-- here, by domain. What is not in this list is answered "wasn't found", which
-- front ends expect of a target that is no browser.

local core = require "tracegrip.core"
core.own()

return {
  Debugger = {
    "continueToLocation", "disable", "enable", "evaluateOnCallFrame",
    "getPossibleBreakpoints", "getScriptSource", "pause", "removeBreakpoint",
    "restartFrame", "resume", "searchInContent", "setAsyncCallStackDepth",
    "setBlackboxPatterns", "setBreakpoint", "setBreakpointByUrl",
    "setBreakpointsActive", "setPauseOnExceptions", "setSkipAllPauses",
    "setVariableValue", "stepInto", "stepOut", "stepOver",
  },
  Profiler = {
    "disable", "enable", "getBestEffortCoverage", "setSamplingInterval",
    "start", "startPreciseCoverage", "stop", "stopPreciseCoverage",
    "takePreciseCoverage",
  },
  Runtime = {
    "callFunctionOn", "compileScript", "disable", "discardConsoleEntries",
    "enable", "evaluate", "getHeapUsage", "getIsolateId", "getProperties",
    "globalLexicalScopeNames", "releaseObject", "releaseObjectGroup",
    "runIfWaitingForDebugger",
  },
}
