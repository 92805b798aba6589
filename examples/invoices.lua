-- invoices.lua [N] - a program that is slow for no good reason, which
-- docs/tutorial.md finds. It adds up N invoices (2000) in three currencies.

local RATES = [[
EUR 1.0
USD 0.92
GBP 1.17
SEK 0.088
CHF 1.04
JPY 0.0061
]]

local function read_rates (text)
  local rates = {}
  for name, rate in text:gmatch "(%u+) ([%d.]+)" do
    rates[name] = tonumber(rate)
  end
  return rates
end

local function convert (amount, currency)
  local rates = read_rates(RATES)
  return amount * rates[currency]
end

local function total (invoice)
  local sum = 0
  for _, item in ipairs(invoice.items) do
    sum = sum + convert(item.price * item.count, invoice.currency)
  end
  return sum
end

local function make_invoice (n)
  local currencies = {"EUR", "USD", "GBP"}
  local invoice = {number = n, currency = currencies[n % 3 + 1], items = {}}
  for i = 1, 5 do
    invoice.items[i] = {price = (n * i) % 97 + 0.5, count = i}
  end
  return invoice
end

local sum = 0
for n = 1, tonumber((...)) or 2000 do
  sum = sum + total(make_invoice(n))
end
print(string.format("%.2f EUR", sum))
