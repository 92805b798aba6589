-- inframes.lua - what a debugger does in frames of a program that stands still
--
--   inframes.evaluate(session, params)   Debugger.evaluateOnCallFrame
--   inframes.assign(session, params)     Debugger.setVariableValue

local core = require "tracegrip.core"
local box = require "tracegrip.inspect.box"
local fault = require "tracegrip.inspect.fault"
local pausing = require "tracegrip.inspect.pausing"
local runtime = require "tracegrip.inspect.runtime"
local values = require "tracegrip.inspect.values"
core.own()

local inframes = {}

function inframes.evaluate (session, params)
  local frame = pausing.frame(fault.string(params, "callFrameId"))
  return runtime.evaluated(session, params, frame)
end

function inframes.assign (_, params)
  local scope = pausing.scope(fault.string(params, "callFrameId"),
                              fault.integer(params, "scopeNumber"))
  local name = fault.string(params, "variableName")
  local value = values.argument(fault.object(params, "newValue"))
  if not box.is(scope) then
    rawset(scope, name, value)
  elseif not scope.set or not scope.set(name, value) then
    fault.raise("There is no variable %s", name)
  end
  return {}
end

return inframes
