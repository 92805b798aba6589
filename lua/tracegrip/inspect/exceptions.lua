-- exceptions.lua - which errors debuggers want to hear of, and an error as a
-- pause tells it.
--
--   exceptions.choose(session, which)   "none", "caught", "uncaught", "all";
--                                       false: not known
--   exceptions.wanted(uncaught)         whether one of them wants to stop there
--   exceptions.data(value, uncaught)    what the pause says of it
--
-- The C side is told of the most that any of them wants, and sees no other
-- errors: without a wish nothing is watched.

local core = require "tracegrip.core"
local objects = require "tracegrip.inspect.objects"
local sessions = require "tracegrip.inspect.sessions"
local values = require "tracegrip.inspect.values"
core.own()

local known = {none = true, caught = true, uncaught = true, all = true}

local exceptions = {}

local function publish ()
  local most = "none"
  sessions.each("debugger", function (session)
    local which = session.exceptions
    if which == "all" or which == "caught" then
      most = "all"
    elseif which == "uncaught" and most == "none" then
      most = which
    end
  end)
  core.inspector.errors(most)
end

function exceptions.choose (session, which)
  if not known[which] then
    return false
  end
  session.exceptions = which
  publish()
  return true
end

function exceptions.wanted (uncaught)
  local wanted = false
  sessions.each("debugger", function (session)
    local which = session.exceptions
    wanted = wanted or not session.skips
             and (which == "all" or which == (uncaught and "uncaught"
                                                        or "caught"))
  end)
  return wanted
end

function exceptions.data (value, uncaught)
  local object = values.describe(value, objects.PAUSE, true)
  object.uncaught = uncaught
  return object
end

return exceptions
