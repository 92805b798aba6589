-- An error leaves every frame that it unwinds, with the value thrown.

local tracegrip = require "tracegrip"

local function parse (text)
  return tonumber(text) or error({code = 42, text = text})
end

local function load (list)
  for _, text in ipairs(list) do
    parse(text)
  end
end

local trace = tracegrip.start {trace = {"name", "throw"}, c = false}
pcall(load, {"1", "2", "three"})
trace:stop()

local open = {}
for packet in trace:packets() do
  if packet.type == "enteredFrame" then
    open[#open + 1] = packet.name
  else
    local name = table.remove(open)
    local thrown = packet.throw
    if thrown then
      local object = thrown.objectPool[thrown.value.objectId + 1]
      print(name, packet.why, object.class,
            object.ownProperties.code.value, object.ownProperties.text.value)
    else
      print(name, packet.why)
    end
  end
end

--[[ prints
parse	return
parse	return
parse	exception	table	42	three
load	exception	table	42	three
--]]
