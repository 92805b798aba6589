-- child.lua - reports a program that is traced from where it calls start().
--
--   lua5.4 child.lua root program.lua
--
-- To the program it offers start([options]), which starts a trace and returns
-- it. All are stopped when the program ends. Printed, for each trace: its rows
-- and its tree, without times, and what compare.lua finds wrong with them.

local root, program = ...

local path = package.path
package.path = root .. "/?.lua;" .. path
local tracegrip = require "tracegrip"
local compare = require "spec.report.compare"
package.path = path

local started = {}

-- luacheck: globals start
function start (options)
  options = options or {}
  options.trace = {"name", "location", "time", "thread"}
  local trace = tracegrip.start(options)
  started[#started + 1] = trace
  return trace
end

local function counts (one)
  local text = one.name .. " " .. one.calls
  for _, field in ipairs {"throws", "yields"} do
    if one[field] > 0 then
      text = text .. " " .. field:sub(1, -2) .. one[field]
    end
  end
  return text
end

local function by_name (list)
  list = table.move(list, 1, #list, 1, {})
  table.sort(list, function (a, b)
    return a.name < b.name or a.name == b.name and (a.line or 0) < (b.line or 0)
  end)
  return list
end

local function show_tree (node, indent)
  for _, child in ipairs(by_name(node.children)) do
    print(indent .. counts(child))
    show_tree(child, indent .. "  ")
  end
end

local function show (trace)
  local rows = by_name(trace:report().functions)
  for _, row in ipairs(rows) do
    print(counts(row))
  end
  if #rows == 0 then
    print "-"
  end
  show_tree(trace:tree(), "  ")
  local wrong = compare.report(trace)
  if wrong then
    print("wrong: " .. wrong)
  end
end

local chunk = assert(loadfile(program))
pcall(chunk)
for i = 1, #started do   -- no call before the last trace has stopped
  started[i]:stop()
end
for _, trace in ipairs(started) do
  show(trace)
end
