-- What is recorded can be narrowed: by function, by depth, by duration. What a
-- hidden function calls is still seen.

local tracegrip = require "tracegrip"

local function leaf (n)
  return n * n
end

local function helper (n)
  return leaf(n) + leaf(n + 1)
end

local function work ()
  return helper(1) + helper(2)
end

local function names (options)
  options.trace = {"name", "depth"}
  local trace = tracegrip.start(options)
  work()
  trace:stop()
  local list = {}
  for packet in trace:packets() do
    if packet.type == "enteredFrame" then
      list[#list + 1] = packet.name .. "@" .. packet.depth
    end
  end
  return table.concat(list, " ")
end

print("all", names {c = false})
print("without helper", names {c = false, exclude = {"^helper$"}})
print("only leaf", names {include = {"^leaf$"}})
print("two levels", names {c = false, maxDepth = 2})

--[[ prints
all	work@0 helper@1 leaf@2 leaf@2 helper@1 leaf@2 leaf@2
without helper	work@0 leaf@1 leaf@1 leaf@1 leaf@1
only leaf	leaf@0 leaf@0 leaf@0 leaf@0
two levels	work@0 helper@1 helper@1
--]]
