-- The same work on top of 150,000 frames: what a sample costs there.
local DEPTH, TURNS = 150000, 8000

local function work (n)
  local sum = 0
  for i = 1, n do
    sum = sum + i % 7
  end
  return sum
end

local function deep (n)
  if n > 0 then
    return 1 + deep(n - 1)
  end
  local sum = 0
  for _ = 1, TURNS do
    sum = sum + work(7000)
  end
  return sum
end

return function ()
  return deep(DEPTH)
end
