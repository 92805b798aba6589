-- book.lua - where programs that are started to be debugged say that they are
-- there: a directory of ours, in which each process that runs Lua writes a file
-- (boot.lua) before it waits for a debugger that lets it begin.
--
--   book.open(told)    -> Book; raises a problem. told(place) is called once
--                      for each process: {pid, where, path, title}
--   self.path          of the directory
--   self:close(tells)  whoever comes from now on runs by itself; tells: told is
--                      called for those who have come by then. Once or often
--
-- A directory that has gone takes no new file, and one with a file in it does
-- not go: so nobody waits who was not told of.

local core = require "tracegrip.core"
local problem = require "tracegrip.dap.problem"
local uv = require "luv"
core.own()

local NAME = "tracegrip-dap-XXXXXX"
local POLL_MS = 20              -- between looks
local TRIES = 1000              -- for a file that was begun to be whole, and
                                -- for what is not ours to go

local book = {}

local Book = {__name = "tracegrip.dap.book"}
Book.__index = Book

-- What a file says that is whole; nil.
local function place_of (text)
  local pid, host, port, path, title = string.match(text,
    "^(%d+) %S*[?&]ws=%[?([^/%]]-)%]?:(%d+)(/%S+) ([^\n]*)\n$")
  return pid and {
    pid = math.tointeger(pid), path = path, title = title,
    where = {host = host, port = math.tointeger(port)}
  }
end

-- None of a directory that somebody else has taken away.
local function names_in (path)
  return core.entries(path) or {}
end

-- By looking: the directory may be on a disk that tells nothing of changes, and
-- there is no wait that is shorter than a look. What was read goes.
local function look (self)
  for _, name in ipairs(names_in(self.path)) do
    local path = self.path .. "/" .. name
    local place = place_of(core.contents(path) or "")
    if place then
      uv.fs_unlink(path)
      self.told(place)
    end
  end
end

local function discard (self)
  for _, name in ipairs(names_in(self.path)) do
    uv.fs_unlink(self.path .. "/" .. name)
  end
end

function book.open (told)
  local path, err = uv.fs_mkdtemp((os.getenv "TMPDIR" or "/tmp") .. "/" .. NAME)
  if not path then
    problem.show("cannot make a directory in the temporary directory: %s", err)
  end
  local self = setmetatable({path = path, told = told, timer = uv.new_timer()},
                            Book)
  self.timer:start(POLL_MS, POLL_MS, function () look(self) end)
  return self
end

-- Takes the directory away; whether there is something in it.
local function is_occupied (path)
  local gone, _, code = uv.fs_rmdir(path)
  return not gone and (code == "ENOTEMPTY" or code == "EEXIST")
end

function Book:close (tells)
  if self.timer:is_closing() then
    return
  end
  self.timer:close()
  local tries = 0
  repeat
    if tells and tries < TRIES then
      look(self)
    else
      discard(self)
    end
    tries = tries + 1
  until not is_occupied(self.path) or tries == 2 * TRIES
end

return book
