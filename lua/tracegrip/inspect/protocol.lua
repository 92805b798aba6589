-- protocol.lua - what is known here of the Chrome DevTools Protocol: methods,
-- events and types, with the fields that mean something here.
--
--   protocol.commands         "Domain.method" -> parameters: a list of {name =,
--                             type = or ["$ref"] =, items =, optional =}
--   protocol.document(some)   all of it, as /json/protocol has it; some: only
--                             domains that are keys of that
--   protocol.problem(method, params)
--                             what is wrong with the parameters of a request;
--                             nil: nothing. Others than these are not looked at
--   protocol.is_object(value), protocol.ARRAY
--                             whether a value that was read is an object, where
--                             empty lists have got that metatable
--
-- The domain Lua, hitCondition and logExpressions of a breakpoint, 'target' of
-- a step and 'stop' of runIfWaitingForDebugger are ours: what Chrome's protocol
-- has no words for, and a debug adapter needs (dap/live.lua).
--
-- The text below is all that there is: agent.lua calls no method that is not in
-- it, and answers "wasn't found", which front ends expect of a target that is
-- no browser. A line is a domain; or a type, a command or an event of it, which
-- goes on in lines that are indented. "?" follows what may be absent.

local core = require "tracegrip.core"
local wire = require "tracegrip.wire"
core.own()

local protocol = {ARRAY = getmetatable(wire.array())}

