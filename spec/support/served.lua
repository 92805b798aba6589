-- served.lua - a command that serves something, and a client for it.

local uv = require "luv"

local run = require "spec.support.run"
local waiting = require "spec.support.waiting"

local served = {}

local TO_THE_END = 2      -- times the patience, for a program that has to end

-- Runs the event loop until `ready()`; fails if that takes too long.
local function wait (what, ready, times)
  local done = waiting.till(ready, run.patience * (times or 1))
  uv.run("nowait")
  if not done then
    error("nothing came: " .. what, 2)
  end
end

local function environment (extra)
  local env = {
    run.variable "LUA_PATH" .. "=" .. run.path,
    run.variable "LUA_CPATH" .. "=" .. run.cpath,
    "LUA=" .. run.lua, "HOME=/tmp"
  }
  for _, name in ipairs {"LD_PRELOAD", "ASAN_OPTIONS"} do   -- of make asan
    env[#env + 1] = os.getenv(name) and name .. "=" .. os.getenv(name)
  end
  local given = extra or {}
  given.PATH = given.PATH or os.getenv "PATH"
  for name, value in pairs(given) do
    env[#env + 1] = name .. "=" .. value
  end
  return env
end

local Command = {}
Command.__index = Command

-- `nohup` for what is no terminal.
local IGNORING = "trap '' HUP; exec \"$0\" \"$@\""

local function word_list (words, unhung)
  local path = run.build .. "/bin/tracegrip"
  if not unhung then
    return path, words
  end
  return "sh", {"-c", IGNORING, path, table.unpack(words)}
end

--- Starts the command line with `words` in a directory, with no variables but
-- those of `env`. Fields: out and err, what it has written so far; status, when
-- it has ended. unhung: it is started with SIGHUP ignored.
function served.start (words, directory, env, unhung)
  local command = setmetatable({out = "", err = ""}, Command)
  local out, err = uv.new_pipe(), uv.new_pipe()
  local path, args = word_list(words, unhung)
  command.process, command.pid = uv.spawn(path, {
    args = args, cwd = directory, env = environment(env),
    stdio = {nil, out, err}
  }, function (status, signal)
    command.process:close()
    command.status, command.signal = status, signal
  end)
  command.pipes = {out = out, err = err}
  for name, pipe in pairs(command.pipes) do
    pipe:read_start(function (_, piece)
      if piece then
        command[name] = command[name] .. piece
      else
        pipe:close()
        command.closed = (command.closed or 0) + 1
      end
    end)
  end
  return command
end

--- Waits for a pattern in what it writes to standard output; its captures.
function Command:until_says (pattern)
  wait(pattern, function ()
    return self.out:find(pattern) or self.status
  end)
  return self.out:match(pattern)
end

--- Waits until ready(), or its end.
function Command:until_ready (ready)
  wait("what was waited for", function () return ready() or self.status end)
end

--- Its standard output has no reader any more.
function Command:deafen ()
  self.pipes.out:close()
  self.closed = (self.closed or 0) + 1
end

--- Waits for its end; its exit status.
function Command:ended ()
  wait("the end", function () return self.status and self.closed == 2 end,
       TO_THE_END)
  return self.status
end

function Command:kill (signal)
  uv.kill(self.pid, signal or "sigint")
end

--- Sends `text` to a port and returns all that comes back until the end.
-- nil if nobody listens there.
function served.exchange (port, text)
  local socket, answer, ended = uv.new_tcp(), "", false
  socket:connect("127.0.0.1", port, function (failed)
    if failed then
      answer, ended = nil, true
      return
    end
    if text then
      socket:write(text)
    end
    socket:read_start(function (broken, piece)
      answer = answer .. (piece or "")
      ended = broken or not piece
    end)
  end)
  wait("an answer", function () return ended end)
  socket:close()
  uv.run("nowait")
  return answer
end

--- So many connections on which nothing is said, to be closed.
function served.connect (port, count)
  local sockets, ready = {}, 0
  for i = 1, count do
    sockets[i] = uv.new_tcp()
    sockets[i]:connect("127.0.0.1", port, function () ready = ready + 1 end)
  end
  wait("connections", function () return ready == count end)
  return setmetatable(sockets, {__close = function ()
    for _, socket in ipairs(sockets) do
      socket:close()
    end
    uv.run("nowait")
  end})
end

--- An answer's status, headers by name in lower case, and body.
function served.parse (answer)
  local head, body = answer:match "^(.-)\r\n\r\n(.*)$"
  local status = tonumber(head:match "^HTTP/1.1 (%d+)")
  local headers = {}
  for name, value in head:gmatch "\r\n([^:]+): ([^\r]*)" do
    headers[name:lower()] = value
  end
  return status, headers, body
end

return served
