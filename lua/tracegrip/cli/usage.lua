-- usage.lua - what calls allocated, as columns: for report and tree, in the
-- orders that are of memory.

local core = require "tracegrip.core"
local functions = require "tracegrip.cli.functions"
local main = require "tracegrip.cli.main"
local units = require "tracegrip.cli.units"
core.own()

local usage = {}

-- The orders: by what rows are sorted, the largest first.
usage.keys = {
  bytes = {"self_bytes", "total_bytes", "calls"},
  ["total-bytes"] = {"total_bytes", "self_bytes", "calls"},
  allocations = {"self_allocations", "total_allocations", "calls"}
}

-- The fields of a row that these columns show.
usage.fields = {"self_bytes", "total_bytes", "self_allocations",
                "total_allocations", "self_freed_bytes", "total_freed_bytes",
                "peak_bytes"}

-- Whether that is the order of a table of memory; there must be something to
-- show: 'memory' is what a report or a tree has of the whole.
function usage.asked (by, memory, path)
  if not usage.keys[by] then
    return false
  elseif not memory then
    main.fail("%s does not tell what was allocated (record --memory)", path)
  end
  return true
end

local function number (title, key, drop, text)
  return {title = title, right = true, drop = drop, text = function (row)
    return row[key] and row[key] > 0 and text(row[key]) or ""
  end}
end

local function size (n)
  return (units.bytes(n):gsub(" bytes?$", "   B"))
end

-- The columns before the function's name; parts are of 'whole' bytes.
function usage.columns (whole)
  return {
    functions.count("calls"),
    number("bytes", "self_bytes", nil, size),
    {title = "%", right = true, drop = 4, text = function (row)
      return row.self_bytes and units.percent(row.self_bytes, whole) or ""
    end},
    number("total", "total_bytes", nil, size),
    number("allocations", "self_allocations", 5, units.count),
    number("total", "total_allocations", 2, units.count),
    number("freed", "self_freed_bytes", 1, size),
    number("peak", "peak_bytes", 3, size),
    functions.names()
  }
end

-- "12.3 MiB in 4,567 allocations" of a whole.
function usage.told (memory)
  return units.bytes(memory.total_bytes) .. " in "
         .. units.several(memory.total_allocations, "allocation")
end

return usage
