-- target.lua - the file that a recording goes to, and what may be in its way.
--
-- A recording takes the place of an older one, never of anything else. Whoever
-- records makes the file himself; here it is made sure that he can.

local core = require "tracegrip.core"
core.own()

local target = {}

local MAGIC = "\x89TGREC\r\n"

-- The path from any directory: a program may go to another one.
function target.absolute (path)
  if path:sub(1, 1) == "/" then
    return path
  end
  return assert(core.directory()) .. "/" .. path
end

-- Whether a file is a recording or empty; nil and a message if nobody can say.
local function replaceable (path)
  local file <close>, message = io.open(path, "rb")
  if not file then
    return nil, message
  end
  local start = file:read(#MAGIC)
  return start == nil or start == MAGIC
end

-- The process that is recording on it, nil if none is.
local function recorder (path)
  local opened = core.open(path)
  local info = opened and opened:info(true)
  return info and info.state == "running" and info.pid
end

local function check (path)
  local ok, message = replaceable(path)
  if not ok then
    return nil, message or path .. " is no recording", "exists"
  end
  local pid = recorder(path)
  if pid then
    return nil, ("%s is being recorded by process %d"):format(path, pid),
           "running"
  end
  return true
end

-- Removes an old recording, with 'force' any regular file.
-- true | nil, message, code: "exists" or "running" if force would help.
function target.clear (path, force)
  local kind = core.filetype(path)
  if not kind then
    return true
  elseif kind ~= "file" then
    return nil, path .. " is not a regular file"
  end
  local ok, message, code = force, nil, nil
  if not force then
    ok, message, code = check(path)
  end
  if not ok then
    return nil, message, code
  end
  return os.remove(path)
end

-- Whether a file can be made where now there is none: tried, since much can
-- be in the way. true | nil, message.
function target.try (path)
  local file, message = io.open(path, "wb")
  if not file then
    return nil, message
  end
  file:close()
  return os.remove(path)
end

return target
