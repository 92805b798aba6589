-- A loop over a C function: half of the time is in neither.
local turns = tonumber(arg[1])
local function run (n)
  for _ = 1, n do
    math.sin(1.5)
  end
end
run(turns * 1000)
