-- A client of the TraceActor, in one process with the program it watches.
--
--   lua5.4 examples/06-actor.lua
--
-- Packets are Lua tables here; over a connection they would be JSON.

local actor

-- A value's grip: itself, or a table with its type.
local function plain (grip)
  return type(grip) == "table" and grip.type or grip
end

-- What the actor says. Frames are indented by their depth.
local function show (packet)
  if packet.error then
    print("error", packet.error, packet.message)
  elseif packet.type == "enteredFrame" then
    print(("  "):rep(packet.depth + 1) .. "> " .. packet.name)
  elseif packet.type == "exitedFrame" then
    local completion = packet["return"] or packet.throw
    print(("  "):rep(packet.depth + 1) .. "< " .. packet.why,
          completion and plain(completion.value))
  else
    print(packet.type, packet.why or "", packet.name or "")
  end
end

actor = require("tracegrip.actor").new {id = "trace1", send = show}

local function ask (kind, fields)
  local packet = fields or {}
  packet.to, packet.type = "trace1", kind
  actor:receive(packet)
end

-- The program.
local function factorial (n)
  return n == 0 and 1 or n * factorial(n - 1)
end

local function fail ()
  error("nothing to do", 0)
end

local function work ()
  factorial(3)
  pcall(fail)
end

-- The client.
ask "attach"
ask("startTrace", {
  name = "work", trace = {"name", "depth", "return", "throw"},
  exclude = {"^ask$"}, c = false,
})
work()
ask("stopTrace", {name = "work"})
ask "stopTrace"
ask "detach"

--[[ prints
attached
startedTrace	requested	work
  > work
    > factorial
      > factorial
        > factorial
          > factorial
          < return	1
        < return	1
      < return	2
    < return	6
    > fail
    < exception	nothing to do
  < return	undefined
stoppedTrace	requested	work
error	wrongState	No trace is running
detached
--]]
