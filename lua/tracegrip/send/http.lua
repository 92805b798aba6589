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
-- The loop watches one descriptor, which libcurl's are behind. So nothing
-- blocks, whoever the loop belongs to. Connections are kept for the next post.
--
-- What libcurl refuses is an answer with status 0, too, on the loop's next
-- turn.

local core = require "tracegrip.core"
local uv = require "luv"
core.own()

local http = {}

local Client = {__name = "tracegrip.http"}
Client.__index = Client

local settle

local function set_timer (self)
  local ms = self.curl:due()
  if ms then
    self.timer:start(ms, 0, function () settle(self) end)
  else
    self.timer:stop()
  end
end

-- Does what there is to do, and tells of what is over.
function settle (self)
  self.curl:act()
  repeat
    local id, status, message, seconds, body = self.curl:finished()
    local done = id and self.waiting[id]
    if done then
      self.waiting[id] = nil
      done {status = status, message = message, seconds = seconds, body = body}
    end
  until not id or self.closed
  if not self.closed then
    set_timer(self)
  end
end

function Client:post (request, done)
  self.number = self.number + 1
  local id = self.number
  self.waiting[id] = done
  local ok, message = self.curl:post(id, request)
  if ok then
    return set_timer(self)
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
  self.poll:close()
  self.curl:close()
end

function http.new ()
  local found, curl = pcall(require, "tracegrip.curl")
  if not found then
    return nil, "sending needs the module tracegrip.curl, which was built "
                .. "without the library libcurl"
  end
  local self = setmetatable({
    curl = assert(curl.new()),
    timer = uv.new_timer(),
    waiting = {},             -- by number: who is told
    number = 0,
    closed = false,
  }, Client)
  self.poll = uv.new_poll(self.curl:fd())
  self.poll:start("r", function () settle(self) end)
  return self
end

return http
