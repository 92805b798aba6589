-- door.lua - where debuggers come in: a port that answers HTTP and becomes a
-- WebSocket. On the server's thread.
--
--   GET /json/version, /json, /json/list, /json/protocol
--                       what there is to debug: as Node.js answers, so that
--                       chrome://inspect lists the program
--   GET /<id>           the WebSocket. The id is random: who does not know it
--                       does not get in
--
-- What comes by it is carried to the program as it is (Tab:deliver), and what
-- the program says is carried back. Nothing is read here but what ends code
-- (ending.lua), and that somebody follows the heap: a message may wait for
-- hours until the program looks.
--
-- Failure: who breaks the rules of HTTP or WebSocket, or does not read what it
-- is sent, loses the connection; the program is told that it is gone.

local core = require "tracegrip.core"
local ending = require "tracegrip.inspect.ending"
local fileurl = require "tracegrip.inspect.fileurl"
local handshake = require "tracegrip.inspect.handshake"
local protocol = require "tracegrip.inspect.protocol"
local sockets = require "tracegrip.server.sockets"
local uv = require "luv"
local wire = require "tracegrip.wire"
local wslay = require "tracegrip.wslay"
core.own()

local MAX_HEAD = 16 << 10       -- bytes of a request
local MAX_MESSAGE = 16 << 20    -- of a debugger's message
local MAX_UNREAD = 256 << 20    -- that a debugger does not read
local BEHIND = 4 << 20          -- from which on it is left out what can be
local MAX_DEBUGGERS = 16
local MAX_STRANGERS = 32        -- connections that are no WebSocket yet
local PATIENCE_MS = 10000       -- for a request to be complete
local TICK_MS = 50              -- between two words that time passes
-- Chromium opens a front end with parameters that it knows, and says
-- ERR_INVALID_URL to any other: to "experiments" since some release.
local FRONT_END = "devtools://devtools/bundled/js_app.html?v8only=true&ws="
local JSON = "application/json; charset=UTF-8"

local door = {}

local Door = {__name = "tracegrip.door"}
Door.__index = Door

local last_client = 0           -- numbers are of the process, as channels are

---------------------------------------------------------------------------
-- What there is
---------------------------------------------------------------------------

-- Where the program is; the program's directory is that of the process. What
-- has no file, such as code that the interpreter was given, has no address.
local function program_url (title)
  local directory = uv.cwd() or ""      -- which may be gone
  local path = title:find "^/" and title or directory .. "/" .. title
  return uv.fs_stat(path) and fileurl.of(path) or "file://"
end

local function random_id ()
  local hex = uv.random(16):gsub(".", function (c)
    return ("%02x"):format(c:byte())
  end)
  return ("%s-%s-%s-%s-%s"):format(hex:sub(1, 8), hex:sub(9, 12),
                                   hex:sub(13, 16), hex:sub(17, 20),
                                   hex:sub(21))
end

-- Without what has a meaning in a URL's query.
local function page_address (where)
  return FRONT_END .. where
end

function Door:list ()
  local where = self.host .. "/" .. self.id
  return {{
    description = self.tab.what or "tracegrip: a Lua program",
    devtoolsFrontendUrl = page_address(where),
    devtoolsFrontendUrlCompat = page_address(where),
    id = self.id, title = self.tab.title, type = "node",
    url = self.url,
    webSocketDebuggerUrl = "ws://" .. where
  }}
end

local function version ()
  return {Browser = "tracegrip/v" .. core.version, ["Protocol-Version"] = "1.3"}
end

function Door:document ()
  return protocol.document(self.tab.domains)
end

local pages = {
  ["/json"] = Door.list, ["/json/list"] = Door.list,
  ["/json/version"] = version, ["/json/protocol"] = Door.document
}

---------------------------------------------------------------------------
-- A connection
---------------------------------------------------------------------------

local Visitor = {__name = "tracegrip.visitor"}
Visitor.__index = Visitor

