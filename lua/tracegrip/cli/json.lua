-- json.lua - what --json prints.
--
-- The names and their order are as the documents have them, and numbers keep
-- all their digits. Each entry of a list at the top has a line of its own, so
-- the text can be searched line by line as well. (cjson would know neither the
-- order nor whether an empty table is a list.)

local core = require "tracegrip.core"
local jsontext = require "tracegrip.jsontext"
core.own()

local json = {}

-- Keys in the order in which they are written; others follow by name.
local order = {
  "path", "program", "arguments", "date", "state", "reason", "versions",
  "frames", "pid", "command", "user", "lua", "states", "coroutines", "running",
  "cpu_ms", "readable", "recorder", "name", "url", "line", "last_line", "types",
  "start_ms",
  "stop_ms", "duration_ms", "events", "sample", "wall", "samples", "windows",
  "lost",
  "ended", "threads", "bytes",
  "file_bytes", "bytes_per_event", "calls", "self_ms", "total_ms", "min_ms",
  "mean_ms", "max_ms", "throws", "yields", "self_bytes", "total_bytes",
  "self_allocations", "total_allocations", "self_freed_bytes",
  "total_freed_bytes", "allocations", "allocated_bytes", "freed_bytes",
  "peak_bytes", "live_bytes", "live_blocks", "peak_live_bytes",
  "self_live_bytes", "total_live_bytes", "self_live_blocks",
  "total_live_blocks", "self_peak_live_bytes", "total_peak_live_bytes",
  "self_peak_live_blocks", "total_peak_live_blocks", "heap_bytes",
  "every_bytes", "live_partial", "memory", "change", "calls_change",
  "self_change_ms", "total_change_ms", "old", "new", "functions", "traces",
  "type", "time", "overhead", "hits", "interval", "start", "end", "eventID",
  "parentEventID", "childCount", "aggregatedTime", "aggregatedOverhead"
}

-- Those whose value is a list, also when it is empty.
local lists = {arguments = true, types = true, functions = true, traces = true}

local rank = {}
for i, key in ipairs(order) do
  rank[key] = i
end

local function before (a, b)
  local i, j = rank[a] or #order + 1, rank[b] or #order + 1
  if i ~= j then
    return i < j
  end
  return a < b
end

-- JSON has none for what is not finite.
local function number (x)
  if x ~= x or x == math.huge or x == -math.huge then
    return "null"
  end
  return jsontext.number(x)
end

local value                -- function, defined below

local function sorted_keys (object)
  local keys = {}
  for key in pairs(object) do
    keys[#keys + 1] = key
  end
  table.sort(keys, before)
  return keys
end

-- The parts of an object or a list and the brackets around them.
local function parts_of (object, is_list, level)
  local parts = {}
  if is_list or #object > 0 then
    for i, item in ipairs(object) do
      parts[i] = value(item, false, level + 1)
    end
    return parts, "[", "]"
  end
  for i, key in ipairs(sorted_keys(object)) do
    parts[i] = jsontext.string(key) .. ": "
               .. value(object[key], lists[key], level + 1)
  end
  return parts, "{", "}"
end

local function composed (object, is_list, level)
  local parts, open, close = parts_of(object, is_list, level)
  local tall = level == 0
               or level == 1 and type(object[1]) == "table"
  if not tall or #parts == 0 then
    return open .. table.concat(parts, ", ") .. close
  end
  local margin = "\n" .. (" "):rep(2 * level)
  return open .. margin .. "  " .. table.concat(parts, "," .. margin .. "  ")
         .. margin .. close
end

function value (x, is_list, level)
  local kind = type(x)
  if kind == "table" then
    return composed(x, is_list, level)
  elseif kind == "string" then
    return jsontext.string(x)
  elseif kind == "number" then
    return number(x)
  end
  return tostring(x)
end

-- An object on one line.
function json.object (object)
  return value(object, false, 2)
end

-- A table as a document, with its last newline.
function json.text (object)
  return value(object, false, 0) .. "\n"
end

return json
