-- compare.lua - a trace's report, tree and packets against what reference.lua
-- and narrow.lua make of its packets.

local narrow = require "spec.report.narrow"
local reference = require "spec.report.reference"

local compare = {}

local ns = reference.ns

local function collect (trace, filter)
  local list = {}
  for packet in trace:packets(filter) do
    list[#list + 1] = packet
  end
  return list
end

compare.collect = collect

-- Where two values differ: a path, and what there is; nil if nowhere.
local function difference (a, b, path)
  if type(a) ~= "table" or type(b) ~= "table" then
    if a ~= b or math.type(a) ~= math.type(b) then
      return ("%s: expected %s, got %s"):format(path, a, b)
    end
    return nil
  end
  local keys = {}
  for key in pairs(a) do keys[key] = true end
  for key in pairs(b) do keys[key] = true end
  for key in pairs(keys) do
    local wrong = difference(a[key], b[key], path .. "." .. tostring(key))
    if wrong then
      return wrong
    end
  end
end

compare.difference = difference

-- Milliseconds have to be exactly what the nanoseconds give.
local function exact (ms)
  local n = ns(ms)
  return ms == n / 1e6 and math.type(ms) == "float" and n
         or "inexact " .. tostring(ms)
end

local function tally (one)
  return {
    calls = one.calls, self = exact(one.self_ms), total = exact(one.total_ms),
    throws = one.throws, yields = one.yields
  }
end

-- Rows of a report in the form of the reference.
local function rows_of (report)
  local rows, before = {}, math.huge
  for _, f in ipairs(report.functions) do
    local key = reference.key(f)
    local row = tally(f)
    row.min, row.max = exact(f.min_ms), exact(f.max_ms)
    row.mean = f.mean_ms
    row.twice = rows[key] and true
    row.order = f.self_ms > before or nil
    before = f.self_ms
    rows[key] = row
  end
  return rows
end

local function expected_rows (rows)
  for _, row in pairs(rows) do
    row.mean = row.sum and row.sum / row.calls / 1e6 or 0.0
    row.min, row.max, row.sum = row.min or 0, row.max or 0, nil
  end
  return rows
end

local function node_of (node)
  local new, before = tally(node), math.huge
  new.children = {}
  for _, child in ipairs(node.children) do
    local key = reference.key(child)
    local one = node_of(child)
    one.twice = new.children[key] and true
    one.order = child.total_ms > before or nil
    before = child.total_ms
    new.children[key] = one
  end
  return new
end

local function sum_of (report)
  local sum = 0
  for _, f in ipairs(report.functions) do
    sum = sum + ns(f.self_ms)
  end
  return sum
end

local function tree_sum (node)
  local sum = ns(node.self_ms)
  for _, child in ipairs(node.children) do
    sum = sum + tree_sum(child)
  end
  return sum
end

-- When the trace began and ended. A window says so itself; else the beginning
-- is as far before the first packet as the root's time is not explained by gaps
-- between packets, if frames are open at the end (with none open there, it does
-- not matter how much of that time comes after the last).
local function bounds (packets, filter, report, tree)
  local duration = ns(report.duration_ms)
  if filter and filter.from and filter.to then
    return ns(filter.from), ns(filter.to)
  end
  local first = packets[1] and ns(packets[1].time) or 0
  local gaps, open = reference.gaps(packets)
  local before = open and ns(tree.self_ms) - gaps or 0
  return first - before, first - before + duration
end

local function check_totals (report, tree, packets)
  local duration = ns(report.duration_ms)
  if report.events ~= #packets then
    return ("%d events, but %d packets"):format(report.events, #packets)
  elseif tree.total_ms ~= report.duration_ms then
    return "the root's total is not the duration"
  elseif tree_sum(tree) ~= duration then
    return "the tree's self times are not the duration"
  elseif sum_of(report) + ns(tree.self_ms) ~= duration then
    return "the report's self times are not the duration"
  end
end

-- The same filter, for the types that the reference needs.
-- Moments that were taken from packets are of the recording's times.
local function with_times (filter)
  local new = {raw = filter ~= nil and (filter.from or filter.to) ~= nil}
  for key, value in pairs(filter or {}) do
    new[key] = value
  end
  return new
end

local function with_types (filter)
  local new = {trace = {"name", "location", "time", "thread"}}
  for key, value in pairs(filter or {}) do
    new[key] = value
  end
  return new
end

--- What is wrong with the report and the tree of a trace, nil if nothing. The
-- trace has the types "name", "location", "time" and "thread".
function compare.report (trace, filter)
  filter = with_times(filter)
  local packets = collect(trace, with_types(filter))
  local report, tree = trace:report(filter), trace:tree(filter)
  local start, stop = bounds(packets, filter, report, tree)
  local rows, root = reference.profile(packets, start, stop)
  return check_totals(report, tree, packets)
         or difference(expected_rows(rows), rows_of(report), "report")
         or difference(root, node_of(tree), "tree")
end

--- What is wrong with the filtered packets of a trace of all types, of which
-- `packets` are all.
function compare.filter (trace, packets, filter)
  return difference(narrow(packets, filter), collect(trace, filter),
                    "packets")
end

return compare
