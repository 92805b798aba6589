-- ending.lua - messages that end code which the program runs for a debugger,
-- and word of code that does not end. On the server's thread.
--
--   ending.is(text)           whether a message is such a one: the program
--                             looks for no other while it runs that code
--   ending.watch(tab, tell)   one has gone to the program of that tab: if the
--                             code is still there after some seconds, tell is
--                             called once, with a message for the debugger;
--                             returns a timer
--   ending.forget(timer)      that timer is needed no more, if there is one

local core = require "tracegrip.core"
local uv = require "luv"
local wire = require "tracegrip.wire"
core.own()

local ending = {}

local PATIENCE_MS = 2000
local MAX_DEPTH = 100           -- of objects in a message
local CONTEXT = 1

local methods = {"Runtime.terminateExecution", "Debugger.pause"}

-- Most messages do not have the name anywhere, and are not read here.
function ending.is (text)
  for _, method in ipairs(methods) do
    if text:find(method, 1, true) then
      local message = core.decode(text, MAX_DEPTH)
      return type(message) == "table" and message.method == method
    end
  end
  return false
end

local function word_of (within)
  local where = within == "" and "a C function"
                or ("the C function '%s'"):format(within)
  return wire.json {
    method = "Runtime.consoleAPICalled",
    params = {
      type = "warning", executionContextId = CONTEXT,
      timestamp = os.time() * 1000,
      args = {{type = "string", value = "The program is in " .. where
               .. ", which cannot be interrupted: the evaluation ends when "
               .. "that returns."}}
    }
  }
end

function ending.watch (tab, tell)
  local timer = uv.new_timer()
  timer:start(PATIENCE_MS, 0, function ()
    local within = not tab.gone and tab.channel:lingers()
    if within then
      tell(word_of(within))
    end
  end)
  return timer
end

function ending.forget (timer)
  if timer and not timer:is_closing() then
    timer:close()
  end
end

return ending