local DESCRIPTION = [[
domain Debugger
type BreakpointId = string
type CallFrameId = string
type Location = {scriptId: Runtime.ScriptId, lineNumber: integer,
  columnNumber: integer?}
type BreakLocation = {scriptId: Runtime.ScriptId, lineNumber: integer,
  columnNumber: integer?}
type LocationRange = {scriptId: Runtime.ScriptId, start: ScriptPosition,
  end: ScriptPosition}
type ScriptLanguage = string
type ScriptPosition = {lineNumber: integer, columnNumber: integer}
type SearchMatch = {lineNumber: number, lineContent: string}
type Scope = {type: string, object: Runtime.RemoteObject, name: string?}
type CallFrame = {callFrameId: CallFrameId, functionName: string,
  functionLocation: Location?, location: Location, url: string,
  scopeChain: Scope[], this: Runtime.RemoteObject, canBeRestarted: boolean?}
command continueToLocation (location: Location)
command disable ()
command enable () -> (debuggerId: Runtime.UniqueDebuggerId)
command evaluateOnCallFrame (callFrameId: CallFrameId, expression: string,
  objectGroup: string?, returnByValue: boolean?, generatePreview: boolean?,
  throwOnSideEffect: boolean?, timeout: Runtime.TimeDelta?)
  -> (result: Runtime.RemoteObject, exceptionDetails: Runtime.ExceptionDetails?)
command getPossibleBreakpoints (start: Location, end: Location?)
  -> (locations: BreakLocation[])
command getScriptSource (scriptId: Runtime.ScriptId) -> (scriptSource: string)
command pause ()
command removeBreakpoint (breakpointId: BreakpointId)
command restartFrame (callFrameId: CallFrameId, mode: string?)
  -> (callFrames: CallFrame[])
command resume ()
command searchInContent (scriptId: Runtime.ScriptId, query: string,
  caseSensitive: boolean?, isRegex: boolean?) -> (result: SearchMatch[])
command setAsyncCallStackDepth (maxDepth: integer)
command setBlackboxPatterns (patterns: string[])
command setBlackboxedRanges (scriptId: Runtime.ScriptId,
  positions: ScriptPosition[])
command setBreakpoint (location: Location, condition: string?)
  -> (breakpointId: BreakpointId, actualLocation: Location)
command setBreakpointByUrl (lineNumber: integer, url: string?,
  urlRegex: string?, condition: string?, hitCondition: string?,
  logExpressions: string?)
  -> (breakpointId: BreakpointId, locations: Location[])
command setBreakpointsActive (active: boolean)
command setInstrumentationBreakpoint (instrumentation: string)
  -> (breakpointId: BreakpointId)
command setPauseOnExceptions (state: string)
command setSkipAllPauses (skip: boolean)
command setVariableValue (callFrameId: CallFrameId, scopeNumber: integer,
  variableName: string, newValue: Runtime.CallArgument)
command stepInto (target: Runtime.RemoteObjectId?, skipList: LocationRange[]?)
command stepOut ()
command stepOver (skipList: LocationRange[]?)
event breakpointResolved (breakpointId: BreakpointId, location: Location)
event paused (callFrames: CallFrame[], reason: string, data: object?,
  hitBreakpoints: string[]?, asyncStackTrace: Runtime.StackTrace?)
event resumed ()
event scriptParsed (scriptId: Runtime.ScriptId, url: string,
  startLine: integer, startColumn: integer, endLine: integer,
  endColumn: integer, executionContextId: Runtime.ExecutionContextId,
  hash: string, buildId: string, isModule: boolean?, hasSourceURL: boolean?,
  length: integer?, scriptLanguage: ScriptLanguage?, sourceMapURL: string?)

domain HeapProfiler
type HeapSnapshotObjectId = string
type SamplingHeapProfileNode = {callFrame: Runtime.CallFrame, selfSize: number,
  id: integer, children: SamplingHeapProfileNode[]}
type SamplingHeapProfileSample = {size: number, nodeId: integer,
  ordinal: number}
type SamplingHeapProfile = {head: SamplingHeapProfileNode,
  samples: SamplingHeapProfileSample[]}
command addInspectedHeapObject (heapObjectId: HeapSnapshotObjectId)
command collectGarbage ()
command disable ()
command enable ()
command getHeapObjectId (objectId: Runtime.RemoteObjectId)
  -> (heapSnapshotObjectId: HeapSnapshotObjectId)
command getObjectByHeapObjectId (objectId: HeapSnapshotObjectId,
  objectGroup: string?) -> (result: Runtime.RemoteObject)
command getSamplingProfile () -> (profile: SamplingHeapProfile)
command startSampling (samplingInterval: number?, stackDepth: number?,
  includeObjectsCollectedByMajorGC: boolean?,
  includeObjectsCollectedByMinorGC: boolean?)
command startTrackingHeapObjects (trackAllocations: boolean?)
command stopSampling () -> (profile: SamplingHeapProfile)
command stopTrackingHeapObjects (reportProgress: boolean?)
command takeHeapSnapshot (reportProgress: boolean?)
event addHeapSnapshotChunk (chunk: string)
event heapStatsUpdate (statsUpdate: integer[])
event lastSeenObjectId (lastSeenObjectId: integer, timestamp: number)
event reportHeapSnapshotProgress (done: integer, total: integer,
  finished: boolean?)

domain Lua
type CodeLine = {line: integer, within: integer, again: boolean}
type Coroutine = {id: integer, name: string, status: string}
type Variable = {name: string, text: string, type: string, field: string?,
  objectId: Runtime.RemoteObjectId?, indexed: integer?, named: integer?}
command coroutines (most: integer) -> (coroutines: Coroutine[], total: integer)
command dataPlace (name: string, objectId: Runtime.RemoteObjectId?,
  of: string?, callFrameId: Debugger.CallFrameId?)
  -> (place: string?, description: string)
command describe (objectId: Runtime.RemoteObjectId, full: boolean?)
  -> (variable: Variable)
command lines (scriptId: Runtime.ScriptId) -> (lines: CodeLine[])
command passError ()
command setBreakpointByName (name: string, condition: string?,
  hitCondition: string?, logExpressions: string?)
  -> (breakpointId: Debugger.BreakpointId, locations: Debugger.Location[])
command setDataBreakpoint (place: string, condition: string?,
  hitCondition: string?, logExpressions: string?)
  -> (breakpointId: Debugger.BreakpointId, kind: string)
command sourceMap (scriptId: Runtime.ScriptId) -> (text: string)
command stack (coroutine: integer, first: integer, count: integer)
  -> (callFrames: Debugger.CallFrame[], total: integer)
command variables (objectId: Runtime.RemoteObjectId, filter: string?,
  first: integer?, count: integer?) -> (variables: Variable[])
event dataBreakpointOver (breakpointId: Debugger.BreakpointId, message: string)

domain Profiler
type ProfileNode = {id: integer, callFrame: Runtime.CallFrame,
  hitCount: integer?, children: integer[]?, positionTicks: PositionTickInfo[]?}
type PositionTickInfo = {line: integer, ticks: integer}
type Profile = {nodes: ProfileNode[], startTime: number, endTime: number,
  samples: integer[]?, timeDeltas: integer[]?}
type CoverageRange = {startOffset: integer, endOffset: integer, count: integer}
type FunctionCoverage = {functionName: string, ranges: CoverageRange[],
  isBlockCoverage: boolean}
type ScriptCoverage = {scriptId: Runtime.ScriptId, url: string,
  functions: FunctionCoverage[]}
command disable ()
command enable ()
command getBestEffortCoverage () -> (result: ScriptCoverage[])
command setSamplingInterval (interval: integer)
command start ()
command startPreciseCoverage (callCount: boolean?, detailed: boolean?)
  -> (timestamp: number)
command stop () -> (profile: Profile)
command stopPreciseCoverage ()
command takePreciseCoverage () -> (result: ScriptCoverage[], timestamp: number)

domain Runtime
type ScriptId = string
type RemoteObjectId = string
type UnserializableValue = string
type ExecutionContextId = integer
type Timestamp = number
type TimeDelta = number
type UniqueDebuggerId = string
type RemoteObject = {type: string, subtype: string?, className: string?,
  value: any?, unserializableValue: UnserializableValue?, description: string?,
  objectId: RemoteObjectId?, preview: ObjectPreview?}
type ObjectPreview = {type: string, subtype: string?, description: string?,
  overflow: boolean, properties: PropertyPreview[]}
type PropertyPreview = {name: string, type: string, value: string?,
  valuePreview: ObjectPreview?, subtype: string?}
type PropertyDescriptor = {name: string, value: RemoteObject?,
  writable: boolean?, configurable: boolean, enumerable: boolean,
  isOwn: boolean?}
type InternalPropertyDescriptor = {name: string, value: RemoteObject?}
type CallArgument = {value: any?, unserializableValue: UnserializableValue?,
  objectId: RemoteObjectId?}
type CallFrame = {functionName: string, scriptId: ScriptId, url: string,
  lineNumber: integer, columnNumber: integer}
type StackTrace = {description: string?, callFrames: CallFrame[],
  parent: StackTrace?}
type ExecutionContextDescription = {id: ExecutionContextId, origin: string,
  name: string, uniqueId: string, auxData: object?}
type ExceptionDetails = {exceptionId: integer, text: string,
  lineNumber: integer, columnNumber: integer, scriptId: ScriptId?,
  url: string?, stackTrace: StackTrace?, exception: RemoteObject?,
  executionContextId: ExecutionContextId?}
command callFunctionOn (functionDeclaration: string, objectId: RemoteObjectId?,
  arguments: CallArgument[]?) -> (result: RemoteObject,
  exceptionDetails: ExceptionDetails?)
command compileScript (expression: string)
  -> (exceptionDetails: ExceptionDetails?)
command disable ()
command discardConsoleEntries ()
command enable ()
command evaluate (expression: string, objectGroup: string?,
  returnByValue: boolean?, generatePreview: boolean?,
  throwOnSideEffect: boolean?, timeout: TimeDelta?)
  -> (result: RemoteObject, exceptionDetails: ExceptionDetails?)
command getHeapUsage () -> (usedSize: number, totalSize: number,
  embedderHeapUsedSize: number, backingStorageSize: number)
command getIsolateId () -> (id: string)
command getProperties (objectId: RemoteObjectId,
  accessorPropertiesOnly: boolean?, generatePreview: boolean?,
  nonIndexedPropertiesOnly: boolean?) -> (result: PropertyDescriptor[],
  internalProperties: InternalPropertyDescriptor[]?)
command globalLexicalScopeNames () -> (names: string[])
command queryObjects (prototypeObjectId: RemoteObjectId, objectGroup: string?)
  -> (objects: RemoteObject)
command releaseObject (objectId: RemoteObjectId)
command releaseObjectGroup (objectGroup: string)
command runIfWaitingForDebugger (stop: boolean?)
command terminateExecution ()
event consoleAPICalled (type: string, args: RemoteObject[],
  executionContextId: ExecutionContextId, timestamp: Timestamp,
  stackTrace: StackTrace?)
event exceptionThrown (timestamp: Timestamp, exceptionDetails: ExceptionDetails)
event executionContextCreated (context: ExecutionContextDescription)
]]