-- Whoever follows the program's heap has it told that time passes, as long as
-- it takes what there is to be taken: again that the debugger reads what it is
-- sent.
local function remind (self)
  local tab = self.door.tab
  if not self.behind and not tab.gone and not tab.channel:nudge() then
    tab:deliver(self.client, false)
  end
end

local function track (self, follows)
  if follows and not self.ticker then
    self.ticker = uv.new_timer()
    self.ticker:start(TICK_MS, TICK_MS, function () remind(self) end)
  elseif not follows and self.ticker then
    self.ticker:close()
    self.ticker = nil
  end
end

-- Once or often. The program hears of it if it has heard of the debugger.
local function leave (self)
  local client = self.client
  self.client, self.parting = nil, true
  track(self, false)
  if client then
    self.door.tab.debuggers[client] = nil
    self.door.tab:deliver(client)
  end
end

-- Once or often.
function Visitor:close ()
  if self.closed then
    return
  end
  self.closed = true
  self.timer:close()
  ending.forget(self.watched)
  self.door.visitors[self] = nil
  leave(self)
  if not self.handle:is_closing() then
    self.handle:close()
  end
end

-- The end was said. The other side has to read that: it would not if the
-- connection broke off because of what it still sends. So that is read, and
-- passed over, until it hangs up.
function Visitor:part ()
  if not self.parting then
    leave(self)
    self.timer:start(PATIENCE_MS, 0, function () self:close() end)
    self.handle:shutdown()
  end
end

function Visitor:answer (status, body, kind)
  local handle = self.handle
  self.timer:stop()
  handle:read_stop()
  handle:write(handshake.reply(status, body, kind), function ()
    self:close()
  end)
end

