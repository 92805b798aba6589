-- live.lua - the back end of a debug adapter's session that debugs a running
-- program: one that it starts, or that runs already.
--
--   live.capabilities()      what such a session can do
--   live.new(port, command)  a back end (session.lua) for "launch" or "attach"
--
--   session.lua ── live.lua ── debuggee.lua ══ WebSocket ══ inspect/agent.lua
--                     │
--                     ├ starting.lua, launching.lua: programs of its own
--                     ├ attaching.lua: programs that run already
--                     ├ breaking.lua: where it is to stop
--                     ├ possible.lua: where it can
--                     ├ mapping.lua, originals.lua, sourcemap.lua: the files
--                     │ that its Lua was made of
--                     ├ running.lua: stops, steps
--                     ├ looking.lua: threads, frames, variables
--                     ├ evaluating.lua: code, completions
--                     ├ modules.lua: what it has loaded
--                     ├ places.lua, references.lua: names of both sides
--                     └ output.lua, consoled.lua: what it prints and says
--
-- Nothing of a debugger is here: the program has one (inspect/agent.lua), and
-- what this says is said in its words. A request goes:
--   1. session.lua calls its handler on a coroutine;
--   2. that asks the program (Debuggee:ask), which yields;
--   3. the answer comes from luv's loop and resumes it; what it returns is the
--      response. Events come the same way, each on a coroutine.
--
-- Failure: what the program or the system refuses is a problem; a program that
-- ends is told by "exited" and "terminated", whatever was asked at that moment.

local asked = require "tracegrip.dap.asked"
local attaching = require "tracegrip.dap.attaching"
local breaking = require "tracegrip.dap.breaking"
local consoled = require "tracegrip.dap.consoled"
local core = require "tracegrip.core"
local debuggee = require "tracegrip.dap.debuggee"
local evaluating = require "tracegrip.dap.evaluating"
local launching = require "tracegrip.dap.launching"
local looking = require "tracegrip.dap.looking"
local mapping = require "tracegrip.dap.mapping"
local modules = require "tracegrip.dap.modules"
local places = require "tracegrip.dap.places"
local possible = require "tracegrip.dap.possible"
local problem = require "tracegrip.dap.problem"
local references = require "tracegrip.dap.references"
local running = require "tracegrip.dap.running"
local starting = require "tracegrip.dap.starting"
local uv = require "luv"
local wire = require "tracegrip.wire"
core.own()

local live = {}

local Live = {__name = "tracegrip.dap.live", handlers = {}}
Live.__index = Live

local handlers = Live.handlers
for _, part in ipairs {looking, evaluating, running, modules} do
  for command, handler in pairs(part.handlers) do
    handlers[command] = handler
  end
end

---------------------------------------------------------------------------
-- What it can do
---------------------------------------------------------------------------

local CAN = {"ConfigurationDoneRequest", "FunctionBreakpoints",
             "ConditionalBreakpoints", "HitConditionalBreakpoints",
             "EvaluateForHovers", "SetVariable", "SetExpression",
             "StepInTargetsRequest", "CompletionsRequest", "ModulesRequest",
             "ExceptionInfoRequest", "ExceptionFilterOptions",
             "DelayedStackTraceLoading", "LoadedSourcesRequest", "LogPoints",
             "TerminateRequest", "ClipboardContext", "CancelRequest",
             "BreakpointLocationsRequest", "DataBreakpoints"}

function live.capabilities ()
  local can = {
    supportTerminateDebuggee = true, supportsRestartRequest = true,
    completionTriggerCharacters = wire.array {".", ":"},
    exceptionBreakpointFilters = wire.array(breaking.filters)
  }
  for _, what in ipairs(CAN) do
    can["supports" .. what] = true
  end
  return can
end

-- A program that somebody else has started is not started again.
function Live:capabilities ()
  local can = live.capabilities()
  can.supportsRestartRequest = self.command == "launch"
  can.supportsTerminateRequest = self.command == "launch"
  return can
end

---------------------------------------------------------------------------
-- What the program says
---------------------------------------------------------------------------

local events = {}

events["Debugger.scriptParsed"] = function (self, params)
  local source = self.places:add(params)
  if source then
    self.port.send_event("loadedSource", {reason = "new", source = source})
  end
  mapping.met(self, params)
end

events["Debugger.breakpointResolved"] = function (self, params)
  self.breaking:resolved(params.breakpointId, params.location.lineNumber,
                         params.location.scriptId)
end

events["Lua.dataBreakpointOver"] = function (self, params)
  self.breaking:over(params.breakpointId, params.message)
end

events["Debugger.paused"] = running.paused
events["Debugger.resumed"] = running.resumed
events["Runtime.consoleAPICalled"] = consoled.said

-- One that this has started prints the same.
events["Runtime.exceptionThrown"] = function (self, params)
  if self.command == "attach" then
    consoled.thrown(self, params)
  end
