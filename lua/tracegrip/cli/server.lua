-- server.lua - the program that a command attaches to: its address, its states,
-- what it can do. Each step succeeds or ends the command.

local core = require "tracegrip.core"
local main = require "tracegrip.cli.main"
local token = require "tracegrip.cli.token"
core.own()

local server = {}

server.options = {
  {name = "tab", kind = "number", metavar = "N", group = "The program",
   default = "the first", help = "Which of its Lua states."},
  {name = "tokenFile", metavar = "FILE", group = "The program",
   default = "TRACEGRIP_TOKEN from the environment",
   help = "Where the token is that the program wants to see."},
}

-- What client.connect takes, nil if it is no address.
function server.address (text)
  local path = text:match("^unix:(.+)$")
  if path then
    return {path = path}
  end
  local host, digits = text:match("^%[([%x:.%%%w]+)%]:(%d+)$")
  if not host then
    host, digits = text:match("^([^:]*):(%d+)$")
  end
  local port = math.tointeger(tonumber(digits or text:match("^%d+$")))
  if port and port > 0 and port < 65536 then
    return {host = host ~= "" and host or nil, port = port}
  end
end

-- What it was, or the end of the command. 'connection' is closed then.
function server.must (connection, value, message)
  if not value then
    if connection then
      connection:close()
    end
    main.fail("%s", message)
  end
  return value
end

function server.connect (parsed)
  local address = server.address(parsed.address)
  if not address then
    main.misuse("'%s' is no PORT, HOST:PORT or unix:PATH", parsed.address)
  end
  address.token = token.of(parsed)
  return server.must(nil, require("tracegrip.client").connect(address))
end

-- What the program calls itself, without what a terminal would obey.
function server.title_of (tab)
  return type(tab.title) == "string" and (tab.title:gsub("%c", "?"))
         or "the program"
end

-- The tab's form: there is its title.
function server.choose_tab (connection, number)
  local reply = server.must(connection, connection:listTabs())
  local index = number or (math.tointeger(reply.selected) or 0) + 1
  local tab = reply.tabs[index]
  return server.must(connection, type(tab) == "table" and tab,
                     ("there is no tab %d"):format(index))
end

-- Another TraceActor may have packets only, or blocks of another version: those
-- of version 2 have shorter events as well, of 3 shorter values, of 4 places,
-- of 5 marks of frames that are older.
function server.must_send_blocks (connection)
  local traits = connection.hello.traits
  local version = type(traits) == "table" and traits.blocks
  local known = math.type(version) == "integer" and version >= 1
                and version <= 5
  server.must(connection, known, "the server there sends no blocks that this "
              .. "version reads: it is another TraceActor, or another "
              .. "version's; require \"tracegrip.client\" reads packets")
end

-- True: it keeps what it sends, for whoever asks who made its objects.
function server.must_keep_makers (connection)
  local traits = connection.hello.traits
  return server.must(connection, traits.makers == 1, "the server there is of "
                     .. "an older version: it does not keep who made the "
                     .. "objects of its heap (--makers)")
end

-- How blocks may be compressed on a slow way, which both sides must know; nil:
-- they may not.
function server.compression (connection)
  local traits = connection.hello.traits
  return core.compresses() and traits.compress == "zstd" and "zstd" or nil
end

return server
