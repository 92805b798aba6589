-- topchild.lua - the program that tracegrip top runs: a process that serves on
-- a socket of its own, in a session of its own, so that it goes on when top is
-- left. What it writes goes to a file, since top has the terminal.

local core = require "tracegrip.core"
local main = require "tracegrip.cli.main"
local program = require "tracegrip.cli.program"
core.own()

local topchild = {}

local Child = {}
Child.__index = Child

local WAIT_MS, TRIES = 10, 1000    -- for its word that it listens
local PATIENCE_MS = 5000           -- for its end
local LISTENS = "^tracegrip: listening on [^\n]*\n"

-- This program again, as it was called.
local function ourselves ()
  return core.interpreter(), arg[0]
end

local function directory_of (uv)
  local base = os.getenv("TMPDIR")
  local path, message = uv.fs_mkdtemp((base and base ~= "" and base or "/tmp")
                                      .. "/tracegrip-XXXXXX")
  if not path then
    main.fail("cannot make a directory: %s", message)
  end
  return path
end

local function read (path)
  local file <close> = io.open(path, "rb")
  return file and file:read("a") or ""
end

-- Whether it listens within a while; false if the process ends before.
local function listens (child)
  local uv, left = child.uv, TRIES
  local timer = uv.new_timer()
  timer:start(WAIT_MS, WAIT_MS, function () left = left - 1 end)
  while left > 0 and not child.ended
        and not read(child.output):find(LISTENS) do
    uv.run("once")
  end
  timer:close()
  return not child.ended and left > 0
end

-- Runs 'script'. Its output goes to 'output', or to a file that is shown in the
-- end. Fails as a command does.
function topchild.start (uv, script, arguments, output)
  program.must_load(script, arguments)
  local directory = directory_of(uv)
  local self = setmetatable({
    uv = uv, script = script, directory = directory, kept = output,
    socket = directory .. "/socket", output = output or directory .. "/output"
  }, Child)
  local file, message = uv.fs_open(self.output, "w", 420)   -- rw-r--r--
  if not file then
    main.fail("cannot write the output: %s", message)
  end
  local interpreter, launcher = ourselves()
  local words = {launcher, "serve", "--listen", "unix:" .. self.socket,
                 "--wait", "--", script}
  table.move(arguments, 1, #arguments, #words + 1, words)
  self.handle, self.pid = uv.spawn(interpreter, {
    args = words, stdio = {nil, file, file}, detached = true
  }, function (status, signal)
    self.ended = {status = status, signal = signal}
  end)
  uv.fs_close(file)
  if not self.handle then
    main.fail("cannot run the program: %s", self.pid)
  end
  if not listens(self) then
    self:fail()
  end
  return self
end

function Child:address ()
  return "unix:" .. self.socket
end

-- The first time it may see to its end itself, for a while: a program that
-- handles the signal and goes on would never be left.
function Child:finish (signal)
  if self.ended then
    return
  end
  self.handle:kill(self.finishing and "sigkill" or signal)
  if not self.finishing and signal ~= "sigint" then
    self.patience = self.uv.new_timer()
    self.patience:start(PATIENCE_MS, 0, function ()
      self.handle:kill("sigkill")
    end)
  end
  self.finishing = signal
end

-- What it has written, to where it would have come from.
function Child:show_output ()
  if not self.kept then
    io.stdout:write((read(self.output):gsub(LISTENS, "", 1)))
  end
end

-- It has ended before anybody could look at it.
function Child:fail ()
  if not self.ended then
    self.handle:kill("sigkill")
    main.fail("the program does not begin")
  end
  self:show_output()
  self:__close()
  os.exit(self.ended.status)
end

-- How it has ended, as an exit status; the word about one that goes on, since
-- it was left. 'meant': the end was asked for by who wanted no more than to
-- look for a while, and is none that failed.
function Child:conclude (left, meant)
  while not self.ended and (self.finishing or not left) do
    self.uv.run("once")
  end
  if not self.ended then
    main.note("%s goes on as process %d; its output is in %s", self.script,
              self.pid, self.output)
    return 0
  end
  self:show_output()
  if meant then
    return 0
  end
  return self.ended.signal ~= 0 and 128 + self.ended.signal
         or self.ended.status
end

-- Its directory goes with it, but not while it goes on.
function Child:__close ()
  if self.patience then
    self.patience:close()
    self.uv.run "nowait"        -- before it may be collected (attached.lua)
    self.patience = nil
  end
  if not self.ended then
    return
  end
  for _, name in ipairs {"socket", "output"} do
    os.remove(self.directory .. "/" .. name)
  end
  self.uv.fs_rmdir(self.directory)
end

return topchild
