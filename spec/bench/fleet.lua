-- fleet.lua - what spans of a fleet take, for docs/otlp.md.
--
--   make importers && eval "$(make -s env)" && lua5.4 spec/bench/fleet.lua
--
-- Some processes, each on a host of its own, answer requests: each decodes an
-- order (build-aux/document.lua), adds it up and encodes a reply, by dkjson.
-- They are recorded, and exported as "export otlp" has them; then each request
-- becomes a trace of its own, as it is where a service hands its traceparent
-- on. Bytes are counted of the documents, of the same as messages of protobuf,
-- and of the table that the Collector makes in ClickHouse (spec/importers).

local cjson = require "cjson"

local PROCESSES, REQUESTS = 4, 100
local build = os.getenv "TG_BUILD" or "build"
local ways = {
  {name = "names and times", record = "--no-c --trace name,callsite,time",
   export = ""},
  {name = "and values", record = "--no-c", export = ""},
  {name = "--min-ms 0.05", record = "--no-c", export = "--min-ms 0.05"},
}

-- The fleet: processes, requests of each a second, and the share of them that
-- is recorded.
local FLEET, RATE, SHARE = 10000, 10, 0.01
local DAY = 24 * 60 * 60

local program = [[
  local dkjson = require "dkjson"
  local function total (items)
    local sum = 0
    for _, item in ipairs(items) do sum = sum + item.price * item.count end
    return sum
  end
  local function handle (text)
    local order = dkjson.decode(text, 1, dkjson.null)
    return dkjson.encode {id = order.id, total = total(order.items)}
  end
  local orders = {}
  for line in io.lines(arg[1]) do orders[#orders + 1] = line:match "{.*}" end
  for i = 1, tonumber(arg[2]) do handle(orders[i % #orders + 1]) end
]]

local function shell (format, ...)
  local words = {}
  for i, word in ipairs {...} do
    words[i] = "'" .. tostring(word):gsub("'", "'\\''") .. "'"
  end
  local command = format:gsub("%?", function ()
    return table.remove(words, 1)
  end)
  local pipe <close> = assert(io.popen(command))
  return pipe:read "a"
end

local function write (path, text)
  local file <close> = assert(io.open(path, "w"))
  assert(file:write(text))
end

-- Batches of a document.
local function read (path)
  local list = {}
  for line in io.lines(path) do
    list[#list + 1] = cjson.decode(line)
  end
  return list
end

-- Gives each call of "handle", with all inside of it, a trace of its own.
local function part (batches)
  local spans, ids = {}, {}
  for _, batch in ipairs(batches) do
    for _, span in ipairs(batch.resourceSpans[1].scopeSpans[1].spans) do
      spans[span.spanId] = span
    end
  end
  local function trace_of (span)
    local id = ids[span.spanId]
    if not id then
      local parent = spans[span.parentSpanId]
      id = span.name ~= "handle" and parent and trace_of(parent)
           or ("%016x%016x"):format(math.random(0), math.random(0))
      ids[span.spanId] = id
    end
    return id
  end
  for _, span in pairs(spans) do
    span.traceId = trace_of(span)
    if span.name == "handle" then
      span.parentSpanId = nil
    end
  end
end

local function process (directory, number, way)
  local path = ("%s/%d.otlp.jsonl"):format(directory, number)
  shell("cd ? && ?/bin/tracegrip record " .. way.record
        .. " -o p.tgr p.lua orders ? && ?/bin/tracegrip export otlp "
        .. way.export .. " --limit all --resource "
        .. "service.version=1.5.0 --resource service.name=orders --resource ?"
        .. " -o ? p.tgr 2>&1", directory, build, REQUESTS, build,
        "host.name=host-" .. number, path)
  local batches, lines = read(path), {}
  part(batches)
  for i, batch in ipairs(batches) do
    lines[i] = cjson.encode(batch)
  end
  write(path, table.concat(lines, "\n") .. "\n")
  return path
end

local function node (script, words)
  return cjson.decode(shell("cd ?/importers && node ?.mjs " .. words, build,
                            script))
end

local function sum (list, key)
  local n = 0
  for _, one in ipairs(list) do
    n = n + one[key]
  end
  return n
end

local function measured (directory, way)
  local files = {}
  for i = 1, PROCESSES do
    files[i] = process(directory, i, way)
  end
  write(directory .. "/job.json", cjson.encode {files = files})
  local words = directory .. "/*.otlp.jsonl"
  local messages = node("otlp", words)
  local stored = node("store", directory .. "/job.json")
  return {
    spans = stored.spans, requests = PROCESSES * REQUESTS,
    json = tonumber(shell("cat " .. words .. " | wc -c")),
    json_gzip = tonumber(shell("cat " .. words .. " | gzip | wc -c")),
    protobuf = sum(messages, "protobuf"), gzip = sum(messages, "gzip"),
    disk = stored.size, rate = stored.spans / stored.seconds
  }
end

-- Spans that the fleet sends in a second.
local function spans (m)
  return FLEET * RATE * SHARE * m.spans / m.requests
end

local rows = {
  {"a request:  spans", function (m) return m.spans / m.requests end},
  {"a span:     JSON lines, bytes", function (m) return m.json / m.spans end},
  {"            JSON lines, gzip", function (m)
    return m.json_gzip / m.spans
  end},
  {"            protobuf", function (m) return m.protobuf / m.spans end},
  {"            protobuf, gzip", function (m)
    return m.gzip / m.spans
  end},
  {"            ClickHouse, disk", function (m)
    return m.disk / m.spans
  end},
  {"inserting:  spans a second", function (m) return m.rate end},
  {"the fleet:  spans a second", spans},
  {"            sent, MB a second", function (m)
    return spans(m) * m.gzip / m.spans / 1e6
  end},
  {"            disk, GB a day", function (m)
    return spans(m) * DAY * m.disk / m.spans / 1e9
  end},
}

build = shell("cd ? && pwd", build):match "[^\n]+"
local directory = shell("mktemp -d"):match "[^\n]+"
write(directory .. "/p.lua", program)
shell("lua5.4 build-aux/document.lua 200000 ?", directory .. "/orders")
local columns = {}
for i, way in ipairs(ways) do
  columns[i] = measured(directory, way)
end
local function line (head, cells)
  print(("%-30s"):format(head) .. ("%17s"):rep(#cells)
        :format(table.unpack(cells)))
end

local names = {}
for i, way in ipairs(ways) do
  names[i] = way.name
end
line("", names)
for _, row in ipairs(rows) do
  local cells = {}
  for i, column in ipairs(columns) do
    local n = row[2](column)
    cells[i] = (n < 10 and "%.1f" or "%.0f"):format(n)
  end
  line(row[1], cells)
end
shell("rm -rf ?", directory)
