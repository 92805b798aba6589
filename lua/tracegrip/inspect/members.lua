-- members.lua - the fields of a table and its methods, for the completion of
-- VS Code's debugger for JavaScript: that has a function of JavaScript run on
-- the object (enumerateProperties).
--
--   members.asked(code)           whether that is the function; without its
--                                 white space
--   members.answer(value, begin)  what it would give: names that begin so
--
-- No metamethod is called: of '__index' tables are looked at.

local core = require "tracegrip.core"
local wire = require "tracegrip.wire"
core.own()

local getmetatable = debug.getmetatable
local find, sub = string.find, string.sub

local members = {}

local LOOKED_AT, SHOWN = 10000, 1000    -- keys

function members.asked (code)
  return find(code, "Object.getOwnPropertyNames(", 1, true) ~= nil
         and find(code, "sortText:", 1, true) ~= nil
end

local function inherited (value)
  local meta = getmetatable(value)
  local index = type(meta) == "table" and rawget(meta, "__index")
  return type(index) == "table" and index or nil
end

-- Own fields are sorted first, then those of each table behind it.
local function add (found, value, begin, level)
  for key, field in next, value do
    found.looked = found.looked + 1
    if found.looked > LOOKED_AT or #found.list >= SHOWN then
      return
    elseif type(key) == "string" and sub(key, 1, #begin) == begin
           and not found.seen[key] then
      found.seen[key] = true
      found.list[#found.list + 1] = {
        label = key, sortText = string.rep("~", level) .. key,
        type = type(field) == "function" and "method" or "property"
      }
    end
  end
end

function members.answer (value, begin)
  local found = {list = wire.array {}, seen = {}, looked = 0}
  local level = 1
  while type(value) == "table" and level < 100 do
    add(found, value, begin, level)
    value, level = inherited(value), level + 1
  end
  return {result = found.list, isArray = false}
end

return members
