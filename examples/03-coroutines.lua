-- Every coroutine is a thread of the trace; a yield closes its frames and a
-- resume opens them again, so the packets of a trace always nest.

local tracegrip = require "tracegrip"

local function produce ()
  for i = 1, 2 do
    coroutine.yield(i)
  end
end

local trace = tracegrip.start {trace = {"name", "yield", "thread"}, c = false}
local co = coroutine.wrap(produce)
co()
co()
co()
trace:stop()

local open = {}
for packet in trace:packets() do
  if packet.type == "enteredFrame" then
    print(("  "):rep(#open) .. "> " .. packet.name,
          "thread " .. packet.thread .. (packet.resumed and ", resumed" or ""))
    open[#open + 1] = packet.name
  else
    local name = table.remove(open)
    local yielded = packet.yield and packet.yield.value
    print(("  "):rep(#open) .. "< " .. name, packet.why, yielded or "")
  end
end

--[[ prints
> produce	thread 2
< produce	yield	1
> produce	thread 2, resumed
< produce	yield	2
> produce	thread 2, resumed
< produce	return
--]]