end

-- A stop is told once the client has said all that comes before the program.
function Live:tell_stop (body)
  self.stopped.told = true
  if self.configured then
    self.port.send_event("stopped", body)
  else
    self.pending_stop = body
  end
end

function Live:check_stopped ()
  if not self.stopped then
    problem.raise("the program runs")
  end
end

-- Of an error: as far as the program shows its frames.
function Live:backtrace ()
  local list = {}
  local result = self.program:ask("Lua.stack", {
    coroutine = self.stopped.thread, first = 0, count = 50
  })
  for i, call in ipairs(result.callFrames) do
    local source, line = looking.position(self, call.location)
    local name = call.functionName ~= "" and call.functionName or "?"
    list[i] = source and string.format("%s:%d: %s", source.name, line + 1,
                                       name)
              or "[C]: " .. name
  end
  return table.concat(list, "\n")
end

---------------------------------------------------------------------------
-- The end of it
---------------------------------------------------------------------------

-- Once or often.
function Live:tell_end ()
  if not self.over then
    self.over = true
    self.port.send_event("terminated")
  end
end

-- Of a program that was started its process tells the end, but in a terminal.
local function program_gone (self, program)
  if program ~= self.program then
    return
  end
  self.stopped = nil
  self.references:clear()
  if self.command == "attach"
     or self.launched and self.launched.in_terminal then
    self:tell_end()
  end
end

---------------------------------------------------------------------------
-- The beginning
---------------------------------------------------------------------------

local function on_event (self)
  return function (method, params)
    local event = events[method]
    if event then
      event(self, params)
    end
  end
end

local function enable (self, program)
  if self.places.maps then
    mapping.begin(self)
  end
  program:ask "Debugger.enable"
  mapping.settle(self)
end

-- place: where the program is. What it has loaded is told before the answers.
local function connect (self, place)
  local program, message
  program, message = debuggee.connect(place.where, place.path, on_event(self),
    function () program_gone(self, program) end)
  if not program then
    problem.show("cannot attach: %s", message)
  elseif self.closed then
    program:close()
    problem.raise "the session is over"
  end
  self.program, self.port_number = program, place.where.port
  program:ask "Runtime.enable"
  if self.arguments.noDebug then
    program:ask "Debugger.enable"
    program:ask("Debugger.setSkipAllPauses", {skip = true})
  else
    enable(self, program)
  end
end

local function tell_process (self, place)
  self.port.send_event("process", {
    name = place.title, systemProcessId = place.pid,
    isLocalProcess = self.command == "launch" or place.pid ~= nil,
    startMethod = self.command
  })
end

---------------------------------------------------------------------------
-- Launch
---------------------------------------------------------------------------

local function begin_launch (self)
  local place = starting.program(self)
  connect(self, place)
  tell_process(self, place)
end

function handlers.launch (self, arguments, request)
  self.arguments = arguments
  self.places = self:new_places()
  begin_launch(self)
  request:after(function () self.port.send_event("initialized") end)
end

function handlers.attach (self, arguments, request)
  self.arguments = arguments
  self.places = self:new_places()
  local place = attaching.place(arguments)
  connect(self, place)
  tell_process(self, place)
  request:after(function () self.port.send_event("initialized") end)
end

-- Lets the program begin.
local function run (self)
  local stops = self.arguments.stopOnEntry == true
  if stops then
    mapping.arm(self)
  end
  self.expects = stops and "entry" or nil
  if self.launched then
    starting.begins(self)
  end
  self.program:ask("Runtime.runIfWaitingForDebugger", {stop = stops})
end

function handlers.configurationDone (self, _, request)
  self.configured = true
  request:after(function ()
    if self.pending_stop then
      self.port.send_event("stopped", self.pending_stop)
      self.pending_stop = nil
    end
    if not self.program.gone then
      run(self)
    end
  end)
end

-- The old one and all that it has started are ended first. Where there is no
-- new one, that is the end.
function handlers.restart (self, arguments)
  if self.command ~= "launch" then
    problem.raise("a program that was attached to is not started again")
  end
  local given = arguments.arguments
  for name, value in pairs(type(given) == "table" and given or {}) do
    self.arguments[name] = value ~= wire.null and value or nil
  end
  local old, armed = self.launched, self.armed
  self.launched = nil
  self.program:close()
  old:kill "sigkill"
  old:close()
  self.stopped, self.over = nil, false
  self.references:clear()
  self.places:forget()
  local ok, err = pcall(begin_launch, self)
  if not ok then
    self.over = false
    self:tell_end()
    error(err, 0)
  end
  if armed then
    mapping.arm(self)
  end
  self.breaking:again(self.program)
  run(self)
end

---------------------------------------------------------------------------
-- Where it stops
---------------------------------------------------------------------------

