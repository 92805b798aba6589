-- handshake.lua - the requests of HTTP with which a debugger comes, and the
-- answer that makes a WebSocket of the connection (RFC 6455, section 4.2).
--
--   handshake.parse(text)      a request's head -> {method, path, query,
--                              headers} with names in lower case; nil: none
--   handshake.reply(status, body, type)
--                              the bytes of an answer after which the
--                              connection is closed
--   handshake.upgrade(key)     of the one after which frames come
--   handshake.accept(key)      what Sec-WebSocket-Accept has to say
--   handshake.is_local(host)   whether a Host header names this machine by its
--                              address or as localhost: a page of another name
--                              that was made to lead here is none (DNS
--                              rebinding)
--   handshake.is_trusted(origin)
--                              whether a page of that origin may connect: the
--                              front end itself, or one of this machine
--
-- Only what a debugger needs: no bodies of requests, no persistent connections.

local core = require "tracegrip.core"
core.own()

local GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"

local handshake = {}

---------------------------------------------------------------------------
-- SHA-1 (RFC 3174), of which nothing secret depends here
---------------------------------------------------------------------------

local function rotate (x, n)
  return (x << n | x >> (32 - n)) & 0xffffffff
end

local function schedule (block)
  local w = {string.unpack(">" .. ("I4"):rep(16), block)}
  for i = 17, 80 do
    w[i] = rotate(w[i - 3] ~ w[i - 8] ~ w[i - 14] ~ w[i - 16], 1)
  end
  return w
end

local function round (i, b, c, d)
  if i <= 20 then
    return b & c | ~b & d, 0x5a827999
  elseif i <= 40 then
    return b ~ c ~ d, 0x6ed9eba1
  elseif i <= 60 then
    return b & c | b & d | c & d, 0x8f1bbcdc
  end
  return b ~ c ~ d, 0xca62c1d6
end

local function digest (h, block)
  local w = schedule(block)
  local a, b, c, d, e = table.unpack(h)
  for i = 1, 80 do
    local f, k = round(i, b, c, d)
    a, b, c, d, e = (rotate(a, 5) + f + e + k + w[i]) & 0xffffffff, a,
                    rotate(b, 30), c, d
  end
  for i, x in ipairs {a, b, c, d, e} do
    h[i] = (h[i] + x) & 0xffffffff
  end
end

local function sha1 (text)
  local h = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0}
  local padded = text .. "\x80" .. ("\0"):rep(-(#text + 9) % 64)
                 .. string.pack(">I8", 8 * #text)
  for at = 1, #padded, 64 do
    digest(h, padded:sub(at, at + 63))
  end
  return string.pack(">I4I4I4I4I4", table.unpack(h))
end

local DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ" .. "abcdefghijklmnopqrstuvwxyz"
               .. "0123456789+/"

local function base64 (bytes)
  local out = {}
  for at = 1, #bytes, 3 do
    local group = bytes:sub(at, at + 2)
    local n = string.unpack(">I3", group .. ("\0"):rep(3 - #group))
    for i = 0, 3 do
      local digit = n >> (18 - 6 * i) & 63
      out[#out + 1] = i <= #group and DIGITS:sub(digit + 1, digit + 1) or "="
    end
  end
  return table.concat(out)
end

function handshake.accept (key)
  return base64(sha1(key .. GUID))
end

---------------------------------------------------------------------------
-- Requests and answers
---------------------------------------------------------------------------

local function parse_headers (text)
  local headers = {}
  for header in text:gmatch "([^\r\n]+)\r\n" do
    local name, value = header:match "^([%w-]+):[ \t]*(.-)[ \t]*$"
    if not name or headers[name:lower()] then
      return nil              -- twice is one too many for those that count
    end
    headers[name:lower()] = value
  end
  return headers
end

function handshake.parse (text)
  local method, target, rest = text:match "^(%u+) (/[^ ]*) HTTP/1%.1\r\n(.*)$"
  local headers = method and parse_headers(rest)
  if not headers then
    return nil
  end
  local path, query = target:match "^([^?]*)%??(.*)$"
  return {method = method, path = path, query = query, headers = headers}
end

local words = {
  [200] = "OK", [400] = "Bad Request", [403] = "Forbidden",
  [404] = "Not Found", [405] = "Method Not Allowed",
  [503] = "Service Unavailable"
}

function handshake.reply (status, body, kind)
  return ("HTTP/1.1 %d %s\r\nContent-Type: %s\r\nCache-Control: no-cache\r\n"
          .. "Content-Length: %d\r\nConnection: close\r\n\r\n%s")
         :format(status, words[status], kind or "text/plain; charset=UTF-8",
                 #body, body)
end

function handshake.upgrade (key)
  return ("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n"
          .. "Connection: Upgrade\r\nSec-WebSocket-Accept: %s\r\n\r\n")
         :format(handshake.accept(key))
end

---------------------------------------------------------------------------
-- Who asks
---------------------------------------------------------------------------

function handshake.is_local (host)
  local name = (host or ""):gsub(":%d+$", "")
  return name:lower() == "localhost" or name:find "^%[[%x:.]+%]$" ~= nil
         or name:find "^%d+%.%d+%.%d+%.%d+$" ~= nil
end

function handshake.is_trusted (origin)
  if not origin then
    return true               -- no browser
  end
  local scheme, host = origin:match "^([%w-]+)://(.*)$"
  if scheme == "devtools" or scheme == "chrome-devtools" then
    return true
  end
  return (scheme == "http" or scheme == "https")
         and handshake.is_local(host) and (host:lower():find "^localhost"
             or host:find "^127%." or host:find "^%[::1%]") ~= nil
end

return handshake
