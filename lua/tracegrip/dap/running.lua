-- running.lua - how a program that stands still goes on, and where it stops.
--
--   running.handlers        command -> function (live, arguments, request), as
--                           session.lua has them; live: live.lua's back end
--   running.paused(live, params)
--                           the program stands still (Debugger.paused)
--   running.resumed(live)   it goes on
--
-- live.stopped is {thread, error, place, told} meanwhile: the coroutine's
-- number, what the pause says of an error, the Location of its innermost frame,
-- whether the client was told.

local core = require "tracegrip.core"
local mapping = require "tracegrip.dap.mapping"
local problem = require "tracegrip.dap.problem"
local remote = require "tracegrip.dap.remote"
local wire = require "tracegrip.wire"
core.own()

local handlers = {}
local running = {handlers = handlers}

---------------------------------------------------------------------------
-- Stops
---------------------------------------------------------------------------

-- "self.sum: 3 → 6", of each value that has changed.
local function changes_of (data)
  local list = {}
  for i, one in ipairs(data and data.kind == "data" and data.changes or {}) do
    list[i] = string.format("%s: %s → %s", one.name, one.old, one.new)
  end
  return list[1] and table.concat(list, ", ")
end

-- Why it stands still, as the protocol has it, and what else there is to say.
local function reason_of (live, params)
  local numbers, word = live.breaking:hits(params.hitBreakpoints or {})
  if params.reason == "exception" then
    return {reason = "exception", text = remote.text(params.data, true)}
  elseif params.reason == "assert" then
    return {reason = "exception", text = "console.assert has failed"}
  elseif #numbers > 0 then
    local changes = changes_of(params.data)
    return {reason = word, description = changes, text = changes,
            hitBreakpointIds = wire.array(numbers)}
  elseif live.expects == "entry" or live.expects == "pause"
         or live.expects == "step" then
    return {reason = live.expects}
  end
  return {reason = params.reason == "step" and "step" or "pause"}
end

-- The coroutine that stands still is the first one of all.
local function innermost (live)
  local result = live.program:try("Lua.coroutines", {most = 1})
  return result and result.coroutines[1]
end

local function is_wanted (live, params)
  return params.reason ~= "exception"
         or live.breaking:stops(remote.text(params.data, true),
                                params.data.uncaught)
end

function running.paused (live, params)
  if params.reason == "instrumentation" then
    return mapping.passed(live)
  elseif not is_wanted(live, params) then
    return live.program:post "Lua.passError"
  end
  live.moving = false
  local stopped = {error = params.reason == "exception" and params.data or nil,
                   place = params.callFrames[1]
                           and params.callFrames[1].location}
  live.stopped = stopped
  mapping.settle(live)
  local first = innermost(live)
  if live.stopped ~= stopped or not first then
    return                      -- it has gone on already
  end
  local body = reason_of(live, params)
  stopped.thread, body.threadId = first.id, first.id
  body.allThreadsStopped = true
  if body.reason == "exception" then
    body.description = "Paused on error"
  end
  live.expects = nil
  live:tell_stop(body)
end

local function forget (live)
  live.references:clear()
  live.stopped = nil
end

-- A client that has asked for it knows; another debugger may have.
function running.resumed (live)
  local stopped = live.stopped
  if not live.moving then
    forget(live)
    if stopped and stopped.told then
      live.port.send_event("continued", {threadId = stopped.thread,
                                         allThreadsContinued = true})
    end
  end
end

---------------------------------------------------------------------------
-- Going on
---------------------------------------------------------------------------

-- From the answer on it runs; that it does is told later.
local function go (live, method, params, expects)
  live.moving, live.expects = true, expects
  local ok, err = pcall(live.program.ask, live.program, method, params)
  if not ok then
    live.moving = false
    error(err, 0)
  end
  forget(live)
end

handlers["continue"] = function (live)
  live:check_stopped()
  go(live, "Debugger.resume")
  return {allThreadsContinued = true}
end

-- As far as the line goes where it stands: of what it was made of.
local function line_lasts (live)
  local place = live.stopped.place
  return place and mapping.skip_list(live, place)
end

-- Of the coroutines that wait for others, and of those that nobody runs, none
-- can be made to go a step.
local function check_thread (live, arguments)
  live:check_stopped()
  local thread = live.stopped.thread
  if arguments.threadId ~= thread then
    problem.raise("coroutine %d does not run: coroutine %d stands still, and "
                  .. "goes on", arguments.threadId, thread)
  end
end

function handlers.next (live, arguments)
  check_thread(live, arguments)
  go(live, "Debugger.stepOver", {skipList = line_lasts(live)}, "step")
end

function handlers.stepOut (live, arguments)
  check_thread(live, arguments)
  go(live, "Debugger.stepOut", nil, "step")
end

function handlers.stepIn (live, arguments)
  check_thread(live, arguments)
  local target = arguments.targetId
                 and live.references:get_variables(arguments.targetId).object
  go(live, "Debugger.stepInto", {
    target = target, skipList = not target and line_lasts(live) or nil
  }, "step")
end

function handlers.pause (live)
  if not live.stopped then
    live.expects = "pause"
    live.program:ask "Debugger.pause"
  end
end

---------------------------------------------------------------------------
-- Functions to step into
---------------------------------------------------------------------------

local function line_of (live, call)
  local place = call.location
  local result = live.program:ask("Debugger.getScriptSource",
                                  {scriptId = place.scriptId})
  local n = 0
  for line in string.gmatch(result.scriptSource .. "\n", "([^\n]*)\n") do
    if n == place.lineNumber then
      return line
    end
    n = n + 1
  end
  return ""
end

-- What looks like a call: names and what stands behind them, in order.
local function calls_in (line)
  local list, seen = {}, {}
  line = string.gsub(line, "%-%-.*$", "")
  for name in string.gmatch(line, "([%a_][%w_.:]*)%s*[({\"']") do
    if not seen[name] then
      seen[name] = true
      list[#list + 1] = name
    end
  end
  return list
end

-- The function's id, if it is one of Lua: found without running anything.
local function function_of (live, call, name)
  local result = live.program:try("Debugger.evaluateOnCallFrame", {
    callFrameId = call.callFrameId, throwOnSideEffect = true,
    expression = (string.gsub(name, ":", "."))
  })
  local object = result and not result.exceptionDetails and result.result
  return object and object.type == "function"
         and not string.find(object.description or "", "[C]", 1, true)
         and object.objectId
end

function handlers.stepInTargets (live, arguments)
  live:check_stopped()
  local call = live.references:get_frame(arguments.frameId).call
  local list = wire.array {}
  for _, name in ipairs(calls_in(line_of(live, call))) do
    local id = function_of(live, call, name)
    if id then
      list[#list + 1] = {
        label = name, id = live.references:variables {object = id}
      }
    end
  end
  return {targets = list}
end

return running
