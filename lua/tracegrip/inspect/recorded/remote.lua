-- remote.lua - recorded values as the protocol has them: RemoteObject,
-- ObjectPreview, PropertyDescriptor. As inspect/values.lua shows a program's.
--
--   remote.new(scripts)       what one front end is told of
--   self:describe(grip, pool, group, preview)
--                             a RemoteObject; its id, if it is an object that
--                             can be opened, is of that group
--   self:box(one, group)      the same of {name, items, pool}: items as
--                             replay/frames.lua has them; one that has a pool
--                             of its own is of that
--   self:properties(id, preview)
--                             what is in an object: property descriptors, and
--                             those of what is no property
--   self.objects              the keeper (objects.lua)
--
-- Grips and pools are those of packets (docs/protocol.md).

local core = require "tracegrip.core"
local objects = require "tracegrip.inspect.objects"
local programs = require "tracegrip.inspect.values"
local values = require "tracegrip.replay.values"
local wire = require "tracegrip.wire"
core.own()

local NAMED, INDEXED = 5, 100   -- properties in a preview, as in V8

local remote = {}

local Remote = {__name = "tracegrip.inspect.recorded.remote"}
Remote.__index = Remote

function remote.new (scripts)
  return setmetatable({scripts = scripts, objects = objects.new()}, Remote)
end

---------------------------------------------------------------------------
-- What is no object
---------------------------------------------------------------------------

local scalars = {}

function scalars.null ()
  return {type = "object", subtype = "null", value = wire.null}
end

function scalars.longString (grip)
  return programs.describe(("%s... (%d bytes)"):format(grip.initial,
                                                       grip.length))
end

-- What was not told: of a secret, or of bytes that are no text.
local function untold (grip, pool)
  return {type = "object", className = grip.type,
          description = values.text(grip, pool)}
end

scalars.bytes, scalars.redacted = untold, untold

-- nil: it is an object. Other scalars are what they are in Lua.
local function scalar_of (grip, pool)
  if type(grip) ~= "table" then
    return programs.describe(grip)
  elseif scalars[grip.type] then
    return scalars[grip.type](grip, pool)
  elseif grip.type ~= "object" then
    return programs.describe(values.live(grip, pool))
  end
end

---------------------------------------------------------------------------
-- Objects
---------------------------------------------------------------------------

-- The front end reads the name and the parameters in it.
local function function_text (object)
  local place = object.url and ("%s:%s"):format(object.url, object.line or "?")
                or "[C]"
  return ("function %s(%s) { %s }"):format(
    object.name or "", table.concat(object.parameterNames or {}, ", "), place)
end

local function object_of (grip, pool)
  local object = pool[grip.objectId + 1]
  local kind = values.type(grip, pool)
  if kind == "function" then
    return {type = "function", className = "Function",
            description = function_text(object)}
  end
  local _, n = values.children(grip, pool)
  return {type = "object", className = object.class,
          description = n > 0 and ("%s(#%d)"):format(object.class, n)
                        or object.class}
end

-- A value in a preview: a word or two.
local function property_preview (one, pool)
  local kind = scalar_of(one.grip, pool) or object_of(one.grip, pool)
  local text = kind.type == "function" and ""
               or kind.description or values.said(one.grip, pool)
  return {name = one.name, type = kind.type, subtype = kind.subtype,
          value = text}
end

-- Whether it is a property, and no word about the object.
local function is_property (one)
  return not one.name:find "^%[%["
end

-- 'n' of the items are a sequence, which comes first.
local function preview_of (items, n, pool, description)
  local list, named, indexed, overflow = {}, 0, 0, false
  for i, one in ipairs(items) do
    local is_index = i <= n
    if not is_property(one) then
      overflow = overflow or one.name == "[[truncated]]"
    elseif is_index and indexed < INDEXED or not is_index and named < NAMED then
      indexed = indexed + (is_index and 1 or 0)
      named = named + (is_index and 0 or 1)
      list[#list + 1] = property_preview(one, pool)
    else
      overflow = true
    end
  end
  return {type = "object", description = description, overflow = overflow,
          properties = wire.array(list)}
end

function Remote:describe (grip, pool, group, preview)
  local scalar = scalar_of(grip, pool)
  if scalar then
    return scalar
  end
  local object = object_of(grip, pool)
  object.objectId = self.objects.keep({grip = grip, pool = pool}, group)
  if preview and object.type == "object" then
    local items, n = values.children(grip, pool)
    object.preview = preview_of(items, n, pool, object.description)
  end
  return object
end

function Remote:box (one, group)
  return {type = "object", className = one.class or one.name,
          description = one.name, objectId = self.objects.keep(one, group)}
end

---------------------------------------------------------------------------
-- What is in them
---------------------------------------------------------------------------

-- A function's place leads there by a click.
local function place_of (self, of)
  local object = of.grip and of.pool[of.grip.objectId + 1]
  local script = object and object.url and object.line
                 and self.scripts:at(object.url)
  return script and script ~= self.scripts.c and {
    type = "object", description = ("%s:%d"):format(object.url, object.line),
    value = {scriptId = script.id, lineNumber = object.line - 1,
             columnNumber = 0}
  }
end

local function internal (self, one, of, group)
  local place = one.name == "[[place]]" and place_of(self, of)
  if place then
    return {name = "[[FunctionLocation]]", value = place}
  end
  return {name = one.name,
          value = self:describe(one.grip, one.pool or of.pool, group)}
end

function Remote:properties (id, preview)
  local of, group = self.objects.get(id)
  local list, others = wire.array {}, wire.array {}
  for _, one in ipairs(of.items or (values.children(of.grip, of.pool))) do
    if is_property(one) then
      list[#list + 1] = {
        name = one.name, writable = false, configurable = false,
        enumerable = true, isOwn = true,
        value = self:describe(one.grip, one.pool or of.pool, group, preview)
      }
    else
      others[#others + 1] = internal(self, one, of, group)
    end
  end
  return list, others
end

return remote
