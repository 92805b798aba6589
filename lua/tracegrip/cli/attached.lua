-- attached.lua - a command that is attached to a program: what it has open, how
-- it is left, and what went wrong.
--
--   local Session = attached.class()      for the command's own methods
--   local session <close> = attached.new(Session, connection, fields)
--   session.tracer            for the command to set
--   session:keep(handle)      closed in the end, before the connection
--   session:on_signals(acts)  {sigint = method, ...}
--   session:leave()           ends the trace; the second time, the connection
--   session:check(ok, message, code)
--                             as a taker answers: the first failure leaves, and
--                             is session.trouble: {message =, code =}

local core = require "tracegrip.core"
local main = require "tracegrip.cli.main"
local signals = require "tracegrip.cli.signals"
core.own()

local attached = {}

local Attached = {}

-- The loop turns once more: a handle of luv's that is closed and collected
-- before the loop has come to it is used after it was freed.
function Attached:__close ()
  for _, handle in ipairs(self.handles) do
    handle:close()
  end
  self.connection:close()
  main.luv().run "nowait"
end

function Attached:keep (handle)
  table.insert(self.handles, handle)
  return handle
end

function Attached:on_signals (acts)
  for name, act in pairs(acts) do
    local handle = signals.on(name, function () act(self) end)
    if handle then
      self:keep(handle)
    end
  end
end

function Attached:leave ()
  if self.leaving then
    return self.connection:close()
  end
  self.leaving = true
  self.tracer:detach(function () end)
end

function Attached:check (ok, message, code)
  if not ok and not self.trouble then
    self.trouble = {message = message, code = code}
    self:leave()
  end
end

function attached.class ()
  local class = {}
  for name, method in pairs(Attached) do
    class[name] = method
  end
  class.__index = class
  return class
end

function attached.new (class, connection, fields)
  fields.connection, fields.handles = connection, {}
  return setmetatable(fields, class)
end

return attached
