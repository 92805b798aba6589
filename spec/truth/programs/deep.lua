-- A deep recursion that comes back, and a flat loop.
local turns = tonumber(arg[1])
local function down (n)
  if n > 0 then
    return 1 + down(n - 1)
  end
  return 0
end
local function flat (n)
  local list = {}
  for i = 1, n do
    list[i] = i * i
  end
  return list
end
for _ = 1, turns do
  down(150)
  flat(500)
end
