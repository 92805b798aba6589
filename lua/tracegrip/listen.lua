-- listen.lua - tracegrip.listen: this Lua state can be reached by clients.
--
--   local listening = assert(tracegrip.listen {port = 6006})
--   print(listening.address)              --> 127.0.0.1:6006
--   listening:close()
--
-- With {inspect = port} debuggers can attach (inspect/agent.lua); with 'port'
-- or 'path' as well, both.
--
-- The server (server.lua) is on another thread, in another Lua state; here is
-- what is checked before it hears of anything. Also for those who are told
-- where to listen in one word: serve, TRACEGRIP_LISTEN.
--
-- Failure: wrong options raise; a socket that cannot be had is nil, message,
-- code.

local installed = require "tracegrip.installed"
local core = installed.core
local wire = require "tracegrip.wire"
core.own()

local lua = core.lua          -- the program may have changed its own libraries
local math, string, table = lua.math, lua.string, lua.table
local error, ipairs, next, pairs = lua.error, lua.ipairs, lua.next, lua.pairs
local pcall, setmetatable, tonumber = lua.pcall, lua.setmetatable, lua.tonumber
local tostring, type, rawget = lua.tostring, lua.type, lua.rawget

local WAIT_S = 0.2            -- between looks at what the user wants

local listen = {}

---------------------------------------------------------------------------
-- What is asked for
---------------------------------------------------------------------------

local function is_text (value)
  return type(value) == "string" and value ~= ""
         and not string.find(value, "\0", 1, true)
end

local function is_number (value, least, most)
  return math.type(value) and value >= least and value <= most
end

-- Each says what is expected, if a value is not.
local checks = {}

function checks.host (value)
  return not is_text(value) and "a string: an address or a name"
end

function checks.port (value)
  return not (is_number(value, 0, 65535) and math.tointeger(value))
         and "a number from 0 to 65535"
end

function checks.inspect (value)
  return checks.port(value)
end

function checks.path (value)
  return not is_text(value) and "a string: a file's name"
end

function checks.token (value)
  return not is_text(value) and "a string that is not empty"
end

function checks.wait (value)
  return type(value) ~= "boolean" and "a boolean"
end

function checks.signal (value)
  return not (is_number(value, 1, 64) and math.tointeger(value))
         and "the number of a signal"
end

function checks.stallTimeout (value)
  return not is_number(value, 0, 1e6) and "a number of seconds, or 0"
end

local function is_headers (value)
  if type(value) ~= "table" then
    return false
  end
  for name, text in next, value do
    if not is_text(name) or not is_text(text) then
      return false
    end
  end
  return true
end

-- A pattern or a list of them, as string.find takes them.
local function is_patterns (value)
  for _, one in ipairs(type(value) == "table" and value or {value}) do
    if not is_text(one) or not pcall(string.find, "", one) then
      return false
    end
  end
  return true
end

-- A collector: its address, or a table.
local function collector_problem (value)
  if type(value) ~= "table" then
    return not is_text(value) and "a URL or a table" or nil
  end
  for key, one in next, value do
    local good = key == "url" and is_text(one)
                 or key == "headers" and is_headers(one)
                 or key == "format" and (one == "protobuf" or one == "json")
                 or key == "traceparent" and is_text(one)
                 or key == "request" and is_patterns(one)
                 or key == "arguments" and type(one) == "boolean"
    if not good then
      return "a URL or a table with url, headers, format (\"protobuf\", "
             .. "\"json\"), traceparent, request (patterns), arguments "
             .. "(a boolean)"
    end
  end
  return value.url == nil and "a table with a url" or nil
end

function checks.otlp (value)
  return collector_problem(value)
end

local of_profile = {
  every = function (value) return is_number(value, 1, 1e6) end,
  for_ = function (value) return is_number(value, 0.01, 1e6) end,
  to = function (value)
    return is_text(value) and string.find(value, "^https?://[^/]") ~= nil
  end,
  rate = function (value) return is_number(value, 1, 10000) end,
  headers = is_headers
}

