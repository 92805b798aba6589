-- optionkinds.lua - what the text of a flag means: a function for each kind of
-- value, named in options.lua, and by commands for options of their own.
--
--   local value, expected = kinds.bytes "64k"     -- nil, what was expected

local core = require "tracegrip.core"
core.own()

local kinds = {}

function kinds.text (text)
  return text
end

-- A Lua pattern. Those that string.find would refuse are refused here.
function kinds.pattern (text)
  local ok, problem = pcall(string.find, "", text)
  if ok then
    return text
  end
  return nil, ("a Lua pattern, not '%s' (%s)"):format(text, problem)
end

local known = {samples = true}      -- not of calls
for _, name in ipairs(core.allTypes) do
  known[name] = true
end

-- Trace types, separated by commas.
function kinds.types (text)
  local list = {}
  for name in text:gmatch("[^,%s]+") do
    if not known[name] then
      return nil, "trace types (" .. table.concat(core.allTypes, " ")
                  .. "), not '" .. name .. "'"
    end
    list[#list + 1] = name
  end
  return #list > 0 and list or nil, "trace types"
end

-- In decimal digits and nothing else: what Lua reads besides is more often a
-- slip than meant, and then it is somebody else's process.
function kinds.count (text)
  local n = text:find "^%d+$" and math.tointeger(tonumber(text))
  return n or nil, "a whole number"
end

function kinds.compression (text)
  if text == "zstd" or text == "none" then
    return text
  end
  return nil, "zstd or none"
end

function kinds.percent (text)
  local n = text:find "^[%d.]+$" and tonumber(text)
  return n and n <= 100 and n or nil, "a number from 0 to 100"
end

local MOST = 0xFFFFFFFE    -- what depths, limits of values and threads can be

-- Numbered from 1.
function kinds.number (text)
  local n = kinds.count(text)
  return n and n >= 1 and n <= MOST and n or nil, "a number from 1 on"
end

function kinds.process (text)
  local n = kinds.count(text)
  return n and n >= 1 and n < 1 << 31 and n or nil, "the number of a process"
end

local FASTEST = 10000      -- samples a second

function kinds.rate (text)
  local n = kinds.number(text)
  return n and n <= FASTEST and n or nil, "a number from 1 to 10000"
end

function kinds.limit (text)
  local n = kinds.count(text)
  if text == "all" or n and n <= MOST then
    return n or text
  end
  return nil, "a whole number or 'all'"
end

function kinds.port (text)
  local n = kinds.number(text)
  return n and n <= 65535 and n or nil, "a port, 1 to 65535"
end

-- The same, or 0 for one that is free.
function kinds.anyport (text)
  if text == "0" then
    return 0
  end
  return kinds.port(text), "a port, 0 to 65535"
end

-- How many at most; nothing at all would make no sense.
function kinds.most (text)
  if text == "all" then
    return text
  end
  return kinds.number(text), "a number from 1 on or 'all'"
end

local sizes = {[""] = 1, K = 1 << 10, M = 1 << 20, G = 1 << 30}

function kinds.bytes (text)
  local number, unit = text:upper():match("^(%d+)([KMG]?)$")
  local n = number and math.tointeger(tonumber(number))
  if n and n <= (1 << 50) // sizes[unit] then
    return n * sizes[unit]
  end
  return nil, "a number of bytes, with K, M or G for more"
end

local units = {ms = 1, s = 1000, m = 60000}
local LONGEST = 1e12       -- milliseconds

-- Milliseconds, from a number with or without a unit.
local function span (text, unit)
  local number, suffix = text:match("^([%d.]+)(%a*)$")
  local factor = units[suffix == "" and unit or suffix]
  local value = tonumber(number)
  if value and factor and value * factor <= LONGEST then
    return value * factor
  end
  return nil, "a time, such as 500ms or 2s"
end

function kinds.ms (text)
  return span(text, "ms")
end

-- A moment of a recording: milliseconds on its clock, or {after = those since
-- the first call}, as viewers count.
function kinds.moment (text)
  local after = text:match "^%+(.*)"
  local value = kinds.ms(after or text)
  if not value then
    return nil, "a time: 500ms, 2s, or +2s from the first call"
  end
  return after and {after = value} or value
end

-- Of W3C's Trace Context, version 00.
function kinds.traceparent (text)
  local trace, parent = text:match("^00%-(%x+)%-(%x+)%-%x%x$")
  if text == text:lower() and trace and #trace == 32 and #parent == 16
     and trace:find "[^0]" and parent:find "[^0]" then
    return text
  end
  return nil, "00-TRACE-SPAN-FLAGS, of 32, 16 and 2 hexadecimal digits"
end

-- The key may be any text but an empty one.
function kinds.attribute (text)
  return text:find "^[^=]*[^=%s][^=]*=" and text or nil,
         "KEY=VALUE, such as service.version=1.4.0"
end

function kinds.seconds (text)
  return span(text, "s")
end

-- The same of what takes some time; none would mean no end.
function kinds.lasting (text)
  local value = kinds.seconds(text)
  return value and value > 0 and value or nil,
         "a time above 0, such as 500ms or 2s"
end

return kinds
