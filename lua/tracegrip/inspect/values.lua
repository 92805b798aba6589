-- values.lua - Lua's values as the protocol has them: RemoteObject,
-- ObjectPreview, PropertyDescriptor.
--
--   values.describe(value, group, preview)   a RemoteObject; its id, if it is
--                                            an object, is of that group
--   values.text(value, group)                the same with a preview, as JSON;
--                                            and its id, if it has one
--   values.table(value, group)               the same, with a preview for the
--                                            rows and columns of a table
--   values.properties(value)                 list of {name =, value =, key =},
--                                            of a table or a box
--   values.inherited(value)                  the same of what it has from
--                                            tables of its metatables
--   values.several(...)                      one value that shows all of these
--   values.fresh()                           a new message begins: how much
--                                            text one has is limited
--   values.internals(value, group)           list of {name =, value =} of what
--                                            is no property, [[Metatable]] and
--                                            the like; the values are
--                                            RemoteObjects
--   values.plain(table)                      a table as JSON has it; raises a
--                                            fault if that has no end
--   values.argument(argument)                the value of a CallArgument
--
-- No metamethod is ever called. Sequences are not called arrays: to the front
-- end those begin with 0.

local box = require "tracegrip.inspect.box"
local core = require "tracegrip.core"
local fault = require "tracegrip.inspect.fault"
local fields = require "tracegrip.inspect.fields"
local jsontext = require "tracegrip.jsontext"
local objects = require "tracegrip.inspect.objects"
local scripts = require "tracegrip.inspect.scripts"
local wire = require "tracegrip.wire"
local words = require "tracegrip.inspect.words"
core.own()

local getmetatable, getinfo = debug.getmetatable, debug.getinfo
local getupvalue = debug.getupvalue

local values = {}

local EXACT = 1 << 53           -- integers up to there are numbers in JSON
local LONGEST = 1 << 20         -- bytes of a string that are sent
local MESSAGE = 8 << 20         -- bytes of all strings of a message...
local SHORTEST = 200            -- ...and of each that comes after that
local NAMED, INDEXED = 5, 100   -- properties in a preview, as in V8
local ROWS = 1000               -- the same of console.table
local CUT = 100                 -- characters of a string there
local PLAIN, DEEPEST = 100000, 100      -- values in a table that is given as
                                        -- JSON, and levels

---------------------------------------------------------------------------
-- Remote objects
---------------------------------------------------------------------------

local left = MESSAGE

function values.fresh ()
  left = MESSAGE
end

-- Where a text may end that is to be so long at most: not within a character.
local function boundary (bytes, last)
  local at = last
  while at > last - 4 and at > 0
        and string.find(bytes, "^[\x80-\xbf]", at + 1) do
    at = at - 1
  end
  return string.find(bytes, "^[\x80-\xbf]", at + 1) and last or at
end

