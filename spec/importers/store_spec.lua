-- Spans of several processes in ClickHouse, in the table that the Collector
-- makes: the queries of docs/otlp.md answer what the recordings have.

local cjson = require "cjson"

local installed = require "spec.importers.installed"
local recorded = require "spec.support.recorded"
local run = require "spec.support.run"
local service = require "spec.importers.service"

-- A deployment under way: two versions, on three hosts.
local requests = {
  {version = "1.4.0", host = "shop-1"}, {version = "1.4.0", host = "shop-2"},
  {version = "1.5.0", host = "shop-1"}, {version = "1.5.0", host = "shop-3"},
}

local function queries ()
  local text = run.read(run.root .. "/docs/otlp.md")
  local list = {}
  for name, sql in text:gmatch "<!%-%- query: (%w+) %-%->\n```sql\n(.-)```" do
    list[name] = sql
  end
  return list
end

---------------------------------------------------------------------------
-- What the recordings have
---------------------------------------------------------------------------

-- Spans in their order, with what this spec asks of them.
local function spans_of (path)
  local list = {}
  for line in run.read(path):gmatch "[^\n]+" do
    local batch = cjson.decode(line).resourceSpans[1].scopeSpans[1]
    for _, span in ipairs(batch.spans) do
      list[#list + 1] = span
    end
  end
  return list
end

-- The calls by which the front waits for the others, in their order.
local function waits (path)
  local list = {}
  for _, span in ipairs(spans_of(path)) do
    if span.name == "os.execute" then
      list[#list + 1] = span
    end
  end
  assert(#list == #service.names - 1)
  return list
end

-- Durations of a function's calls, in nanoseconds and as exports have them, of
-- a trace without coroutines and tail calls.
local function durations (trace, name)
  local list, open = {}, {}
  for _, packet in ipairs(recorded.packets(trace)) do
    if packet.type == "enteredFrame" then
      open[#open + 1] = packet
    elseif packet.type == "exitedFrame" then
      local entered = table.remove(open)
      if entered.name == name then
        list[#list + 1] = math.floor((packet.time - entered.time) * 1e6 + 0.5)
      end
    end
  end
  return list
end

-- As quantileExact has it.
local function quantile (list, level)
  table.sort(list)
  return list[math.floor(level * #list) + 1]
end

-- Handles a request: its recordings, its trace's id, its documents.
local function serve (directory, number, request)
  local path = directory .. "/" .. number
  assert(os.execute("mkdir " .. run.quote(path)))
  service.handle(path, request)
  local served = {request = request, traces = {}, files = {}}
  local parents = {}
  for i, name in ipairs(service.names) do
    local file = service.export(path, name, request, parents[i])
    served.files[i] = file
    served.traces[name] = recorded.open(("%s/%s.tgr"):format(path, name))
                          :traces()[1]
    if i == 1 then
      for j, span in ipairs(waits(file)) do
        served.id = span.traceId
        parents[j + 1] = ("00-%s-%s-01"):format(span.traceId, span.spanId)
      end
    end
  end
  return served
end

---------------------------------------------------------------------------
-- What the database says
---------------------------------------------------------------------------

local function ask (directory, served, parameters)
  local files = {}
  for _, one in ipairs(served) do
    table.move(one.files, 1, #one.files, #files + 1, files)
  end
  local job = directory .. "/job.json"
  run.write(job, cjson.encode {files = files, queries = queries(),
                               parameters = parameters})
  return cjson.decode(installed.run("store", {job}, {timeout = 120}))
end

-- Rows by the values of some of their columns.
local function by (rows, ...)
  local map = {}
  for _, row in ipairs(rows) do
    local key = {}
    for i, column in ipairs {...} do
      key[i] = row[column]
    end
    key = table.concat(key, " ")
    assert.is_nil(map[key], key)
    map[key] = row
  end
  return map
end

describe("spans in ClickHouse", function ()
  local reason = installed.missing "chdb"
  if reason then
    it("answer the questions of docs/otlp.md", function ()
      assert.is_nil(os.getenv "CI", reason)
      pending(reason)
    end)
    return
  end

  local served, answers = {}, nil

  lazy_setup(function ()
    run.within(function (directory)
      for i, request in ipairs(requests) do
        served[i] = serve(directory, i, request)
      end
      answers = ask(directory, served, {
        service = "prices", ["function"] = "price_of", trace = served[3].id,
        before = "1.4.0", after = "1.5.0"})
    end)
  end)

  -- What use(row, request, name) adds up of the report's rows.
  local function each_row (names, use)
    for _, one in ipairs(served) do
      for _, name in ipairs(names) do
        for _, row in ipairs(one.traces[name]:report {raw = true}.functions) do
          use(row, one.request, name)
        end
      end
    end
  end

  -- What a span is called that has a row's function.
  local function label (row, name)
    return row.name == "(main chunk)" and "(main chunk) " .. name .. ".lua"
           or row.name
  end

  it("are as many as there were calls", function ()
    local calls = 0
    each_row(service.names, function (row) calls = calls + row.calls end)
    assert.equal(calls, answers.spans)
  end)

  it("tell the slowest functions by version", function ()
    local wanted = {}
    each_row({"prices"}, function (row, request)
      local key = request.version .. " " .. label(row, "prices")
      local sum = wanted[key] or {calls = 0, total = 0, self = 0}
      sum.calls = sum.calls + row.calls
      sum.total, sum.self = sum.total + row.total_ms, sum.self + row.self_ms
      wanted[key] = sum
    end)
    local rows = answers.rows.slowest
    for key, row in pairs(by(rows, "version", "function")) do
      local sum = assert(wanted[key], key)
      assert.equal(sum.calls, row.calls)
      assert.near(sum.total, row.total_ms, 0.0006, key)
      assert.near(sum.self, row.self_ms, 0.0006, key)
      wanted[key] = nil
    end
    assert.same({}, wanted)
    for i = 2, #rows do
      assert.is_true(rows[i - 1].self_ms >= rows[i].self_ms)
    end
  end)

  it("tell what became slower with a version", function ()
    local wanted = {}
    for _, one in ipairs(served) do
      local sums = wanted[one.request.version] or {ns = 0, calls = 0}
      wanted[one.request.version] = sums
      for _, ns in ipairs(durations(one.traces.prices, "discount")) do
        sums.ns, sums.calls = sums.ns + ns, sums.calls + 1
      end
    end
    local function mean (version)
      return wanted[version].ns / wanted[version].calls / 1e6
    end
    local row = by(answers.rows.slower, "function").discount
    assert.near(mean "1.4.0", row.before_ms, 1e-6)
    assert.near(mean "1.5.0", row.after_ms, 1e-6)
    -- of means that are rounded to a nanosecond
    local times = mean "1.5.0" / mean "1.4.0"
    assert.near(times, row.times, 0.01 + times * 1e-6 / mean "1.4.0")
  end)

  it("tell the median and the 99th percentile by host", function ()
    local hosts = {}
    for _, one in ipairs(served) do
      local list = hosts[one.request.host] or {}
      hosts[one.request.host] = list
      for _, ns in ipairs(durations(one.traces.prices, "price_of")) do
        list[#list + 1] = ns
      end
    end
    local before = math.huge
    for host, row in pairs(by(answers.rows.hosts, "host")) do
      assert.equal(#hosts[host], row.calls)
      assert.near(quantile(hosts[host], 0.5) / 1e6, row.median_ms, 1e-6)
      assert.near(quantile(hosts[host], 0.99) / 1e6, row.p99_ms, 1e-6)
      hosts[host] = nil
    end
    assert.same({}, hosts)
    for _, row in ipairs(answers.rows.hosts) do
      assert.is_true(row.p99_ms <= before)
      before = row.p99_ms
    end
  end)

  it("tell errors by function, and where they begin", function ()
    local wanted = {}
    each_row(service.names, function (row, request, name)
      if row.throws > 0 then
        local key = table.concat({name, label(row, name), request.version},
                                 " ")
        local sum = wanted[key] or {calls = 0, throws = 0}
        sum.calls = sum.calls + row.calls
        sum.throws = sum.throws + row.throws
        wanted[key] = sum
      end
    end)
    for key, row in pairs(by(answers.rows.errors, "service", "function",
                             "version")) do
      local sum = assert(wanted[key], key)
      assert.equal(sum.calls, row.calls)
      assert.equal(sum.throws, row.errors)
      assert.equal(row["function"] == "error" and row.errors or 0,
                   row.began_here)
      assert.matches("^sold out: item [369]$", row.example)
      wanted[key] = nil
    end
    assert.same({}, wanted)
    assert.equal(6, #answers.rows.errors)   -- error, reserve, order; twice
  end)

  it("tell the requests, the slowest first", function ()
    local rows = by(answers.rows.requests, "trace")
    local ms = math.huge
    for _, one in ipairs(served) do
      local calls, row = 0, rows[one.id]
      for _, trace in pairs(one.traces) do
        for _, f in ipairs(trace:report {raw = true}.functions) do
          calls = calls + f.calls
        end
      end
      assert.equal(calls, row.spans)
      assert.equal(3, row.services)
    end
    assert.equal(#served, #answers.rows.requests)
    for _, row in ipairs(answers.rows.requests) do
      assert.is_true(row.ms <= ms)
      ms = row.ms
    end
  end)

  -- The calls of a trace as the query indents them, below such a depth.
  local function outline (trace, name, depth)
    local list = {}
    for _, packet in ipairs(recorded.packets(trace)) do
      if packet.type == "enteredFrame" then
        list[#list + 1] = name .. " " .. ("  "):rep(depth)
                          .. label(packet, name)
        depth = depth + 1
      elseif packet.type == "exitedFrame" then
        depth = depth - 1
      end
    end
    return list
  end

  it("show one request through all its processes", function ()
    local one, wanted, rest = served[3], {}, {"prices", "stock"}
    for _, line in ipairs(outline(one.traces.front, "front", 0)) do
      wanted[#wanted + 1] = line
      local indented = line:match "^front ( *)os%.execute$"
      if indented then
        local name = table.remove(rest, 1)
        local list = outline(one.traces[name], name, #indented // 2 + 1)
        table.move(list, 1, #list, #wanted + 1, wanted)
      end
    end
    local got, inside = {}, {}
    for i, row in ipairs(answers.rows.request) do
      local depth = #row.call:match "^ *" // 2
      got[i] = row.service .. " " .. row.call
      local around = inside[depth - 1]
      assert.is_true(not around or around.from_ms <= row.from_ms + 0.002
                     and row.from_ms + row.ms
                         <= around.from_ms + around.ms + 0.002)
      inside[depth] = row
    end
    assert.same(wanted, got)
  end)
end)