function checks.profile (value)
  local good = type(value) == "table" and value.to and value.every
               and value.for_
  for key, one in next, good and value or {} do
    good = good and of_profile[key] and of_profile[key](one)
  end
  return not (good and value.for_ < value.every)
         and "a table {every = seconds, for_ = fewer seconds, to = URL} with, "
             .. "if need be, rate (samples a second) and headers"
end

local units = {[""] = 1, K = 1 << 10, M = 1 << 20, G = 1 << 30}

-- 500000000, "500M"; nil: it is neither.
local function size_of (value)
  local digits, unit = value, ""
  if type(value) == "string" then
    digits, unit = string.match(string.upper(value), "^(%d+)([KMG]?)$")
  end
  local n = is_number(tonumber(digits), 0, 1 << 50)
            and math.tointeger(tonumber(digits))
  return n and n * units[unit] or nil
end

local heap_keys = {
  over = function (value) return size_of(value) ~= nil end,
  growth = function (value) return is_number(value, 1, 1e6) end,
  path = is_text
}

function checks.heap (value)
  local good = type(value) == "table" and value.over ~= nil
  for key, one in next, good and value or {} do
    good = good and heap_keys[key] and heap_keys[key](one)
  end
  return not good and "a table {over = bytes, such as \"500M\"} with, if need "
                      .. "be, growth (a number from 1) and path (what the "
                      .. "files' names begin with)"
end

function checks.options (value)
  return type(value) ~= "table" and "a table, as tracegrip.start takes it"
end

