-- requests.lua - the requests of the Debug Adapter Protocol that are known
-- here, and what their arguments are.
--
--   requests.known(command)   whether it is one of them
--   requests.problem(command, arguments)
--                             what is wrong with the arguments; nil: nothing.
--                             Others than these are not looked at
--
-- A line is a request; "?" follows what may be absent.

local core = require "tracegrip.core"
local wire = require "tracegrip.wire"
core.own()

local ARRAY = getmetatable(wire.array())

local requests = {}

local DESCRIPTION = [[
initialize linesStartAt1:boolean? columnsStartAt1:boolean? pathFormat:string?
launch program:string? args:array? cwd:string? env:object? lua:string?
  stopOnEntry:boolean? console:string? recording:string? noDebug:boolean?
  busted:boolean? test:string? subprocesses:boolean? pathMappings:array?
  sourceMaps:boolean?
attach host:string? port:integer? pid:integer? token:string?
  pathMappings:array? sourceMaps:boolean?
disconnect terminateDebuggee:boolean? restart:boolean?
terminate restart:boolean?
restart arguments:object?
configurationDone
cancel requestId:integer? progressId:string?
setBreakpoints source:object breakpoints:array? lines:array?
setFunctionBreakpoints breakpoints:array
setExceptionBreakpoints filters:array filterOptions:array?
  exceptionOptions:array?
setDataBreakpoints breakpoints:array
setInstructionBreakpoints breakpoints:array
dataBreakpointInfo name:string variablesReference:integer? frameId:integer?
breakpointLocations source:object line:integer endLine:integer?
threads
stackTrace threadId:integer startFrame:integer? levels:integer?
scopes frameId:integer
variables variablesReference:integer filter:string? start:integer?
  count:integer? format:object?
setVariable variablesReference:integer name:string value:string
setExpression expression:string value:string frameId:integer?
evaluate expression:string frameId:integer? context:string? format:object?
completions text:string column:integer line:integer? frameId:integer?
continue threadId:integer
next threadId:integer
stepIn threadId:integer targetId:integer?
stepOut threadId:integer
stepBack threadId:integer
reverseContinue threadId:integer
stepBackIn threadId:integer
stepBackOut threadId:integer
history expression:string frameId:integer?
pause threadId:integer
goto threadId:integer targetId:integer
gotoTargets source:object line:integer
stepInTargets frameId:integer
exceptionInfo threadId:integer
source sourceReference:integer source:object?
loadedSources
modules startModule:integer? moduleCount:integer?
restartFrame frameId:integer
terminateThreads threadIds:array?
readMemory memoryReference:string count:integer
writeMemory memoryReference:string data:string
disassemble memoryReference:string instructionCount:integer
locations locationReference:integer
]]

local known = {}

for line in string.gmatch(string.gsub(DESCRIPTION, "\n  ", " "), "[^\n]+") do
  local command, rest = string.match(line, "^(%w+)(.*)$")
  known[command] = {}
  for name, kind, optional in string.gmatch(rest, "(%w+):(%w+)(%??)") do
    table.insert(known[command], {name = name, kind = kind,
                                  optional = optional == "?"})
  end
end

local is = {}

function is.boolean (value) return type(value) == "boolean" end
function is.integer (value) return math.type(value) == "integer" end
function is.string (value) return type(value) == "string" end

-- Of what was read: keys of objects are strings, and empty lists are marked.
function is.array (value)
  return type(value) == "table"
         and (getmetatable(value) == ARRAY or value[1] ~= nil)
end

function is.object (value)
  return type(value) == "table" and not is.array(value)
end

function requests.known (command)
  return known[command] ~= nil
end

function requests.problem (command, arguments)
  for _, one in ipairs(known[command]) do
    local value = arguments[one.name]
    if not (value == nil and one.optional) and not is[one.kind](value) then
      return string.format("'%s' has to be %s %s", one.name,
                           string.find(one.kind, "^[aio]") and "an" or "a",
                           one.kind)
    end
  end
end

return requests
