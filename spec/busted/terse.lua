-- terse.lua - an output handler for busted that needs no library: what failed,
-- as it is told.

local write, stdout = io.stdout.write, io.stdout

return function ()
  local busted = require "busted"
  local handler = {}

  local function tell (kind)
    return function (_, _, message)
      write(stdout, kind, ": ", message, "\n")
      return nil, true
    end
  end

  function handler.subscribe ()
    busted.subscribe({"error"}, tell "error")
    busted.subscribe({"failure"}, tell "failure")
  end

  return handler
end
