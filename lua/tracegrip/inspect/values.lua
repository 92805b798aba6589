-- values.lua - Lua's values as the protocol has them: RemoteObject,
-- ObjectPreview, PropertyDescriptor.
--
--   values.describe(value, group, preview)   a RemoteObject; its id, if it is
--                                            an object, is of that group
--   values.table(value, group)               the same, with a preview for the
--                                            rows and columns of a table
--   values.text(value)                       one line of it, as in messages
--   values.properties(value)                 list of {name =, value =, key =},
--                                            of a table or a box
--   values.internals(value)                  the same of what is no property:
--                                            [[Metatable]], ...
--   values.argument(argument)                the value of a CallArgument
--
-- No metamethod is ever called: tables are read by next and rawget, classes
-- told by a "__name" that is a string, addresses by %p. Sequences are not
-- called arrays: to the front end those begin with 0.

local box = require "tracegrip.inspect.box"
local core = require "tracegrip.core"
local fault = require "tracegrip.inspect.fault"
local objects = require "tracegrip.inspect.objects"
local wire = require "tracegrip.wire"
core.own()

local getmetatable, getinfo = debug.getmetatable, debug.getinfo
local getupvalue = debug.getupvalue

local values = {}

local EXACT = 1 << 53           -- integers up to there are numbers in JSON
local LONGEST = 1 << 20         -- bytes of a string that are sent
local NAMED, INDEXED = 5, 100   -- properties in a preview, as in V8
local ROWS = 1000               -- the same of console.table
local CUT = 100                 -- characters of a string there
local BUCKET = 100              -- properties that are shown at once, if a table
local MANY = 500                -- has more than this

---------------------------------------------------------------------------
-- Words
---------------------------------------------------------------------------

-- JSON has text and no bytes: what is not UTF-8 is written as Lua writes it.
local function as_text (bytes)
  if utf8.len(bytes) then
    return bytes
  end
  return (bytes:gsub("[\x80-\xff%c\\]", function (c)
    return ("\\x%02x"):format(c:byte())
  end))
end

