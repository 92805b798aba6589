--- lookedat.lua - programs of any Lua that wait at a place which they have told
-- of, and what tracegrip sees of them from outside.
--
-- A program says a word (say(text), in its prelude below), and then waits for
-- its standard input to end. What is compared with its word is asked when the
-- system says that it waits there.

local dkjson = require "dkjson"
local uv = require "luv"

local run = require "spec.support.run"
local waiting = require "spec.support.waiting"

local lookedat = {}

-- For Lua 5.1 to 5.5. 'wait' is called by the program where it has said all.
local prelude = [[
local function say (text)
  local f = assert(io.open("word.part", "wb"))
  f:write(text)
  f:close()
  assert(os.rename("word.part", "word"))
end
]]

--- Interpreters that are here: the suite's, the distribution's, and those that
-- `make versions LUASRC=DIR` or `make layouts` has built, of releases that are
-- looked into. A list of paths.
function lookedat.interpreters ()
  local list, seen = {}, {}
  local function add (path)
    local text = io.popen(run.quote(path) .. " -v 2>&1"):read "a"
    local release = text:match "^Lua (5%.%d+%.?%d*)"
    if release and not seen[release] and release ~= "5.0" then
      seen[release] = true
      list[#list + 1] = {path = path, release = release}
    end
  end
  add(run.lua)
  for i = 1, 5 do
    add("lua5." .. i)
  end
  for path in io.popen("ls " .. run.quote(run.root)
                       .. "/build/versions/lua-5.*/lua 2>/dev/null"):lines() do
    add(path)
  end
  return list
end

local Process = {}
Process.__index = Process

--- Starts 'code' in a directory, with that interpreter.
function lookedat.start (directory, interpreter, code, words)
  local process = setmetatable({directory = directory}, Process)
  run.write(directory .. "/program.lua", prelude .. code)
  local args = {"program.lua"}
  table.move(words or {}, 1, #(words or {}), 2, args)
  process.stdin = uv.new_pipe()
  process.handle, process.pid = uv.spawn(interpreter, {
    args = args, cwd = directory, stdio = {process.stdin, nil, 2}
  }, function (status, signal)
    process.status, process.signal = status, signal
    process.handle:close()
  end)
  assert(process.handle, process.pid)
  return process
end

--- Its word, when it has said it.
function Process:word ()
  local text = waiting.till(function ()
    return run.read(self.directory .. "/word") or self.status and ""
  end, run.patience)
  assert(text and text ~= "", "the program has said nothing")
  return text
end

--- Whether the system says that it waits in a system call.
function Process:waits ()
  local call = run.read(("/proc/%d/syscall"):format(self.pid)) or ""
  return call:find "^0 " ~= nil         -- read(2)
end

--- Its word, and it waits now.
function Process:waiting ()
  local word = self:word()
  assert(waiting.till(function () return self:waits() end, run.patience))
  return word
end

--- Ends it; its status.
function Process:close ()
  if not self.status then
    self.handle:kill "sigkill"
    waiting.till(function () return self.status end, run.patience)
  end
  if not self.stdin:is_closing() then
    self.stdin:close()
  end
  uv.run "nowait"
end

--- What the command line says of a target: its result, and the document.
function lookedat.dump (target, words)
  local command = {run.build .. "/bin/tracegrip", "dump", tostring(target),
                   "--json"}
  table.move(words or {}, 1, #(words or {}), #command + 1, command)
  local result = run.command(command, {env = {LUA = run.host}})
  return result, result.status == 0 and dkjson.decode(result.stdout) or nil
end

--- Whether a core can be had of a process that goes on.
-- Of what a sanitizer has mapped a core fills the disk.
lookedat.has_gcore = os.execute "command -v gcore >/dev/null 2>&1"
                     and not os.getenv "LD_PRELOAD"

--- The same below a sanitizer: of what that has mapped a core fills the disk.
lookedat.has_cores = lookedat.has_gcore and not os.getenv "LD_PRELOAD"

--- A core of the process in its directory; its path.
function lookedat.core_of (process)
  local prefix = process.directory .. "/core"
  local gcore = "env -u LD_PRELOAD gcore"       -- make asan: gdb would hang
  assert(os.execute(("%s -o %s %d >/dev/null 2>&1"):format(
    gcore, run.quote(prefix), process.pid)))
  return prefix .. "." .. process.pid
end

--- Runs use(process) on a program that waits; ends it in any case.
function lookedat.with (interpreter, code, use, words)
  return run.within(function (directory)
    local process = lookedat.start(directory, interpreter, code, words)
    local ok, message = pcall(use, process)
    process:close()
    assert(ok, message)
  end)
end

return lookedat
