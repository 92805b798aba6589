-- random.lua - a random program with traces whose reports are checked: report
-- and tree of each, and of the whole under many filters, are compared with
-- plain Lua's.
--
--   lua5.4 -e 'loadfile("random.lua")(directory, root)' program.lua

local directory, root = ...

local compare

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
    {minDuration = 0.05, thread = 2}, {minDuration = 0.1, maxDepth = 3},
  }
end

local function write_filter (filter)
  local list = {}
  for key, value in pairs(filter) do
    list[#list + 1] = key .. "=" .. tostring(value)
  end
  return table.concat(list, " ")
end

local function check (whole, list, ask)
  local packets = compare.collect(whole)
  local all = filters(packets)
  for i = 1, #all, 1 + #packets // 2000 do   -- some, if there is much
    local filter = all[i]
    local what = ("filter %d (%s)"):format(i, write_filter(filter))
    ask(1, what, compare.filter(whole, packets, filter))
    ask(1, what, compare.report(whole, filter))
  end
  for _, ms in ipairs {0.002, 0.1} do   -- the filter that has a state
    local filter = {minDuration = ms}
    ask(1, write_filter(filter), compare.filter(whole, packets, filter))
  end
  for i, one in ipairs(list) do
    ask(1, ("trace %d"):format(i), compare.report(one))
    ask(1, ("trace %d, filtered"):format(i),
        compare.report(one, {c = false, maxDepth = 3}))
  end
end

local how = {
  check = check,
  fields = {trace = {"name", "location", "time", "thread"}}
}

function how.prepare ()
  compare = require "spec.report.compare"
end

loadfile(root .. "/spec/support/randomly.lua")(directory, root, how)
