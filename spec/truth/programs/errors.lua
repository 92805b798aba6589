-- Errors that are caught.
local turns = tonumber(arg[1])
local function fails (i)
  if i % 4 == 0 then
    error("four", 0)
  end
  return i
end
local function careful (i)
  local ok, what = pcall(fails, i)
  return ok and what or 0
end
local function work (n)
  local sum = 0
  for i = 1, n do
    sum = sum + i // 3
  end
  return sum
end
for i = 1, turns * 150 do
  careful(i)
  work(15)
end
