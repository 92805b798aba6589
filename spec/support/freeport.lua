--- freeport.lua - a port of 127.0.0.1 that nobody listens on now: only the
-- system knows one. Somebody else may take it before it is used.

local uv = require "luv"

return function ()
  local tcp = uv.new_tcp()
  assert(tcp:bind("127.0.0.1", 0))
  local port = tcp:getsockname().port
  tcp:close()
  uv.run "nowait"
  return port
end
