-- leak.lua - a shop that forgets nothing, to be looked at with heap snapshots:
--
--   tracegrip heap -o leak.html -- examples/leak.lua
--   tracegrip heap --growing a.heapsnapshot b.heapsnapshot c.heapsnapshot
--
-- It serves as many customers as it is told to, 500 if nothing is said.

local function module (name)
  local m = {}
  package.loaded["shop." .. name] = m
  return m
end

-- Sessions end, and stay in this table.
local sessions = module "sessions"
sessions.Session = {__name = "shop.Session"}
sessions.open = {}

function sessions.begin (id)
  local session = setmetatable({id = id, basket = {}, pages = {}},
                               sessions.Session)
  sessions.open[id] = session
  return session
end

-- Each listener keeps the request that it was made for.
local bus = module "bus"
bus.listeners = {}

function bus.on (event, listener)
  local list = bus.listeners[event] or {}
  bus.listeners[event] = list
  list[#list + 1] = listener
end

-- A cache without an end: no two keys are alike.
local prices = module "prices"
prices.cache = {}

function prices.of (item, customer)
  local key = item .. " for " .. customer
  if not prices.cache[key] then
    prices.cache[key] = ("%s: %.2f"):format(key, #item * 1.25)
  end
  return prices.cache[key]
end

-- What is meant to stay.
local catalogue = module "catalogue"
catalogue.items = {}
for i, name in ipairs {"tea", "scone", "fish", "soup", "cake", "bread"} do
  catalogue.items[i] = {name = name, text = name:rep(200, " and "),
                        tags = {"food", name:sub(1, 1)}}
end

local function serve (customer)
  local session = sessions.begin(customer)
  local request = {path = "/shop/" .. customer, body = ("x"):rep(600)}
  for _, item in ipairs(catalogue.items) do
    session.basket[#session.basket + 1] = prices.of(item.name, customer)
    session.pages[#session.pages + 1] = {url = request.path, item = item}
  end
  bus.on("paid", function () return request.body end)
end

for i = 1, tonumber(arg and arg[1]) or 500 do
  serve("customer " .. i)
end
print(("%.0f KiB in use"):format(collectgarbage "count"))
