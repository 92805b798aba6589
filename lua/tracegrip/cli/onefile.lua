-- onefile.lua - one file on 127.0.0.1, by HTTP, for one web page.
--
-- A viewer in a browser cannot read the user's files, but it can fetch from his
-- machine what is offered to it. So can every other page and every other
-- program here: therefore the path cannot be guessed, only the page's own
-- origin is let in, and whatever else is asked for is not found. A request has
-- little room and little time; the file is read from as it goes out. Browsers
-- open connections on which they ask for nothing: those are given up for one
-- that is new, the oldest first, and are not waited for.
--
--   onefile.start {
--     fd, size,        the file, open for reading, and its length
--     path,            under which it is to be had
--     type,            its media type
--     origin,          of the page: "https://www.example.org"
--     port,            0 for one that is free
--     finished         function (): it has been fetched completely, and for a
--                      moment nobody has asked for it again
--   } -> server | nil, message, code
--
-- server.port is the port; server.served says whether the file has been asked
-- for; server:stop() ends it all. It works while the event loop of luv runs.

local core = require "tracegrip.core"
local quietpipe = require "tracegrip.quietpipe"
local uv = require "luv"
core.own()

local onefile = {}

local HEADER_MAX = 8 << 10      -- bytes of a request
local PIECE = 64 << 10          -- bytes of the file at a time
local CONNECTIONS_MAX = 16
local HEADER_MS = 10000         -- for a request to be complete
local STALL_MS = 30000          -- for a piece to be taken
local GRACE_MS = 1000           -- after it was fetched

---------------------------------------------------------------------------
-- Requests and answers
---------------------------------------------------------------------------

-- {method, path, headers by name in lower case}; nil if it is none.
local function parse (text)
  local method, path, rest = text:match "^(%u+) (%S+) HTTP/1%.[01]\r\n(.*)$"
  if not method then
    return nil
  end
  local headers = {}
  for header in rest:gmatch "([^\r\n]+)\r\n" do
    local name, value = header:match "^([^:%s]+):[ \t]*(.-)[ \t]*$"
    if not name then
      return nil
    end
    headers[name:lower()] = value
  end
  return {method = method, path = path, headers = headers}
end

local reasons = {[200] = "OK", [204] = "No Content", [404] = "Not Found"}

