-- debugger.lua - a front end without a window: it starts a program that is open
-- to debuggers and speaks the Chrome DevTools Protocol with it.
--
-- Whatever is waited for comes within a minute (run.patience), or the spec
-- fails.

local dkjson = require "dkjson"
local uv = require "luv"
local has_wslay, wslay = pcall(require, "tracegrip.wslay")

local run = require "spec.support.run"
local schema = require "spec.support.schema"
local served = require "spec.support.served"
local waiting = require "spec.support.waiting"

local debugger = {}

local function wait (what, ready)
  if not waiting.till(ready, run.patience) then
    error("nothing came: " .. what, 3)
  end
end

--- What declares tests that start programs with a door: `it`, or what tells why
-- they are left out.
function debugger.needed (it, pending)
  if has_wslay then
    return run.needs("luv", it, pending)
  end
  return function (sentence)
    pending(sentence .. " needs libwslay when it is built")
  end
end

--- A program that is started with this environment has Lua's own functions,
-- of before it was open to debuggers, in the table "kept".
debugger.keeping = {LUA_INIT = [[
kept = {}
for _, library in pairs {coroutine, debug} do
  for name, f in pairs(library) do kept[name] = f end
end
]]}

local Front = {}
Front.__index = Front

local function upgraded (front, bytes)
  front.head = front.head .. bytes
  local _, stop = front.head:find("\r\n\r\n", 1, true)
  if stop then
    front.answer = front.head:sub(1, stop)
    front.rest = front.head:sub(stop + 1)
  end
end

-- The first message that the published protocol does not have is told at the
-- session's end: an error in here would be the event loop's.
local function compare (front, message)
  local ok, result = pcall(schema.check, message, front.asked[message.id])
  front.valid = front.valid + (ok and result and 1 or 0)
  debugger.invalid = debugger.invalid or not ok and result or nil
end