local function limited (bytes)
  if #bytes <= LONGEST then
    return bytes
  end
  return ("%s... (%d bytes)"):format(bytes:sub(1, LONGEST), #bytes)
end

-- The class that a metatable names; nil.
local function class_of (value)
  local meta = getmetatable(value)
  local name = type(meta) == "table" and rawget(meta, "__name")
  return type(name) == "string" and as_text(name) or nil
end

local function function_text (f)
  local info = getinfo(f, "Su")
  if info.what == "C" then
    return ("function () { [C] %p }"):format(f)
  end
  local names = {}
  for i = 1, info.nparams do
    names[i] = debug.getlocal(f, i) or "?"
  end
  if info.isvararg then
    names[#names + 1] = "..."
  end
  return ("function (%s) { %s:%d }"):format(table.concat(names, ", "),
                                            as_text(info.short_src),
                                            info.linedefined)
end

local function table_text (t)
  local class, n = class_of(t), rawlen(t)
  return n > 0 and ("%s(#%d)"):format(class or "table", n) or class or "table"
end

-- Concatenation, unlike tostring, asks no metatable of numbers.
local function number_text (n)
  return n ~= n and "NaN" or n == math.huge and "Infinity"
         or n == -math.huge and "-Infinity"
         or n == 0 and math.type(n) == "float" and 1 / n < 0 and "-0"
         or n .. ""
end

local texts = {number = number_text, string = as_text, table = table_text,
               ["function"] = function_text}

function values.text (value)
  local kind = type(value)
  if box.is(value) then
    return value.description
  elseif texts[kind] then
    return texts[kind](value)
  elseif value == nil or kind == "boolean" then
    return value == nil and "nil" or value and "true" or "false"
  end
  return ("%s: %p"):format(class_of(value) or kind, value)
end

-- A key as the name of a property. A string that would look like another key
-- is told apart.
local function key_text (key)
  if type(key) == "string" then
    local text = as_text(key)
    return (text:find "^%-?%d+$" or text:find "^%[") and ("[%q]"):format(text)
           or text
  elseif math.type(key) == "integer" then
    return ("%d"):format(key)
  end
  return "[" .. values.text(key) .. "]"
end

---------------------------------------------------------------------------
-- Remote objects
---------------------------------------------------------------------------

local scalars = {}

scalars["nil"] = function ()
  return {type = "undefined"}
end

function scalars.boolean (value)
  return {type = "boolean", value = value}
end

function scalars.number (value)
  local text = number_text(value)
  if math.type(value) == "integer" and (value > EXACT or value < -EXACT) then
    return {type = "bigint", unserializableValue = text .. "n",
            description = text}
  elseif text:find "^%-?[NI]" or text == "-0" then
    return {type = "number", unserializableValue = text, description = text}
  end
  return {type = "number", value = value, description = text}
end

function scalars.string (value)
  return {type = "string", value = as_text(limited(value))}
end

local kinds = {["function"] = {type = "function", class = "Function"},
               thread = {type = "object", class = "thread"}}

local function object_of (value)
  local known = kinds[type(value)]
  return {
    type = known and known.type or "object",
    className = box.is(value) and value.class or known and known.class
                or class_of(value) or type(value),
    description = values.text(value)
  }
end

local preview_of

function values.describe (value, group, preview)
  local scalar = scalars[type(value)]
  if scalar then
    return scalar(value)
  end
  local object = object_of(value)
  object.objectId = objects.keep(value, group)
  if preview and object.type == "object" then
    object.preview = preview_of(value, object)
  end
  return object
end

---------------------------------------------------------------------------
-- Properties
---------------------------------------------------------------------------

local ranks = {number = 1, string = 2}

local function before (a, b)
  local ra, rb = ranks[type(a.key)] or 3, ranks[type(b.key)] or 3
  if ra ~= rb then
    return ra < rb
  elseif ra == 3 then
    return a.name < b.name
  end
  return a.key < b.key
end

local function entries (t)
  local list = {}
  for key, value in next, t do
    list[#list + 1] = {key = key, name = key_text(key), value = value}
  end
  table.sort(list, before)
  return list
end

-- A part of a table, whose fields can be changed there.
local function bucket (t, list, from)
  local to = math.min(from + BUCKET - 1, #list)
  local keys, by_name = {}, {}
  for i = from, to do
    keys[#keys + 1] = list[i].key
    by_name[list[i].name] = list[i].key
  end
  local name = ("[%s … %s]"):format(list[from].name, list[to].name)
  return {name = name, value = box.new {
    description = "", class = "table",
    list = function ()
      local part = {}
      for i, key in ipairs(keys) do
        part[i] = {key = key, name = key_text(key), value = rawget(t, key)}
      end
      return part
    end,
    set = function (field, value)
      local key = by_name[field]
      if key ~= nil then
        rawset(t, key, value)
      end
      return key ~= nil
    end
  }}
end

-- Of a large table its parts, each of which is read when it is opened.
function values.properties (value)
  if box.is(value) then
    return value.list()
  elseif type(value) ~= "table" then
    return {}
  end
  local list = entries(value)
  if #list <= MANY then
    return list
  end
  local buckets = {}
  for from = 1, #list, BUCKET do
    buckets[#buckets + 1] = bucket(value, list, from)
  end
  return buckets
end

local function upvalues (f)
  return box.new {
    description = "Upvalues", class = "Upvalues",
    list = function ()
      local list, i = {}, 1
      local name, value = getupvalue(f, i)
      while name do
        list[i] = {name = name == "" and ("(%d)"):format(i) or name,
                   value = value}
        i = i + 1
        name, value = getupvalue(f, i)
      end
      return list
    end
  }
end

local function stack (co)
  return box.new {
    description = "Stack", class = "Stack",
    list = function ()
      local list, level = {}, 0
      local info = getinfo(co, level, "nSl")
      while info and level < 100 do
        list[#list + 1] = {name = tostring(level),
          value = ("%s:%d: %s"):format(info.short_src, info.currentline,
                                       info.name or info.what)}
        level = level + 1
        info = getinfo(co, level, "nSl")
      end
      return list
    end
  }
end

-- What is no property, for people to see.
function values.internals (value)
  local list, kind = {}, type(value)
  local function add (name, what)
    list[#list + 1] = {name = name, value = what}
  end
  if box.is(value) then
    return list
  elseif getmetatable(value) then
    add("[[Metatable]]", getmetatable(value))
  end
  if kind == "function" then
    if getupvalue(value, 1) then
      add("[[Upvalues]]", upvalues(value))
    end
  elseif kind == "thread" then
    add("[[Status]]", coroutine.status(value))
    add("[[Stack]]", stack(value))
  end
  return list
end

---------------------------------------------------------------------------
-- Previews
---------------------------------------------------------------------------

local function shortened (text)
  if utf8.len(text) <= CUT then
    return text
  end
  local head = text:sub(1, utf8.offset(text, CUT / 2 + 1) - 1)
  return head .. "…" .. text:sub(utf8.offset(text, -(CUT / 2 - 1)))
end

local function property_preview (one, levels)
  local value = one.value
  local scalar = scalars[type(value)]
  local kind = scalar and scalar(value) or object_of(value)
  local text = kind.type == "function" and ""
               or shortened(values.text(value))
  return {name = one.name, type = kind.type, value = text,
          valuePreview = levels > 0 and kind.type == "object"
                         and preview_of(value, kind, ROWS, levels - 1) or nil}
end

-- Own properties only; what there is beyond the limits is an overflow. Of
-- properties that are objects there are previews too, for so many levels.
function preview_of (value, object, most, levels)
  local named, indexed, list = 0, 0, {}
  local overflow = false
  for _, one in ipairs(values.properties(value)) do
    local index = math.type(one.key) == "integer"
    if index and indexed < (most or INDEXED)
       or not index and named < (most or NAMED) then
      indexed = indexed + (index and 1 or 0)
      named = named + (index and 0 or 1)
      list[#list + 1] = property_preview(one, levels or 0)
    else
      overflow = true
    end
  end
  return {type = "object", description = object.description,
          overflow = overflow, properties = wire.array(list)}
end

function values.table (value, group)
  local object = values.describe(value, group)
  if object.type == "object" then
    object.preview = preview_of(value, object, ROWS, 1)
  end
  return object
end

---------------------------------------------------------------------------
-- The other way
---------------------------------------------------------------------------

local unserializable = {NaN = 0 / 0, Infinity = math.huge,
                        ["-Infinity"] = -math.huge, ["-0"] = -0.0}

function values.argument (argument)
  if argument.objectId ~= nil then
    return (objects.get(fault.string(argument, "objectId")))
  elseif argument.unserializableValue ~= nil then
    local text = fault.string(argument, "unserializableValue")
    local number = unserializable[text] or math.tointeger(text:match "^(.*)n$")
    if not number then
      fault.misuse("Invalid parameters: unserializableValue: not known here")
    end
    return number
  elseif type(argument.value) == "table" then
    fault.misuse("Invalid parameters: value: a string, a number or a boolean "
                 .. "expected")
  elseif argument.value == wire.null then
    return nil
  end
  return argument.value
end

return values
