-- values.lua - recorded values as debuggers show them, and as code has them
-- that is evaluated on them.
--
--   values.text(grip, pool)     as Lua would write it
--   values.said(grip, pool)     as print would have it
--   values.type(grip, pool)     "table", "function", ...
--   values.children(grip, pool) what is in an object: list of {name, grip,
--                               field, key}, and how many of them are its
--                               sequence, which comes first. 'field' is what is
--                               written behind the object to have it in code,
--                               'key' what packets write; nil: it is no field
--   values.live(grip, pool)     the value for code: tables with what was
--                               recorded of them; others stand for themselves
--   values.anew()               what is made from now on is made anew: code may
--                               have changed what there was
--   values.kind(value)          what type() says of such a value
--   values.grip(value)          a value that code has given, as grip and pool
--
-- Grips and pools are those of packets (docs/protocol.md). The same object of
-- one pool is the same table each time, until they are made anew.

local core = require "tracegrip.core"
local griptext = require "tracegrip.cli.griptext"
local sightings = require "tracegrip.cli.sightings"
core.own()

local NAME = "^[%a_][%w_]*$"

local values = {}

-- What a value of code was made of: value -> {grip, pool}.
local origins = setmetatable({}, {__mode = "k"})

-- The values that were made of a pool: pool -> index -> value.
local made = {}

local function object_of (grip, pool)
  return type(grip) == "table" and grip.type == "object"
         and pool[grip.objectId + 1] or nil
end

values.text = griptext

function values.said (grip, pool)
  return type(grip) == "string" and grip or griptext(grip, pool)
end

---------------------------------------------------------------------------
-- What it is
---------------------------------------------------------------------------

local types = {
  undefined = "nil", null = "userdata", NaN = "number", Infinity = "number",
  ["-Infinity"] = "number", ["-0"] = "number", BigInt = "number",
  longString = "string", bytes = "string", redacted = "hidden"
}

local basic = {["function"] = true, thread = true, userdata = true}

-- A class is the name in a metatable; then it is a table, as far as is known.
function values.type (grip, pool)
  local object = object_of(grip, pool)
  if object then
    return object.parameterNames and "function"
           or basic[object.class] and object.class or "table"
  end
  return type(grip) == "table" and types[grip.type] or type(grip)
end

---------------------------------------------------------------------------
-- What is in it
---------------------------------------------------------------------------

-- The key of a property, as a constructor would have it between brackets.
local function index_of (key)
  return math.tointeger(tonumber(string.match(key, "^%[(%-?%d+)%]$")))
end

local function field_of (key)
  if string.find(key, NAME) then
    return "." .. key
  elseif string.find(key, "^%[table ") or string.find(key, "^%[function ") then
    return nil
  elseif string.find(key, "^%[") then
    return key
  end
  return string.format("[%q]", key)
end

local function add_sequence (list, properties)
  local n = 0
  while properties[string.format("[%d]", n + 1)] do
    n = n + 1
    local key = string.format("[%d]", n)
    list[n] = {name = tostring(n), field = key, key = key,
               grip = properties[key].value}
  end
  return n
end

local function add_rest (list, properties, n)
  local keys = {}
  for key in pairs(properties) do
    local i = index_of(key)
    if not (i and i >= 1 and i <= n) then
      keys[#keys + 1] = key
    end
  end
  table.sort(keys)
  for _, key in ipairs(keys) do
    list[#list + 1] = {name = key, field = field_of(key), key = key,
                       grip = properties[key].value}
  end
end

function values.children (grip, pool)
  local object, list = object_of(grip, pool), {}
  if not object then
    return list, 0
  end
  local n = add_sequence(list, object.ownProperties)
  add_rest(list, object.ownProperties, n)
  if object_of(object.prototype, pool) then
    list[#list + 1] = {name = "[[metatable]]", grip = object.prototype}
  end
  if object.identity then
    list[#list + 1] = {name = "[[identity]]", grip = object.identity}
  end
  if object.url then
    list[#list + 1] = {name = "[[place]]", grip = string.format(
      "%s:%s", object.url, object.line or "?")}
  end
  if object.truncated then
    list[#list + 1] = {name = "[[truncated]]", grip = true}
  end
  return list, n
end

---------------------------------------------------------------------------
-- For code
---------------------------------------------------------------------------

local scalars = {
  undefined = function () return nil end,
  NaN = function () return 0 / 0 end,
  Infinity = function () return math.huge end,
  ["-Infinity"] = function () return -math.huge end,
  ["-0"] = function () return -0.0 end,
  BigInt = function (grip) return math.tointeger(tonumber(grip.text)) end,
  longString = function (grip) return grip.initial end,
}

-- What has no value here is a table that says what it stands for.
local function stand_in (grip, pool)
  local value = setmetatable({}, {__tostring = function ()
    return griptext(grip, pool)
  end})
  origins[value] = {grip = grip, pool = pool}
  return value
end

local function fill (value, object, pool)
  for key, property in pairs(object.ownProperties) do
    local item = values.live(property.value, pool)
    if item ~= nil then
      value[sightings.key(key)] = item
    end
  end
  if object.class ~= "table" then
    setmetatable(value, {__name = object.class})
  end
end

local function live_object (grip, pool, object)
  local known = made[pool] or {}
  made[pool] = known
  local id = grip.objectId + 1
  if not known[id] then
    if values.type(grip, pool) ~= "table" then
      known[id] = stand_in(grip, pool)
    else
      known[id] = {}
      origins[known[id]] = {grip = grip, pool = pool}
      fill(known[id], object, pool)
    end
  end
  return known[id]
end

function values.live (grip, pool)
  local object = object_of(grip, pool)
  if object then
    return live_object(grip, pool, object)
  elseif type(grip) ~= "table" then
    return grip
  end
  local scalar = scalars[grip.type]
  if scalar then
    return scalar(grip)
  end
  return stand_in(grip, pool)
end

function values.anew ()
  made = {}
end

function values.kind (value)
  local origin = type(value) == "table" and origins[value]
  if origin then
    return values.type(origin.grip, origin.pool)
  end
  return type(value)
end

---------------------------------------------------------------------------
-- From code
---------------------------------------------------------------------------

local function number_grip (value)
  if value ~= value then
    return {type = "NaN"}
  elseif value == math.huge or value == -math.huge then
    return {type = value > 0 and "Infinity" or "-Infinity"}
  end
  return value
end

local captured

local function key_text (key)
  if type(key) == "string" then
    return string.sub(key, 1, 1) == "[" and string.format("[%q]", key) or key
  end
  return string.format("[%s]", tostring(key))
end

local function captured_table (value, pool, seen)
  if not seen[value] then
    local object = {class = "table", ownProperties = {},
                    prototype = {type = "null"}}
    pool[#pool + 1] = object
    seen[value] = #pool - 1
    for key, item in pairs(value) do
      object.ownProperties[key_text(key)] = {value = captured(item, pool, seen)}
    end
  end
  return {type = "object", objectId = seen[value]}
end

-- Recorded values keep their own pool; here they are seen by their text.
function captured (value, pool, seen)
  local kind = type(value)
  if kind == "nil" then
    return {type = "undefined"}
  elseif kind == "number" then
    return number_grip(value)
  elseif kind == "table" and getmetatable(value) == nil then
    return captured_table(value, pool, seen)
  elseif kind == "string" or kind == "boolean" then
    return value
  end
  return tostring(value)
end

function values.grip (value)
  local origin = type(value) == "table" and origins[value]
  if origin then
    return origin.grip, origin.pool
  end
  local pool = {}
  return captured(value, pool, {}), pool
end

return values
