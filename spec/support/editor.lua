--- editor.lua - an editor without a window: it starts `tracegrip dap`, or
-- connects to one, and speaks the Debug Adapter Protocol with it.
--
-- Every message that comes is compared with the protocol's schema; what is not
-- as it says fails the spec at the session's end. Whatever is waited for comes
-- within a minute (run.patience), or the spec fails.

local dkjson = require "dkjson"
local uv = require "luv"
local has_wslay = pcall(require, "tracegrip.wslay")

local dapschema = require "spec.support.dapschema"
local run = require "spec.support.run"
local waiting = require "spec.support.waiting"

local editor = {}

local Editor = {}
Editor.__index = Editor

--- What declares tests of sessions: `it`, or what tells why they are left out.
function editor.needed (it, pending)
  if has_wslay then
    return run.needs("luv", it, pending)
  end
  return function (sentence)
    pending(sentence .. " needs libwslay when it is built")
  end
end

local function wait (what, ready)
  if not waiting.till(ready, run.patience) then
    error("nothing came: " .. what, 3)
  end
end

---------------------------------------------------------------------------
-- Messages
---------------------------------------------------------------------------

local function take (self, message)
  self.problem = self.problem or dapschema.problem(message)
  self.count = self.count + 1
  self.messages[#self.messages + 1] = message
  if message.type == "response" then
    self.answers[message.request_seq] = message
  elseif message.type == "request" then
    local answer = self.answering[message.command]
    if answer then
      answer(self, message)
    end
  end
end

local function receive (self, bytes)
  self.bytes = self.bytes .. bytes
  while true do
    local head, stop = self.bytes:match "^(.-)\r\n\r\n()"
    local length = head and tonumber(head:match "Content%-Length: (%d+)")
    if not length or #self.bytes < stop + length - 1 then
      return
    end
    local body = self.bytes:sub(stop, stop + length - 1)
    self.bytes = self.bytes:sub(stop + length)
    take(self, assert(dkjson.decode(body, 1, dkjson.null)))
  end
end

local function listen (self)
  self.input:read_start(function (_, bytes)
    if bytes then
      receive(self, bytes)
    else
      self.closed = true
    end
  end)
end

local function new (input, output)
  local self = setmetatable({
    input = input, output = output, bytes = "", messages = {}, answers = {},
    answering = {}, seen = 0, last = 0, count = 0
  }, Editor)
  listen(self)
  return self
end

--- Sends bytes as they are.
function Editor:say (bytes)
  self.output:write(bytes)
end

function Editor:send (message)
  self.last = self.last + 1
  message.seq = message.seq or self.last
  local body = dkjson.encode(message)
  self:say(("Content-Length: %d\r\n\r\n%s"):format(#body, body))
  return message.seq
end

--- Sends a request and does not wait; its number.
function Editor:post (command, arguments)
  return self:send {type = "request", command = command, arguments = arguments}
end

--- Sends in one piece what `post` sends, which must not wait for answers: this
-- process may have to rest between two pieces, and the adapter would go on.
function Editor:together (post)
  local pieces = {}
  self.say = function (_, bytes) pieces[#pieces + 1] = bytes end
  post()
  self.say = nil
  self:say(table.concat(pieces))
end

--- The whole answer to a request.
function Editor:answer (seq)
  wait("an answer", function () return self.answers[seq] or self.closed end)
  return self.answers[seq] or error("the adapter has ended", 2)
end

--- Sends a request; its body, or nil and the message.
function Editor:ask (command, arguments)
  local answer = self:answer(self:post(command, arguments))
  if answer.success then
    return answer.body or {}
  end
  return nil, answer.message, answer.body and answer.body.error
end

--- Answers a request of the adapter's.
function Editor:reply (request, body)
  self:send {type = "response", request_seq = request.seq,
             command = request.command, success = body ~= nil, body = body}
end

--- The next event of that name for which accepts(body) is true; those before it
-- are passed over. Its body.
function Editor:event (name, accepts)
  local found
  wait("event " .. name, function ()
    while not found and self.seen < #self.messages do
      self.seen = self.seen + 1
      local message = self.messages[self.seen]
      found = message.type == "event" and message.event == name
              and (not accepts or accepts(message.body))
              and (message.body or {})
    end
    return found or self.closed
  end)
  return found or error("the adapter has ended before " .. name, 2)
end

--- All events of that name so far.
function Editor:events (name)
  local list = {}
  for _, message in ipairs(self.messages) do
    if message.type == "event" and message.event == name then
      list[#list + 1] = message.body or {}
    end
  end
  return list
end

--- All output so far of a category.
function Editor:printed (category)
  local list = {}
  for i, body in ipairs(self:events "output") do
    list[i] = body.category == category and body.output or ""
  end
  return table.concat(list)
end

---------------------------------------------------------------------------
-- Sessions
---------------------------------------------------------------------------

local function environment (extra)
  local env = {
    run.variable "LUA_PATH" .. "=" .. run.path,
    run.variable "LUA_CPATH" .. "=" .. run.cpath,
    "LUA=" .. run.lua, "HOME=/tmp"
  }
  for _, name in ipairs {"LD_PRELOAD", "ASAN_OPTIONS", "TRACEGRIP_DIRECT",
                         "PATH"} do
    env[#env + 1] = os.getenv(name) and name .. "=" .. os.getenv(name)
  end
  for name, value in pairs(extra or {}) do
    env[#env + 1] = name .. "=" .. value
  end
  return env
end

--- Starts the adapter on pipes.
function editor.start (env)
  local input, output = uv.new_pipe(false), uv.new_pipe(false)
  local process, status
  process = uv.spawn(run.build .. "/bin/tracegrip", {
    args = {"dap"}, env = environment(env), stdio = {output, input, 2}
  }, function (code)
    status = code
    process:close()
  end)
  local self = new(input, output)
  self.ended = function ()
    wait("the adapter's end", function () return status end)
    return status
  end
  self.kill = function (signal)
    if not status then
      process:kill(signal or "sigkill")
    end
  end
  return self
end

--- Connects to an adapter at a port of this machine.
function editor.connect (port)
  local handle, connected = uv.new_tcp(), nil
  handle:connect("127.0.0.1", port, function (failed)
    assert(not failed, failed)
    connected = true
  end)
  wait("a connection", function () return connected end)
  local self = new(handle, handle)
  self.kill = function () end
  return self
end

local CLIENT = {adapterID = "lua-tracegrip", linesStartAt1 = true,
                columnsStartAt1 = true, pathFormat = "path",
                supportsVariableType = true, supportsVariablePaging = true}

--- Says who it is, with more fields if there are any; what the adapter can do.
function Editor:initialize (more)
  local arguments = {}
  for _, fields in ipairs {CLIENT, more or {}} do
    for name, value in pairs(fields) do
      arguments[name] = value
    end
  end
  return assert(self:ask("initialize", arguments))
end

--- Calls use(self, ...), and ends what is left, whether that has failed or not.
-- The adapter has its time for that: who kills it leaves its program running.
function Editor:with (use, ...)
  local ok, message = pcall(use, self, ...)
  if not self.closed then
    self:post "disconnect"
    self.output:shutdown()
    waiting.till(function () return self.closed end, run.patience)
  end
  self.kill()
  for _, handle in ipairs {self.input, self.output} do
    if not handle:is_closing() then
      handle:close()
    end
  end
  uv.run "nowait"
  if not ok then
    error(message, 0)
  elseif self.problem then
    error("not as the protocol has it: " .. self.problem, 0)
  end
end

--- A session with files, "app.lua" first of all, launched up to "initialized":
-- calls use(self, directory), which is that of temporary files, too. more:
-- fields of launch; client: of initialize.
function editor.launch (files, use, more, client)
  if type(files) == "string" then
    files = {["app.lua"] = files}
  end
  run.within(function (where)
    for name, text in pairs(files) do
      run.write(where .. "/" .. name, text)
    end
    editor.start({TMPDIR = where}):with(function (self)
      self:initialize(client)
      local arguments = {program = where .. "/app.lua", cwd = where,
                         lua = run.lua}
      for name, value in pairs(more or {}) do
        arguments[name] = value
      end
      self.where = where
      assert(self:ask("launch", arguments))
      self:event "initialized"
      use(self, where)
    end)
  end)
end

--- Breakpoints of a file of the session's; what the adapter says of each. A
-- number is a line.
function Editor:stop_at (list, name)
  local given = {}
  for i, one in ipairs(list) do
    given[i] = type(one) == "number" and {line = one} or one
  end
  return assert(self:ask("setBreakpoints", {
    source = {path = self.where .. "/" .. (name or "app.lua")},
    breakpoints = given
  })).breakpoints
end

--- The lines of a file of the session's at which a breakpoint can stand, from
-- one to another: "1 2 3".
function Editor:locations (name, first, last)
  local list = assert(self:ask("breakpointLocations", {
    source = {path = self.where .. "/" .. name}, line = first, endLine = last
  })).breakpoints
  for i, one in ipairs(list) do
    list[i] = ("%d"):format(one.line)
  end
  return table.concat(list, " ")
end

--- Lets the program begin, and waits for its first stop.
function Editor:run ()
  self:post "configurationDone"
  return self:event "stopped"
end

--- Goes on by that request, and waits for the next stop.
function Editor:go (command, stopped, arguments)
  arguments = arguments or {}
  arguments.threadId = stopped.threadId
  assert(self:ask(command, arguments))
  return self:event "stopped"
end

--- The frames of a stop, and "function:line" of those that have a source.
function Editor:stack (stopped)
  local frames = assert(self:ask("stackTrace", {
    threadId = stopped.threadId
  })).stackFrames
  local list = {}
  for _, frame in ipairs(frames) do
    if frame.source then
      list[#list + 1] = ("%s:%d"):format(frame.name, frame.line)
    end
  end
  return frames, table.concat(list, " ")
end

--- The variables behind a reference: name -> variable, and the names in order.
function Editor:variables (reference, more)
  local arguments = {variablesReference = reference}
  for name, value in pairs(more or {}) do
    arguments[name] = value
  end
  local list = assert(self:ask("variables", arguments)).variables
  local all, names = {}, {}
  for i, one in ipairs(list) do
    all[one.name], names[i] = one, one.name
  end
  return all, names
end

--- Those of a frame's scope.
function Editor:scope (frame, name)
  for _, scope in ipairs(assert(self:ask("scopes", {
    frameId = frame.id
  })).scopes) do
    if scope.name == name then
      local all, names = self:variables(scope.variablesReference)
      return all, names, scope.variablesReference
    end
  end
end

--- What an expression gives in a frame; nil, message.
function Editor:value (frame, expression, context)
  local body, message = self:ask("evaluate", {
    expression = expression, frameId = frame and frame.id,
    context = context or "watch"
  })
  return body and body.result, body or message
end

return editor
