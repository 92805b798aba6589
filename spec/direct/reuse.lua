-- reuse.lua - makes functions, classes and sources, forgets and collects them,
-- until addresses are used again, and each time calls what it has.

local function chunk (i)
  local name = ("@made/%s/%d.lua"):format(i % 3 == 0 and ("deep/"):rep(12)
                                          or "x", i % 7)
  local lines = ("\n"):rep(i % 5)
  local text = lines .. ("return function (a%d) return a%d, %d end")
                        :format(i % 4, i % 4, i)
  return assert(load(text, i % 2 == 0 and name or text))()
end

for i = 1, 400 do
  do
    local f = chunk(i)
    f(setmetatable({i}, {__name = "Class" .. i % 11}))
    f(f)
  end
  if i % 20 == 0 then
    collectgarbage()
  end
end
