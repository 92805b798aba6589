-- A program that can be looked at while it runs: it listens, and says where.
-- 08-attach.lua and frames.mjs are clients for it.
--
--   lua5.4 examples/served.lua

local tracegrip = require "tracegrip"

local listening = assert(tracegrip.listen {port = tonumber(arg[1]) or 0})
io.stdout:setvbuf "line"
print(listening.address)

local function price (order)
  if order % 3 == 0 then
    error("order " .. order .. " is unknown", 0)
  end
  return order * 10
end

local function serve (order)
  local ok, result = pcall(price, order)
  return ok and result or nil
end

-- An order every few milliseconds, until nobody wants to hear of it.
local order = 0
repeat
  order = order % 3 + 1
  serve(order)
  os.execute "sleep 0.005"
until not io.stdout:write "\n"
