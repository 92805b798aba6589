-- functions.lua - what tables of functions have in common: their columns, and
-- the order of rows that are alike.

local core = require "tracegrip.core"
local columns = require "tracegrip.cli.columns"
local units = require "tracegrip.cli.units"
core.own()

local functions = {}

-- Numbers: 'text' of the row's value, which may be missing.
local function numbers (title, key, drop, text)
  return {title = title, right = true, drop = drop, text = function (row)
    return row[key] and text(row[key]) or ""
  end}
end

-- A time; 'drop' as columns.lua has it.
function functions.time (title, key, drop)
  return numbers(title, key, drop, units.column)
end

-- Of one call of a function; what was never called, but sampled or left, has
-- none. A column without any is left out.
function functions.call_time (title, drop)
  local key = title .. "_ms"
  return {title = title, right = true, drop = drop, sparse = true,
          text = function (row)
    return row[key] and row.calls > 0 and units.column(row[key]) or ""
  end}
end

-- A time's part of the whole; of a row that is 'apart' from that, none.
function functions.share (key, whole_ms, drop)
  return {title = "%", right = true, drop = drop, text = function (row)
    return row[key] and not row.apart and units.percent(row[key], whole_ms)
           or ""
  end}
end

-- How sure a self time is: one standard error, as a part of the whole. A column
-- in which all are exact is left out.
function functions.doubt (whole_ms, drop)
  return {title = "±", right = true, drop = drop, sparse = true,
          text = function (row)
    local error_ms = row.self_error_ms or 0
    return error_ms > 0 and units.percent(error_ms, whole_ms) or ""
  end}
end

-- A number, nothing if it is 0; a column without any is left out.
function functions.count (title, drop)
  local column = numbers(title, title, drop, function (n)
    return n > 0 and units.count(n) or ""
  end)
  column.sparse = true
  return column
end

-- Where a function is defined, "" if that is in no source.
local function place (row)
  if not row.url then
    return ""
  end
  local line = row.line and row.line > 0 and ":" .. row.line or ""
  return columns.clean(row.url) .. line
end

-- Who it is, behind the guides of a tree if there are any: the last columns.
function functions.names ()
  return {
    title = "function", cut = "back", least = 20, text = function (row)
      return (row.guides or "") .. columns.clean(row.name)
    end
  }, {title = "where", cut = "front", least = 20, text = place}
end

-- The order of functions that are alike in all that matters.
function functions.before (a, b)
  for _, key in ipairs {"name", "url"} do
    local x, y = a[key] or "", b[key] or ""
    if x ~= y then
      return x < y
    end
  end
  if (a.line or 0) ~= (b.line or 0) then
    return (a.line or 0) < (b.line or 0)
  end
  return (a.at or 0) < (b.at or 0)
end

return functions
