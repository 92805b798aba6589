-- usage.lua - what calls allocated, and what is alive of it, as columns: for
-- report and tree, in the orders that are of memory.

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
  allocations = {"self_allocations", "total_allocations", "calls"},
  live = {"self_live_bytes", "total_live_bytes", "calls"},
  ["total-live"] = {"total_live_bytes", "self_live_bytes", "calls"},
  ["peak-live"] = {"self_peak_live_bytes", "total_peak_live_bytes", "calls"},
  ["total-peak-live"] = {"total_peak_live_bytes", "self_peak_live_bytes",
                         "calls"}
}

-- The fields of a row that these columns show.
usage.fields = {"self_bytes", "total_bytes", "self_allocations",
                "total_allocations", "self_freed_bytes", "total_freed_bytes",
                "peak_bytes", "self_live_bytes", "total_live_bytes",
                "self_live_blocks", "total_live_blocks",
                "self_peak_live_bytes", "total_peak_live_bytes",
                "self_peak_live_blocks", "total_peak_live_blocks"}

local function is_live (by)
  return usage.keys[by][1]:find "live" ~= nil
end

-- What a line has of an order of memory; nil: no line has a total.
function usage.line_key (by)
  local key = usage.keys[by][1]
  return key:find "^self" and key or nil
end

-- Whether that is the order of a table of memory; there must be something to
-- show: 'memory' is what a report or a tree has of the whole.
function usage.asked (by, memory, path)
  if not usage.keys[by] then
    return false
  elseif not (memory and memory.total_bytes) then
    main.fail("%s does not tell what was allocated (record --memory)", path)
  elseif is_live(by) and not memory.total_live_bytes then
    main.fail("%s does not tell what is alive: an older tracegrip made it",
              path)
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

local function share (key, whole, drop)
  return {title = "%", right = true, drop = drop, text = function (row)
    return row[key] and not row.rest and units.percent(row[key], whole) or ""
  end}
end

-- How sure a sum is where blocks were sampled, about one in 'every' bytes: one
-- standard error, as a part of the whole. A sum of n bytes is n / every
-- samples, and their number is off by its root.
local function doubt (key, whole, every, drop)
  return {title = "±", right = true, drop = drop, sparse = true,
          text = function (row)
    local n = every and row[key] or 0
    return n > 0 and units.percent(math.sqrt(n * every), whole) or ""
  end}
end

-- What is alive, or was when the heap was at its highest.
local function live_columns (memory, when)
  local self, total = "self" .. when .. "_bytes", "total" .. when .. "_bytes"
  local at_peak = when == "_peak_live"
  local other = at_peak and "_live_bytes" or "_peak_live_bytes"
  return {
    functions.count("calls"),
    number(at_peak and "at peak" or "live", self, nil, size),
    share(self, memory[total], 4),
    doubt(self, memory[total], memory.every_bytes, 3),
    number("total", total, nil, size),
    number("blocks", "self" .. when .. "_blocks", 2, units.count),
    number(at_peak and "at end" or "at peak", "self" .. other, 5, size),
    number("allocated", "self_bytes", 1, size),
    functions.names()
  }
end

-- The columns of a table in this order, the function's name last; 'memory' is
-- what the whole has.
function usage.columns (by, memory)
  if is_live(by) then
    return live_columns(memory, by:find "peak" and "_peak_live" or "_live")
  end
  local whole = memory.total_bytes
  return {
    functions.count("calls"),
    number("bytes", "self_bytes", nil, size),
    share("self_bytes", whole, 4),
    doubt("self_bytes", whole, memory.every_bytes, 6),
    number("total", "total_bytes", nil, size),
    number("allocations", "self_allocations", 5, units.count),
    number("total", "total_allocations", 2, units.count),
    number("freed", "self_freed_bytes", 1, size),
    number("peak", "peak_bytes", 3, size),
    functions.names()
  }
end

-- Whether a table in this order shows nothing of a row.
function usage.is_empty (row, by)
  for _, field in ipairs(usage.fields) do
    local shown = not (is_live(by) and field:find "freed")
    if shown and (row[field] or 0) > 0 then
      return false
    end
  end
  return true
end

-- What rows of functions do not have of a table in this order, as rows: what
-- was allocated, or lives, outside of all of them, and what of the heap is none
-- of the trace's.
function usage.rest (by, memory)
  local rows, outside = {}, {name = "(no traced function)"}
  for _, field in ipairs(usage.fields) do
    if field:find "^self" then
      outside[field] = memory[field]
    end
  end
  local key = usage.keys[by][1]:gsub("^total", "self")
  if memory[key] > 0 or memory.self_allocations + memory.self_freed_bytes > 0
                        and not is_live(by) then
    rows[1] = outside
  end
  local before = (memory.heap_bytes or 0) - (memory.total_live_bytes or 0)
  if is_live(by) and not by:find "peak" and not memory.every_bytes
     and before > 0 then
    rows[#rows + 1] = {name = "(from before the trace, or tracegrip's)",
                       self_live_bytes = before, rest = true}
  end
  return rows
end

-- "12.3 MiB in 4,567 allocations" of a whole; and what is alive of it.
function usage.told (memory)
  local text = units.bytes(memory.total_bytes) .. " in "
               .. units.several(memory.total_allocations, "allocation")
  if memory.total_live_bytes then
    text = ("%s, %s alive"):format(text, units.bytes(memory.total_live_bytes))
  end
  return text
end

-- What is to be known of the numbers, as lines.
function usage.notes (memory)
  local list = {}
  if memory.every_bytes then
    list[1] = ("note: one block in %s was counted, for all that are like it")
              :format(units.bytes(memory.every_bytes))
  end
  if memory.live_partial then
    list[#list + 1] = "note: what was alive when events were lost is not known"
  end
  return list
end

return usage
