-- Coroutines that hand over to each other, and work in between.
local turns = tonumber(arg[1])
local function work (n)
  local sum = 0
  for i = 1, n do
    sum = sum + i % 3
  end
  return sum
end
local function produce ()
  for i = 1, math.huge do
    work(30)
    coroutine.yield(i)
  end
end
local function consume (n)
  local from = coroutine.wrap(produce)
  for _ = 1, n do
    from()
    work(10)
  end
end
consume(turns * 200)
