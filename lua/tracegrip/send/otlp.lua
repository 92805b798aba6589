-- otlp.lua - where spans go, and as what: the user's word and OpenTelemetry's
-- environment as one plan.
--
--   local plan = otlp.plan {url =, headers =, format =,
--                           request =, arguments =}      -- nil, message
--   core.receive(options, style, file, false, otlp.spans(plan, trace, program))
--   local sender = otlp.sender(plan)                       -- nil, message
--
-- 'url' is an endpoint as OTEL_EXPORTER_OTLP_ENDPOINT has it: /v1/traces
-- follows it, unless it ends so; "env" is what the environment says, or else
-- the Collector on this machine. From the environment come, too, what a command
-- line should not show (headers) and what is the same for all programs of a
-- machine: OTEL_EXPORTER_OTLP_ and OTEL_EXPORTER_OTLP_TRACES_, the latter
-- first, with ENDPOINT, HEADERS, PROTOCOL, COMPRESSION, CERTIFICATE, TIMEOUT;
-- OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES.
--
-- A plan is plain data: it goes from state to state as a literal.

local core = require "tracegrip.core"
local resource = require "tracegrip.resource"
core.own()

-- A plan is made in the program's state, which may have changed its libraries.
local os, string = core.lua.os, core.lua.string

local otlp = {}

local DEFAULT = "http://localhost:4318"
local PATH = "/v1/traces"
local TIMEOUT_MS = 10000

---------------------------------------------------------------------------
-- The plan
---------------------------------------------------------------------------

local function set (name)
  local value = os.getenv(name)
  return value ~= "" and value or nil
end

local function exporter (name)
  return set("OTEL_EXPORTER_OTLP_TRACES_" .. name)
         or set("OTEL_EXPORTER_OTLP_" .. name)
end

