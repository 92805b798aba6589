--- dapschema.lua - the Debug Adapter Protocol's own JSON schema (version 1.71,
-- of microsoft/debug-adapter-protocol, in spec/dap/protocol.json without its
-- descriptions), and whether a message is as it says.
--
-- As much of JSON Schema (draft 4) as that uses. Messages are read by dkjson,
-- which keeps arrays and objects apart.

local dkjson = require "dkjson"

local run = require "spec.support.run"

local dapschema = {}

local definitions = dkjson.decode(
  run.read(run.root .. "/spec/dap/protocol.json")).definitions

local function is_list (value)
  local meta = type(value) == "table" and getmetatable(value)
  return meta and meta.__jsontype == "array"
end

local is = {}

function is.string (value) return type(value) == "string" end
function is.boolean (value) return type(value) == "boolean" end
function is.number (value) return type(value) == "number" end
function is.integer (value) return math.type(value) == "integer" end
function is.null (value) return value == nil or value == dkjson.null end
function is.array (value) return is_list(value) end
function is.object (value)
  return type(value) == "table" and not is_list(value)
end

local problem

local function of_type (kinds, value)
  for _, kind in ipairs(type(kinds) == "table" and kinds or {kinds}) do
    if is[kind](value) then
      return true
    end
  end
end

local function of_object (schema, value, at)
  for _, name in ipairs(schema.required or {}) do
    if value[name] == nil then
      return at .. "." .. name .. " is missing"
    end
  end
  for name, item in pairs(value) do
    local inner = (schema.properties or {})[name]
    if not inner and type(schema.additionalProperties) == "table" then
      inner = schema.additionalProperties
    end
    local found = inner and problem(inner, item, at .. "." .. name)
    if found then
      return found
    end
  end
end

local function of_any (list, value, at)
  local first
  for _, one in ipairs(list) do
    local found = problem(one, value, at)
    if not found then
      return nil
    end
    first = first or found
  end
  return first
end

local function of_enum (list, value, at)
  for _, one in ipairs(list) do
    if one == value then
      return nil
    end
  end
  return ("%s: %s is none of its values"):format(at, tostring(value))
end

-- What is wrong with a value; nil: nothing.
function problem (schema, value, at)
  if schema["$ref"] then
    local name = schema["$ref"]:match "^#/definitions/(.*)$"
    return problem(definitions[name], value, at)
  elseif schema.type and not of_type(schema.type, value) then
    return ("%s is %s, not %s"):format(at, type(value), tostring(schema.type))
  end
  local found = schema.enum and of_enum(schema.enum, value, at)
  for _, one in ipairs(schema.allOf or {}) do
    found = found or problem(one, value, at)
  end
  for _, list in pairs {schema.oneOf, schema.anyOf} do
    found = found or of_any(list, value, at)
  end
  if not found and is.object(value) then
    found = of_object(schema, value, at)
  elseif not found and is_list(value) and schema.items then
    for i, item in ipairs(value) do
      found = found or problem(schema.items, item, ("%s[%d]"):format(at, i))
    end
  end
  return found
end

local function capital (name)
  return name:sub(1, 1):upper() .. name:sub(2)
end

-- Requests that are not the protocol's: they are answered as these are.
local own = {stepBackIn = "stepBack", stepBackOut = "stepBack",
             history = "evaluate"}

-- What a message is called in the schema. Of a failed request the answer is
-- that of any.
local function definition_of (message)
  if message.type == "event" then
    return capital(message.event) .. "Event"
  elseif message.type == "request" then
    return capital(message.command) .. "Request"
  elseif message.success == false then
    return "ErrorResponse"
  end
  return capital(own[message.command] or message.command) .. "Response"
end

--- What is wrong with a message of the adapter's; nil: nothing.
function dapschema.problem (message)
  local name = definition_of(message)
  if not definitions[name] then
    return name .. " is not in the protocol"
  end
  return problem(definitions[name], message, name)
end

return dapschema
