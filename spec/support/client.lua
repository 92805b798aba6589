-- client.lua - for programs of the protocol specs: an actor "trace1" and a
-- client that writes what both say to stdout, a line of JSON each, with "to"
-- on the client's packets and "from" on the actor's.
--
-- Its functions are not traced, so a program may ask for anything anywhere.

local core = require "tracegrip.core"
core.own()

local dkjson = require "dkjson"

local client = {}

local function write (packet)
  io.stdout:write(dkjson.encode(packet), "\n")
end

-- Replaced by a program that wants something else to happen.
client.send = write
client.write = write

client.actor = require("tracegrip.actor").new {
  id = "trace1",
  send = function (packet)
    client.send(packet)
  end,
}

-- Sends a request; fields are optional.
function client.ask (kind, fields)
  local packet = {to = "trace1", type = kind}
  for key, value in pairs(fields or {}) do
    packet[key] = value
  end
  write {to = "trace1", asked = kind}
  client.actor:receive(packet)
end

-- A line that says where the program is.
function client.mark (text)
  write {mark = text}
end

return client
