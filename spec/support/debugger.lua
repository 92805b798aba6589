-- debugger.lua - a front end without a window: it starts a program that is open
-- to debuggers and speaks the Chrome DevTools Protocol with it.
--
-- Whatever is waited for comes within some seconds, or the spec fails.

local dkjson = require "dkjson"
local uv = require "luv"
local wslay = require "tracegrip.wslay"

local served = require "spec.support.served"

local debugger = {}

local PATIENCE = 20000

local function wait (what, ready)
  local late = false
  local timer = uv.new_timer()
  uv.update_time()
  timer:start(PATIENCE, 0, function () late = true end)
  while not ready() and not late do
    uv.run("once")
  end
  timer:close()
  if late then
    error("nothing came: " .. what, 3)
  end
end

local Front = {}
Front.__index = Front

-- dkjson has null for what is null, and the specs compare with nil.
local function decode (text)
  return (dkjson.decode(text, 1, nil))
end

local function upgraded (front, bytes)
  front.head = front.head .. bytes
  local _, stop = front.head:find("\r\n\r\n", 1, true)
  if stop then
    front.answer = front.head:sub(1, stop)
    front.rest = front.head:sub(stop + 1)
  end
end

local function receive (front, bytes)
  for _, text in ipairs(front.socket:feed(bytes) or {}) do
    local message = decode(text)
    front.messages[#front.messages + 1] = message
    front.texts[#front.texts + 1] = text
    if message.id ~= nil then
      front.replies[message.id] = message
    elseif message.method == nil then
      front.orphans[#front.orphans + 1] = message
    end
  end
  front:flush()
end

function Front:flush ()
  local bytes = self.socket:pending()
  if bytes ~= "" and not self.closed then
    self.handle:write(bytes)
  end
end

--- Connects to a program's address, as devtools:// has it after "ws=".
function debugger.connect (address, headers)
  local port, path = address:match ":(%d+)(/.*)$"
  local front = setmetatable({
    socket = wslay.new("client", 1 << 26), handle = uv.new_tcp(), head = "",
    messages = {}, texts = {}, replies = {}, orphans = {}, seen = 0, last = 0
  }, Front)
  front.handle:connect("127.0.0.1", tonumber(port), function (failed)
    assert(not failed, failed)
    front.handle:write(("GET %s HTTP/1.1\r\nHost: 127.0.0.1:%s\r\n"
      .. "Upgrade: websocket\r\nConnection: Upgrade\r\n"
      .. "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
      .. "Sec-WebSocket-Version: 13\r\n%s\r\n"):format(path, port,
                                                       headers or ""))
    front.handle:read_start(function (_, bytes)
      if not bytes then
        front:close()
      elseif front.answer then
        receive(front, bytes)
      else
        upgraded(front, bytes)
        if front.answer and front.rest ~= "" then
          receive(front, front.rest)
        end
      end
    end)
  end)
  wait("the answer to an upgrade", function ()
    return front.answer or front.closed
  end)
  return front
end

--- Sends a text as it is.
function Front:say (text)
  self.socket:send(text)
  self:flush()
end

--- Sends a request and does not wait; its id.
function Front:post (method, params)
  self.last = self.last + 1
  self:say(dkjson.encode({id = self.last, method = method, params = params}))
  return self.last
end

--- The whole reply to a request.
function Front:reply (id)
  wait("a reply", function () return self.replies[id] or self.closed end)
  return self.replies[id]
end

--- Sends a request; its result, or nil and the error.
function Front:ask (method, params)
  local reply = self:reply(self:post(method, params))
  return reply.result, reply.error
end

--- The next event of that name, those before it are passed over; its params.
function Front:event (method)
  local found
  wait(method, function ()
    while not found and self.seen < #self.messages do
      self.seen = self.seen + 1
      local message = self.messages[self.seen]
      found = message.method == method and message.params
    end
    return found or self.closed
  end)
  return found
end

--- All events of that name so far, their params.
function Front:events (method)
  local list = {}
  for _, message in ipairs(self.messages) do
    if message.method == method then
      list[#list + 1] = message.params
    end
  end
  return list
end

function Front:close ()
  if not self.closed then
    self.closed = true
    self.handle:close()
  end
end

--- Starts a program with these words before its name; the command, and the
-- address of its door.
function debugger.start (words, directory, env)
  local command = served.start(words, directory, env)
  command:until_ready(function () return command.err:find "&ws=%S+\n" end)
  local address = command.err:match "&ws=(%S+)\n"
  return command, address
end

--- Starts the program text and stops before its first line: the front end, its
-- first pause, the command.
function debugger.begin (program, where)
  local path = where .. "/app.lua"
  local file <close> = assert(io.open(path, "w"))
  file:write(program)
  file:close()
  local command, address = debugger.start({"serve", "--inspect-brk=0",
                                           "app.lua"}, where)
  local front = debugger.connect(address)
  front:ask("Runtime.enable")
  front:ask("Debugger.enable")
  front:post("Runtime.runIfWaitingForDebugger")
  return front, front:event "Debugger.paused", command
end


return debugger
