-- live.lua - the back end of a debug adapter's session that debugs a running
-- program.
--
--   live.capabilities()     what such a session can do
--   live.new(port)          a back end (session.lua)

local core = require "tracegrip.core"
core.own()

local live = {}

local Live = {__name = "tracegrip.dap.live", handlers = {}}
Live.__index = Live

function live.capabilities ()
  return {supportsConfigurationDoneRequest = true}
end

function Live.capabilities ()
  return live.capabilities()
end

function Live.close ()
end

function live.new (port)
  return setmetatable({port = port}, Live)
end

return live
