-- stall.lua - a program that goes on until it is told to stop, to be looked at
-- with Chrome DevTools: tracegrip serve --inspect examples/stall.lua
-- In their console, closed = true ends it.

local console = require "tracegrip.console"

local menu = {{name = "tea", price = 2.5}, {name = "scone", price = 3.5},
              {name = "fish", price = 9}}

local function weigh (item)
  local weight = 0
  for i = 1, 200 * #item.name do
    weight = weight + math.sin(i) ^ 2
  end
  return weight
end

local function price_of (item)
  if item.name == "fish" then
    return item.price * weigh(item) / 10
  elseif item.name == "soup" then
    return 0
  end
  return item.price
end

local function serve (customer)
  local bill = {customer = customer, total = 0}
  for _, item in ipairs(menu) do
    bill.total = bill.total + price_of(item)
  end
  return bill
end

local function report (bill)
  console.group("customer " .. bill.customer)
  console.log("pays", bill)
  if bill.total > 100 then
    console.warn("That is a lot:", bill.total)
  end
  console.groupEnd()
end

console.table(menu)
local customer = 0
while not _G.closed do
  customer = customer + 1
  local bill = serve(customer)
  if customer % 20000 == 1 then
    report(bill)
    console.count "reports"
  end
end
