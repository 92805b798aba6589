-- C calls Lua: table.sort and its comparison.
local turns = tonumber(arg[1])
local function less (a, b)
  return a < b
end
local function fill (list, n)
  local x = 42
  for i = 1, n do
    x = x * 1103515245 + 12345 & 0x7fffffff
    list[i] = x
  end
end
local list = {}
for _ = 1, turns do
  fill(list, 100)
  table.sort(list, less)
end
