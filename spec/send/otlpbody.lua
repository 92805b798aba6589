-- otlpbody.lua - a request of OTLP, in either encoding, as the same tables.
--
--   otlpbody.read(request)     {resource = {key = value}, scope =, spans =}
--
-- A span: id, trace, parent, name, kind, from, to (ns), attributes, links,
-- failed,
-- message.

local cjson = require "cjson"

local protobuf = require "spec.support.protobuf"
local run = require "spec.support.run"

local otlpbody = {}

local message = protobuf.message

local function hex (bytes)
  return bytes and bytes:gsub(".", function (c)
    return ("%02x"):format(c:byte())
  end)
end

local function proto_attributes (list)
  local all = {}
  for _, bytes in ipairs(list) do
    local pair = message(bytes)
    local value = message(pair[2][1])
    local key = pair[1][1]
    assert(all[key] == nil, key)
    all[key] = value[1][1] or value[3][1] or value[2][1] == 1
    assert(not value[1][1] or utf8.len(value[1][1]), "no UTF-8")
  end
  return all
end

local function proto_span (bytes)
  local m = message(bytes)
  local status, links = message(m[15][1] or ""), {}
  for i, link in ipairs(m[13]) do
    links[i] = hex(message(link)[2][1])
  end
  assert(#m[1][1] == 16 and #m[2][1] == 8)
  return {
    trace = hex(m[1][1]), id = hex(m[2][1]), parent = hex(m[4][1]),
    name = m[5][1], kind = m[6][1], from = m[7][1], to = m[8][1],
    attributes = proto_attributes(m[9]), links = links,
    failed = status[3][1] == 2, message = status[2][1],
  }
end

local function read_protobuf (text)
  local resource_spans = message(message(text)[1][1])
  local scope_spans = message(resource_spans[2][1])
  local spans = {}
  for i, bytes in ipairs(scope_spans[2]) do
    spans[i] = proto_span(bytes)
  end
  return {
    resource = proto_attributes(message(resource_spans[1][1])[1]),
    scope = message(scope_spans[1][1])[1][1], spans = spans
  }
end

local function json_attributes (list)
  local all = {}
  for _, one in ipairs(list) do
    local value = one.value
    all[one.key] = value.stringValue or math.tointeger(value.intValue)
                   or value.boolValue
  end
  return all
end

local function json_span (span)
  local links = {}
  for i, link in ipairs(span.links or {}) do
    links[i] = link.spanId
  end
  return {
    trace = span.traceId, id = span.spanId, parent = span.parentSpanId,
    name = span.name, kind = span.kind,
    from = math.tointeger(span.startTimeUnixNano),
    to = math.tointeger(span.endTimeUnixNano),
    attributes = json_attributes(span.attributes), links = links,
    failed = (span.status or {}).code == 2,
    message = (span.status or {}).message,
  }
end

--- One request in JSON.
function otlpbody.json (text)
  local resource_spans = cjson.decode(text).resourceSpans[1]
  local scope_spans = resource_spans.scopeSpans[1]
  local spans = {}
  for i, span in ipairs(scope_spans.spans) do
    spans[i] = json_span(span)
  end
  return {resource = json_attributes(resource_spans.resource.attributes),
          scope = scope_spans.scope.name, spans = spans}
end

function otlpbody.read (request)
  local text = request.body
  if request.headers["content-encoding"] == "gzip" then
    text = run.unzip(text)
  end
  if request.headers["content-type"] == "application/json" then
    return otlpbody.json(text)
  end
  assert(request.headers["content-type"] == "application/x-protobuf")
  return read_protobuf(text)
end

return otlpbody
