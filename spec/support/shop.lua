-- shop.lua - a program whose recording debuggers walk through: calls of calls,
-- an error that is caught, output.

return [[
local function discount (price, class)
  if class == "blue" then error {code = 7} end
  return class == "gold" and price * 0.9 or price
end
local Shop = {}
function Shop.price (item, class, ...)
  local price = discount(item.price, class)
  return price, item
end
local function all (classes)
  local sum = 0
  for _, class in ipairs(classes) do
    sum = sum + Shop.price({name = "tea", price = 10}, class, "x")
  end
  return sum
end
all {"gold", "none"}
pcall(all, {"gold", "blue"})
print("done")
]]
