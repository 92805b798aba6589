--- prosodies.lua - prosody, a server of XMPP that is written in Lua, with a
-- module of the test's in it.

local freeport = require "spec.support.freeport"
local hosts = require "spec.support.hosts"

local prosodies = {}

local conf = [[
  run_as_root = true
  pidfile = "@/pid" data_path = "@" certificates = "@"
  plugin_paths = {"@"}
  modules_enabled = {"counted"}
  modules_disabled = {"s2s", "tls", "offline"}
  c2s_ports = {$} interfaces = {"127.0.0.1"} c2s_require_encryption = false
  authentication = "anonymous"
  log = {{levels = {min = "warn"}, to = "file", filename = "@/errors"}}
  VirtualHost "localhost"]]

-- A stream without features has no sense, and prosody says so.
local offer = [[
  module:hook("stream-features", function (event)
    serve()
    event.features:tag("counted", {xmlns = "urn:counted"}):up()
  end)]]

local stream = [[
<stream:stream xmlns="jabber:client" version="1.0" to="localhost"
  xmlns:stream="http://etherx.jabber.org/streams">]]

--- What declares a test of it: 'it', or one that says that there is none.
function prosodies.test (it, pending)
  return hosts.test("prosody", nil, "prosody", it, pending)
end

--- What opens a stream, and the end of what is answered then.
prosodies.stream, prosodies.opened = stream, "</stream:features>"

--- Runs use(host) while it opens streams, and calls the function 'serve' of
-- this code for each; ends it in any case.
function prosodies.with (code, use)
  hosts.with({
    file = "prosody",
    prepare = function (host)
      host.port = freeport()
      host:write("mod_counted.lua", code .. offer)
      host:write("conf.lua", (conf:gsub("%$", host.port)))
      return {"-F", "--config", host.directory .. "/conf.lua"}
    end,
    ready = function (host) return host:ask(stream, prosodies.opened) end
  }, use)
end

return prosodies
