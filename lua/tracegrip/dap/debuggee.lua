-- debuggee.lua - a program as the debug adapter has it: the client of its
-- debugger, by Chrome's protocol, with the domain Lua (inspect/protocol.lua).
--
--   debuggee.connect(where, path, on_event, on_gone)
--                        -> Debuggee | nil, message, code; waits
--   self:ask(method, params, request)
--                        the result; raises a problem with what the program
--                        says. Waits; 'request' is the client's, which may be
--                        cancelled meanwhile
--   self:try(method, params)
--                        the result | nil, message
--   self:post(method, params)
--                        the same without waiting for what it says
--   self:close()         the program goes on
--   self.gone            the connection is over
--
-- on_event(method, params) gets each event, on a coroutine of its own, which
-- may wait. on_gone() is called once, when the connection is over.

local core = require "tracegrip.core"
local door = require "tracegrip.dap.door"
local problem = require "tracegrip.dap.problem"
local task = require "tracegrip.dap.task"
local wire = require "tracegrip.wire"
core.own()

local MAX_DEPTH = 200
local ARRAY = getmetatable(wire.array())
local GONE = "the program has ended"

local debuggee = {}

local Debuggee = {__name = "tracegrip.dap.debuggee"}
Debuggee.__index = Debuggee

local function hear (self, text)
  local message = core.decode(text, MAX_DEPTH, ARRAY)
  if type(message) ~= "table" then
    return
  end
  local done = self.waiting[message.id]
  if done then
    self.waiting[message.id] = nil
    done(message)
  elseif message.method then
    task.start(self.on_event, message.method, message.params or {})
  end
end

local function leave (self)
  if self.gone then
    return
  end
  self.gone = true
  local waiting = self.waiting
  self.waiting = {}
  for _, done in pairs(waiting) do
    done {error = {message = GONE}}
  end
  task.start(self.on_gone)
end

function debuggee.connect (where, path, on_event, on_gone)
  local self = setmetatable({
    on_event = on_event, on_gone = on_gone, gone = false,
    waiting = {},         -- id -> function that gets the answer
    last = 0
  }, Debuggee)
  local connection, message, code = task.await(function (done)
    door.open(where, path, function (text) hear(self, text) end,
              function () leave(self) end, done)
  end)
  if not connection then
    return nil, message, code
  end
  self.connection = connection
  return self
end

local function send (self, method, params, done)
  if self.gone then
    return done {error = {message = GONE}}
  end
  self.last = self.last + 1
  self.waiting[self.last] = done
  self.connection:send(wire.json {id = self.last, method = method,
                                  params = params or {}})
end

function Debuggee:post (method, params)
  send(self, method, params, function () end)
end

local function answer (self, method, params, request)
  return task.await(function (done)
    if request then
      request.abort = function () done {error = {message = "cancelled"}} end
    end
    send(self, method, params, done)
  end)
end

function Debuggee:ask (method, params, request)
  if request and request.cancelled then
    problem.cancel()
  end
  local message = answer(self, method, params, request)
  if request and request.cancelled then
    problem.cancel()
  elseif message.error then
    problem.raise("%s", message.error.message)
  end
  return message.result
end

function Debuggee:try (method, params)
  local message = answer(self, method, params)
  return message.result, message.error and message.error.message
end

function Debuggee:close ()
  if self.connection then
    self.connection:close()
  end
end

return debuggee