---------------------------------------------------------------------------
-- Reading it
---------------------------------------------------------------------------

local basic = {any = true, boolean = true, integer = true, number = true,
               object = true, string = true}

-- "T", "Domain.T" or "T[]", into 'one'.
local function read_type (text, one)
  local item = string.match(text, "^(.*)%[%]$")
  if item then
    one.type, one.items = "array", read_type(item, {})
  else
    one[basic[text] and "type" or "$ref"] = text
  end
  return one
end

-- "name: T, name: T?"
local function read_fields (text)
  local list = {}
  for name, kind, optional in string.gmatch(text,
                                            "([%w_]+):%s*([%w._%[%]]+)(%??)") do
    list[#list + 1] = read_type(kind, {
      name = name, optional = optional == "?" or nil
    })
  end
  return list
end

local read = {}

function read.type (domain, rest)
  local id, kind = string.match(rest, "^(%w+) = (.*)$")
  local fields = string.match(kind, "^{(.*)}$")
  domain.types[#domain.types + 1] = {
    id = id, type = fields and "object" or kind,
    properties = fields and wire.array(read_fields(fields))
  }
end

function read.command (domain, rest)
  local name, given, returned = string.match(rest, "^(%w+) %((.-)%)(.*)$")
  local parameters = read_fields(given)
  protocol.commands[domain.domain .. "." .. name] = parameters
  domain.commands[#domain.commands + 1] = {
    name = name, parameters = wire.array(parameters),
    returns = wire.array(read_fields(returned))
  }
