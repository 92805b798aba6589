-- The TraceActor protocol inside one process: packets are Lua tables.

local actor_module = require "tracegrip.actor"

local function show (packet)
  print(packet.type or packet.error, packet.why or "", packet.name or "")
end

local actor = actor_module.new {id = "trace1", send = show}

local function request (packet)
  packet.to = "trace1"
  actor:receive(packet)
end

local function work ()
  return math.max(1, 2)
end

request {type = "startTrace"}                       -- not attached: refused
request {type = "attach"}
request {type = "startTrace", name = "first", trace = {"name"}}
work()
request {type = "stopTrace", name = "first"}
request {type = "detach"}
