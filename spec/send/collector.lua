-- collector.lua - an HTTP server on the spec's own loop, for what is sent
-- there.
--
--   local collector <close> = collector.start(function (request, n)
--     return 503, {["Retry-After"] = "1"}, "body"     -- nil: no answer
--   end)
--   collector.url                  http://127.0.0.1:PORT
--   collector.requests             list of {path, headers, body, at}
--   collector:spans()              of all that was answered with 200, in order
--
-- Without a function every answer is 200.

local uv = require "luv"

local otlpbody = require "spec.send.otlpbody"

local collector = {}

local Collector = {}
Collector.__index = Collector

local function answer (self, client, request)
  local status, headers, body = self.how(request, #self.requests)
  request.status = status
  if not status then
    return
  end
  local lines = {("HTTP/1.1 %d Said"):format(status)}
  for name, value in pairs(headers or {}) do
    lines[#lines + 1] = name .. ": " .. value
  end
  lines[#lines + 1] = "Content-Length: " .. #(body or "")
  client:write(table.concat(lines, "\r\n") .. "\r\n\r\n" .. (body or ""))
end

-- A request that is there as a whole, and what is behind it.
local function take (text)
  local head, rest = text:match "^(.-\r\n)\r\n(.*)$"
  if not head then
    return nil, text
  end
  local request = {path = head:match "^POST (%S+) HTTP/1.1\r\n", headers = {}}
  for name, value in head:gmatch "\n([^:\r\n]+): *([^\r\n]*)" do
    request.headers[name:lower()] = value
  end
  local size = tonumber(request.headers["content-length"])
  if #rest < size then
    return nil, text
  end
  request.body = rest:sub(1, size)
  return request, rest:sub(size + 1)
end

local function welcome (self)
  local client, text = uv.new_tcp(), ""
  self.server:accept(client)
  table.insert(self.clients, client)
  client:read_start(function (_, piece)
    local request
    text = text .. (piece or "")
    repeat
      request, text = take(text)
      if request then
        request.at = uv.hrtime()
        table.insert(self.requests, request)
        answer(self, client, request)
      end
    until not request
  end)
end

function Collector:spans ()
  local all = {}
  for _, request in ipairs(self.requests) do
    if request.status == 200 then
      for _, span in ipairs(otlpbody.read(request).spans) do
        all[#all + 1] = span
      end
    end
  end
  return all
end

function Collector:close ()
  for _, client in ipairs(self.clients) do
    client:close()
  end
  self.server:close()
  uv.run "nowait"
end

Collector.__close = Collector.close

function collector.start (how)
  local self = setmetatable({
    server = uv.new_tcp(), clients = {}, requests = {},
    how = how or function () return 200 end
  }, Collector)
  assert(self.server:bind("127.0.0.1", 0))
  self.port = self.server:getsockname().port
  self.url = "http://127.0.0.1:" .. self.port
  assert(self.server:listen(64, function () welcome(self) end))
  return self
end

return collector
