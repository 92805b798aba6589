-- session.lua - one client of the debug adapter: its requests in order, each
-- answered once, and what it is told besides. What a request does is the
-- business of a back end, a live program (live.lua) or a recording
-- (recorded.lua); here is neither of them.
--
--   session.new(options)    options:
--     write(bytes)          sends them to the client
--     finish()              the session is over: called once
--     defer(f)              calls f soon, after what has come from the client
--     begin(command, arguments, port)
--                           "launch" or "attach": returns the back end for it;
--                           raises a problem if there is none
--     unread()              bytes that it has not read yet
--     capabilities          what a client is told before there is a back end
--   self:receive(bytes)     what the client has sent
--   self:close()            it has gone
--
-- A back end is a table:
--   handlers        command -> function (self, arguments, request): the body
--                   of the response, or nil for none. It runs on a coroutine of
--                   its own, so it may wait by yielding. A problem
--                   (problem.lua) that it raises is the answer instead
--   capabilities(self)      as the protocol has them; if they differ from those
--                   told before, the client is told anew
--   close(self)     the client has gone, or the session is over
-- "launch" or "attach" is the first that its handlers get; while that is done,
-- and where it has failed, they get no other but "terminate" and "disconnect",
-- the last: after its answer the session is over. A command without a handler
-- is refused. "initialize" and "cancel" are answered here.
--
-- A port is what a back end is given:
--   port.send_event(name, body)
--   port.ask(command, arguments, done)
--                   a request to the client; done(body), or done(nil, message)
--   port.unread()   bytes that the client has not read yet
--   port.client     the arguments of "initialize"
--   port.breathe()  in a handler or what it left behind: lets what has come
--                   meanwhile be done ("pause", "cancel")
--   port.finish()   the session is over
-- A request:
--   request.cancelled       the client does not want it any more
--   request.abort           to be set: called when that happens
--   request:after(f)        f is called, on a coroutine of its own, once the
--                           answer is sent: events that have to follow it
--
-- Failure: bytes that are not this protocol end the session. An error of ours
-- is the answer to the request in whose course it happened.

local core = require "tracegrip.core"
local framing = require "tracegrip.dap.framing"
local problem = require "tracegrip.dap.problem"
local requests = require "tracegrip.dap.requests"
local task = require "tracegrip.dap.task"
local wire = require "tracegrip.wire"
core.own()

local session = {}

local Session = {__name = "tracegrip.dap.session"}
Session.__index = Session

local Request = {__name = "tracegrip.dap.request"}
Request.__index = Request

---------------------------------------------------------------------------
-- Sending
---------------------------------------------------------------------------

local function send (self, message)
  if not self.over then
    self.seq = self.seq + 1
    message.seq = self.seq
    self.write(framing.encode(message))
  end
end

local function send_event (self, name, body)
  send(self, {type = "event", event = name, body = body})
end

local function ask (self, command, arguments, done)
  send(self, {type = "request", command = command, arguments = arguments})
  self.asked[self.seq] = done
end

local function respond (self, request, fields)
  self.running[request.seq] = nil
  fields.type, fields.command = "response", request.command
  fields.request_seq = request.seq
  send(self, fields)
end

local last_error = 0

-- Text with braces would be taken for places of variables.
local function refuse (self, request, message, shown)
  last_error = last_error + 1
  respond(self, request, {success = false, message = message, body = {error = {
    id = last_error, format = "{message}", variables = {message = message},
    showUser = shown
  }}})
end

---------------------------------------------------------------------------
-- The end
---------------------------------------------------------------------------

-- Once or often.
function Session:close ()
  if self.over then
    return
  end
  self.over = true
  if self.backend then
    self.backend:close()
  end
  self.finish()
end

---------------------------------------------------------------------------
-- Requests
---------------------------------------------------------------------------

function Request:after (f)
  table.insert(self.followers, f)
end

local function failed (self, request, err)
  if problem.is(err) then
    return refuse(self, request, err.message, err.shown)
  end
  refuse(self, request, "internal error: " .. tostring(err), true)
end

local function traced (err)
  return problem.is(err) and err or debug.traceback(tostring(err), 2)
end

-- A body that is no JSON is an error of ours as well.
local function answer (self, request, handler, owner)
  local body = handler(owner, request.arguments, request)
  respond(self, request, {success = true, body = body})
end

local function perform (self, request, handler, owner)
  task.start(function ()
    local ok, err = xpcall(answer, traced, self, request, handler, owner)
    if not ok then
      return failed(self, request, err)
    end
    for _, f in ipairs(request.followers) do
      task.start(f)
    end
  end)
