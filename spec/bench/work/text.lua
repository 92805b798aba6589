-- text: C functions that call back (gsub, sort), format, find, sub

local names = {"ada", "barbara", "grace", "hedy", "katherine", "margaret"}
local lines = {}
for i = 1, 3000 do
  lines[i] = string.format("%s scored $%d of ${max} in round %d",
                           names[i % #names + 1], i * 37 % 500, i % 12)
end
local document = table.concat(lines, "\n")
local variables = {max = "500"}

local function expand (name)
  return variables[name] or "?"
end

local function double (digits)
  return string.format("%d", 2 * tonumber(digits))
end

local function capital (first, rest)
  return first:upper() .. rest
end

local function longer (a, b)
  return #a > #b or #a == #b and a < b
end

return function ()
  local size = 0
  for _ = 1, 5 do
    local text = document:gsub("%${(%w+)}", expand)
    text = text:gsub("%d+", double)
    text = text:gsub("%f[%a](%a)(%a+)", capital)
    local list, from = {}, 1
    while true do
      local to = text:find("\n", from, true)
      if not to then
        break
      end
      list[#list + 1] = text:sub(from, to - 1)
      from = to + 1
    end
    table.sort(list, longer)
    size = size + #list[1]
  end
  return size
end