function handlers.setBreakpoints (self, arguments)
  local source, list = asked.source(arguments), asked.breakpoints(arguments)
  if list[1] then
    mapping.arm(self)
  end
  return {breakpoints = wire.array(self.breaking:lines(self.program, source,
                                                       list))}
end

function handlers.setFunctionBreakpoints (self, arguments)
  return {breakpoints = wire.array(self.breaking:functions(
    self.program, asked.functions(arguments)))}
end

-- A child of what the client was shown, or an expression. Its id is of this
-- program alone.
function handlers.dataBreakpointInfo (self, arguments)
  local params, number = {name = arguments.name}, arguments.variablesReference
  if number and number > 0 then
    local of = self.references:get_variables(number)
    params.objectId, params.of = of.object, of.name
  elseif arguments.frameId and self.stopped then
    local frame = self.references:get_frame(arguments.frameId)
    params.callFrameId = frame.call.callFrameId
  end
  local result = self.program:ask("Lua.dataPlace", params)
  return {dataId = result.place or wire.null, description = result.description,
          accessTypes = result.place and wire.array {"write"},
          canPersist = false}
end

function handlers.setDataBreakpoints (self, arguments)
  return {breakpoints = wire.array(self.breaking:data(
    self.program, asked.data(arguments)))}
end

function handlers.breakpointLocations (self, arguments, request)
  local source = asked.source(arguments)
  local first, last = asked.range(arguments)
  return {breakpoints = wire.array(
    possible.locations(self, source, first, last, request))}
end

function handlers.setExceptionBreakpoints (self, arguments)
  self.breaking:exceptions(self.program, asked.errors(arguments))
end

---------------------------------------------------------------------------
-- Leaving
---------------------------------------------------------------------------

function handlers.terminate (self)
  if not self.launched then
    problem.raise("a program that was attached to is left, not ended: "
                  .. "disconnect")
  end
  self.launched:kill "sigterm"
end

-- The program has told which process it is; in a container, whose port may be
-- one of this machine, that is the number of another one here.
local function end_attached (self)
  local result = self.program and self.program:try "Runtime.getIsolateId"
  local pid = result and math.tointeger(string.match(result.id, "^lua%-(%d+)$"))
  if not pid or not self.is_local
     or not attaching.listens(pid, self.port_number) then
    problem.raise("the program runs on another machine or in a container: it "
                  .. "cannot be ended from here")
  end
  uv.kill(pid, "sigterm")
end

function handlers.disconnect (self, arguments)
  local ends = arguments.terminateDebuggee
  if ends == nil then
    ends = self.launched ~= nil
  end
  if ends and self.launched then
    self.launched:kill "sigkill"
  elseif ends then
    end_attached(self)
  elseif self.launched then
    starting.leave(self)
  end
  self.left = true
end

-- A program that the client does not say anything of does not outlive it, if it
-- was started for it.
function Live:close ()
  self.closed = true
  if self.launched then
    if not self.left then
      self.launched:kill "sigkill"
    end
    self.launched:close()
  end
  if self.program then
    self.program:close()
  end
  if self.output then
    self.output:finish()
  end
end

---------------------------------------------------------------------------
-- The back end
---------------------------------------------------------------------------

function Live:new_places ()
  local found = places.new(self.arguments.pathMappings, self.lines,
                           self.arguments.sourceMaps ~= false)
  local main = self.command == "launch"
               and launching.path(self.arguments) or nil
  self.breaking = breaking.new(found, main, function (one)
    self.port.send_event("breakpoint", {reason = "changed", breakpoint = one})
  end, function (id) return mapping.active(self, id) end)
  local host = self.arguments.host or "127.0.0.1"
  self.is_local = host == "localhost" or host == "::1"
                  or string.find(host, "^127%.") ~= nil
  return found
end

function live.new (port, command)
  return setmetatable({
    port = port, command = command,
    lines = port.client.linesStartAt1 == false and 0 or 1,
    columns = port.client.columnsStartAt1 == false and 0 or 1,
    references = references.new(),
    threads = {{id = 1, name = "main"}},
    program = nil,        -- the Debuggee
    port_number = nil,    -- where it listens
    launched = nil,       -- what was started (launching.lua)
    stopped = nil,        -- the program stands still (running.lua)
    configured = false,   -- the client has said all that comes before
    pending_stop = nil,   -- a stop from before that
    expects = nil,        -- what the next stop is for: "entry", "pause", "step"
    moving = false,       -- the client has asked the program to go on
    over = false,         -- "terminated" was told
    unsaid = nil,         -- messages of the console that were left out
    mapping = nil,        -- turns of those who read maps (mapping.lua)
    armed = false,        -- the program stands still before it runs such files
    left = false,         -- "disconnect" came
    closed = false,       -- the client has gone
  }, Live)
end

return live
