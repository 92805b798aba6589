-- random.lua - a random program with traces whose reports are checked.
--
--   lua5.4 -e 'loadfile("random.lua")(directory, root)' program.lua
--
-- One trace sees the whole program; trace(n), which the program calls, starts
-- and stops others, so that frames are open at both ends of those. At the end
-- the report and the tree of each, and of the whole under many filters, are
-- compared with plain Lua's. What is wrong goes to the file "wrong" in
-- `directory`, and the number of comparisons to "count".

-- luacheck: globals trace

local directory, root = ...

local path, cpath = package.path, package.cpath
package.path = root .. "/?.lua;" .. path
package.cpath = cpath:gsub("/lib/lua/5%.4/%?%.so", "/spec/?.so")
local atexit = require "atexit"
package.cpath = cpath
local tracegrip = require "tracegrip"
local compare = require "spec.report.compare"
package.path = path

local running, all = {}, {}
local whole, count = nil, 0

local kinds = {
  {}, {c = false}, {exclude = {"^say$", "^num$", "^f[135]$", "^coroutine"}},
  {include = {"^f[24]$", "^num$", "^pcall$", "^O:"}}, {maxDepth = 3},
  {maxDepth = 2, exclude = {"^pcall$", "chunk"}}, {maxEvents = 50},
  {minDuration = 0.005}, {overflow = "ring", buffer = 4096},
}

local finish

-- When the state closes, what was made last is finalized first; so each trace
-- has a guard that is younger, and the first one finalized does everything.
local guard = {__gc = function () finish() end}

function trace (n)
  local one = running[n]
  if one then
    one:stop()
    running[n] = nil
    return
  end
  kinds[n].trace = {"name", "location", "time", "thread"}
  running[n] = tracegrip.start(kinds[n])
  all[#all + 1] = running[n]
  all[setmetatable({}, guard)] = true
end

local function write (name, text)
  local file = assert(io.open(directory .. "/" .. name, "w"))
  assert(file:write(text))
  file:close()
end

local function check (what, wrong)
  count = count + 1
  if wrong then
    write("wrong", what .. ": " .. wrong)
    error(wrong)
  end
end

-- Filters that suit what there is: each a table, and whether it bounds time.
local function filters (packets)
  local function time (share)
    local packet = packets[math.max(1, #packets * share // 100)]
    return packet and packet.time or 0.0
  end
  return {
    {}, {c = false}, {include = {"^f[24]$", "^pcall$"}}, {maxDepth = 2},
    {exclude = {"^say$", "^num$", "^coroutine"}, maxDepth = 4},
    {thread = 1}, {thread = 2}, {thread = 5, c = false},
    {from = time(30), to = time(70)}, {from = time(50), to = time(50)},
    {from = time(10), to = time(90), exclude = "coroutine", maxDepth = 3},
    {minDuration = 0.002}, {minDuration = 0.01, c = false},
  }
end

local function write_filter (filter)
  local list = {}
  for key, value in pairs(filter) do
    list[#list + 1] = key .. "=" .. tostring(value)
  end
  return table.concat(list, " ")
end

function finish ()
  finish = function () end
  whole:stop()
  for _, one in ipairs(all) do
    one:stop()
  end
  local packets = compare.collect(whole)
  local list = filters(packets)
  for i = 1, #list, 1 + #packets // 2000 do   -- some, if there is much
    local filter = list[i]
    local what = ("filter %d (%s)"):format(i, write_filter(filter))
    check(what, compare.filter(whole, packets, filter))
    check(what, compare.report(whole, filter))
  end
  for i, one in ipairs(all) do
    check(("trace %d"):format(i), compare.report(one))
    check(("trace %d, filtered"):format(i),
          compare.report(one, {c = false, maxDepth = 3}))
  end
  write("count", tostring(count))
end

local function start (options)
  whole = tracegrip.start(options)
  return whole
end

atexit(start, {trace = tracegrip.traceTypes, valueDepth = 0},
       function () finish() end)
