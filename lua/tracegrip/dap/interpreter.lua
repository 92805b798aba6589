-- interpreter.lua - whether what is to run a program is a Lua that can be
-- debugged, before the program is given to it: of another one nothing would
-- ever come to the book (book.lua).
--
--   interpreter.check(path, how, asking)
--                      raises a problem if it cannot be debugged; waits. how:
--                      the directory and the environment of the program (cwd,
--                      env), and whether it is run 'elsewhere', where another
--                      file of that name may be found. asking(stop): for who
--                      has to end it before, by stop()
--
-- It is started with what any Lua heeds from 5.1 on, and LuaJIT: LUA_INIT,
-- which tells its version and ends it. With -v, since what is no Lua, or none
-- that heeds it, does little then. A script may start several, one after the
-- other: one of them has to do. The adapter's own interpreter is known to do.
-- Of what has not ended in time nothing is known: the program is run.

local core = require "tracegrip.core"
local problem = require "tracegrip.dap.problem"
local task = require "tracegrip.dap.task"
local uv = require "luv"
local versions = require "tracegrip.cli.versions"
core.own()

local ASK_MS = 2000             -- that takes a few
local MARK = "tracegrip asks: "
local INIT = string.format([[
io.stdout:write("\n%s", jit and jit.version or _VERSION, "\n") os.exit(0)]],
                           MARK)
local heeded = {"LUA_INIT", "LUA_INIT_5_2", "LUA_INIT_5_3", "LUA_INIT_5_4",
                "LUA_INIT_5_5"}

local interpreter = {}

-- Where a shell finds it with that PATH; nil: nowhere.
local function found (name, path)
  if string.find(name, "/", 1, true) then
    return name
  end
  for directory in string.gmatch(path or "", "[^:]+") do
    if uv.fs_access(directory .. "/" .. name, "X") then
      return directory .. "/" .. name
    end
  end
end

local function is_own (name, how)
  local path = found(name, how.env.PATH)
  return path ~= nil and core.samefile(path, core.interpreter())
end

local function environment (env)
  local all, list = {}, {}
  for name, value in pairs(env) do
    all[name] = value
  end
  for _, name in ipairs(heeded) do
    all[name] = INIT
  end
  for name, value in pairs(all) do
    list[#list + 1] = name .. "=" .. value
  end
  return list
end

---------------------------------------------------------------------------
-- Asking
---------------------------------------------------------------------------

local Question = {__name = "tracegrip.dap.interpreter"}
Question.__index = Question

-- Once or often. What it has started is ended with it.
function Question:finish (...)
  if self.over then
    return
  end
  self.over = true
  self.timer:close()
  self.out:close()
  if not (self.ended and self.silent) then
    uv.kill(-self.pid, "sigkill")
  end
  self.done(...)
end

-- It has said all, and has ended.
local function look (self)
  if self.ended and self.silent then
    self:finish(self.said)
  end
end

local function spawn (self, path, how)
  local process
  process, self.pid = uv.spawn(path, {
    args = {"-v"}, cwd = how.cwd, env = environment(how.env),
    stdio = {nil, self.out, nil}, detached = true
  }, function ()
    process:close()
    self.ended = true
    look(self)
  end)
  return process ~= nil
end

-- done(what it has printed); done(nil, why) if it cannot be run, done(nil) if
-- it has not ended in time.
local function ask (path, how, asking, done)
  local self = setmetatable({out = uv.new_pipe(false), timer = uv.new_timer(),
                             said = "", done = done}, Question)
  if not spawn(self, path, how) then
    self.ended, self.silent = true, true
    return self:finish(nil, self.pid)
  end
  self.out:read_start(function (err, bytes)
    self.said = self.said .. (bytes or "")
    self.silent = err ~= nil or bytes == nil
    look(self)
  end)
  self.timer:start(ASK_MS, 0, function () self:finish(nil) end)
  asking(function () self:finish(nil) end)
end

---------------------------------------------------------------------------
-- What it is
---------------------------------------------------------------------------

--- A problem: what cannot be run, by the message of luv's.
function interpreter.refuse (path, message)
  problem.show("cannot run %s: %s", path,
               string.match(tostring(message), "^%u+: (.*)$")
               or tostring(message))
end

-- The words are those of "tracegrip record --", too.
local function judge (path, said)
  local known, other = {}, nil
  for _, number in ipairs(versions.installed()) do
    known["Lua " .. number] = true
  end
  for version in string.gmatch(said, "\n" .. MARK .. "([^\n]*)\n") do
    if known[version] then
      return
    end
    other = version
  end
  problem.show("the program cannot be debugged: %s runs %sno %s", path,
               other and other .. ", and " or "", versions.heeding())
end

function interpreter.check (path, how, asking)
  if is_own(path, how) then
    return
  end
  local said, message = task.await(function (done)
    ask(path, how, asking, done)
  end)
  if said then
    judge(path, said)
  elseif message and not how.elsewhere then
    interpreter.refuse(path, message)
  end
end

return interpreter
