-- fault.lua - what a debugger is answered when it cannot have what it asks for:
-- an error raised by a method, which the agent makes a reply of.
--
--   fault.raise(message, ...)     the request cannot be carried out (-32000)
--   fault.misuse(message, ...)    its parameters make no sense (-32602)
--   fault.is(value)               whether an error is one: {code, message}
--   fault.string(params, name), .integer(...), .object(...)
--                                 a parameter that has to be there; with a
--                                 third argument true it may be absent

local core = require "tracegrip.core"
core.own()

local Fault = {__name = "tracegrip.fault"}

local fault = {}

local function raise (code, message, ...)
  message = string.format(message, ...)
  error(setmetatable({code = code, message = message}, Fault), 0)
end

function fault.raise (message, ...)
  raise(-32000, message, ...)
end

function fault.misuse (message, ...)
  raise(-32602, message, ...)
end

function fault.is (value)
  return type(value) == "table"
         and rawequal(debug.getmetatable(value), Fault)
end

local function checker (what, is)
  return function (params, name, optional)
    local value = params[name]
    if value == nil and optional then
      return nil
    elseif not is(value) then
      fault.misuse("Invalid parameters: %s: %s expected", name, what)
    end
    return value
  end
end

fault.string = checker("string", function (v) return type(v) == "string" end)
fault.object = checker("object", function (v) return type(v) == "table" end)
fault.integer = checker("integer", function (v)
  return math.type(v) == "integer" and v >= 0 and v < 2^31
end)

return fault