end

function read.event (domain, rest)
  local name, given = string.match(rest, "^(%w+) %((.*)%)$")
  domain.events[#domain.events + 1] = {
    name = name, parameters = wire.array(read_fields(given))
  }
end

local function read_all ()
  local domains = {}
  local text = string.gsub(DESCRIPTION, "\n  ", " ")
  for word, rest in string.gmatch(text, "(%l+) ([^\n]+)\n") do
    if word == "domain" then
      domains[#domains + 1] = {domain = rest, types = wire.array {},
                               commands = wire.array {},
                               events = wire.array {}}
    else
      read[word](domains[#domains], rest)
    end
  end
  return domains
end

protocol.commands = {}
local domains = read_all()

function protocol.document (some)
  local list = wire.array {}
  for _, one in ipairs(domains) do
    if not some or some[one.domain] then
      list[#list + 1] = one
    end
  end
  return {version = {major = "1", minor = "3"}, domains = list}
end

---------------------------------------------------------------------------
-- Requests
---------------------------------------------------------------------------

local is = {}

function is.boolean (value) return type(value) == "boolean" end
function is.integer (value) return math.type(value) == "integer" end
function is.number (value) return type(value) == "number" end
function is.string (value) return type(value) == "string" end

-- Of what was read with protocol.ARRAY: keys of objects are strings.
function is.array (value)
  return type(value) == "table"
         and (getmetatable(value) == protocol.ARRAY or value[1] ~= nil)
end

function is.object (value)
  return type(value) == "table" and not is.array(value)
end

protocol.is_object = is.object

-- Of what has a name of its own: the type that it is.
local function basis (one, domain)
  local name = one["$ref"]
  if not name then
    return one.type
  end
  local other, id = string.match(name, "^(%w+)%.(%w+)$")
  for _, known in ipairs(domains) do
    if known.domain == (other or domain) then
      for _, kind in ipairs(known.types) do
        if kind.id == (id or name) then
          return kind.type
        end
      end
    end
  end
end

function protocol.problem (method, params)
  local domain = string.match(method, "^%w+")
  for _, one in ipairs(protocol.commands[method]) do
    local value, kind = params[one.name], basis(one, domain)
    if not (value == nil and one.optional) and is[kind]
       and not is[kind](value) then
      return string.format("%s: %s expected", one.name, kind)
    end
  end
end

return protocol
