-- Nothing but calls.
local turns = tonumber(arg[1])
local function nothing () end
local function run (n)
  for _ = 1, n do
    nothing()
  end
end
run(turns * 1500)