local function head (status, fields)
  local lines = {("HTTP/1.1 %d %s"):format(status, reasons[status])}
  table.move(fields, 1, #fields, 2, lines)
  table.move({"Cache-Control: no-store", "Connection: close",
              "X-Content-Type-Options: nosniff", "", ""}, 1, 5, #lines + 1,
             lines)
  return table.concat(lines, "\r\n")
end

local not_found = head(404, {"Content-Length: 0"})

local Server = {}
Server.__index = Server

-- Whether a request is from whom the file is for: a name that somebody else
-- made to lead here, or another page, is not.
function Server:is_for (request)
  local host, origin = request.headers.host, request.headers.origin
  return request.path == self.path
         and (host == "127.0.0.1:" .. self.port
              or host == "localhost:" .. self.port)
         and (origin == nil or origin == self.origin)
end

local function allowed (server, request, fields)
  if request.headers.origin then
    fields[#fields + 1] = "Access-Control-Allow-Origin: " .. server.origin
  end
  fields[#fields + 1] = "Vary: Origin"
  return fields
end

-- What a browser asks before it lets a page fetch from here.
local function preflight (server, request)
  local fields = allowed(server, request,
                         {"Access-Control-Allow-Methods: GET, HEAD"})
  if request.headers["access-control-request-private-network"] then
    fields[#fields + 1] = "Access-Control-Allow-Private-Network: true"
  end
  return head(204, fields)
end

-- The head of the answer, and whether the file comes after it.
function Server:answer (request)
  local method = request and self:is_for(request) and request.method
  if method == "OPTIONS" and request.headers.origin then
    return preflight(self, request)
  elseif method == "GET" or method == "HEAD" then
    return head(200, allowed(self, request, {
      "Content-Type: " .. self.type,
      ("Content-Length: %d"):format(self.size)
    })), method == "GET"
  end
  return not_found
end

---------------------------------------------------------------------------
-- Connections
---------------------------------------------------------------------------

local Connection = {}
Connection.__index = Connection

function Connection:close ()
  if not self.closed then
    self.closed = true
    self.timer:close()
    self.socket:close()
    self.server.connections[self] = nil
    self.server.count = self.server.count - 1
    self.server.busy = self.server.busy - (self.busy and 1 or 0)
  end
end

-- From now on it has so much time.
function Connection:within (ms)
  self.timer:start(ms, 0, function () self:close() end)
end

-- Calls next() when the peer has taken a text.
function Connection:write (text, next)
  self:within(STALL_MS)
  self.socket:write(text, function (failed)
    if failed then
      self:close()
    elseif not self.closed then
      next()
    end
  end)
end

-- Nothing more is said; what was said arrives first.
function Connection:finish ()
  self:within(STALL_MS)
  self.socket:shutdown(function () self:close() end)
end

-- The file from 'at' on.
function Connection:send (at)
  local piece = uv.fs_read(self.server.fd, PIECE, at)
  if not piece then
    self:close()
  elseif #piece == 0 then
    self.server:fetched()
    self:finish()
  else
    self:write(piece, function () self:send(at + #piece) end)
  end
end

function Connection:respond ()
  self.socket:read_stop()
  self.busy = true
  self.server.busy = self.server.busy + 1
  local text, file = self.server:answer(parse(self.request))
  self.server.served = self.server.served or file
  self:write(text, function ()
    if file then
      self:send(0)
    else
      self:finish()
    end
  end)
end

function Connection:receive (piece)
  self.request = self.request .. piece
  local last = self.request:find("\r\n\r\n", 1, true)
  if last and last <= HEADER_MAX then
    self.request = self.request:sub(1, last + 1)
    self:respond()
  elseif last or #self.request > HEADER_MAX then
    self:close()
  end
end

-- Gives up the connection that has been silent for longest.
function Server:make_room ()
  local oldest
  for peer in pairs(self.connections) do
    if not peer.busy and (not oldest or peer.number < oldest.number) then
      oldest = peer
    end
  end
  if oldest then
    oldest:close()
  end
end

function Server:accept ()
  local socket = uv.new_tcp()
  if self.count == CONNECTIONS_MAX then
    self:make_room()
  end
  self.accepted = self.accepted + 1
  local peer = setmetatable({
    server = self, socket = socket, timer = uv.new_timer(), request = "",
    number = self.accepted
  }, Connection)
  self.connections[peer] = true
  self.count = self.count + 1
  if not self.socket:accept(socket) or self.count > CONNECTIONS_MAX then
    return peer:close()
  end
  peer:within(HEADER_MS)
  socket:read_start(function (failed, piece)
    if failed or not piece then
      peer:close()
    else
      peer:receive(piece)
    end
  end)
end

---------------------------------------------------------------------------
-- The server
---------------------------------------------------------------------------

-- It has been fetched; somebody who fetches it again is waited for.
function Server:fetched ()
  self.timer:start(GRACE_MS, GRACE_MS, function ()
    if self.busy == 0 then
      self.timer:stop()
      self.finished()
    end
  end)
end

function Server:stop ()
  if self.stopped then
    return
  end
  self.stopped = true
  for peer in pairs(self.connections) do
    peer:close()
  end
  self.timer:close()
  self.pipe:close()
  self.socket:close()
end

local function listen (server, port)
  local socket = server.socket
  local ok, message, code = socket:bind("127.0.0.1", port)
  if ok then
    ok, message, code = socket:listen(CONNECTIONS_MAX, function (failed)
      if not failed then
        server:accept()
      end
    end)
  end
  return ok, message, code
end

function onefile.start (options)
  local server = setmetatable({
    fd = options.fd, size = options.size, path = options.path,
    type = options.type, origin = options.origin, finished = options.finished,
    socket = uv.new_tcp(), timer = uv.new_timer(), pipe = quietpipe(),
    connections = {}, count = 0, busy = 0, accepted = 0
  }, Server)
  local ok, message, code = listen(server, options.port)
  if not ok then
    server:stop()
    return nil, message, code
  end
  server.port = server.socket:getsockname().port
  return server
end

return onefile