end

local own = {}

function own.initialize (self, arguments)
  if self.initialized then
    problem.raise("initialize came already")
  end
  self.initialized = true
  for name, value in pairs(arguments) do
    self.port.client[name] = value
  end
  return self.capabilities
end

function own.cancel (self, arguments)
  local request = self.running[arguments.requestId]
  if request and not request.cancelled then
    request.cancelled = true
    if request.abort then
      request.abort()
    end
  end
end

local function same (a, b)
  return wire.json {a} == wire.json {b}
end

-- What the first request of a back end does, whichever it is.
local function begin (self, request)
  if self.backend then
    problem.raise("there is a program already")
  end
  local backend = self.begin(request.command, request.arguments, self.port)
  self.backend = backend
  local handler = backend.handlers[request.command]
  if not handler then
    problem.show("%s is not possible there", request.command)
  end
  local capabilities = backend:capabilities()
  if not same(capabilities, self.capabilities) then
    send_event(self, "capabilities", {capabilities = capabilities})
  end
  local body = handler(backend, request.arguments, request)
  self.begun = true
  return body
end

local function leave (self, request)
  request:after(function () self:close() end)
  local handler = self.backend and self.backend.handlers.disconnect
  return handler and handler(self.backend, request.arguments, request)
end

own.disconnect = function (self, _, request)
  return leave(self, request)
end

own.launch = function (self, _, request)
  return begin(self, request)
end

own.attach = own.launch

-- The handler of a request and whose it is; nil, message.
local function handler_of (self, command)
  if not requests.known(command) then
    return nil, string.format("'%s' is no request known here", command)
  elseif not self.initialized and command ~= "initialize"
         and command ~= "disconnect" then
    return nil, "initialize has to come first"
  elseif own[command] then
    return own[command], self
  elseif not self.backend then
    return nil, "there is no program yet: launch or attach"
  elseif not self.begun and command ~= "terminate" then
    return nil, "the program is not there yet"
  end
  local handler = self.backend.handlers[command]
  return handler, handler and self.backend
                  or string.format("'%s' is not possible here", command)
end

-- null is as good as absent.
local function without_null (given)
  local arguments = {}
  for name, value in pairs(given) do
    if value ~= wire.null then
      arguments[name] = value
    end
  end
  return arguments
end

local function handle (self, message)
  local given = message.arguments
  local request = setmetatable({
    seq = message.seq, command = message.command,
    arguments = without_null(type(given) == "table" and given or {}),
    cancelled = false, abort = nil, followers = {}
  }, Request)
  self.running[request.seq] = request
  local handler, owner = handler_of(self, request.command)
  if not handler then
    return refuse(self, request, owner)
  end
  local wrong = requests.problem(request.command, request.arguments)
  if wrong then
    return refuse(self, request, request.command .. ": " .. wrong)
  end
  perform(self, request, handler, owner)
end

local function answered (self, message)
  local done = self.asked[message.request_seq]
  if not done then
    return
  end
  self.asked[message.request_seq] = nil
  if message.success == true then
    local body = message.body
    return task.start(done, type(body) == "table" and body or {})
  end
  task.start(done, nil, type(message.message) == "string" and message.message
                   or "the client has refused it")
end

function Session:receive (bytes)
  local messages, _, whole = self.decoder:feed(bytes)
  for _, message in ipairs(messages or whole) do
    if self.over then
      return
    elseif message.type == "request" and math.type(message.seq) == "integer"
           and type(message.command) == "string" then
      handle(self, message)
    elseif message.type == "response" then
      answered(self, message)
    end
  end
  if not messages then
    self:close()
  end
end

local function port_of (self)
  return {
    client = {},
    send_event = function (name, body) send_event(self, name, body) end,
    ask = function (...) ask(self, ...) end,
    finish = function () self:close() end,
    unread = self.unread,
    breathe = function () task.await(self.defer) end
  }
end

function session.new (options)
  local self = setmetatable({
    write = options.write, unread = options.unread,
    finish = options.finish, defer = options.defer,
    begin = options.begin, capabilities = options.capabilities,
    decoder = framing.decoder(),
    seq = 0,              -- of the last message sent
    running = {},         -- seq -> request that is not answered
    asked = {},           -- seq -> function that waits for the client's answer
    initialized = false,
    backend = nil,
    begun = false,        -- the back end is there and has done its first
    over = false,
  }, Session)
  self.port = port_of(self)
  return self
end

return session
