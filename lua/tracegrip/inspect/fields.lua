-- fields.lua - the fields of a table, as a debugger shows them: in order, and
-- in parts if they are many.
--
--   fields.all(t)         list of {name =, value =, key =}; the value of a part
--                         is a box, and it has no key
--   fields.some(t, most)  the same for a preview: of a large table its
--                         sequence, up to so many, and a few others; whether
--                         that is all
--
-- Tables are read by next and rawget.

local box = require "tracegrip.inspect.box"
local core = require "tracegrip.core"
local words = require "tracegrip.inspect.words"
core.own()

local BUCKET = 100              -- fields that are shown at once, if a table has
local MANY = 500                -- more than this

local fields = {}

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

local function property (t, key)
  return {key = key, name = words.key(key), value = rawget(t, key)}
end

local function is_index (key, n)
  return math.type(key) == "integer" and key >= 1 and key <= n
end

-- Its keys in order. A sequence is in order already, unless there are numbers
-- beside it.
local function keys_of (t)
  local n, list, others, numbers = rawlen(t), {}, {}, false
  for i = 1, n do
    list[#list + 1] = rawget(t, i) ~= nil and i or nil
  end
  for key in next, t do
    if not is_index(key, n) then
      others[#others + 1] = property(t, key)
      numbers = numbers or type(key) == "number"
    end
  end
  for i = 1, numbers and #list or 0 do
    others[#others + 1] = property(t, list[i])
  end
  table.sort(others, before)
  list = numbers and {} or list
  for _, one in ipairs(others) do
    list[#list + 1] = one.key
  end
  return list
end

local part

-- What is opened by one click: a part of a table, which may consist of parts.
-- Its fields can be changed there.
local function bucket (t, keys, from, to)
  local name = ("[%s … %s]"):format(words.key(keys[from]), words.key(keys[to]))
  return {name = name, value = box.new {
    description = "", class = "table", folded = true,
    list = function ()
      return part(t, keys, from, to, BUCKET)
    end,
    set = function (field, value)
      for i = from, to do
        if words.key(keys[i]) == field then
          rawset(t, keys[i], value)
          return true
        end
      end
      return false
    end
  }}
end

-- These keys: each by itself, or so many together that there are few.
function part (t, keys, from, to, most)
  local list, size = {}, BUCKET
  if to - from < most then
    for i = from, to do
      list[#list + 1] = property(t, keys[i])
    end
    return list
  end
  while (to - from) // size >= BUCKET do
    size = size * BUCKET
  end
  for at = from, to, size do
    list[#list + 1] = at == to and property(t, keys[at])
                      or bucket(t, keys, at, math.min(at + size - 1, to))
  end
  return list
end

function fields.all (t)
  local keys = keys_of(t)
  return part(t, keys, 1, #keys, MANY)
end

-- Whether a table has more fields than are shown at once.
local function is_large (t)
  local n = 0
  for _ in next, t do
    n = n + 1
    if n > MANY then
      return true
    end
  end
  return false
end

-- What a preview may show of a large table, without a look at all of it: its
-- sequence, and some of what else comes behind that.
local function some_of (t, most)
  local n, list, keys = rawlen(t), {}, {}
  for i = 1, math.min(n, most + 1) do
    keys[i] = i
  end
  local key, looks = next(t, n > 0 and n or nil), MANY
  while key ~= nil and looks > 0 do
    if not is_index(key, n) then
      keys[#keys + 1] = key
    end
    key, looks = next(t, key), looks - 1
  end
  for i, one in ipairs(keys) do
    list[i] = property(t, one)
  end
  table.sort(list, before)
  return list
end

function fields.some (t, most)
  if is_large(t) then
    return some_of(t, most), false
  end
  return fields.all(t), true
end

return fields
