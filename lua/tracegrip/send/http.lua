-- http.lua - posting over HTTP and HTTPS on luv's loop, by libcurl.
--
--   local client = http.new()         -- nil, message without tracegrip.curl
--   client:post({url =, headers =, body =, ca =, timeout =}, function (answer)
--     answer.status                   -- 0: there was no answer, and...
--     answer.message                  -- ...why
--     answer.seconds                  -- Retry-After; 0: none
--     answer.body
--   end)
--   client:close()
--
-- libcurl says which descriptors it waits for; the loop watches them. So nothing
-- blocks, whoever the loop belongs to. Connections are kept for the next post.
--
-- What libcurl refuses is an answer with status 0, too, on the loop's next turn.

local core = require "tracegrip.core"
local uv = require "luv"
core.own()

local http = {}

local Client = {__name = "tracegrip.http"}
Client.__index = Client

local settle

-- A descriptor that is watched no more may be closed by now, so its handle goes
-- before another one can be made for it.
local function watch (self, fd, what)
  local handle = self.handles[fd]
  if what == "" then
    if handle then
      handle:close()
      self.handles[fd] = nil
    end
    return
  end
  handle = handle or uv.new_poll(fd)
  self.handles[fd] = handle
  handle:start(what, function (problem, events)
    events = events or ""
    self.curl:act(fd, problem or events:find("r"), problem or events:find("w"))
    settle(self)
  end)
end

local function set_timer (self, ms)
  if not ms then
    return self.timer:stop()
  end
  self.timer:start(ms, 0, function ()
    self.curl:act()
    settle(self)
  end)
end

-- Tells of what is over, and watches what libcurl wants watched by now.
function settle (self)
  local wants, ms = self.curl:interest()
  for i = 1, #wants, 2 do
    watch(self, wants[i], wants[i + 1])
  end
  set_timer(self, ms)
  repeat
    local id, status, message, seconds, body = self.curl:finished()
    local done = id and self.waiting[id]
    if done then
      self.waiting[id] = nil
      done {status = status, message = message, seconds = seconds, body = body}
    end
  until not id or self.closed
end

function Client:post (request, done)
  self.number = self.number + 1
  local id = self.number
  self.waiting[id] = done
  local ok, message = self.curl:post(id, request)
  if ok then
    local _, ms = self.curl:interest()
    return set_timer(self, ms)
  end
  local soon = uv.new_timer()
  soon:start(0, 0, function ()
    soon:close()
    self.waiting[id] = nil
    done {status = 0, message = message, seconds = 0, body = ""}
  end)
end

-- What is on its way is given up; nobody is told.
function Client:close ()
  if self.closed then
    return
  end
  self.closed = true
  self.timer:close()
  for _, handle in pairs(self.handles) do
    handle:close()
  end
  self.curl:close()
end

function http.new ()
  local found, curl = pcall(require, "tracegrip.curl")
  if not found then
    return nil, "sending needs the module tracegrip.curl, which was built "
                .. "without the library libcurl"
  end
  return setmetatable({
    curl = curl.new(),
    timer = uv.new_timer(),
    handles = {},             -- by descriptor
    waiting = {},             -- by number: who is told
    number = 0,
    closed = false,
  }, Client)
end

return http
