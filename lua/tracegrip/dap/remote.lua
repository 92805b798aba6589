-- remote.lua - values as Chrome's protocol has them (RemoteObject), in words of
-- Lua.
--
--   remote.text(object, raw)    raw: a string without its quotes
--   remote.brief(object)        as a message of the console shows it
--   remote.argument(object)     the same value as a CallArgument
--   remote.type(object)         "number", "table" ...; nil: it is not told
--   remote.error(details)       what an exception says, in a line or more
--
-- Tables and functions are told by the program itself (Lua.describe): of those
-- there is only their description here.

local core = require "tracegrip.core"
core.own()

local remote = {}

local numbers = {NaN = "nan", Infinity = "math.huge",
                 ["-Infinity"] = "-math.huge", ["-0"] = "-0.0"}

local escapes = {["\n"] = "\\n", ["\r"] = "\\r", ["\t"] = "\\t",
                 ["\""] = "\\\"", ["\\"] = "\\\\"}

local function escape (c)
  return escapes[c] or string.format("\\%03d", string.byte(c))
end

function remote.text (object, raw)
  local kind = object.type
  if kind == "undefined" then
    return "nil"
  elseif kind == "string" then
    return raw and object.value
           or '"' .. string.gsub(object.value, '[%c"\\]', escape) .. '"'
  elseif kind == "bigint" then
    return (string.gsub(object.unserializableValue, "n$", ""))
  elseif object.unserializableValue then
    return numbers[object.unserializableValue] or object.unserializableValue
  end
  return object.description or tostring(object.value)
end

function remote.argument (object)
  if object.objectId then
    return {objectId = object.objectId}
  end
  return {value = object.value,
          unserializableValue = object.unserializableValue}
end

-- What a message of the console has of it: a string as it is, a table with the
-- fields that are told with it.
function remote.brief (object)
  local preview = object.preview
  if not preview or object.subtype == "error" then
    return remote.text(object, true)
  end
  local list = {}
  for i, one in ipairs(preview.properties) do
    local value = one.type == "string" and '"' .. one.value .. '"'
                  or one.value ~= "" and one.value or one.type
    list[i] = string.find(one.name, "^%d+$") and value
              or one.name .. " = " .. value
  end
  list[#list + 1] = preview.overflow and "…" or nil
  return "{" .. table.concat(list, ", ") .. "}"
end

local types = {undefined = "nil", bigint = "number", ["function"] = "function"}

function remote.type (object)
  return types[object.type] or object.type ~= "object" and object.type
         or object.className
end

-- The program's own word, not the name of the place where our code runs.
function remote.error (details)
  local thrown = details.exception or {}
  local text = thrown.description or thrown.value and tostring(thrown.value)
               or details.text
  text = string.gsub(text, "^SyntaxError: ", "")
  text = string.gsub(text, "\nstack traceback:.*$", "")
  return (string.gsub(text, "^%(evaluated%):%d+: ", ""))
end

return remote
