-- orders.lua IN.json OUT.jsonl - a program worth tracing.
--
-- Reads a JSON document, a list of orders, and writes a line of JSON for each
-- order above a limit, with its total. Three coroutines pass the orders on:
-- one decodes, one transforms, one encodes; lua-dkjson does the JSON, in Lua.

local dkjson = require "dkjson"

local from, to = ...

local Order = {}
Order.__index = Order

function Order.new (record)
  return setmetatable(record, Order)
end

function Order:total ()
  local sum = 0
  for _, item in ipairs(self.items) do
    sum = sum + item.price * item.count
  end
  return sum
end

-- One order after another; the list is never decoded as a whole.
local function decode (text)
  return coroutine.wrap(function ()
    local position = text:find("{", 1, true)
    while position do
      local record, next, message = dkjson.decode(text, position, dkjson.null)
      if message then
        error("order at byte " .. position .. ": " .. message)
      end
      coroutine.yield(Order.new(record))
      position = text:find("{", next, true)
    end
  end)
end

local function transform (orders, limit)
  return coroutine.wrap(function ()
    for order in orders do
      local total = order:total()
      if total > limit then
        coroutine.yield {id = order.id, customer = order.customer.name,
                         note = order.note, total = total}
      end
    end
  end)
end

local function encode (orders)
  return coroutine.wrap(function ()
    for order in orders do
      coroutine.yield(dkjson.encode(order, {keyorder = {"id", "customer"}}))
    end
  end)
end

local function read (path)
  local file <close> = assert(io.open(path, "rb"))
  return file:read "a"
end

local out <close> = assert(io.open(to, "wb"))
local count = 0
for line in encode(transform(decode(read(from)), 2500)) do
  out:write(line, "\n")
  count = count + 1
end
print(string.format("%d orders written", count))
