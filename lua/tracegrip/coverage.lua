-- coverage.lua - which functions and lines of a source have run, from what was
-- counted (csrc/coverage/) and what its text compiles to.
--
--   coverage.functions(compiled, counted)
--                      functions of one source: list of {first, last, calls,
--                      lines = {{line, count}, ...}, ends = {[line] = true}},
--                      in the order of their first lines; those that were never
--                      called too
--     compiled         what lines.of says of the source
--     counted          what was counted of it: list of {first, last, calls,
--                      lines = {[line] = count}}
--   coverage.lines(functions)
--                      list of {line, count} of the source, in order: lines
--                      with code, of which each counts as often as it was
--                      reached in all functions that it is of
--
-- Lines that have code are those that debug.getinfo calls active; counts of
-- others, as Lua's hook gives some for a function's end, are left out. So are,
-- for a source, lines where functions do no more than end (lines.lua): an "end"
-- is reached by whoever makes the function, called or not, and not by a
-- function that returns before.

local core = require "tracegrip.core"
core.own()

local lua = core.lua          -- the program may have changed its own libraries
local math, string, table = lua.math, lua.string, lua.table
local ipairs, pairs = lua.ipairs, lua.pairs

local coverage = {}

local function key (one)
  return string.format("%d %d", one.first, one.last)
end

-- One that has run and was not called was running when counting began.
local function counts_of (one, found)
  local list, calls = {}, found and found.calls or 0
  for i, line in ipairs(one.active) do
    local count = found and found.lines[line] or 0
    list[i] = {line, count}
    calls = math.max(calls, math.min(count, 1))
  end
  return {first = one.first, last = one.last, calls = calls, lines = list,
          ends = one.ends}
end

-- A file that was loaded by several names is counted by each.
local function sum_up (counted)
  local by_place = {}
  for _, one in ipairs(counted) do
    local sum = by_place[key(one)] or {calls = 0, lines = {}}
    sum.calls = sum.calls + one.calls
    for line, count in pairs(one.lines) do
      sum.lines[line] = (sum.lines[line] or 0) + count
    end
    by_place[key(one)] = sum
  end
  return by_place
end

-- Adds the lines of 'other', which shares both lines with it: "return function
-- () return function ()".
local function join (one, other)
  local active = {}
  for _, line in ipairs(one.active) do
    active[line] = true
  end
  for _, line in ipairs(other.active) do
    if not active[line] then
      table.insert(one.active, line)
      one.ends[line] = other.ends[line]
    elseif not other.ends[line] then
      one.ends[line] = nil
    end
  end
  table.sort(one.active)
end

local function copy (one)
  local ends = {}
  for line in pairs(one.ends or {}) do
    ends[line] = true
  end
  return {first = one.first, last = one.last, ends = ends,
          active = table.move(one.active, 1, #one.active, 1, {})}
end

-- Two that share both lines are counted as one.
local function joined (compiled)
  local list, by_place = {}, {}
  for _, one in ipairs(compiled) do
    local other = copy(one)
    if by_place[key(one)] then
      join(by_place[key(one)], other)
    else
      by_place[key(one)], list[#list + 1] = other, other
    end
  end
  return list
end

function coverage.functions (compiled, counted)
  local by_place, list = sum_up(counted), {}
  for i, one in ipairs(joined(compiled)) do
    list[i] = counts_of(one, by_place[key(one)])
  end
  table.sort(list, function (a, b)
    if a.first ~= b.first then
      return a.first < b.first
    end
    return a.last > b.last
  end)
  return list
end

function coverage.lines (functions)
  local counts, list = {}, {}
  for _, one in ipairs(functions) do
    for _, pair in ipairs(one.lines) do
      local line = pair[1]
      if not one.ends[line] then
        if not counts[line] then
          counts[line] = {line, 0}
          list[#list + 1] = counts[line]
        end
        counts[line][2] = counts[line][2] + pair[2]
      end
    end
  end
  table.sort(list, function (a, b) return a[1] < b[1] end)
  return list
end

return coverage
