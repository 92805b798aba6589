-- shop.lua - a few calls to watch: tracegrip run --no-c examples/shop.lua

local prices = {tea = 2.5, scone = 3.5}

local Bill = {__name = "Bill"}
Bill.__index = Bill

function Bill:add (line)
  local what, count = line:match "(%a+) x(%d+)"
  if not prices[what] then
    error {unknown = what}
  end
  self[what] = tonumber(count)
  return count * prices[what]
end

function Bill:total ()
  local sum = 0
  for what, count in pairs(self) do
    sum = sum + count * prices[what]
  end
  return sum
end

local function read_lines (order)
  for line in order:gmatch "[^\n]+" do
    coroutine.yield(line)
  end
end

local function serve (order)
  local bill = setmetatable({}, Bill)
  for line in coroutine.wrap(read_lines), order do
    pcall(bill.add, bill, line)
  end
  return bill:total()
end

print(serve "tea x2\nfish x1\nscone x1")
