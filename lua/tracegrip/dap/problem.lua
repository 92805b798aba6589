-- problem.lua - what a client of the debug adapter is answered when it cannot
-- have what it asks for: an error raised by a handler, which the session makes
-- a response of.
--
--   problem.raise(message, ...)   the request fails; editors show that quietly
--   problem.show(message, ...)    the same, and the user is to see it in a box
--   problem.cancel()              the client has taken the request back
--   problem.is(value)             whether an error is one: {message, shown}

local core = require "tracegrip.core"
core.own()

local Problem = {__name = "tracegrip.dap.problem"}
Problem.__tostring = function (self) return self.message end

local problem = {}

local function new (message, shown)
  return setmetatable({message = message, shown = shown}, Problem)
end

function problem.raise (...)
  error(new(string.format(...), false), 0)
end

function problem.show (...)
  error(new(string.format(...), true), 0)
end

-- The word is the protocol's.
function problem.cancel ()
  error(new("cancelled", false), 0)
end

function problem.is (value)
  return type(value) == "table" and getmetatable(value) == Problem
end

return problem