-- The program is told when the debugger does not keep up, and when it has read
-- most of what it was sent.
function Visitor:pace ()
  if self.closed or self.parting then
    return
  end
  local unread = self.handle:write_queue_size()
  local behind = unread > (self.behind and BEHIND // 4 or BEHIND)
  if behind ~= self.behind then
    self.behind = behind
    self.door.tab:deliver(self.client, behind)
  end
end

function Visitor:flush ()
  local bytes = self.socket:pending()
  if bytes ~= "" then
    self.handle:write(bytes, function () self:pace() end)
    self:pace()
  end
  if not self.socket:open() then
    self:part()
  elseif self.handle:write_queue_size() > MAX_UNREAD then
    self:close()
  end
end

-- What the program says.
function Visitor:deliver (text)
  self.socket:send(text)
  self:flush()
end

-- A message for the program; false: too many wait for it.
function Visitor:forward (text)
  local follows = text:match '"HeapProfiler%.(%l+)TrackingHeapObjects"'
  if follows then
    track(self, follows == "start")
  end
  local ends, tab = ending.is(text), self.door.tab
  if ends then
    ending.forget(self.watched)
    self.watched = ending.watch(tab, function (word) self:deliver(word) end)
  end
  return tab:deliver(self.client, text, ends)
end

function Visitor:hear (bytes)
  local messages = self.socket:feed(bytes)
  for _, text in ipairs(messages or {}) do
    if not self:forward(text) then
      return self:close()
    end
  end
  self:flush()
end

local function count (visitors, clients)
  local n = 0
  for visitor in pairs(visitors) do
    n = n + ((visitor.client ~= nil) == clients and 1 or 0)
  end
  return n
end

function Visitor:upgrade (request, rest)
  local headers = request.headers
  local key = headers["sec-websocket-key"]
  if not (headers.upgrade or ""):lower():find "websocket" or not key
     or headers["sec-websocket-version"] ~= "13" then
    return self:answer(400, "A WebSocket is expected here.\n")
  elseif count(self.door.visitors, true) >= MAX_DEBUGGERS then
    return self:answer(503, "Too many debuggers are connected.\n")
  end
  self.timer:stop()
  last_client = last_client + 1
  self.client = last_client
  self.socket = wslay.new("server", MAX_MESSAGE)
  self.door.tab.debuggers[self.client] = function (text)
    self:deliver(text)
  end
  self.handle:write(handshake.upgrade(key))
  if rest ~= "" then
    self:hear(rest)
  end
end

-- Whether it may ask at all; else it has its answer.
function Visitor:admit (request)
  local headers, token = request.headers, self.door.token
  if not token and not handshake.is_local(headers.host) then
    self:answer(400, "The Host header has to name an address or localhost.\n")
  elseif not handshake.is_trusted(headers.origin) then
    self:answer(403, "Pages of this origin may not connect.\n")
  elseif token and request.path ~= "/" .. self.door.id
         and request.query ~= "token=" .. token then
    self:answer(403, "A token is required: ?token=...\n")
  else
    return true
  end
end

function Visitor:request (head, rest)
  local request = handshake.parse(head)
  if not request then
    return self:answer(400, "This is no request of HTTP/1.1.\n")
  elseif not self:admit(request) then
    return
  elseif request.method ~= "GET" then
    return self:answer(405, "GET is all that is known here.\n")
  elseif request.path == "/" .. self.door.id then
    return self:upgrade(request, rest)
  end
  local page = pages[request.path:gsub("(.)/$", "%1")]
  if not page then
    return self:answer(404, "There is nothing of that name.\n")
  end
  self:answer(200, wire.json(page(self.door)), JSON)
end

function Visitor:receive (bytes)
  if self.parting then
    return
  elseif self.socket then
    return self:hear(bytes)
  end
  self.head = self.head .. bytes
  local _, stop = self.head:find("\r\n\r\n", 1, true)
  if stop and stop <= MAX_HEAD then
    self:request(self.head:sub(1, stop), self.head:sub(stop + 1))
  elseif #self.head > MAX_HEAD then
    self:answer(400, "The request is too long.\n")
  end
end

local function welcome (self, handle)
  if count(self.visitors, false) >= MAX_STRANGERS then
    return handle:close()
  end
  local visitor = setmetatable({
    door = self,
    handle = handle,
    head = "",                -- of the request, what has come
    timer = uv.new_timer(),
    client = nil,             -- its number, once it is a debugger
    socket = nil,             -- and its WebSocket
    watched = nil,            -- the timer of a message that ends code (ending)
    behind = false,           -- it does not read what it is sent
    parting = false,          -- it is no debugger any more
    closed = false,
  }, Visitor)
  self.visitors[visitor] = true
  visitor.timer:start(PATIENCE_MS, 0, function () visitor:close() end)
  handle:read_start(function (err, bytes)
    local ok, problem = pcall(function ()
      if err or not bytes then
        visitor:close()
      elseif not visitor.closed then
        visitor:receive(bytes)
      end
    end)
    if not ok then
      io.stderr:write("tracegrip: debugger: " .. tostring(problem) .. "\n")
      visitor:close()
    end
  end)
end

---------------------------------------------------------------------------
-- The door
---------------------------------------------------------------------------

function Door:close ()
  for visitor in pairs(self.visitors) do
    visitor:close()
  end
  self.listener:close()
end

-- tab: the state's, or a recording's (recorded.lua), which says what it is and
-- which domains it has; options: host, port, token. done(door), or done(nil,
-- message, code). door.address is what a user opens in Chrome.
function door.open (tab, options, done)
  local self = setmetatable({
    tab = tab, token = options.token, id = random_id(), visitors = {},
    url = program_url(tab.title)
  }, Door)
  sockets.open(options, function (handle)
    welcome(self, handle)
  end, function (opened, message, code)
    if not opened then
      return done(nil, message, code)
    end
    self.listener = opened
    self.handle = opened.handle
    self.host = opened.address
    self.address = page_address(opened.address .. "/" .. self.id)
    done(self)
  end)
end

return door
