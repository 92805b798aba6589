-- quietpipe.lua - a socket whose other end has gone is an error, no SIGPIPE.
--
-- Writing to such a socket would end the process. quietpipe() gives a handle of
-- luv that keeps the signal away until it is closed; it keeps no loop running.

local uv = require "luv"
require "tracegrip.core".own()

return function ()
  local handle = uv.new_signal()
  handle:start("sigpipe", function () end)
  handle:unref()
  return handle
end
