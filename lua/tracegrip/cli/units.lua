-- units.lua - numbers as a person reads them.
--
-- Three digits tell what a time is; programs that want more ask for --json.

local core = require "tracegrip.core"
core.own()

local units = {}

local spans = {          -- milliseconds in one, its name
  {1e-6, "ns"}, {1e-3, "µs"}, {1, "ms"}, {1e3, "s"}
}

-- At most three digits, more only before the point.
local function digits (x)
  local places = x >= 99.95 and 0 or x >= 9.995 and 1 or 2
  return string.format("%." .. places .. "f", x)
end

-- The number and the unit's name of a time that is not negative.
local function scaled (ms)
  for i, unit in ipairs(spans) do
    local x = ms / unit[1]
    if x < 999.5 or i == #spans then
      return i == 1 and string.format("%.0f", x) or digits(x), unit[2]
    end
  end
end

-- 0.0123 -> "12.3 µs"
function units.span (ms)
  local number, unit = scaled(math.abs(ms))
  return (ms < 0 and "-" or "") .. number .. " " .. unit
end

-- The same with its unit as wide as any, for numbers one below the other.
function units.column (ms)
  local text = units.span(ms)
  return text:find(" s$") and text .. " " or text
end

-- A difference: always with its sign.
function units.change (ms)
  return (ms >= 0 and "+" or "") .. units.column(ms)
end

-- 1234567 -> "1,234,567"
function units.count (n)
  local text = string.format("%.0f", n)
  if #text <= 3 then
    return text
  end
  local groups
  repeat
    text, groups = text:gsub("^(-?%d+)(%d%d%d)", "%1,%2")
  until groups == 0
  return text
end

-- "1 call", "2 calls"
function units.several (n, what)
  return units.count(n) .. " " .. what .. (n == 1 and "" or "s")
end

-- The first 'limit' of a list, all without one, and the line that stands for
-- the rest, if there is any.
function units.first (list, limit, what)
  local n = math.min(limit or #list, #list)
  if n == #list then
    return list
  end
  return table.move(list, 1, n, 1, {}),
         ("… %s (--limit)"):format(units.several(#list - n, "more " .. what))
end

-- Of a whole, which may be nothing.
function units.percent (part, whole)
  return string.format("%.1f%%", whole > 0 and 100 * part / whole or 0)
end

local sizes = {"bytes", "KiB", "MiB", "GiB", "TiB"}

-- 1234567 -> "1.18 MiB"
function units.bytes (n)
  local i = 1
  while n >= 999.5 and i < #sizes do
    n, i = n / 1024, i + 1
  end
  if i == 1 then
    return n == 1 and "1 byte" or string.format("%d bytes", n)
  end
  return digits(n) .. " " .. sizes[i]
end

return units
