-- shop.lua - a few calls to watch: tracegrip run --no-c examples/shop.lua

local function parse (line)
  local name, count = line:match "(%a+) x(%d+)"
  return name and {name = name, count = tonumber(count)}
                or error("bad line: " .. line, 0)
end

local function lines (text)
  return coroutine.wrap(function ()
    for line in text:gmatch "[^\n]+" do
      coroutine.yield(line)
    end
  end)
end

local function total (items)
  local sum = 0
  for _, item in ipairs(items) do
    sum = sum + item.count
  end
  return sum
end

local function order (text)
  local items = {}
  for line in lines(text) do
    local ok, item = pcall(parse, line)
    if ok then
      items[#items + 1] = item
    end
  end
  return total(items)
end

print(order "tea x2\nsugar?\nmilk x1")
