-- auto.lua - lua5.4 -ltracegrip.auto script.lua: tracing by the environment.
--
--   TRACEGRIP_LOG      file for the live log; "-" is standard error
--   TRACEGRIP_OPTIONS  fields of the options table of tracegrip.start, such
--                      as: maxDepth = 3, trace = {"name", "time"}
--
-- For programs that are started by others and cannot be given to tracegrip
-- run; LUA_INIT="require 'tracegrip.auto'" does the same. Without the
-- variables it changes nothing, and not even the C module is loaded.

local log = os.getenv("TRACEGRIP_LOG")
if not log or log == "" then
  return {}
end

local core = require "tracegrip.core"
core.own()

local function options_of (text)
  local chunk, message = load("return {" .. text .. "}", "=TRACEGRIP_OPTIONS",
                              "t", {})
  if not chunk then
    error(message, 0)
  end
  return chunk()
end

local options = options_of(os.getenv("TRACEGRIP_OPTIONS") or "")
local style = {times = true, summary = true}
if log == "-" then
  style.fd = 2
else
  style.path = log
end

local trace, message = core.log(options, style)
if not trace then
  io.stderr:write("tracegrip: cannot write the log: ", tostring(message), "\n")
  os.exit(1, true)
end

return {}
