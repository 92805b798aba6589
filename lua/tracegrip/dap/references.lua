-- references.lua - numbers by which the client asks for what it was shown:
-- frames, and variables that can be opened. They are good until the program
-- goes on.
--
--   references.new()
--   self:frame(frame)       its number; {call =, thread =}: a call frame of
--                           Chrome's protocol, and whose it is
--   self:variables(of)      the number of {object =, frame =, scope =, name =}:
--                           an object's id there, the frame that it was met in
--                           (nil: none), whether it is a scope, and what is
--                           written in Lua to have it there (nil: nothing)
--   self:get_frame(number), self:get_variables(number)
--                           the same again; raises a problem
--   self:clear()
--
-- A number is never used twice: an answer that comes late is to no other thing.

local core = require "tracegrip.core"
local problem = require "tracegrip.dap.problem"
core.own()

local references = {}

local References = {__name = "tracegrip.dap.references"}
References.__index = References

function references.new ()
  return setmetatable({frames = {}, opened = {}, last = 0}, References)
end

local function keep (self, list, one)
  self.last = self.last + 1
  list[self.last] = one
  return self.last
end

function References:frame (frame)
  return keep(self, self.frames, frame)
end

function References:variables (of)
  return keep(self, self.opened, of)
end

function References:get_frame (number)
  return self.frames[number]
         or problem.raise("there is no frame %d: the program has gone on",
                          number)
end

function References:get_variables (number)
  return self.opened[number]
         or problem.raise("there are no variables %d: the program has gone on",
                          number)
end

function References:clear ()
  self.frames, self.opened = {}, {}
end

return references
