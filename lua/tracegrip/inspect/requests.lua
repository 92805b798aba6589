-- requests.lua - what a debugger says, read, and what it is answered: the same
-- of a program and of a recording.
--
--   requests.read(text, methods)
--                     a message as {id, method, params}; nil and the reply, if
--                     it is none that can be carried out. methods: by their
--                     whole names
--   requests.perform(request, method, session, ...)
--                     the reply: what method(session, params, ...) gives; a
--                     fault that it raises, or an error of ours, becomes one

local core = require "tracegrip.core"
local fault = require "tracegrip.inspect.fault"
local protocol = require "tracegrip.inspect.protocol"
local wire = require "tracegrip.wire"
local words = require "tracegrip.inspect.words"
core.own()

local MAX_DEPTH = 100           -- of objects in a message
local NO_JSON, NO_REQUEST, NO_METHOD, OURS = -32700, -32600, -32601, -32603
local NO_SENSE = -32602

local requests = {}

local function refusal (id, code, message)
  return {id = id, error = {code = code, message = message}}
end

-- null is as good as absent.
local function parameters (message)
  local given, params = message.params, {}
  if given == nil or given == wire.null then
    return params
  elseif not protocol.is_object(given) then
    return nil
  end
  for name, value in next, given do
    if value ~= wire.null then
      params[name] = value
    end
  end
  return params
end

-- What is wrong with a message that has these parameters.
local function problem_of (message, params, methods)
  if not methods[message.method] then
    return NO_METHOD, string.format("'%s' wasn't found", message.method)
  elseif not params then
    return NO_REQUEST, "Message must have object 'params' property"
  end
  local problem = protocol.problem(message.method, params)
  if problem then
    return NO_SENSE, "Invalid parameters: " .. problem
  end
end

function requests.read (text, methods)
  local message = core.decode(text, MAX_DEPTH, protocol.ARRAY)
  if type(message) ~= "table" then
    return nil, refusal(nil, NO_JSON, "Message must be a valid JSON object")
  elseif math.type(message.id) ~= "integer" then
    return nil, refusal(nil, NO_REQUEST,
                        "Message must have integer 'id' property")
  elseif type(message.method) ~= "string" then
    return nil, refusal(message.id, NO_REQUEST,
                        "Message must have string 'method' property")
  end
  local params = parameters(message)
  local code, problem = problem_of(message, params, methods)
  if code then
    return nil, refusal(message.id, code, problem)
  end
  return {id = message.id, method = message.method, params = params}
end

function requests.perform (request, method, session, ...)
  local ok, result = pcall(method, session, request.params, ...)
  if ok then
    return {id = request.id, result = result}
  elseif fault.is(result) then
    return refusal(request.id, result.code, result.message)
  end
  return refusal(request.id, OURS, "Internal error: " .. words.value(result))
end

return requests
