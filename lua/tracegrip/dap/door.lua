-- door.lua - the other side of a program's door (inspect/door.lua): what there
-- is to debug at an address, and a WebSocket to it.
--
--   door.find(where, done)     done(path, page), or done(nil, message, code):
--                              where to connect, and what the program says of
--                              itself
--   door.open(where, path, hear, gone, done)
--                              done(connection), or done(nil, message, code);
--                              hear(text) gets each message, gone() the end
--     connection:send(text)
--     connection:close()
--
-- 'where' is {host =, port =, token =}: a token, if the program wants one.
--
-- Failure: who does not answer within PATIENCE_MS, or not as a door does, is
-- none. code: as luv has it, "refused", where a token is missing, or "noDoor".

local core = require "tracegrip.core"
local uv = require "luv"
local wslay = require "tracegrip.wslay"
core.own()

local PATIENCE_MS = 5000
local MAX_MESSAGE = 256 << 20
local MAX_HEAD = 1 << 20        -- of an answer that is no WebSocket
local TOKEN = "a token is required, or another one"
local NONE = "there is no program that a debugger can attach to"

local door = {}

local function shut (handle)
  if handle and not handle:is_closing() then
    handle:close()
  end
end

-- What the address is to luv: done(ip), or done(nil, message, code).
local function resolve (host, done)
  if host == "localhost" then
    return done("127.0.0.1")
  elseif string.find(host, "^[%d.]+$") or string.find(host, ":", 1, true) then
    return done(host)
  end
  local _, err, code = uv.getaddrinfo(host, nil, {socktype = "stream"},
                                      function (problem, list)
    if problem then
      return done(nil, "there is no host " .. host, problem)
    end
    done(list[1].addr)
  end)
  if err then
    done(nil, "there is no host " .. host, code)
  end
end

local words = {ECONNREFUSED = "nobody listens there", ETIMEDOUT = "no answer",
               ECONNRESET = "the other side has ended it",
               EHOSTUNREACH = "there is no way to that host"}

local function failure (where, err, code)
  code = code or string.match(tostring(err), "^%u[%u_]*") or "noDoor"
  return string.format("%s:%d: %s", where.host, where.port,
                       words[code] or tostring(err)), code
end

-- Connects and sends a request; answered(handle, head, rest) gets what comes up
-- to the end of the head, failed(message, code) anything else, once.
local function ask (where, request, answered, failed)
  local handle, timer = uv.new_tcp(), uv.new_timer()
  local head, over = "", false
  local function fail (err, code)
    if not over then
      over = true
      shut(timer)
      shut(handle)
      failed(failure(where, err, code))
    end
  end
  timer:start(PATIENCE_MS, 0, function () fail "no answer" end)
  local function read (err, bytes)
    if over then
      return
    elseif err or not bytes then
      return fail(err or NONE)
    end
    head = head .. bytes
    local _, stop = string.find(head, "\r\n\r\n", 1, true)
    if stop then
      over = true
      shut(timer)
      answered(handle, string.sub(head, 1, stop), string.sub(head, stop + 1))
    elseif #head > MAX_HEAD then
      fail(NONE)
    end
  end
  resolve(where.host, function (ip, message, code)
    if not ip then
      return fail(message, code)
    end
    local ok, err = pcall(handle.connect, handle, ip, where.port,
                          function (problem)
      if problem then
        return fail(problem)
      end
      handle:nodelay(true)
      handle:write(request)
      handle:read_start(read)
    end)
    if not ok then
      fail(err)
    end
  end)
end

local function host_of (where)
  return string.find(where.host, ":", 1, true) and "[" .. where.host .. "]"
         or where.host
end

local function request (where, path, more)
  local query = where.token and "?token=" .. where.token or ""
  return string.format("GET %s%s HTTP/1.1\r\nHost: %s:%d\r\n%s\r\n", path,
                       query, host_of(where), where.port, more)
end

---------------------------------------------------------------------------
-- What there is
---------------------------------------------------------------------------

-- The address that the program tells may not be the one by which it is reached
-- here, so that is only looked at for its path.
local function page_of (body)
  local list = core.decode(body, 10)
  local page = type(list) == "table" and list[1]
  local url = type(page) == "table" and page.webSocketDebuggerUrl
  local path = type(url) == "string"
               and string.match(url, "^wss?://[^/]+(/.*)$")
  if path then
    return path, page
  end
end

function door.find (where, done)
  ask(where, request(where, "/json/list", "Connection: close\r\n"),
      function (handle, head, body)
    local pieces = {body}
    local timer = uv.new_timer()
    local function finish ()
      shut(handle)
      shut(timer)
      local path, page
      if string.find(head, "^HTTP/1.1 200") then
        path, page = page_of(table.concat(pieces))
      end
      if not path then
        if string.find(head, "^HTTP/1.1 403") then
          return done(nil, failure(where, TOKEN, "refused"))
        end
        return done(nil, failure(where, NONE))
      end
      done(path, page)
    end
    timer:start(PATIENCE_MS, 0, finish)
    handle:read_start(function (err, bytes)
      if err or not bytes then
        return finish()
      end
      pieces[#pieces + 1] = bytes
    end)
  end, function (message, code) done(nil, message, code) end)
end

---------------------------------------------------------------------------
-- The WebSocket
---------------------------------------------------------------------------

local Connection = {__name = "tracegrip.dap.door"}
Connection.__index = Connection

local function flush (self)
  local bytes = self.socket:pending()
  if bytes ~= "" and not self.closed then
    self.handle:write(bytes)
  end
end

function Connection:send (text)
  if not self.closed then
    self.socket:send(text)
    flush(self)
  end
end

-- Once or often.
function Connection:close ()
  if not self.closed then
    self.closed = true
    shut(self.handle)
    self.gone()
  end
end

local function hear_bytes (self, bytes)
  local messages = self.socket:feed(bytes)
  for _, text in ipairs(messages or {}) do
    if not self.closed then
      self.hear(text)
    end
  end
  flush(self)
  if not messages or not self.socket:open() then
    self:close()
  end
end

-- The key is no secret: it says only that the other side knows WebSocket.
local UPGRADE = "Upgrade: websocket\r\nConnection: Upgrade\r\n"
                .. "Sec-WebSocket-Key: dHJhY2VncmlwLCBhZGFwdA==\r\n"
                .. "Sec-WebSocket-Version: 13\r\n"

function door.open (where, path, hear, gone, done)
  ask(where, request(where, path, UPGRADE), function (handle, head, rest)
    if not string.find(head, "^HTTP/1.1 101") then
      shut(handle)
      return done(nil, failure(where, NONE))
    end
    local self = setmetatable({
      handle = handle, socket = wslay.new("client", MAX_MESSAGE),
      hear = hear, gone = gone, closed = false
    }, Connection)
    handle:read_stop()
    done(self)
    handle:read_start(function (err, bytes)
      if err or not bytes then
        self:close()
      elseif not self.closed then
        hear_bytes(self, bytes)
      end
    end)
    if rest ~= "" then
      hear_bytes(self, rest)
    end
  end, function (message, code) done(nil, message, code) end)
end

return door
