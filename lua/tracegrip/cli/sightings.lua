-- sightings.lua - what a list of recorded values tells of one table, for a
-- person: where in the list the table is, and what has changed since another
-- list told of it. The lists are those of a history (core.history), as packets
-- have them.
--
--   sightings.where(list, table, names)
--                             "t", "t.items[2]", "value 1"; nil: it is not
--                             there. names: of parameters, or nil
--   sightings.object(list, table)
--                             its descriptor; nil
--   sightings.text(list, table)
--                             as Lua would write it
--   sightings.differences(old, new, table, field)
--                             list of {field, old, new}, texts of values, nil
--                             where there was none or is none; field: only this
--                             one, as packets write keys
--   sightings.key(text)       a key as it was: text, or what a constructor has
--                             between brackets
--
-- 'table' is the number that packets call "identity". What was not told is no
-- difference: as in csrc/replay/tablecontents.h.

local core = require "tracegrip.core"
local columns = require "tracegrip.cli.columns"
local griptext = require "tracegrip.cli.griptext"
core.own()

local NAME = "^[%a_][%w_]*$"

local sightings = {}

local function index_of (list, table)
  for i, object in ipairs(list.objectPool) do
    if object.identity == table then
      return i - 1, object
    end
  end
end

function sightings.object (list, table)
  return select(2, index_of(list, table))
end

function sightings.text (list, table)
  local index = index_of(list, table)
  return index and griptext({type = "object", objectId = index},
                            list.objectPool)
end

function sightings.key (text)
  local inner = string.match(text, "^%[(.*)%]$")
  if not inner then
    return text
  elseif inner == "true" or inner == "false" then
    return inner == "true"
  end
  return math.tointeger(tonumber(inner)) or tonumber(inner)
         or string.match(inner, '^"(.*)"$') or text
end

---------------------------------------------------------------------------
-- Where it is
---------------------------------------------------------------------------

local function is_object (grip)
  return type(grip) == "table" and grip.type == "object"
end

local function field_text (key)
  if key:find(NAME) then
    return "." .. key
  end
  return key:find "^%[" and columns.clean(key)
         or ('["%s"]'):format(columns.clean(key))
end

-- The fields of an object in an order that is always the same.
local function each_field (object)
  local keys = {}
  for key in pairs(object.ownProperties) do
    keys[#keys + 1] = key
  end
  table.sort(keys)
  local i = 0
  return function ()
    i = i + 1
    if keys[i] then
      return keys[i], object.ownProperties[keys[i]].value
    end
  end
end

-- The values of a list by what they are called: parameters, locals, numbers.
local function named_values (list, names)
  local all = {}
  for i, one in ipairs(list.values or {list.value}) do
    if type(one) == "table" and one.name ~= nil then
      all[i] = {name = tostring(one.name), grip = one.value}
    else
      local name = names and names[i] ~= "..." and names[i]
      all[i] = {name = name or ("value %d"):format(i), grip = one}
    end
  end
  return all
end

-- By breadth: the shortest way is told.
function sightings.where (list, wanted, names)
  local target = index_of(list, wanted)
  local queue, met = {}, {}
  for _, one in ipairs(named_values(list, names)) do
    if is_object(one.grip) then
      queue[#queue + 1] = {columns.clean(one.name), one.grip.objectId}
    end
  end
  for _, entry in ipairs(queue) do      -- grows meanwhile
    local name, id = entry[1], entry[2]
    if id == target then
      return name
    end
    local object = not met[id] and list.objectPool[id + 1]
    met[id] = true
    for key, grip in each_field(object or {ownProperties = {}}) do
      if is_object(grip) then
        queue[#queue + 1] = {name .. field_text(key), grip.objectId}
      end
    end
    if object and is_object(object.prototype) then
      queue[#queue + 1] = {name .. " (metatable)", object.prototype.objectId}
    end
  end
end

---------------------------------------------------------------------------
-- What has changed
---------------------------------------------------------------------------

-- A text that is the same for the same value; nil: the value is hidden.
local function sameness (grip, pool)
  if type(grip) ~= "table" then
    return (math.type(grip) or type(grip)) .. " " .. tostring(grip)
  elseif grip.type == "redacted" then
    return nil
  elseif grip.type ~= "object" then
    return table.concat({grip.type, grip.text or grip.initial or "",
                         grip.length or ""}, " ")
  end
  local object = pool[grip.objectId + 1] or {}
  if object.identity then
    return "table " .. object.identity
  end
  return table.concat({"object", object.name or object.class or "",
                       object.url or "", object.line or ""}, " ")
end

local function value_text (grip, pool)
  return grip ~= nil and griptext(grip, pool) or nil
end

-- One field of both, where they are told and differ.
local function difference (key, old, new)
  local a, b = old.fields[key], new.fields[key]
  if a == nil and old.cut or b == nil and new.cut then
    return nil
  end
  local was = a ~= nil and sameness(a, old.pool) or a == nil and "none"
  local is = b ~= nil and sameness(b, new.pool) or b == nil and "none"
  if was and is and was ~= is then
    return {field = key, old = value_text(a, old.pool),
            new = value_text(b, new.pool)}
  end
end

-- Fields by key; the metatable is one of them, by a name that no key has.
local function contents (list, wanted)
  local object = sightings.object(list, wanted)
  local fields = {}
  for key, grip in each_field(object or {ownProperties = {}}) do
    fields[key] = grip
  end
  local meta = object and object.prototype
  if is_object(meta) then
    fields["[[metatable]]"] = meta
  elseif meta and meta.truncated then   -- there is one
    fields["[[metatable]]"] = {type = "redacted"}
  end
  return {fields = fields, pool = list.objectPool,
          cut = not object or object.truncated}
end

function sightings.differences (old, new, wanted, field)
  old, new = contents(old, wanted), contents(new, wanted)
  local keys, found = {}, {}
  for _, side in ipairs {old, new} do
    for key in pairs(side.fields) do
      if not keys[key] and (not field or key == field) then
        keys[key], keys[#keys + 1] = true, key
      end
    end
  end
  table.sort(keys)
  for _, key in ipairs(keys) do
    found[#found + 1] = difference(key, old, new)
  end
  return found
end

return sightings
