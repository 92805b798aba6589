-- sockets.lua - sockets of the server that clients connect to.
--
--   sockets.open({
--     host, port,         where; port 0 is one that is free
--     path,               of a Unix socket instead; only its owner gets in
--     token,              without one only this machine gets in
--   }, accept, done)
--
-- done gets the listener, or nil, message, code; sooner or later, since the
-- host may have to be looked up. accept gets each client's handle. listener:
--   address     "127.0.0.1:6006", "[::1]:6006" or "unix:/path"
--   handle      the socket
--   close()
--
--   sockets.client(handle)    who that is, in words

local core = require "tracegrip.core"
local uv = require "luv"
core.own()

local BACKLOG = 128
local LONGEST_PATH = 107        -- bytes; the system cuts what is longer
local OWNER_ONLY = 384          -- rw-------
local KEEPALIVE = 60            -- seconds of silence
local SEND_BUFFER = 256 << 10   -- bytes; the system doubles it

local sockets = {}

local Listener = {__name = "tracegrip.listener"}
Listener.__index = Listener

function Listener:close ()
  if not self.handle:is_closing() then
    self.handle:close()
  end
end

local words = {
  EADDRINUSE = "somebody listens there", EACCES = "permission denied",
  EADDRNOTAVAIL = "this machine has no such address",
  ENOENT = "there is no such directory", EAI_NONAME = "there is no such host",
  ENAMETOOLONG = "the path is too long",
  EEXIST = "there is something else of that name"
}

-- luv says "EACCES: permission denied" and the code.
local function fail (done, where, err, code)
  code = code or tostring(err):match("^%u[%u_]*") or "EINVAL"
  done(nil, ("cannot listen on %s: %s"):format(where, words[code] or err), code)
end

local function accepter (handle, new_handle, accept)
  return function (err)
    if err then
      return
    end
    local client = new_handle()
    if handle:accept(client) then
      accept(client)
    else
      client:close()
    end
  end
end

local function opened (handle, address)
  return setmetatable({handle = handle, address = address}, Listener)
end

---------------------------------------------------------------------------
-- TCP
---------------------------------------------------------------------------

local function new_tcp_client ()
  local client = uv.new_tcp()
  return client
end

-- What the system keeps of its own accord, megabytes, would hide for a long
-- time whether a slow client reads.
local function prepare_client (client)
  client:nodelay(true)
  client:keepalive(true, KEEPALIVE)
  client:send_buffer_size(SEND_BUFFER)
end

local function is_loopback (ip)
  return ip:find("^127%.") or ip == "::1" or ip:find("^::ffff:127%.")
end

local function spelled (ip, port)
  return (ip:find(":", 1, true) and "[%s]:%d" or "%s:%d"):format(ip, port)
end

-- Calls with(ip) or, if there is no such host, done(nil, ...).
local function resolve (host, done, with)
  if host == "localhost" then
    return with("127.0.0.1")
  elseif host:find("^[%d.]+$") or host:find(":", 1, true) then
    return with(host)
  end
  local _, err, code = uv.getaddrinfo(host, nil, {socktype = "stream"},
                                      function (problem, list)
    if problem then
      return fail(done, host, problem)
    end
    with(list[1].addr)
  end)
  if err then
    fail(done, host, err, code)
  end
end

local function listen_tcp (ip, options, accept, done)
  local where = spelled(ip, options.port)
  if not options.token and not is_loopback(ip) then
    return done(nil, where .. " can be reached from other machines, which "
                     .. "needs a token", "EACCES")
  end
  local handle = uv.new_tcp()
  local good, ok, err, code = pcall(handle.bind, handle, ip, options.port)
  if not good then              -- no address at all: luv raises
    ok, err, code = nil, "not an address", "EINVAL"
  end
  if ok then
    ok, err, code = handle:listen(BACKLOG, accepter(handle, new_tcp_client,
                                                    function (client)
      prepare_client(client)
      accept(client)
    end))
  end
  if not ok then
    handle:close()
    return fail(done, where, err, code)
  end
  local name = handle:getsockname()
  done(opened(handle, spelled(name.ip, name.port)))
end

local function open_tcp (options, accept, done)
  resolve(options.host, done, function (ip)
    listen_tcp(ip, options, accept, done)
  end)
end

---------------------------------------------------------------------------
-- Unix sockets
---------------------------------------------------------------------------

local function new_pipe_client ()
  return (uv.new_pipe(false))
end

-- Between bind and listen nobody can connect, so the mode is there in time.
local function listen_unix (path, accept)
  local handle = uv.new_pipe(false)
  local ok, err, code = handle:bind(path)
  if ok then
    ok, err, code = uv.fs_chmod(path, OWNER_ONLY)
  end
  if ok then
    ok, err, code = handle:listen(BACKLOG, accepter(handle, new_pipe_client,
                                                    accept))
  end
  if ok then
    return opened(handle, "unix:" .. path)
  end
  handle:close()                -- takes away what it has bound
  return nil, err, code
end

-- A socket that nobody listens on was left behind by a process that was killed.
local function if_left_behind (path, yes, no)
  local probe = uv.new_pipe(false)
  probe:connect(path, function (err)
    probe:close()
    if tostring(err):find("ECONNREFUSED", 1, true) and uv.fs_unlink(path) then
      yes()
    else
      no()
    end
  end)
end

-- nil: the working directory is gone.
local function absolute (path)
  local here = path:sub(1, 1) == "/" and "" or uv.cwd()
  return here and (here == "" and path or here .. "/" .. path)
end

local function open_unix (options, accept, done)
  local path = absolute(options.path)
  local where = "unix:" .. (path or options.path)
  if not path then
    return fail(done, where, nil, "ENOENT")
  elseif #path > LONGEST_PATH then
    return fail(done, where, nil, "ENAMETOOLONG")
  elseif not uv.fs_stat(path:match "^.*/") then   -- bind says EACCES
    return fail(done, where, nil, "ENOENT")
  end
  local function result (listener, err, code)
    if listener then
      return done(listener)
    end
    fail(done, where, err, code)
  end
  local listener, err, code = listen_unix(path, accept)
  if listener or code ~= "EADDRINUSE" then
    return result(listener, err, code)
  end
  local stat = uv.fs_lstat(path)
  if not stat or stat.type ~= "socket" then
    return fail(done, where, nil, "EEXIST")
  end
  if_left_behind(path, function ()
    result(listen_unix(path, accept))
  end, function ()
    result(nil, err, code)
  end)
end

function sockets.open (options, accept, done)
  local open = options.path and open_unix or open_tcp
  open(options, accept, done)
end

--- Who a client is, for others who would like to be in its place.
function sockets.client (handle)
  local there = handle:getpeername()
  local ip = type(there) == "table" and there.ip
  return ip and (ip:find ":" and "[%s]:%d" or "%s:%d"):format(ip, there.port)
         or "a process of this machine"
end

return sockets
