-- griptext.lua - a grip as a few words for a person, as Lua would have it:
-- nil, 42, "text", {1, 2, name = "n"}, function 'f', FILE*.
--
--   griptext(grip, pool)   grips and pools as packets have them, as tables
--
-- What is in a table is shown at one level, as far as a line has room.

local core = require "tracegrip.core"
local columns = require "tracegrip.cli.columns"
core.own()

local ROOM = 60         -- columns of a table's entries
local TEXT = 200        -- bytes of a string

local function quoted (text)
  if #text > TEXT then
    text = text:sub(1, TEXT) .. "…"
  end
  return '"' .. columns.clean(text) .. '"'
end

local scalars = {
  undefined = function () return "nil" end,
  null = function () return "null" end,
  redacted = function () return "(hidden)" end,
  NaN = function () return "nan" end,
  Infinity = function () return "inf" end,
  ["-Infinity"] = function () return "-inf" end,
  ["-0"] = function () return "-0.0" end,
  BigInt = function (grip) return grip.text end,
  longString = function (grip)
    return ("%s (of %d bytes)"):format(quoted(grip.initial), grip.length)
  end,
  bytes = function (grip)
    return ("(%d bytes that are no text)"):format(grip.length)
  end,
}

-- The name of an object without what is in it.
local function named (object)
  if object.class == "function" then
    return "function '" .. columns.clean(object.name or "?") .. "'"
  end
  return columns.clean(object.class)
end

local function brief (grip, pool)
  if type(grip) == "string" then
    return quoted(grip)
  elseif type(grip) ~= "table" then
    return tostring(grip)
  elseif scalars[grip.type] then
    return scalars[grip.type](grip)
  end
  local object = pool[grip.objectId + 1]
  return object and named(object) or "?"
end

-- "[1]" and "name" in the order of a table: the sequence first.
local function sorted_keys (properties)
  local keys = {}
  for key in pairs(properties) do
    keys[#keys + 1] = key
  end
  table.sort(keys, function (a, b)
    local i = tonumber(a:match "^%[(%d+)%]$")
    local j = tonumber(b:match "^%[(%d+)%]$")
    if i and j then
      return i < j
    elseif i or j then
      return i ~= nil
    end
    return a < b
  end)
  return keys
end

local function entries (object, pool)
  local parts, room = {}, ROOM
  for _, key in ipairs(sorted_keys(object.ownProperties)) do
    local value = brief(object.ownProperties[key].value, pool)
    local part = key == ("[%d]"):format(#parts + 1) and value
                 or columns.clean(key) .. " = " .. value
    room = room - columns.width(part) - 2
    if room < 0 then
      return parts, true
    end
    parts[#parts + 1] = part
  end
  return parts, object.truncated
end

local function griptext (grip, pool)
  local object = type(grip) == "table" and grip.type == "object"
                 and pool[grip.objectId + 1]
  if not object or object.parameterNames
     or object.class ~= "table" and not next(object.ownProperties) then
    return brief(grip, pool)
  end
  local parts, cut = entries(object, pool)
  if cut then
    parts[#parts + 1] = "…"
  end
  local class = object.class ~= "table" and columns.clean(object.class) .. " "
                or ""
  return class .. "{" .. table.concat(parts, ", ") .. "}"
end

return griptext
