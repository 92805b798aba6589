-- remoteheap.lua - a heap snapshot of a program that listens, into a file here:
-- for tracegrip heap.
--
-- The file is its owner's alone and no link is followed. What has come of a
-- snapshot that fails is removed. Each step succeeds or ends the command.

local core = require "tracegrip.core"
local main = require "tracegrip.cli.main"
local server = require "tracegrip.cli.server"
local units = require "tracegrip.cli.units"
core.own()

local uv                        -- the module, when the command runs

local remoteheap = {}

local MODE = 384                -- rw-------

-- luv says "ENOENT: no such file or directory: PATH".
local function words_of (path, message)
  local words = tostring(message):match "^%u+: ([^:]+)" or tostring(message)
  return path .. ": " .. words
end

local function open (connection, path)
  if path == "-" then
    return 1
  end
  server.must(connection, not core.islink(path),
              path .. ": a symbolic link, through which nothing is written")
  local fd, message = uv.fs_open(path, "w", MODE)
  return server.must(connection, fd, words_of(path, message))
end

local function write_all (fd, bytes)
  while bytes ~= "" do
    local n, message = uv.fs_write(fd, bytes, -1)
    if not n then
      return nil, message
    end
    bytes = bytes:sub(n + 1)
  end
  return true
end

-- How much has come, on a terminal; and a function that wipes that away.
local function meter ()
  local begun, total, shown = os.time(), 0, nil
  if not core.isatty(2) then
    return function () end, function () end
  end
  return function (size)
    total = total + size
    if total // (1 << 20) ~= shown and os.time() - begun > 1 then
      shown = total // (1 << 20)
      io.stderr:write(("\r%s received\27[K"):format(units.bytes(total)))
    end
  end, function ()
    io.stderr:write(shown and "\r\27[K" or "")
  end
end

-- The name of a file for a program of that title.
local function name_of (tab)
  local name = server.title_of(tab):match "[^/]*$":gsub("%.%w+$", "")
  return (name == "" and "program" or name) .. ".heapsnapshot"
end

local function receive (connection, tab, fd, path)
  local show, wipe = meter()
  local result, message = connection:snapshot(tab, {bytes = function (bytes)
    show(#bytes)
    local ok, problem = write_all(fd, bytes)
    return ok, not ok and words_of(path, problem) or nil
  end})
  wipe()
  return result, message
end

-- The result, and the file's name. parsed: address, out, tab, tokenFile.
function remoteheap.take (parsed)
  uv = require "luv"
  local connection = server.connect(parsed)
  local tab = server.choose_tab(connection, parsed.tab)
  local path = parsed.out or name_of(tab)
  local fd = open(connection, path)
  local result, message = receive(connection, tab, fd, path)
  local closed, problem = true, nil
  if fd ~= 1 then
    closed, problem = uv.fs_close(fd)
  end
  if not (result and closed) then
    if fd ~= 1 then
      os.remove(path)
    end
    connection:close()
    main.fail("%s", message or words_of(path, problem))
  end
  connection:close()
  return result, path
end

return remoteheap