local function known (of)
  local names = {}
  for name in pairs(of) do
    names[#names + 1] = name
  end
  table.sort(names)
  return table.concat(names, ", ")
end

local function is_loopback (host)
  return host == "localhost" or host == "::1"
         or string.find(host, "^127%.%d+%.%d+%.%d+$") ~= nil
end

-- 128 bits: 32 hexadecimal digits, or 22 characters of base64. Drawn by chance,
-- they have eight different ones at least (all but one in a hundred million).
local function is_strong (token)
  local seen, different = {}, 0
  for i = 1, #token do
    local character = string.sub(token, i, i)
    different = different + (seen[character] and 0 or 1)
    seen[character] = true
  end
  return #token >= (string.find(token, "^%x+$") and 32 or 22)
         and different >= 8
end

-- What is wrong with options that do not go together.
local function conflict (options)
  local host, token = options.host or "127.0.0.1", options.token
  if options.path and (options.host or options.port) then
    return "option 'path' is for a Unix socket, which has no host and no port"
  elseif not options.path and not is_loopback(host)
         and not (token and is_strong(token)) then
    return string.format("option 'host': %s can be reached from other machines,"
                         .. " which needs a 'token' of at least 128 bits: 32 "
                         .. "hexadecimal digits or 22 characters of base64, "
                         .. "drawn by chance", host)
  end
end

local function as_table (value)
  return type(value) == "table" and value or {url = value}
end

-- The plan for a collector; nil, message.
local function collector (value)
  local given = as_table(value)
  local plan, message = require("tracegrip.send.otlp").plan(given)
  if plan then
    plan.traceparent = given.traceparent
  end
  return plan, message
end

-- What is wrong with where spans go to.
local function collector_conflict (options)
  local given = options.otlp and as_table(options.otlp)
  if not given then
    return nil
  end
  local plan, message = collector(given)
  local ok, problem = pcall(core.checkoptions,
                            {traceparent = given.traceparent})
  return not plan and "option 'otlp': " .. message or not ok and problem or nil
end

-- What is wrong with options; nil if nothing is.
function listen.problem (options)
  for key, value in next, options do
    local check = checks[key]
    if not check then
      return string.format("unknown option '%s' (known: %s)", tostring(key),
                           known(checks))
    end
    local expected = check(value)
    if expected then
      return string.format("option '%s' must be %s", key, expected)
    end
  end
  local ok, message = pcall(core.checkoptions, options.options or {})
  if not ok then
    return message
  end
  return conflict(options) or collector_conflict(options)
end

-- Options from one word: "6006", "127.0.0.1:6006", "[::1]:0", "unix:/path".
-- nil, message.
function listen.parse (text)
  local path = string.match(text, "^unix:(.+)$")
  if path then
    return {path = path}
  end
  local host, digits = string.match(text, "^([^:]+):(%d+)$")
  if not host then
    host, digits = string.match(text, "^%[(.+)%]:(%d+)$")
  end
  local port = math.tointeger(tonumber(digits or string.match(text, "^%d+$")))
  if not port or port > 65535 then
    return nil, string.format("'%s' is no address to listen on: PORT, "
                              .. "HOST:PORT or unix:PATH", text)
  end
  return {host = host, port = port}
end

local function heap_plan (given)
  return {over = size_of(given.over), growth = given.growth or 2,
          path = given.path}
end

-- What the server itself has to know, as it reads it.
local function defaults_of (options)
  return wire.encode {
    options = options.options, stallTimeout = options.stallTimeout,
    otlp = options.otlp and collector(options.otlp), profile = options.profile,
    heap = options.heap and heap_plan(options.heap)
  }
end

-- The options that core.listen takes, and a title. The server's modules are
-- not those of the directory in which the program happens to run.
function listen.plan (options)
  local path, cpath = installed.paths()
  return {
    packagePath = path,
    packageCPath = cpath,
    host = options.host or "127.0.0.1",
    port = math.tointeger(options.port or 0),
    path = options.path,
    token = options.token,
    signal = options.signal and math.tointeger(options.signal),
    stallTimeout = options.stallTimeout,
    options = options.options,
    defaults = defaults_of(options),
  }
end

-- The same for a socket that debuggers find.
function listen.debugger_plan (options)
  local plan = listen.plan(options)
  plan.inspect, plan.port, plan.path = true, options.inspect, nil
  return plan
end

-- Whether a socket is wanted only for debuggers.
function listen.is_for_debuggers (options)
  return options.inspect ~= nil and not (options.port or options.path)
end

---------------------------------------------------------------------------
-- The object
---------------------------------------------------------------------------

local Listening = {__name = "tracegrip.listening"}
Listening.__index = Listening

local handles = setmetatable({}, {__mode = "k"})

-- Clients lose their connections, their traces end. Once or often.
function Listening:close ()
  for _, handle in ipairs(handles[self]) do
    handle:close()
  end
end

Listening.__close = Listening.close

-- Without an address for clients there is one for debuggers alone.
local function new (handle, debugged)
  local address = handle and handle.address or ""
  local host, port = string.match(address, "^(.*):(%d+)$")
  local path = string.match(address, "^unix:(.*)$")
  local self = setmetatable({
    address = handle and address,
    path = path,
    host = not path and host and (string.match(host, "^%[(.*)%]$") or host)
           or nil,
    port = not path and math.tointeger(port) or nil,
    inspect = debugged and debugged.address
  }, Listening)
  handles[self] = {handle or debugged, handle and debugged}
  return self
end

local function title ()
  local name = type(arg) == "table" and rawget(arg, 0)
  return type(name) == "string" and name or "lua"
end

-- One socket, which is told on standard error; nil, message, code.
local function open (plan, words)
  plan.title = title()
  local handle, message, code = core.listen(plan)
  if handle then
    core.tell("tracegrip: " .. words .. handle.address .. "\n")
  end
  return handle, message, code
end

-- Listening | nil, message, code
function listen.start (options)
  if options == nil then
    options = {}
  elseif type(options) ~= "table" then
    error("bad argument #1 to 'listen' (table expected, got " .. type(options)
          .. ")", 2)
  end
  local problem = listen.problem(options)
  if problem then
    error(problem, 2)
  end
  local handle, debugged, message, code
  if not listen.is_for_debuggers(options) then
    handle, message, code = open(listen.plan(options), "listening on ")
  end
  if options.inspect and not message then
    debugged, message, code = open(listen.debugger_plan(options),
                                   "to debug, open ")
  end
  if message then
    if handle then
      handle:close()
    end
    return nil, message, code
  end
  while options.wait and not core.waited(handle or debugged, WAIT_S) do end
  return new(handle, debugged)
end

return listen