local function receive (front, bytes)
  for _, text in ipairs(front.socket:feed(bytes) or {}) do
    local message = dkjson.decode(text)
    compare(front, message)
    front.messages[#front.messages + 1] = message
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

--- Reads what comes, from now on.
function Front:listen ()
  self.handle:read_start(function (_, bytes)
    if not bytes then
      self:close()
    elseif self.answer then
      receive(self, bytes)
    else
      upgraded(self, bytes)
      if self.answer and self.rest ~= "" then
        receive(self, self.rest)
      end
    end
  end)
end

--- Connects to a program's address, as devtools:// has it after "ws=".
function debugger.connect (address, headers)
  local port, path = address:match ":(%d+)(/.*)$"
  local front = setmetatable({
    socket = wslay.new("client", 1 << 26), handle = uv.new_tcp(), head = "",
    messages = {}, replies = {}, orphans = {}, asked = {}, seen = 0, last = 0,
    valid = 0
  }, Front)
  front.handle:connect("127.0.0.1", tonumber(port), function (failed)
    assert(not failed, failed)
    front.handle:write(("GET %s HTTP/1.1\r\nHost: 127.0.0.1:%s\r\n"
      .. "Upgrade: websocket\r\nConnection: Upgrade\r\n"
      .. "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
      .. "Sec-WebSocket-Version: 13\r\n%s\r\n"):format(path, port,
                                                       headers or ""))
    front:listen()
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
  self.asked[self.last] = method
  self:say(dkjson.encode({id = self.last, method = method, params = params}))
  return self.last
end

--- The whole reply to a request; empty, if the connection has ended.
function Front:reply (id)
  wait("a reply", function () return self.replies[id] or self.closed end)
  return self.replies[id] or {}
end

--- Lets some seconds pass, in which the program stands still.
function Front:pass (seconds)
  local over = false
  local timer = uv.new_timer()
  uv.update_time()
  timer:start(math.floor(seconds * 1000), 0, function () over = true end)
  wait("the time", function () return over or self.closed end)
  timer:close()
end

--- Waits until the other side hangs up.
function Front:ended ()
  wait("the end", function () return self.closed end)
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
  env = env or {}
  env.TRACEGRIP_DIRECT = env.TRACEGRIP_DIRECT or os.getenv "TRACEGRIP_DIRECT"
  local command = served.start(words, directory, env)
  command:until_ready(function () return command.err:find "&ws=%S+\n" end)
  local address = command.err:match "&ws=(%S+)\n"
  return command, address or error(command.err)
end

--- The same of tests that need the interpreter's memory to be read.
function debugger.needs_memory (it, pending)
  if os.getenv "TRACEGRIP_DIRECT" ~= "0" then
    return it
  end
  return function (name)
    pending(name .. " needs the interpreter's memory")
  end
end

--- Calls use(...) and ends what is left of the command, whether that has failed
-- or not.
function debugger.with (command, use, ...)
  debugger.invalid = nil
  local ok, message = pcall(use, ...)
  if not command.status then
    command:kill "sigkill"
  end
  command:ended()
  if not ok then
    error(message, 0)
  elseif debugger.invalid then
    error("not as the protocol has it: " .. debugger.invalid, 0)
  end
end

--- Starts files, "app.lua" first of all, and stops before its first line: calls
-- use(front end, first pause, command, address). With variables of the
-- environment, if there are any.
function debugger.debug (files, use, env)
  if type(files) == "string" then
    files = {["app.lua"] = files}
  end
  run.within(function (where)
    for name, text in pairs(files) do
      run.write(where .. "/" .. name, text)
    end
    local command, address = debugger.start({"serve", "--inspect-brk=0",
                                             "app.lua"}, where, env)
    debugger.with(command, function ()
      local front = debugger.connect(address)
      front:ask("Runtime.enable")
      front:ask("Debugger.enable")
      front:post("Runtime.runIfWaitingForDebugger")
      use(front, front:event "Debugger.paused", command, address)
    end)
  end)
end

--- The same of a program that runs and has said where it is: it writes "begun"
-- to standard error, as a line. The door is open before a program's first line
-- has run, so who acts at once acts on something else. Calls use(front end,
-- command, address).
function debugger.attach (text, use, ...)
  assert(text:find("begun", 1, true), "a program that never says 'begun'")
  local words = {"serve", "--inspect=0", ...}
  words[#words + 1] = "app.lua"
  run.within(function (where)
    run.write(where .. "/app.lua", text)
    local command, address = debugger.start(words, where)
    debugger.with(command, function ()
      command:until_ready(function () return command.err:find "begun\n" end)
      local front = debugger.connect(address)
      front:ask("Runtime.enable")
      front:ask("Debugger.enable")
      use(front, command, address)
    end)
  end)
end

--- Sends a request that lets the program go on, and waits for the next pause.
function Front:go (method, params)
  self:post("Debugger." .. method, params)
  return self:event "Debugger.paused"
end

-- The url of the program, which is told of when its first function runs.
local function url_of (front)
  local url
  wait("app.lua", function ()
    for _, script in ipairs(front:events "Debugger.scriptParsed") do
      url = script.url:find "/app%.lua$" and script.url or url
    end
    return url or front.closed
  end)
  return url
end

--- A breakpoint at a line of the program, from 1.
function Front:stop_at (line, condition)
  local set, problem = self:ask("Debugger.setBreakpointByUrl", {
    url = url_of(self), lineNumber = line - 1, columnNumber = 0,
    condition = condition or ""
  })
  return set or error(problem and problem.message or "no reply", 2)
end

--- What an expression is in a frame, from 1: its RemoteObject, and the details
-- of an error.
function Front:value (paused, frame, expression, more)
  local params = {callFrameId = paused.callFrames[frame].callFrameId,
                  expression = expression}
  for key, value in pairs(more or {}) do
    params[key] = value
  end
  local result, problem = self:ask("Debugger.evaluateOnCallFrame", params)
  if not result then
    error(problem.message, 2)
  end
  return result.result, result.exceptionDetails
end

--- The properties of an object: name -> value, and the names in order.
function Front:properties (id, key)
  local result = assert(self:ask("Runtime.getProperties", {
    objectId = id, ownProperties = true
  }))
  local all, names = {}, {}
  for i, one in ipairs(result[key or "result"]) do
    all[one.name], names[i] = one.value, one.name
  end
  return all, names
end

--- The variables of a frame's scope of that type.
function Front:scope (paused, frame, kind)
  for _, scope in ipairs(paused.callFrames[frame].scopeChain) do
    if scope.type == kind then
      return self:properties(scope.object.objectId)
    end
  end
end

--- "function:line" of the frames of a pause that are Lua's.
function debugger.place (paused)
  local list = {}
  for _, frame in ipairs(paused.callFrames) do
    if frame.url ~= "lua://lua/[C]" then
      list[#list + 1] = ("%s:%d"):format(frame.functionName,
                                         frame.location.lineNumber + 1)
    end
  end
  return table.concat(list, " ")
end

--- What an expression is to the program, as DevTools' console asks.
function debugger.evaluate (front, code)
  return front:ask("Runtime.evaluate", {expression = code}).result
end

--- Ends a program that goes on until 'done' is set and says so then, without
-- anybody who listens.
function debugger.finish (front, command)
  front:ask "HeapProfiler.disable"
  front:ask "Debugger.disable"
  debugger.evaluate(front, "done = true")
  assert(command:ended() == 0, command.err)
  assert(command.out == "done\n", command.out)
end

return debugger
