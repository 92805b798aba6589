-- Methods that do next to nothing, and some that do more.
local turns = tonumber(arg[1])
local Point = {}
Point.__index = Point
function Point.new (x, y)
  return setmetatable({x = x, y = y}, Point)
end
function Point:getx ()
  return self.x
end
function Point:gety ()
  return self.y
end
function Point:length ()
  return (self:getx() ^ 2 + self:gety() ^ 2) ^ 0.5
end
function Point:add (other)
  return Point.new(self.x + other.x, self.y + other.y)
end
local function run (n)
  local p, step = Point.new(0, 0), Point.new(1, 2)
  local sum = 0
  for _ = 1, n do
    p = p:add(step)
    sum = sum + p:length()
  end
  return sum
end
run(turns * 150)
