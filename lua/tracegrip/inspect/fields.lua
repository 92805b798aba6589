-- fields.lua - the fields of a table, as a debugger shows them: in order, and
-- in parts if they are many.
--
--   fields.all(t)         list of {name =, value =, key =}; the value of a part
--                         is a box, and it has no key
--   fields.others(t)      the same of those that are not of its list
--   fields.key(t, name)   the key that has that name among them; the name
--                         itself, if none has it
--   fields.some(t, most)  the same for a preview: of a large table its
--                         sequence, up to so many, and a few others; whether
--                         that is all
--
-- Tables are read by next and rawget.

local box = require "tracegrip.inspect.box"
local core = require "tracegrip.core"
local fault = require "tracegrip.inspect.fault"
local words = require "tracegrip.inspect.words"
core.own()

local BUCKET = 100              -- fields that are shown at once, if a table has
local MANY = 500                -- more than this
local STRIDE = BUCKET * BUCKET
local SORTED = 20000            -- fields that are put in order

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

---------------------------------------------------------------------------
-- Keys
---------------------------------------------------------------------------

-- A table's keys, by number: those from 1 to 'n', which are themselves, then
-- 'total' others. These are a list, 'others', in order; of too many for that
-- there is none, and their order is that of 'next': marks[i] is the key before
-- number i * STRIDE + 1 of them.

local function is_index (key, n)
  return math.type(key) == "integer" and key >= 1 and key <= n
end

local function sorted (t, list)
  local all = {}
  for i, key in ipairs(list) do
    all[i] = property(t, key)
  end
  table.sort(all, before)
  return all
end

local function keys_sorted (t, list)
  local all = sorted(t, list)
  for i, one in ipairs(all) do
    all[i] = one.key
  end
  return all
end

local function note (keys, key, previous)
  if keys.total % STRIDE == 0 then
    keys.marks[keys.total // STRIDE] = previous
  end
  keys.total = keys.total + 1
  if keys.total <= SORTED then
    keys.others[keys.total] = key
    keys.numbers = keys.numbers or type(key) == "number"
  end
end

-- A sequence is in order already, unless there are numbers beside it.
local function put_in_order (t, keys)
  if keys.numbers and keys.n <= SORTED then
    for i = 1, keys.n do
      keys.others[#keys.others + 1] = i
    end
    keys.n = 0
  end
  keys.others = keys_sorted(t, keys.others)
  keys.total = #keys.others
end

local function keys_of (t)
  local keys = {n = rawlen(t), others = {}, total = 0, marks = {},
                numbers = false}
  local previous
  for key in next, t do
    if not is_index(key, keys.n) then
      note(keys, key, previous)
    end
    previous = key
  end
  if keys.total <= SORTED then
    put_in_order(t, keys)
  else
    keys.others = nil
  end
  return keys
end

-- The keys of these numbers among those that are in no order: a list.
local function met (t, keys, from, to)
  local list, number = {}, (from - 1) // STRIDE * STRIDE
  local ok, key = pcall(next, t, keys.marks[number // STRIDE])
  while ok and key ~= nil and number < to do
    if not is_index(key, keys.n) then
      number = number + 1
      list[#list + 1] = number >= from and key or nil
    end
    ok, key = pcall(next, t, key)
  end
  return ok and list or fault.raise("The table has changed: open it anew")
end

local function key_at (keys, i)
  if i <= keys.n then
    return i
  end
  return keys.others and keys.others[i - keys.n]
end

---------------------------------------------------------------------------
-- Parts
---------------------------------------------------------------------------

-- These fields, each by itself.
local function listed (t, keys, from, to)
  local list = {}
  for i = from, math.min(to, keys.others and to or keys.n) do
    local one = property(t, key_at(keys, i))
    list[#list + 1] = one.value ~= nil and one or nil
  end
  if keys.others or to <= keys.n then
    return list
  end
  local some = met(t, keys, math.max(from - keys.n, 1), to - keys.n)
  return table.move(sorted(t, some), 1, #some, #list + 1, list)
end

local part

local function name_of (keys, from, to)
  local first, last = key_at(keys, from), key_at(keys, to)
  if first == nil or last == nil then
    return string.format("(%d … %d)", from, to)
  end
  return string.format("[%s … %s]", words.key(first), words.key(last))
end

-- What is opened by one click: a part of a table, which may consist of parts.
-- Its fields can be changed there.
local function bucket (t, keys, from, to)
  return {name = name_of(keys, from, to), value = box.new {
    description = "", class = "table", folded = true,
    list = function ()
      return part(t, keys, from, to, BUCKET)
    end,
    set = function (field, value)
      for _, one in ipairs(to - from < STRIDE and listed(t, keys, from, to)
                           or {}) do
        if one.name == field then
          rawset(t, one.key, value)
          return true
        end
      end
      return false
    end
  }}
end

-- Keys by their numbers: each by itself, or so many together that there are
-- few.
function part (t, keys, from, to, most)
  local list, size = {}, BUCKET
  if to - from < most then
    return listed(t, keys, from, to)
  end
  while (to - from) // size >= BUCKET do
    size = size * BUCKET
  end
  for at = from, to, size do
    local last = math.min(at + size - 1, to)
    list[#list + 1] = at == last and listed(t, keys, at, at)[1]
                      or bucket(t, keys, at, last)
  end
  return list
end

function fields.all (t)
  local keys = keys_of(t)
  return part(t, keys, 1, keys.n + keys.total, MANY)
end

function fields.others (t)
  local keys, n = keys_of(t), rawlen(t)
  if keys.n == 0 and keys.others then           -- the list is among them
    local rest = {}
    for _, key in ipairs(keys.others) do
      if not is_index(key, n) then
        rest[#rest + 1] = key
      end
    end
    keys.others, keys.total = rest, #rest
  end
  return part(t, keys, keys.n + 1, keys.n + keys.total, MANY)
end

---------------------------------------------------------------------------
-- A key by its name
---------------------------------------------------------------------------

local literals = {["[true]"] = true, ["[false]"] = false}

-- One whose name is no more than its place in memory, or that is no text: among
-- those that may be it.
local function search (t, name)
  for key in next, t do
    local kind = type(key)
    if kind ~= "number" and (kind ~= "string" or not utf8.len(key))
       and words.key(key) == name then
      return key
    end
  end
end

-- As words.key has made the name; nil: it is no name of that form.
local function direct (t, name)
  if string.find(name, "^%-?%d+$") then
    return math.tointeger(tonumber(name)) or nil
  elseif literals[name] ~= nil then
    return literals[name]
  end
  local inner = string.match(name, "^%[(.*)%]$")
  if not inner then
    return rawget(t, name) ~= nil and name or nil
  elseif string.find(inner, '^"') then
    local chunk = load("return " .. inner, "=key", "t", {})
    local key = chunk and chunk()
    return type(key) == "string" and words.key(key) == name and key or nil
  end
  return tonumber(inner)
end

function fields.key (t, name)
  local key = direct(t, name)
  if key == nil then
    key = search(t, name)
  end
  if key == nil then
    key = name
  end
  return key
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
  local n, keys = rawlen(t), {}
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
  return sorted(t, keys)
end

function fields.some (t, most)
  if is_large(t) then
    return some_of(t, most), false
  end
  return fields.all(t), true
end

return fields
