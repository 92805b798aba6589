-- serving.lua - a program that listens, in a process of its own, for specs.
--
--   local program = serving.start [[
--     require("tracegrip").listen()
--     while true do work() end
--   ]]
--   local peer = program:peer()
--
-- It runs in a directory of its own. Fields: out, err: what it has written;
-- status: of its end, 128 and the signal if it was killed; address, port, path.

local uv = require "luv"

local peers = require "spec.server.peer"
local run = require "spec.support.run"

local serving = {}

local Program = {}
Program.__index = Program

local function environment (extra)
  local env = {
    run.variable "LUA_PATH" .. "=" .. run.path,
    run.variable "LUA_CPATH" .. "=" .. run.build .. "/spec/?.so;" .. run.cpath,
    "LUA=" .. run.lua, "HOME=/tmp", "PATH=" .. os.getenv "PATH"
  }
  -- of make asan, make races
  for _, name in ipairs {"LD_PRELOAD", "ASAN_OPTIONS", "TSAN_OPTIONS"} do
    local value = os.getenv(name)
    env[#env + 1] = value and name .. "=" .. value
  end
  for name, value in pairs(extra or {}) do
    env[#env + 1] = name .. "=" .. value
  end
  return env
end

local function read (program, name, pipe)
  pipe:read_start(function (_, piece)
    if piece then
      program[name] = program[name] .. piece
    else
      pipe:close()
      program.open = program.open - 1
    end
  end)
end

-- Runs a command, a list of words, in a directory with "program.lua", which has
-- 'code'. env: variables.
function serving.command (words, code, env)
  local self = setmetatable({out = "", err = "", open = 2}, Program)
  self.directory = assert(uv.fs_mkdtemp "/tmp/tracegrip-spec-XXXXXX")
  run.write(self.directory .. "/program.lua", code)
  local input, out, err = uv.new_pipe(), uv.new_pipe(), uv.new_pipe()
  self.input = input
  self.process, self.pid = uv.spawn(words[1], {
    args = table.move(words, 2, #words, 1, {}), cwd = self.directory,
    env = environment(env), stdio = {input, out, err}
  }, function (status, signal)
    self.process:close()
    self.status = signal > 0 and 128 + signal or status
  end)
  assert(self.process, self.pid)
  read(self, "out", out)
  read(self, "err", err)
  return self
end

-- Where it has said that it listens, the n-th time.
function Program:await_address (n)
  local pattern = "tracegrip: listening on ([^\n]+)\n"
  local function address ()
    local i = 0
    for text in self.err:gmatch(pattern) do
      i = i + 1
      if i == (n or 1) then
        return text
      end
    end
    return self.status and self.open == 0 and false
  end
  local text
  peers.wait(function ()
    text = address()
    return text ~= nil
  end)
  if not text then
    error("it does not listen: " .. self.err, 2)
  end
  return text, tonumber(text:match ":(%d+)$"), text:match "^unix:(.*)$"
end

-- The same for a program of the interpreter's. It is there when it listens.
function serving.start (code, env)
  local self = serving.command({run.lua, "program.lua"}, code, env)
  self.address, self.port, self.path = self:await_address()
  return self
end

-- A client, greeted.
function Program:peer (how)
  how = how or {}
  how.port, how.path = self.port, self.path
  local peer = assert(peers.connect(how))
  if not how.deaf then
    peer.hello = peer:receive()
  end
  return peer
end

-- A line on its standard input.
function Program:tell (line)
  self.input:write((line or "") .. "\n")
end

-- Waits for a pattern in what it has written to standard output since the last
-- time; its captures.
function Program:says (pattern)
  local from, to
  peers.wait(function ()
    from, to = self.out:find(pattern, self.heard or 1)
    return from or self.status and self.open == 0
  end)
  if not from then
    error(("it does not say '%s': %s%s"):format(pattern, self.out, self.err),
          2)
  end
  local said = self.out:sub(from, to)
  self.heard = to + 1
  return said:match(pattern)
end

-- Waits for its end: the status; nil if it does not come.
function Program:ended (seconds)
  peers.wait(function () return self.status and self.open == 0 end, seconds)
  return self.status
end

function Program:kill (signal)
  if not self.status then
    uv.kill(self.pid, signal or "sigkill")
  end
end

-- Its end, however.
function Program:close ()
  self:kill()
  self:ended()
  self.input:close()
  uv.run "nowait"
  run.remove(self.directory)
end

Program.__close = Program.close

-- A field of /proc/PID/status.
function Program:proc (field)
  local text = run.read(("/proc/%d/status"):format(self.pid)) or ""
  return text:match(field .. ":%s*([^\n]*)")
end

-- How many descriptors it has open.
function Program:descriptors ()
  local n = 0
  local scan = uv.fs_scandir(("/proc/%d/fd"):format(self.pid))
  while scan and uv.fs_scandir_next(scan) do
    n = n + 1
  end
  return n
end

return serving
