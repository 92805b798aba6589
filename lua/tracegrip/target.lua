-- target.lua - the file that a recording goes to, and what may be in its way.
--
-- A recording takes the place of an older one, never of anything else. Whoever
-- records makes the file himself, and the older one goes then
-- (csrc/recording/claim.h); here it is made sure beforehand that he can.

local core = require "tracegrip.core"
core.own()

local target = {}

-- A test that is recorded may have put anything in their place by now.
local string = core.lua.string
local open, remove, format = core.lua.io.open, core.lua.os.remove, string.format

local MAGIC = "\x89TGREC\r\n"

-- The path from any directory: a program may go to another one. nil, message:
-- the directory is gone.
function target.absolute (path)
  if string.sub(path, 1, 1) == "/" then
    return path
  end
  local here, message = core.directory()
  if not here then
    return nil, format("%s: there is no working directory (%s)", path, message)
  end
  return here .. "/" .. path
end

local ENOENT = 2

-- Whether a file is a recording or empty; nil and a message if nobody can say.
-- One that was just seen may be gone: a process that starts now replaces it.
local function replaceable (path)
  local file <close>, message, code = open(path, "rb")
  if not file then
    return code == ENOENT or nil, message
  end
  local start = file:read(#MAGIC)
  return start == nil or start == MAGIC
end

-- The process that is recording on it, nil if none is.
local function recorder (path)
  local opened = core.open(path)
  local info = opened and opened:info(true)
  return info and info.state == "running" and (info.recorder or info.pid)
end

local function check (path)
  local ok, message = replaceable(path)
  if not ok then
    return nil, message or path .. " is no recording", "exists"
  end
  local pid = recorder(path)
  if pid then
    return nil, format("%s is being recorded by process %d", path, pid),
           "running"
  end
  return true
end

-- What is wrong with a name that is to be written to, whatever is there; nil.
-- A link may be somebody else's, and lead anywhere.
function target.problem (path)
  if core.islink(path) then
    return path .. " is a symbolic link, through which nothing is written"
  end
end

-- Whether a file that is no recording may be made there, in the place of one
-- that is none either: true | nil, message.
function target.spares (path, force)
  local file <close> = open(path, "rb")
  if target.problem(path) then
    return nil, target.problem(path)
  elseif file and not force and core.filetype(path) == "file"
         and file:read(#MAGIC) == MAGIC then
    return nil, path .. " is a recording"
  end
  return true
end

-- Whether there is nothing, or an old recording, with 'force' any regular file.
-- true | nil, message, code: "exists" or "running" if force would help.
function target.free (path, force)
  local problem = target.problem(path)
  if problem then
    return nil, problem
  end
  local kind = core.filetype(path)
  if not kind then
    return true
  elseif kind ~= "file" then
    return nil, path .. " is not a regular file"
  elseif force then
    return true
  end
  return check(path)
end

-- Removes what may be there; as target.free.
function target.clear (path, force)
  local ok, message, code = target.free(path, force)
  if not ok or not core.filetype(path) then
    return ok, message, code
  end
  return remove(path)
end

-- Whether the recording at a path is of a run.
function target.is_of (path, run)
  local opened = core.open(path)
  return opened ~= nil and opened:info(true).run == run
end

-- Whether a file can be made where now there is none: tried, since much can
-- be in the way. true | nil, message.
function target.try (path)
  local file, message = open(path, "wb")
  if not file then
    return nil, message
  end
  file:close()
  return remove(path)
end

return target