local function limited (bytes)
  local most = math.min(LONGEST, math.max(left, SHORTEST))
  left = left - math.min(#bytes, most)
  if #bytes <= most then
    return bytes
  end
  return string.format("%s... (%d bytes)",
                       string.sub(bytes, 1, boundary(bytes, most)), #bytes)
end

local scalars = {}

scalars["nil"] = function ()
  return {type = "undefined"}
end

function scalars.boolean (value)
  return {type = "boolean", value = value}
end

function scalars.number (value)
  local text = words.number(value)
  if math.type(value) == "integer" and (value > EXACT or value < -EXACT) then
    return {type = "bigint", unserializableValue = text .. "n",
            description = text}
  elseif string.find(text, "^%-?[NI]") or text == "-0" then
    return {type = "number", unserializableValue = text, description = text}
  end
  return {type = "number", value = value, description = text}
end

function scalars.string (value)
  return {type = "string", value = words.text(limited(value))}
end

local kinds = {["function"] = {type = "function", class = "Function"},
               thread = {type = "object", class = "thread"}}

local function object_of (value)
  local known = kinds[type(value)]
  return {
    type = known and known.type or "object",
    className = box.is(value) and value.class or known and known.class
                or words.class(value) or type(value),
    description = words.value(value)
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
  if preview and object.type == "object"
     and not (box.is(value) and value.folded) then
    object.preview = preview_of(value, object)
  end
  return object
end

-- Of these the text is known without a table: what logs does so often.
local written = {}

function written.number (value)
  return math.type(value) == "integer" and value <= EXACT and value >= -EXACT
         and string.format('{"description":"%d","type":"number","value":%d}',
                           value, value)
end

function written.string (value)
  return '{"type":"string","value":'
         .. jsontext.string(words.text(limited(value))) .. "}"
end

function values.text (value, group)
  local text = written[type(value)] and written[type(value)](value)
  if text then
    return text
  end
  local object = values.describe(value, group, true)
  return wire.json(object), object.objectId
end

---------------------------------------------------------------------------
-- Properties
---------------------------------------------------------------------------

local function shortened (text)
  if utf8.len(text) <= CUT then
    return text
  end
  local head = string.sub(text, 1, utf8.offset(text, CUT / 2 + 1) - 1)
  return head .. "…" .. string.sub(text, utf8.offset(text, -(CUT / 2 - 1)))
end

-- Of a large table its parts, each of which is read when it is opened.
function values.properties (value)
  if box.is(value) then
    return value.list()
  end
  return type(value) == "table" and fields.all(value) or {}
end

-- Fields of the tables that "__index" leads to, which the value does not have
-- itself: methods, as a rule. Of large ones there are none.
function values.inherited (value)
  local list, known, seen = {}, {}, {}
  local meta = getmetatable(value)
  local from = type(meta) == "table" and rawget(meta, "__index")
  local own = type(value) == "table" and not box.is(value) and value or {}
  while type(from) == "table" and not seen[from] and not box.is(value) do
    seen[from] = true
    for _, one in ipairs(fields.some(from, INDEXED)) do
      if one.key ~= nil and rawget(own, one.key) == nil
         and not known[one.key] then
        known[one.key] = true
        list[#list + 1] = one
      end
    end
    meta = getmetatable(from)
    from = type(meta) == "table" and rawget(meta, "__index")
  end
  return list
end

-- Several values, as one that shows all of them.
function values.several (...)
  local all, texts = table.pack(...), {}
  for i = 1, all.n do
    local one = all[i]
    local text = shortened(words.value(one))
    texts[i] = type(one) == "string" and '"' .. text .. '"' or text
  end
  return box.new {
    description = table.concat(texts, ", "), class = "values", folded = true,
    list = function ()
      local list = {}
      for i = 1, all.n do
        list[i] = {name = string.format("%d", i), value = all[i], key = i}
      end
      return list
    end
  }
end

local function upvalues (f)
  return box.new {
    description = "Upvalues", class = "Upvalues",
    list = function ()
      local list, i = {}, 1
      local name, value = getupvalue(f, i)
      while name do
        list[i] = {name = name == "" and string.format("(%d)", i) or name,
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
        list[#list + 1] = {name = string.format("%d", level),
          value = string.format("%s:%d: %s", info.short_src, info.currentline,
                                       info.name or info.what)}
        level = level + 1
        info = getinfo(co, level, "nSl")
      end
      return list
    end
  }
end

-- Where a Lua function begins: a click on it leads there. nil: of others.
local function place_of (f)
  local info = getinfo(f, "S")
  if info.what == "C" or core.inspector.own(f) then
    return nil
  end
  local line = math.max(info.linedefined, 1)
  return {
    type = "object", value = {scriptId = scripts.meet(info.source).id,
                              lineNumber = line - 1, columnNumber = 0},
    description = string.format("%s:%d", words.text(info.short_src), line)
  }
end

-- What is no property, for people to see.
function values.internals (value, group)
  local list, kind = {}, type(value)
  local function add (name, object)
    list[#list + 1] = object and {name = name, value = object}
  end
  if box.is(value) then
    return list
  elseif getmetatable(value) then
    add("[[Metatable]]", values.describe(getmetatable(value), group))
  end
  if kind == "function" then
    add("[[FunctionLocation]]", place_of(value))
    if getupvalue(value, 1) then
      add("[[Upvalues]]", values.describe(upvalues(value), group))
    end
  elseif kind == "thread" then
    add("[[Status]]", values.describe(coroutine.status(value)))
    add("[[Stack]]", values.describe(stack(value), group))
  end
  return list
end

---------------------------------------------------------------------------
-- Previews
---------------------------------------------------------------------------

local function property_preview (one, levels)
  local value = one.value
  local scalar = scalars[type(value)]
  local kind = scalar and scalar(value) or object_of(value)
  local text = kind.type == "function" and ""
               or shortened(words.value(value))
  return {name = one.name, type = kind.type, value = text,
          valuePreview = levels > 0 and kind.type == "object"
                         and preview_of(value, kind, ROWS, levels - 1) or nil}
end

local function previewed (value, most)
  if type(value) == "table" and not box.is(value) then
    return fields.some(value, most)
  end
  return values.properties(value), true
end

-- Own properties only; what there is beyond the limits is an overflow. Of
-- properties that are objects there are previews too, for so many levels.
function preview_of (value, object, most, levels)
  local named, indexed, list = 0, 0, {}
  local shown, all = previewed(value, most or INDEXED)
  local overflow = not all
  for _, one in ipairs(shown) do
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
-- By value
---------------------------------------------------------------------------

local function is_sequence (t)
  local n = 0
  for _ in next, t do
    n = n + 1
  end
  for i = 1, n do
    if rawget(t, i) == nil then
      return false
    end
  end
  return n > 0
end

local plain

-- What JSON has no word for is null, or an object without fields.
local function plain_value (value, budget, depth)
  if type(value) == "table" then
    return plain(value, budget, depth + 1)
  elseif not scalars[type(value)] then
    return {}
  end
  local known = scalars[type(value)](value).value
  return known == nil and wire.null or known
end

-- A table that is in itself is deeper than any.
function plain (t, budget, depth)
  local list = is_sequence(t)
  local all = list and wire.array {} or {}
  for key, value in next, t do
    budget.left = budget.left - 1
    if budget.left < 0 or depth > DEEPEST then
      fault.raise("Object reference chain is too long")
    end
    all[list and key or words.key(key)] = plain_value(value, budget, depth)
  end
  return all
end

function values.plain (t)
  return plain(t, {left = PLAIN}, 1)
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
    local number = unserializable[text]
                   or math.tointeger(string.match(text, "^(.*)n$"))
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
