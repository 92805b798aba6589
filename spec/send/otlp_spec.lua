-- record, attach, serve --otlp and tracegrip.listen against a collector.

local collector = require "spec.send.collector"
local otlpbody = require "spec.send.otlpbody"
local peers = require "spec.server.peer"
local run = require "spec.support.run"
local serving = require "spec.server.serving"

local it = run.needs("luv", it, pending)

local PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

local code = [[
  local function leaf (n) return n * 2, "\xff" end
  local function fails () error {code = 7} end
  local co = coroutine.wrap(function ()
    for i = 1, 3 do coroutine.yield(leaf(i)) end
  end)
  co() co() co()
  for i = 1, 2000 do leaf(i) end
  pcall(fails)
  os.exit(3)
]]

local function start (words, env, program)
  table.insert(words, 1, run.build .. "/bin/tracegrip")
  return serving.command(words, program or code, env)
end

local function start_record (target, words, env, program)
  local all = {"record", "--otlp", target, "-o", "p.tgr"}
  table.move(words, 1, #words, #all + 1, all)
  all[#all + 1] = "program.lua"
  return start(all, env, program)
end

-- The command to its end; then what it wrote to standard error.
local function record (...)
  local command <close> = start_record(...)
  local status = command:ended()
  command.recording = run.read(command.directory .. "/p.tgr")
  return command.err, status, command
end

local function sorted (spans)
  table.sort(spans, function (a, b) return a.id < b.id end)
  return spans
end

-- What export makes of the same recording.
local function exported (recording)
  local path = os.tmpname()
  run.write(path, recording)
  local pipe = io.popen(run.build .. "/bin/tracegrip export otlp -o - "
                        .. path .. " 2>/dev/null")
  local spans = {}
  for line in pipe:lines() do
    for _, span in ipairs(otlpbody.json(line).spans) do
      spans[#spans + 1] = span
    end
  end
  pipe:close()
  os.remove(path)
  return spans
end

local function named (spans, name)
  local found = {}
  for _, span in ipairs(spans) do
    if span.name == name then
      found[#found + 1] = span
    end
  end
  return found
end

describe("record --otlp", function ()
  for _, format in ipairs {"protobuf", "json"} do
    it("sends what export writes of the recording (" .. format .. ")",
    function ()
      local to <close> = collector.start()
      local err, status, command = record(to.url, {"--otlp-format", format,
                                                  "--otlp-arguments"})
      assert.equal(3, status)
      local spans = sorted(to:spans())
      assert.same(sorted(exported(command.recording)), spans)
      assert.equal(("tracegrip: otlp: %d,%03d spans sent, 0 dropped\n"):format(
        #spans // 1000, #spans % 1000), err)
      for _, request in ipairs(to.requests) do
        assert.equal("/v1/traces", request.path)
        assert.equal("gzip", request.headers["content-encoding"])
      end
    end)
  end

  it("sends no values but errors' messages unless it is asked to", function ()
    local to <close> = collector.start()
    record(to.url, {}, nil, [[
      local function login (name, word) return word end
      login("annabella", "geheim1")
      pcall(function () error {code = "geheim2"} end)
      pcall(function () error "no such user" end)
    ]])
    local messages = {}
    for _, request in ipairs(to.requests) do
      local body = run.unzip(request.body)
      assert.is_nil(body:find("geheim", 1, true))
      assert.is_nil(body:find("annabella", 1, true))
    end
    for _, span in ipairs(named(to:spans(), "error")) do
      messages[#messages + 1] = span.message
    end
    assert.same({"table", "program.lua:4: no such user"}, messages)
  end)

  it("makes a trace of each request, and calls the service by its script",
  function ()
    local to <close> = collector.start()
    record(to.url, {"--request", "^handle$"}, nil, [[
      local function inner () end
      local function handle (headers) inner() return #headers end
      for i = 1, 3 do
        handle {["Traceparent"] = i == 3 and "]] .. PARENT .. [[" or nil}
      end
    ]])
    local traces = {}
    for i, span in ipairs(named(to:spans(), "handle")) do
      assert.equal(2, span.kind)
      assert.equal(i == 3 and PARENT:sub(37, 52) or nil, span.parent)
      traces[i] = span.trace
    end
    assert.equal(3, #traces)
    assert.equal(PARENT:sub(4, 35), traces[3])
    for i, span in ipairs(named(to:spans(), "inner")) do
      assert.equal(1, span.kind)
      assert.equal(traces[i], span.trace)
    end
    local main = named(to:spans(), "(main chunk) program.lua")[1]
    for i = 1, 3 do
      assert.not_equal(main.trace, traces[i])
      assert.not_equal(traces[i], traces[i % 3 + 1])
    end
    assert.equal("program", otlpbody.read(to.requests[1])
                            .resource["service.name"])
  end)

  it("wants --otlp for what is said of it", function ()
    local command <close> = start {"record", "--request", "f", "-o", "p.tgr",
                                   "program.lua"}
    assert.equal(2, command:ended())
    assert.equal("tracegrip: --request is of --otlp\n", command.err)
  end)

  it("takes the environment's word", function ()
    local to <close> = collector.start()
    record("env", {}, {
      OTEL_EXPORTER_OTLP_ENDPOINT = to.url .. "/base/",
      OTEL_EXPORTER_OTLP_HEADERS = "X-Key=a%20b, X-Other=1",
      OTEL_EXPORTER_OTLP_PROTOCOL = "http/json",
      OTEL_EXPORTER_OTLP_COMPRESSION = "none",
      OTEL_RESOURCE_ATTRIBUTES = "team=blue,service.name=no,host.name=h1",
      OTEL_SERVICE_NAME = "shop", TRACEPARENT = PARENT
    })
    local request = to.requests[1]
    assert.equal("/base/v1/traces", request.path)
    assert.equal("a b", request.headers["x-key"])
    assert.equal("1", request.headers["x-other"])
    assert.is_nil(request.headers["content-encoding"])
    assert.equal("application/json", request.headers["content-type"])
    local body = otlpbody.read(request)
    assert.equal("shop", body.resource["service.name"])
    assert.equal("blue", body.resource.team)
    assert.equal("h1", body.resource["host.name"])
    for _, span in ipairs(to:spans()) do
      assert.equal(PARENT:sub(4, 35), span.trace)
    end
    assert.equal(PARENT:sub(37, 52),
                 named(to:spans(), "(main chunk) program.lua")[1].parent)
  end)

  it("takes an endpoint of traces as it is", function ()
    local to <close> = collector.start()
    record("env", {}, {OTEL_EXPORTER_OTLP_ENDPOINT = "http://127.0.0.1:1",
                       OTEL_EXPORTER_OTLP_TRACES_ENDPOINT = to.url .. "/x"})
    assert.equal("/x", to.requests[1].path)
  end)

  it("tries again, not before Retry-After has passed", function ()
    local to <close> = collector.start(function (_, n)
      if n <= 2 then
        return 503, {["Retry-After"] = "2"}
      end
      return 200
    end)
    local err = record(to.url, {})
    assert.matches("^tracegrip: otlp: 2,%d+ spans sent, 0 dropped\n$", err)
    local refused, again = to.requests[1], nil
    for _, request in ipairs(to.requests) do
      if request.status == 200 and request.body == refused.body then
        again = request
      end
    end
    assert.is_true(again.at - refused.at >= 1.99e9)   -- a timer counts in ms
    assert.is_true(#to:spans() > 2000)
  end)

  it("shows what the collector says, also of what it takes", function ()
    for _, said in ipairs {
      {400, '{"code":3,"message":"no tenant"}', "HTTP status 400: no tenant"},
      {400, "\8\3\18\9no tenant", "HTTP status 400: no tenant"},
      {401, "who are you?\n", "HTTP status 401: who are you?"},
      {404, "<html>lost</html>", "HTTP status 404"},
      {200, "\10\8\18\6slower", "0 dropped (slower)"},
    } do
      local to <close> = collector.start(function ()
        return said[1], nil, said[2]
      end)
      local err = record(to.url, {}, nil, "local function f () end f()")
      assert.matches(said[3] .. (said[1] == 200 and "" or ")") .. "\n", err, 1,
                     true)
    end
  end)

  it("drops what is refused for good, and says why", function ()
    local to <close> = collector.start(function () return 400 end)
    local err, status = record(to.url, {})
    assert.equal(3, status)
    assert.matches("otlp: 0 spans sent, 2,%d+ dropped %(" .. to.url
                   .. "/v1/traces: HTTP status 400%)\n$", err)
  end)

  for format, packed in pairs {protobuf = "gzip", json = "none"} do
    it("halves what is too large for the collector (" .. format .. ", "
       .. packed .. ")", function ()
      local most = packed == "gzip" and 2000 or 30000
      local to <close> = collector.start(function (request)
        return #request.body > most and 413 or 200
      end)
      local err, _, command = record(to.url, {"--otlp-format", format},
                                     {OTEL_EXPORTER_OTLP_COMPRESSION = packed})
      assert.matches("otlp: 2,%d+ spans sent, 0 dropped\n$", err)
      local sent, whole = to:spans(), exported(command.recording)
      assert.equal(#whole, #sent)
      local names = {}
      for _, span in ipairs(whole) do
        names[span.id] = span.name
      end
      for _, span in ipairs(sent) do
        assert.equal(names[span.id], span.name)
        names[span.id] = nil
      end
      local resource, refused
      for _, request in ipairs(to.requests) do
        refused = refused or request.status == 413
        local body = otlpbody.read(request)
        resource = resource or body.resource
        assert.same(resource, body.resource)
        assert.equal("program", body.scope)
      end
      assert.is_true(refused)
    end)
  end

  it("drops the one span that is too large, and says so", function ()
    local to <close> = collector.start(function (request)
      return #request.body > 20000 and 413 or 200
    end)
    local err = record(to.url, {"--value-string", "all"}, {
      OTEL_EXPORTER_OTLP_COMPRESSION = "none"
    }, [[
      local function leaf () end
      for i = 1, 300 do leaf() end
      pcall(function () error(("x"):rep(30000)) end)
      for i = 1, 300 do leaf() end
    ]])
    assert.matches("otlp: 6%d%d spans sent, [12] dropped %(" .. to.url
                   .. "/v1/traces: HTTP status 413 %(1 span in [%d.]+ KiB%)%)",
                   err)
    assert.equal(600, #named(to:spans(), "leaf"))
  end)

  for format, body in pairs {
    json = '{"partialSuccess":{"rejectedSpans":"5","errorMessage":"too old"}}',
    protobuf = "\x0a\x0b\x08\x05\x12\x07too old"
  } do
    it("counts what a collector takes in part (" .. format .. ")", function ()
      local to <close> = collector.start(function (_, n)
        return 200, nil, n == 1 and body or ""
      end)
      local err = record(to.url, {"--otlp-format", format})
      assert.matches("spans sent, 5 dropped %(too old%)\n$", err)
    end)
  end

  -- Each tries for five seconds: they do so beside each other.
  local silent = {}

  -- What one of them wrote to standard error, and its status.
  local function vain (name)
    if not silent.nobody then
      silent.to = collector.start(function () end)
      silent.nobody = start_record("http://127.0.0.1:1", {})
      silent.deaf = start_record(silent.to.url, {})
      silent.tls = start_record((silent.to.url:gsub("http", "https")), {})
    end
    local status = silent[name]:ended()
    return silent[name].err, status
  end

  teardown(function ()
    for _, one in pairs(silent) do
      one:close()
    end
  end)

  it("counts all as dropped where nobody listens", function ()
    local err, status = vain "nobody"
    assert.equal(3, status)
    assert.matches("^tracegrip: otlp: 0 spans sent, 2,%d+ dropped %(", err)
    assert.equal(1, select(2, err:gsub("\n", "")))
  end)

  it("waits for a collector that never answers, but not for long", function ()
    local err, status = vain "deaf"
    assert.equal(3, status)
    assert.matches("otlp: 0 spans sent, 2,%d+ dropped %(.*: no answer in time",
                   err)
  end)

  it("tells of a failure of TLS in the same line", function ()
    local err = vain "tls"
    assert.matches("^tracegrip: otlp: 0 spans sent, 2,%d+ dropped %(https:",
                   err)
    assert.equal(1, select(2, err:gsub("\n", "")))
  end)

  it("leaves the program's end as it is", function ()
    local to <close> = collector.start()
    local _, status = record(to.url, {}, nil, [[
      local file <close> = io.open("/proc/self/stat")
      os.execute("kill -9 " .. file:read "n")
    ]])
    assert.equal(137, status)
    assert.is_true(named(to:spans(), "(main chunk) program.lua")[1]
                   .attributes["lua.unfinished"])
  end)

  it("sends the recordings of all processes of a command", function ()
    local to <close> = collector.start()
    local command <close> = start({"record", "--otlp", to.url, "-o", "p.tgr",
      "--", "sh", "-c", "$LUA program.lua one; $LUA program.lua two"}, nil,
      "local function f () end f(arg[1])")
    assert.equal(0, command:ended())
    local pids = {}
    for _, request in ipairs(to.requests) do
      pids[otlpbody.read(request).resource["process.pid"]] = true
    end
    assert.equal(2, #named(to:spans(), "f"))
    assert.is_not_nil(next(pids, next(pids)))
  end)

  it("says what is no address", function ()
    local err, status = record("localhost:4318", {})
    assert.equal(2, status)
    assert.equal("tracegrip: --otlp: 'localhost:4318' is no address of a "
                 .. "collector: http://HOST:PORT, https://HOST or env\n", err)
  end)
end)

---------------------------------------------------------------------------

local lines = [[
  local function f () end
  for line in io.lines() do
    f(line)
    print("done")
    io.stdout:flush()
  end
]]

-- Has the program work until the collector has heard of it.
local function work_until_heard (program, to)
  for _ = 1, 500 do
    program:tell "x"
    program:says "done\n"
    if #named(to:spans(), "f") > 0 then
      return
    end
    local passed = false
    local timer = require("luv").new_timer()
    timer:start(20, 0, function () passed = true end)
    peers.wait(function () return passed end)
    timer:close()
  end
  error "the collector hears nothing"
end

describe("attach --otlp", function ()
  it("sends calls while they come", function ()
    local to <close> = collector.start()
    local program <close> = serving.start(
      'require("tracegrip").listen()\n' .. lines)
    local command <close> = start {"attach", "--otlp", to.url,
                                   "--traceparent", PARENT, program.address}
    work_until_heard(program, to)
    command:kill "sigint"
    assert.equal(0, command:ended())
    assert.matches("otlp: %d+ spans sent, 0 dropped\n$", command.err)
    assert.equal("", command.out)
    assert.equal(PARENT:sub(37, 52), named(to:spans(), "f")[1].parent)
  end)
end)

describe("serve --otlp and listen", function ()
  it("send calls while the program runs, and at its end", function ()
    local to <close> = collector.start()
    local program <close> = start({"serve", "--otlp", to.url, "program.lua"},
                                  nil, lines)
    work_until_heard(program, to)
    program.input:shutdown()
    assert.equal(0, program:ended())
    assert.matches("otlp: %d+ spans sent, 0 dropped", program.err)
  end)

  it("take a table", function ()
    local to <close> = collector.start()
    local program <close> = serving.start(([[
      require("tracegrip").listen {otlp = {
        url = %q, format = "json", headers = {Authorization = "Bearer x"},
        traceparent = %q
      }}
    ]]):format(to.url, PARENT) .. lines)
    work_until_heard(program, to)
    local request = to.requests[1]
    assert.equal("Bearer x", request.headers.authorization)
    assert.equal("application/json", request.headers["content-type"])
    assert.equal(PARENT:sub(4, 35), to:spans()[1].trace)
  end)

  it("say what is wrong with it", function ()
    for given, message in pairs {
      ["{otlp = 'localhost'}"] = "option 'otlp': 'localhost' is no address",
      ["{otlp = {}}"] = "option 'otlp' must be a table with a url",
      ["{otlp = {url = 'http://x', tls = 1}}"] = "option 'otlp' must be",
      ["{otlp = {url = 'http://x', traceparent = 'x'}}"]
        = "option 'traceparent': 00%-TRACE",
      ["{profile = {every = 1}}"] = "option 'profile' must be a table",
      ["{profile = {every = 1, for_ = 2, to = 'http://x'}}"]
        = "option 'profile' must be a table",
    } do
      local result = run.code('print(pcall(require("tracegrip").listen, '
                              .. given .. '))')
      assert.matches(message, result.stdout)
    end
  end)

  it("say that the library is missing", function ()
    local result = run.code [[
      package.preload["tracegrip.curl"] = function () error "no" end
      print(require("tracegrip.send.http").new())
    ]]
    assert.equal("nil\tsending needs the module tracegrip.curl, which was "
                 .. "built without the library libcurl\n", result.stdout)
  end)
end)

describe("listen {profile = ...}", function ()
  it("posts a profile now and then", function ()
    local pprof = require "spec.export.pprof"
    local to <close> = collector.start()
    local program <close> = serving.start(([[
      require("tracegrip").listen {profile = {
        every = 0.6 + 0.4, for_ = 0.3, rate = 1000, to = %q,
        headers = {["X-Scope"] = "a"}
      }}
      local function busy () for i = 1, 1e5 do end end
      while true do busy() end
    ]]):format(to.url .. "/ingest?name=shop"))
    local profiles, seen = {}, {}
    local function read_all ()
      for i = #profiles + 1, #to.requests do
        profiles[i] = pprof.read(run.unzip(to.requests[i].body))
        for _, sample in ipairs(profiles[i].samples) do
          for _, frame in ipairs(sample.stack) do
            seen[frame.name] = true
          end
        end
      end
      return #profiles >= 2 and seen.busy
    end
    assert.is_true(peers.wait(read_all))
    local request = to.requests[1]
    assert.equal("/ingest?name=shop", request.path)
    assert.equal("a", request.headers["x-scope"])
    -- each begins when the program has a processor to begin with
    assert.equal(1000000, profiles[1].period)
    assert.is_true(profiles[1].duration > 0)
    assert.is_true(profiles[2].time > profiles[1].time)
    assert.is_nil(program.status)
  end)

  it("lets the program end at once, with a profile begun or not", function ()
    local to <close> = collector.start()
    local function start_with (seconds)
      return serving.start(([[
        require("tracegrip").listen {profile = {
          every = 1, for_ = 0.5, to = %q
        }}
        local till, sleep = os.time() + 3, require "process".sleep
        while os.time() < till do sleep(0.02) end
        till = os.clock() + %g
        while os.clock() < till do end
        io.stderr:write "over\n"
      ]]):format(to.url, seconds))
    end
    local one <close> = start_with(0.2)
    local other <close> = start_with(0.8)
    for _, program in ipairs {one, other} do
      peers.wait(function () return program.err:find "over" end)
      assert.equal(0, program:ended())
      assert.matches("profiles: %d+ sent, 0 dropped", program.err)
    end
  end)

  it("does not mind a store that is gone", function ()
    local program <close> = serving.start [[
      require("tracegrip").listen {profile = {
        every = 1, for_ = 0.1, to = "http://127.0.0.1:1/"
      }}
      local till = os.clock() + 2
      while os.clock() < till do end
    ]]
    assert.equal(0, program:ended())
    assert.matches("profiles: 0 sent, %d+ dropped %(http://127", program.err)
  end)
end)
