-- rootactor.lua - the actor that everybody meets first: it greets, lists the
-- tabs, and sees to it that each request gets to whom it is for.
--
--   rootactor.hello(connection)            the first packet of all
--   rootactor.authenticate(connection, packet)
--                                          the reply, and whether it was right
--   rootactor.receive(connection, packet)  answers, or has it answered
--
-- Failure: an error packet; every request gets one reply.

local core = require "tracegrip.core"
local wire = require "tracegrip.wire"
core.own()

local rootactor = {}

local function failure (from, code, message, ...)
  return {from = from, error = code, message = message:format(...)}
end

function rootactor.hello (connection)
  return {from = "root", applicationType = "lua",
          traits = {tracegrip = core.version,
                    authenticate = connection.token ~= nil,
                    blocks = 5, markers = 1, makers = 1,
                    compress = core.compresses() and "zstd" or nil}}
end

---------------------------------------------------------------------------
-- The token
---------------------------------------------------------------------------

-- Looks at all bytes, whatever it finds: the time tells nothing.
local function same (secret, text)
  local difference = #secret ~ #text
  for i = 1, #secret do
    difference = difference | (secret:byte(i) ~ (text:byte(i) or 0))
  end
  return difference == 0
end

function rootactor.authenticate (connection, packet)
  local token = packet.token
  local asked = packet.to == "root" and packet.type == "authenticate"
                and type(token) == "string"
  if asked and same(connection.token, token) then
    return {from = "root", type = "authenticated"}, true
  end
  return failure("root", "notAuthenticated", asked
                 and "This is not the server's token"
                 or "This server wants its token first"), false
end

---------------------------------------------------------------------------
-- Requests to the root
---------------------------------------------------------------------------

local requests = {}

function requests.listTabs (connection)
  local tabs = wire.array()
  for i, tab in ipairs(connection.server.tabs) do
    tabs[i] = tab:form()
  end
  return {from = "root", selected = 0, tabs = tabs}
end

-- What was read may still not be written: a number beyond all floats.
function requests.echo (_, packet)
  packet.from = "root"
  local ok, bytes = pcall(wire.encode, packet)
  return ok and bytes or failure("root", "badParameterType", "%s", bytes)
end

-- One without a token says yes to all.
function requests.authenticate ()
  return {from = "root", type = "authenticated"}
end

---------------------------------------------------------------------------
-- Requests to a tab
---------------------------------------------------------------------------

local tab_requests = {}

function tab_requests.attach (tab)
  local reply = tab:form()
  reply.from, reply.type, reply.actor = reply.actor, "tabAttached", nil
  return reply
end

-- For clients of later Firefoxes, where a tab is looked up in two steps.
function tab_requests.getTarget (tab)
  local form = tab:form()
  return {from = form.actor, frame = form}
end

function tab_requests.detach (tab)
  return {from = tab:form().actor, type = "detached"}
end

local function types_of (table_of_requests)
  local list = {}
  for kind in pairs(table_of_requests) do
    list[#list + 1] = kind
  end
  table.sort(list)
  return list
end

local root_types, tab_types = types_of(requests), types_of(tab_requests)

---------------------------------------------------------------------------
-- To whom
---------------------------------------------------------------------------

local function unrecognized (to, kind)
  return failure(to, "unrecognizedPacketType",
                 "Actor %s does not recognize the packet type '%s'", to, kind)
end

-- An actor's field in a list of requests; true if it has answered.
local function answer_by (handlers, to, packet, first)
  local handler = handlers[packet.type]
  if not handler then
    return unrecognized(to, packet.type)
  end
  return handler(first, packet)
end

local function find_tab (connection, to)
  for _, tab in ipairs(connection.server.tabs) do
    if to == "tab" .. tab.number then
      return tab
    end
  end
end

-- The problem of a field that must be a string, as a reply.
local function check (packet, key, from)
  local value = packet[key]
  if value == nil or value == wire.null then
    return failure(from, "missingParameter", "'%s' is missing", key)
  elseif type(value) ~= "string" then
    return failure(from, "badParameterType", "'%s' must be a string, not a %s",
                   key, type(value))
  end
end

-- The reply; nil if an actor has given it himself.
local function reply_to (connection, packet)
  local to, asks_types = packet.to, packet.type == "requestTypes"
  if to == "root" then
    return asks_types and {from = to, requestTypes = root_types}
           or answer_by(requests, to, packet, connection)
  end
  local tab = find_tab(connection, to)
  if tab then
    return asks_types and {from = to, requestTypes = tab_types}
           or answer_by(tab_requests, to, packet, tab)
  end
  local actor = connection:actor(to)
  if not actor then
    return failure(to, "noSuchActor", "No such actor for ID: %s", to)
  elseif asks_types then
    return {from = to, requestTypes = actor.requestTypes}
  end
  actor:receive(packet)
end

function rootactor.receive (connection, packet)
  local reply = check(packet, "to", "root")
  if not reply then
    local known = packet.to == "root" or find_tab(connection, packet.to)
                  or connection:actor(packet.to)
    reply = known and check(packet, "type", packet.to)
            or reply_to(connection, packet)
  end
  if reply then
    connection:send(reply)
  end
end

return rootactor
