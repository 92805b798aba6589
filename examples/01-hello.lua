-- A trace around a part of a program, and its packets one by one.

local tracegrip = require "tracegrip"

local function greet (name)
  return "Hello, " .. name:upper()
end

local trace = tracegrip.start {trace = {"name", "arguments", "return"}}
greet "world"
trace:stop()

for packet in trace:packets() do
  if packet.type == "enteredFrame" then
    print("enter", packet.name, table.unpack(packet.arguments.values))
  else
    print("leave", packet.why, packet["return"].value)
  end
end

--[[ prints
enter	greet	world
enter	string.upper	world
leave	return	WORLD
leave	return	Hello, WORLD
--]]