-- With the path of spans.
local function complete (url)
  local base = string.gsub(url, "/+$", "")
  return string.sub(base, -#PATH) == PATH and base or base .. PATH
end

-- What stands for one signal is taken as it is (OTLP Exporter Configuration).
local function environment_url ()
  return set("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
         or complete(set("OTEL_EXPORTER_OTLP_ENDPOINT") or DEFAULT)
end

-- "key=value,key2=value2" as W3C's baggage has it, in its order: {key, value,
-- key2, value2}.
local function pairs_of (text)
  local list = {}
  for part in string.gmatch(text or "", "[^,]+") do
    local key, value = string.match(part, "^%s*([^=]-)%s*=%s*([^;]-)%s*$")
    if key and key ~= "" then
      list[#list + 1] = resource.unescape(key)
      list[#list + 1] = resource.unescape(value)
    end
  end
  return list
end

-- The user's headers replace those of the environment.
local function headers_of (given)
  local values, headers = {}, {}
  local list = pairs_of(exporter "HEADERS")
  for i = 1, #list, 2 do
    values[string.lower(list[i])] = list[i + 1]
  end
  for name, value in pairs(given or {}) do
    values[string.lower(name)] = value
  end
  for name, value in pairs(values) do
    headers[#headers + 1] = name .. ": " .. string.gsub(value, "%c", "")
  end
  table.sort(headers)
  return headers
end

local protocols = {["http/protobuf"] = "protobuf", ["http/json"] = "json"}

function otlp.plan (given)
  local url = given.url == "env" and environment_url() or complete(given.url)
  if not string.find(url, "^https?://[^/]") then
    return nil, string.format("'%s' is no address of a collector: "
                              .. "http://HOST:PORT, https://HOST or env",
                              given.url)
  end
  return {
    url = url,
    headers = headers_of(given.headers),
    format = given.format or protocols[exporter "PROTOCOL"] or "protobuf",
    gzip = exporter "COMPRESSION" ~= "none",
    ca = exporter "CERTIFICATE",
    timeout = math.tointeger(tonumber(exporter "TIMEOUT")) or TIMEOUT_MS,
    resource = resource.said({}, given.warn),
    request = given.request, arguments = given.arguments or nil,
  }
end

-- A service is called by its script's name, wherever that lies.
local function base_name (path)
  local name = path and string.match(path, "([^/]+)/*$") or "lua"
  return string.match(name, "^(.+)%.lua$") or name
end

-- How core.receive is to write spans, of that trace of that program.
function otlp.spans (plan, trace, program)
  local said, given = {table.unpack(plan.resource)}, {}
  for i = 1, #said, 2 do
    given[said[i]] = true
  end
  local function unless_given (key, value)
    if not given[key] then
      said[#said + 1], said[#said + 2] = key, value
    end
  end
  unless_given("service.name", base_name(program))
  unless_given("host.name", require("luv").os_gethostname())
  return {encoding = plan.format, gzip = plan.gzip, scope = trace,
          resource = said, request = plan.request,
          arguments = plan.arguments}
end

---------------------------------------------------------------------------
-- What the collector says
---------------------------------------------------------------------------

-- The fields of a protobuf message: number -> value of the last one. Of a
-- message that is none, those before that.
local function fields_of (bytes)
  local fields, at = {}, 1
  local function varint ()
    local value, shift = 0, 0
    repeat
      local byte = string.byte(bytes, at)
      if not byte or shift > 63 then
        return nil
      end
      value, shift, at = value | (byte & 0x7f) << shift, shift + 7, at + 1
    until byte < 0x80
    return value
  end
  while true do
    local tag = varint()
    local value = tag and varint()
    if not value or tag & 7 ~= 0 and tag & 7 ~= 2 then
      return fields
    elseif tag & 7 == 2 then
      local size = value
      if size < 0 or size > #bytes then
        return fields
      end
      value, at = string.sub(bytes, at, at + size - 1), at + size
    end
    fields[tag >> 3] = value
  end
end

local function partial_protobuf (body)
  local partial = fields_of(body)[1]
  local fields = type(partial) == "string" and fields_of(partial) or {}
  return fields[1], fields[2]
end

local function partial_json (body)
  local ok, answer = pcall(core.decode, body, 4)
  local partial = ok and type(answer) == "table" and answer.partialSuccess
  if type(partial) == "table" then
    return tonumber(partial.rejectedSpans), partial.errorMessage
  end
end

-- An ExportTraceServiceResponse: how many spans are refused, and why.
local function check_of (format)
  local read = format == "json" and partial_json or partial_protobuf
  return function (body)
    local refused, why = read(body)
    refused = math.tointeger(refused) or 0
    why = type(why) == "string" and why ~= "" and why or nil
    return refused, why or refused > 0 and "spans were refused" or nil
  end
end

-- The message of an answer that says no: a google.rpc.Status, in the encoding
-- of the request or in JSON, or whatever text it is.
local function explain (body)
  local ok, answer = pcall(core.decode, body, 4)
  local said = ok and type(answer) == "table" and answer.message
  if type(said) ~= "string" then
    said = fields_of(body)[2]
  end
  if type(said) ~= "string" or not utf8.len(said) then
    said = utf8.len(body) and not string.find(body, "^%s*<") and body or ""
  end
  said = string.match(string.gsub(said, "%c+", " "), "^%s*(.-)%s*$")
  return said ~= "" and string.sub(said, 1, 150) or nil
end

---------------------------------------------------------------------------
-- Sending
---------------------------------------------------------------------------

local types = {protobuf = "application/x-protobuf", json = "application/json"}

-- What is posted to it are requests as core.receive writes them.
function otlp.sender (plan)
  local client, message = require("tracegrip.send.http").new()
  if not client then
    return nil, message
  end
  local headers = {"Content-Type: " .. types[plan.format], "Expect:",
                   "User-Agent: tracegrip/" .. core.version,
                   table.unpack(plan.headers)}
  if plan.gzip then
    table.insert(headers, 1, "Content-Encoding: gzip")
  end
  return require("tracegrip.send.sender").new({
    url = plan.url, headers = headers, ca = plan.ca, timeout = plan.timeout,
    check = check_of(plan.format), explain = explain,
    halve = function (body)
      return core.halve(body, plan.format, plan.gzip)
    end,
    title = "otlp", thing = "span"
  }, client)
end

-- All that there is of a receiver, and with 'all' what does not fill a request.
function otlp.pump (taker, sender, all)
  while true do
    local body, count = taker:request(all)
    if not body then
      return
    end
    sender:push(body, count)
  end
end

return otlp
