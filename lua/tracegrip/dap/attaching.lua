-- attaching.lua - where the door of a program is that runs already.
--
--   attaching.place(arguments)    of "attach": {where = {host, port, token},
--                                 path, title, pid}; waits; raises a problem
--   attaching.listens(pid, port)  whether a process of this machine listens at
--                                 that port
--
-- By host and port; or by the number of a process of this machine: its sockets
-- that listen are asked, one after the other, whether one is a door. A process
-- that has loaded tracegrip and has none gets SIGUSR2, by which a program may
-- open one (docs/editors.md): if it has a handler for that, and would not die.

local core = require "tracegrip.core"
local door = require "tracegrip.dap.door"
local problem = require "tracegrip.dap.problem"
local task = require "tracegrip.dap.task"
local uv = require "luv"
core.own()

local LISTENS = "0A"            -- the state of such a socket in /proc

local attaching = {}

-- Where the system shows what a process has: by its first thread, or by another
-- one when that has ended.
local function shown (pid, name)
  return string.format("/proc/%d/%s", core.livingthread(pid) or pid, name)
end

-- The inodes of its sockets; nil, message.
local function sockets_of (pid)
  local folder = shown(pid, "fd")
  local request, err = uv.fs_scandir(folder)
  if not request then
    local gone = string.find(tostring(err), "^ENOENT")
    return nil, gone and string.format("there is no process %d", pid)
                or string.format("process %d is another user's", pid)
  end
  local inodes = {}
  for name in uv.fs_scandir_next, request do
    local link = uv.fs_readlink(folder .. "/" .. name)
    local inode = link and string.match(link, "^socket:%[(%d+)%]$")
    if inode then
      inodes[inode] = true
    end
  end
  return inodes
end

-- "0100007F:1F90": bytes of four each in the machine's order.
local function address_of (hex, digits)
  local bytes = {}
  for four in string.gmatch(hex, "%x%x%x%x%x%x%x%x") do
    for byte in string.gmatch(string.reverse(four), "%x%x") do
      bytes[#bytes + 1] = tonumber(string.reverse(byte), 16)
    end
  end
  local any = not string.find(hex, "[^0]")
  return {port = tonumber(digits, 16),
          host = #bytes == 4 and not any and table.concat(bytes, ".")
                 or #bytes == 16 and not any and "::1" or "127.0.0.1"}
end

-- A line of them: address, state, queues, timers, user, timeout, inode.
local SOCKET = "%d+: (%x+):(%x+) %x+:%x+ (%x%x) %x+:%x+ %x+:%x+ %x+ +%d+ +%d+ "
               .. "(%d+) "

-- Where a process listens: a list of {host, port}; nil, message.
local function listeners (pid)
  local inodes, message = sockets_of(pid)
  if not inodes then
    return nil, message
  end
  local list = {}
  for _, name in ipairs {"tcp", "tcp6"} do
    local text = core.contents(shown(pid, "net/" .. name))
    for hex, digits, state, inode in string.gmatch(text or "", SOCKET) do
      if state == LISTENS and inodes[inode] then
        list[#list + 1] = address_of(hex, digits)
      end
    end
  end
  return list
end

-- Of a process: a door that is there.
local function find_door (pid, token)
  local list, message = listeners(pid)
  if not list then
    problem.show("%s", message)
  end
  for _, where in ipairs(list) do
    where.token = token
    local path, page, code = task.await(function (done)
      door.find(where, done)
    end)
    if path then
      return {where = where, path = path, title = page.title, pid = pid}
    elseif code == "refused" then
      problem.show("cannot attach: %s", page)
    end
  end
end

function attaching.listens (pid, port)
  for _, where in ipairs(listeners(pid) or {}) do
    if where.port == port then
      return true
    end
  end
  return false
end

---------------------------------------------------------------------------
-- Knocking
---------------------------------------------------------------------------

local SIGUSR2 = 12
local LOOKS, LOOK_MS = 100, 50

-- Whether a process has a handler of its own for the signal.
local function catches (pid, signal)
  local status = core.contents(shown(pid, "status")) or ""
  local mask = tonumber(string.match(status, "\nSigCgt:%s*(%x+)") or "0", 16)
  return mask >> (signal - 1) & 1 == 1
end

local function has_tracegrip (pid)
  local maps = core.contents(shown(pid, "maps")) or ""
  return string.find(maps, "/tracegrip/core%.so") ~= nil
end

local function pause (ms)
  task.await(function (done)
    local timer = uv.new_timer()
    timer:start(ms, 0, function ()
      timer:close()
      done()
    end)
  end)
end

local function knock (pid, token)
  if not has_tracegrip(pid) then
    problem.show("process %d has not loaded tracegrip: start it with tracegrip "
                 .. "serve --inspect, or with TRACEGRIP_INSPECT", pid)
  elseif not catches(pid, SIGUSR2) then
    problem.show("process %d listens for no debugger, and does not open on "
                 .. "SIGUSR2: tracegrip.listen {inspect = PORT} opens it", pid)
  end
  uv.kill(pid, SIGUSR2)
  for _ = 1, LOOKS do
    pause(LOOK_MS)
    local place = find_door(pid, token)
    if place then
      return place
    end
  end
  problem.show("process %d did not open itself to debuggers on SIGUSR2", pid)
end

---------------------------------------------------------------------------
-- Both
---------------------------------------------------------------------------

local function by_address (arguments)
  local where = {host = arguments.host or "127.0.0.1", port = arguments.port,
                 token = arguments.token}
  if where.port < 1 or where.port > 65535 then
    problem.show("'port' has to be from 1 to 65535")
  end
  local path, page = task.await(function (done) door.find(where, done) end)
  if not path then
    problem.show("cannot attach: %s", page)
  end
  return {where = where, path = path, title = page.title}
end

function attaching.place (arguments)
  if arguments.port and arguments.pid then
    problem.show("'port' and 'pid' are two programs: one of them")
  elseif arguments.port then
    return by_address(arguments)
  elseif arguments.pid then
    return find_door(arguments.pid, arguments.token)
           or knock(arguments.pid, arguments.token)
  end
  problem.show("'port' or 'pid' is missing: which program to attach to")
end

return attaching
