-- tracegrip.client against a server that says what each test wants.

local fake = require "spec.client.fake"
local uv = require "luv"
local wire = require "tracegrip.wire"
local client = require "tracegrip.client"

local server, connection

local function serve (script)
  server = fake.new(script)
  return server
end

local function connect (options)
  options = options or {}
  options.port, options.timeout = server.port, options.timeout or 5
  connection = assert(client.connect(options))
  return connection
end

-- A tracer that is attached to a server with this script.
local function attach (script)
  serve(script)
  return assert(connect():attach())
end

local function collect (trace)
  local list = {}
  for packet in trace:packets() do
    list[#list + 1] = packet
  end
  return list
end

local function frames (text, first)
  return table.unpack(fake.frames(text, first))
end

local function started (name, why, types)
  return {from = "trace1", type = "startedTrace", name = name,
          why = why or "console.startTrace", tracing = types or {"name"}}
end

local function stopped (name, why, lost)
  return {from = "trace1", type = "stoppedTrace", name = name,
          why = why or "console.stopTrace", lost = lost}
end

-- The three values that a failure is.
local function assert_fails (code, ...)
  local value, message, got = ...
  assert.is_nil(value)
  assert.is_string(message)
  assert.equal(code, got)
end

describe("tracegrip.client", function ()
  after_each(function ()
    if connection then
      connection:close()
    end
    if server then
      server:close()
    end
    server, connection = nil, nil
  end)

  describe("connects", function ()
    it("and keeps the server's greeting", function ()
      serve()
      assert.equal("lua", connect().hello.applicationType)
      assert.is_false(connection.closed)
    end)

    it("by name, to whichever address answers", function ()
      serve()
      assert.is_table(connect {host = "localhost"}.hello)
    end)

    it("to a Unix socket", function ()
      local path = os.tmpname()
      os.remove(path)
      server = fake.new({}, path)
      connection = assert(client.connect {path = path, timeout = 5})
      assert.is_table(connection:listTabs())
      os.remove(path)
    end)

    it("with a token, which the server hears first", function ()
      serve {authenticate = function (s)
        s:send {from = "root", type = "authenticated"}
      end}
      connect {token = "secret"}
      assert.same({to = "root", type = "authenticate", token = "secret"},
                  server.requests[1])
    end)

    it("but not with a wrong one", function ()
      serve {authenticate = function (s)
        s:send {from = "root", error = "notAllowed", message = "no"}
      end}
      assert_fails("notAllowed", client.connect {port = server.port,
                                                 token = "x"})
    end)

    it("to nobody", function ()
      serve()
      server.handle:close()
      assert_fails("ECONNREFUSED", client.connect {port = server.port})
      assert_fails("ENOENT", client.connect {path = "/nowhere/at/all"})
      server.handle = uv.new_tcp()
    end)

    it("and raises at options that make no sense", function ()
      assert.has_error(function () client.connect() end)
      assert.has_error(function () client.connect {} end)
      assert.has_error(function () client.connect {port = 0} end)
      assert.has_error(function () client.connect {port = 1, tokn = ""} end)
      assert.has_error(function () client.connect {port = "1"} end)
    end)
  end)

  it("asks the root", function ()
    serve()
    connect()
    local reply = connection:listTabs()
    assert.equal(2, #reply.tabs)
    assert.equal("trace1", reply.tabs[1].traceActor)
    assert.same({from = "root", type = "echo", a = {1, 2.5, "é"}},
                connection:echo {a = {1, 2.5, "é"}})
    assert.same({"attach", "detach"}, connection:requestTypes "trace1")
  end)

  it("attaches to the tab it is told", function ()
    serve()
    connect()
    assert.equal("trace1", connection:attach().actor)
    assert.equal("trace2", connection:attach(2).actor)
    assert.equal("trace7", connection:attach("trace7").actor)
    local tab = connection:listTabs().tabs[2]
    assert.equal("trace2", connection:attach(tab).actor)
    assert.same({"name", "time"}, connection:attach(1).traceTypes)
    assert_fails("noSuchTab", connection:attach(3))
    assert_fails("noSuchTab", connection:attach {})
  end)

  it("hands on the server's errors", function ()
    local tracer = attach {startTrace = function (s, packet)
      s:send {from = packet.to, error = "noSuchTraceType", message = "what?"}
    end}
    local trace, message, code = tracer:startTrace {trace = {"x"}}
    assert.is_nil(trace)
    assert.equal("what?", message)
    assert.equal("noSuchTraceType", code)
    assert_fails("unknownError", (function ()
      server.script.startTrace = function (s, packet)
        s:send {from = packet.to, error = 5}
      end
      return tracer:startTrace()
    end)())
  end)

  describe("traces", function ()
    it("from start to stop", function ()
      local tracer = attach {stopTrace = function (s, packet)
        s:send(frames "a(b())")
        fake.handlers.stopTrace(s, packet)
      end}
      local trace = assert(tracer:startTrace {name = "t"})
      assert.equal("t", trace.name)
      assert.equal("requested", trace.started)
      assert.is_true(trace.active)
      assert.equal(trace, tracer:trace "t")
      assert.equal(trace, tracer:stopTrace())
      assert.is_false(trace.active)
      assert.equal("requested", trace.why)
      local list = collect(trace)
      assert.equal("a(b())", fake.text(list))
      assert.same({0, 1, 2, 3}, {list[1].sequence, list[2].sequence,
                                 list[3].sequence, list[4].sequence})
    end)

    it("and its packets are waited for", function ()
      local tracer = attach {startTrace = function (s, packet)
        fake.handlers.startTrace(s, packet)
        fake.later(function ()
          s:send(frames "a(b(")
          fake.later(function () s:send(frames("))", 2)) end)
          fake.later(function () s:send(stopped("t", "maxEvents")) end)
        end)
      end}
      local trace = tracer:startTrace {name = "t"}
      assert.equal("a(b())", fake.text(collect(trace)))
      assert.equal("maxEvents", trace.why)
    end)

    it("with the fields of the request", function ()
      local tracer = attach()
      tracer:startTrace {name = "t", trace = {}, batch = 10, maxDepth = 3}
      assert.same({to = "trace1", type = "startTrace", name = "t", trace = {},
                   batch = 10, maxDepth = 3}, server.requests[3])
    end)

    it("in batches", function ()
      local list = fake.frames "a(b())"
      local tracer = attach {stopTrace = function (s, packet)
        s:send({from = "trace1", type = "traces",
                traces = {list[1], list[2], list[3]}},
               {from = "trace1", type = "traces", traces = {list[4]}},
               {from = "trace1", type = "traces", traces = wire.array()})
        fake.handlers.stopTrace(s, packet)
      end}
      local trace = tracer:startTrace {batch = 3}
      tracer:stopTrace()
      assert.equal("a(b())", fake.text(collect(trace)))
    end)

    it("of the program's own", function ()
      local tracer = attach {startTrace = function (s, packet)
        fake.handlers.startTrace(s, packet)
        s:send(frames "a(b()")
        s:send(started("c", nil, {"time"}))
        s:send(frames("d(", 3))
        s:send(stopped("c", nil, {memory = 3, hook = "many"}))
      end}
      local seen = {}
      tracer.onstart = function (trace) seen[#seen + 1] = trace end
      tracer.onstop = function (trace) seen[#seen + 1] = trace.why end
      tracer:startTrace {name = "t"}
      connection:run(0.05)
      assert.equal("t", seen[1].name)
      assert.equal("c", seen[2].name)
      assert.equal("console.startTrace", seen[2].started)
      assert.equal("console.stopTrace", seen[3])
      assert.same({{}, {memory = 3}}, {seen[1].lost, seen[2].lost})
      local list = collect(seen[2])
      assert.equal(1, #list)
      assert.same({type = "enteredFrame", sequence = 0, time = 3 / 8},
                  list[1])
    end)
  end)

  describe("tells replies from notifications", function ()
    local function everything ()
      return started "c", frames "a(",
             {from = "trace1", type = "traces", traces = {frames("b()", 1)}},
             stopped "c", started "d", stopped("d", "overflow"),
             stopped("nobody", "memory"), stopped("e", "maxEvents")
    end

    for _, kind in ipairs {"attach", "startTrace", "stopTrace", "detach"} do
      it("that cross " .. kind, function ()
        local script = {}
        script[kind] = function (s, packet)
          if kind == "attach" and #s.requests > 2 or kind ~= "attach" then
            s:send(everything())
          end
          fake.handlers[kind](s, packet)
          s:send(started "z")
        end
        local tracer = attach(script)
        local again = assert(connection:attach())
        assert.not_equal(tracer, again)
        local trace = assert(again:startTrace {name = "t"})
        assert.equal("t", trace.name)
        assert.equal(trace, assert(again:stopTrace "t"))
        assert.equal("requested", trace.why)
        assert.is_true(again:detach())
      end)
    end

    it("of another actor, too", function ()
      local tracer = attach {startTrace = function (s, packet)
        s:send({from = "trace2", type = "startedTrace", why = "requested",
                name = "x"},
               {from = "trace2", error = "wrongState"},
               {from = "root", type = "startedTrace", why = "requested",
                name = "y"})
        fake.handlers.startTrace(s, packet)
      end}
      assert.equal("t", tracer:startTrace({name = "t"}).name)
      assert.equal(3, connection.strays)
    end)

    it("by their type", function ()
      local tracer = attach {startTrace = function (s, packet)
        s:send({from = "trace1", type = "stoppedTrace", why = "requested",
                name = "t"},
               {from = "trace1", type = "attached"},
               {from = "trace1", requestTypes = {"x"}},
               {from = "trace1"})
        fake.handlers.startTrace(s, packet)
      end}
      assert.equal("t", tracer:startTrace({name = "t"}).name)
      assert.equal(4, connection.strays)
    end)

    it("when nothing is asked at all", function ()
      local tracer = attach()
      server:send(started "c", frames "a()")
      server:send({from = "trace1", error = "wrongState"},
                  {from = "nobody", type = "enteredFrame", sequence = 0})
      connection:run(0.05)
      assert.equal("a()", (function ()
        local trace = tracer:trace "c"
        trace.active = false
        return fake.text(collect(trace))
      end)())
    end)
  end)

  it("sends an actor one request at a time, in order", function ()
    local held = {}
    local tracer = attach {startTrace = function (_, packet)
      held[#held + 1] = packet
    end}
    local function till (list, n)
      for _ = 1, 100 do
        if #list < n then connection:run(0.03) end
      end
    end
    local got = {}
    for i = 1, 3 do
      tracer:startTrace({name = "t" .. i}, function (trace)
        got[#got + 1] = trace.name
      end)
    end
    tracer:stopTrace("t1", function (trace) got[#got + 1] = trace.why end)
    connection:echo({n = 1}, function () got[#got + 1] = "echo" end)
    till(got, 1)
    assert.equal(1, #held)
    assert.same({"echo"}, got)
    for i = 1, 3 do
      till(held, i)
      assert.equal(i, #held)
      fake.handlers.startTrace(server, held[i])
    end
    till(got, 5)
    assert.same({"echo", "t1", "t2", "t3", "requested"}, got)
  end)

  describe("puts frames in order", function ()
    local orders = {
      {5, 3, 2, 4, 1, 7, 8, 0, 9, 10, 6, 11, 12, 13},
      {13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0},
      {0, 0, 1, 1, 0, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 12, 12}
    }
    local text = "a(b(c()d()))e(f())()"

    local function shuffled (order, first)
      local list, packets = {}, fake.frames(text, first)
      for i, n in ipairs(order) do
        list[i] = packets[n + 1]
      end
      return table.unpack(list)
    end

    for i, order in ipairs(orders) do
      it("however they come " .. i, function ()
        local tracer = attach {stopTrace = function (s, packet)
          s:send(shuffled(order))
          fake.handlers.stopTrace(s, packet)
        end}
        local raw = {}
        tracer.onframe = function (packet) raw[#raw + 1] = packet.sequence end
        local trace = tracer:startTrace {name = "t"}
        tracer:stopTrace()
        assert.equal(text, fake.text(collect(trace)))
        assert.same({0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13}, raw)
        assert.equal(0, tracer.router.missing)
      end)
    end

    it("through a second start, and from 0 after the last stop", function ()
      local tracer = attach()
      local first = tracer:startTrace {name = "a"}
      server:send(shuffled(orders[1]))
      local second = tracer:startTrace {name = "b"}
      server:send(shuffled(orders[1], 14))
      tracer:stopTrace "a"
      tracer:stopTrace "b"
      assert.equal(text .. text, fake.text(collect(first)))
      assert.equal(text, fake.text(collect(second)))
      local third = tracer:startTrace {name = "c"}
      server:send(shuffled(orders[1]))
      tracer:stopTrace()
      assert.equal(text, fake.text(collect(third)))
    end)

    it("and goes on without those that never come", function ()
      local tracer = attach {stopTrace = function (s, packet)
        local list = fake.frames "a(b(c()))"
        s:send(list[1], list[2], list[5], list[6])
        fake.handlers.stopTrace(s, packet)
      end}
      local trace = tracer:startTrace {name = "t"}
      tracer:stopTrace()
      assert.equal("a(b())", fake.text(collect(trace)))
      assert.equal(2, tracer.router.missing)
    end)
  end)

  describe("deals frames out", function ()
    it("to each trace with its own types, sequence and depths", function ()
      local tracer = attach()
      local all = tracer:startTrace {name = "all",
                                     trace = {"name", "time", "depth"}}
      server:send(frames "a(b(")
      local few = tracer:startTrace {name = "few", trace = {"name", "depth"}}
      server:send(frames("c())d()", 2))
      tracer:stopTrace "all"
      server:send(frames("e()", 7))
      tracer:stopTrace "few"
      local list = collect(all)
      assert.equal("a(b(c())d()", fake.text(list))
      assert.same({type = "enteredFrame", sequence = 2, name = "c",
                   time = 2 / 8, depth = 2}, list[3])
      assert.same({type = "exitedFrame", sequence = 4, why = "return",
                   time = 4 / 8, depth = 1}, list[5])
      list = collect(few)
      assert.equal("c()d()e()", fake.text(list))
      assert.same({type = "enteredFrame", sequence = 0, name = "c", depth = 0},
                  list[1])
      assert.same({type = "exitedFrame", sequence = 3, why = "return",
                   depth = 0}, list[4])
    end)

    it("and keeps what is no type: tailCall, resumed, why", function ()
      local tracer = attach()
      local one = tracer:startTrace {name = "one", trace = {"name"}}
      local two = tracer:startTrace {name = "two", trace = {"time"}}
      server:send({from = "trace1", type = "enteredFrame", sequence = 0,
                   resumed = true, name = "x"},
                  {from = "trace1", type = "exitedFrame", sequence = 1,
                   why = "return", tailCall = true, time = 1})
      tracer:stopTrace "two"
      tracer:stopTrace "one"
      assert.same({{type = "enteredFrame", sequence = 0, resumed = true,
                    name = "x"},
                   {type = "exitedFrame", sequence = 1, why = "return",
                    tailCall = true}}, collect(one))
      assert.same({{type = "enteredFrame", sequence = 0, resumed = true},
                   {type = "exitedFrame", sequence = 1, why = "return",
                    tailCall = true, time = 1}}, collect(two))
    end)

    it("and discards a trace that is replaced", function ()
      local tracer = attach()
      local old = tracer:startTrace {name = "t"}
      server:send(frames "a(b(")
      local new = tracer:startTrace {name = "t"}
      server:send(frames("c()))d(", 2))
      tracer:stopTrace()
      assert.is_false(old.active)
      assert.equal("replaced", old.why)
      assert.same({}, collect(old))
      assert.equal("c()d(", fake.text(collect(new)))
    end)

    it("or discards it for the program's own", function ()
      local tracer = attach()
      local old = tracer:startTrace {name = "t"}
      server:send(frames "a()")
      server:send(started "t", frames("b()", 2))
      connection:run(0.05)
      assert.equal("replaced", old.why)
      assert.same({}, collect(old))
      local new = tracer:trace "t"
      server:send(stopped "t")
      assert.equal("b()", fake.text(collect(new)))
    end)

    it("to functions instead of a queue", function ()
      local tracer = attach()
      local got, ends = {}, {}
      tracer.onstart = function (trace)
        trace.onframe = function (packet) got[#got + 1] = packet end
        trace.onstop = function (t) ends[#ends + 1] = t.why end
      end
      local trace = tracer:startTrace {name = "t"}
      server:send(frames "a()")
      tracer:stopTrace()
      assert.equal("a()", fake.text(got))
      assert.same({"requested"}, ends)
      assert.same({}, collect(trace))
    end)
  end)

  it("detaches, and is told so afterwards", function ()
    local tracer = attach {detach = function (s, packet)
      s:send(frames "a(")
      fake.handlers.detach(s, packet)
      s:send(stopped("b", "detached"), stopped("a", "detached"))
    end}
    local a = tracer:startTrace {name = "a"}
    local b = tracer:startTrace {name = "b"}
    assert.is_true(tracer:detach())
    assert.is_false(tracer.attached)
    assert.equal("detached", a.why)
    assert.equal("detached", b.why)
    assert.equal("a(", fake.text(collect(a)))
    assert.is_nil(a.code)
    local again = assert(connection:attach())
    local c = again:startTrace {name = "a"}
    connection:run(0.02)
    assert.is_true(c.active)
    assert.equal(0, connection.strays)
  end)

  describe("ends everything when the connection is lost", function ()
    it("before the greeting", function ()
      serve {connect = function (s) s:hang_up() end}
      assert_fails("closed", client.connect {port = server.port})
    end)

    for _, kind in ipairs {"listTabs", "attach"} do
      it("during " .. kind, function ()
        serve {[kind] = function (s) s:hang_up() end}
        connect()
        assert_fails("closed", connection:attach())
        assert.is_true(connection.closed)
        assert_fails("closed", connection:listTabs())
      end)
    end

    for _, kind in ipairs {"startTrace", "stopTrace", "detach"} do
      it("during " .. kind, function ()
        local tracer = attach {[kind] = function (s) s:hang_up() end}
        local trace = tracer:startTrace {name = "t"}
        if kind ~= "startTrace" then
          assert_fails("closed", tracer[kind](tracer))
          assert.is_false(trace.active)
          assert.equal("closed", trace.why)
          assert.equal("closed", trace.code)
        else
          assert.is_nil(trace)
        end
        assert.is_false(tracer.attached)
        assert_fails("closed", tracer:startTrace())
      end)
    end

    it("while frames are waited for", function ()
      local tracer = attach {startTrace = function (s, packet)
        fake.handlers.startTrace(s, packet)
        s:send(frames "a(")
        fake.later(function () s:hang_up() end)
      end}
      local trace = tracer:startTrace {name = "t"}
      local next_packet = trace:packets()
      assert.equal("a", next_packet().name)
      assert_fails("closed", next_packet())
      assert_fails("closed", next_packet())
    end)

    it("with a request in flight and others behind it", function ()
      local tracer = attach {startTrace = function (s) s:hang_up() end}
      local codes = {}
      for i = 1, 3 do
        tracer:startTrace(function (_, _, code) codes[i] = code end)
      end
      assert_fails("closed", connection:run())
      assert.same({"closed", "closed", "closed"}, codes)
    end)

    it("by ourselves", function ()
      local tracer = attach {startTrace = function () end}
      local code
      tracer:startTrace(function (_, _, c) code = c end)
      connection:close()
      connection:close()
      assert.equal("closed", code)
      assert_fails("closed", tracer:stopTrace())
      assert_fails("closed", connection:run(1))
    end)
  end)

  describe("gives up on a server that is silent", function ()
    it("from the beginning", function ()
      serve {connect = function () end}
      assert_fails("timeout", client.connect {port = server.port,
                                              timeout = 0.1})
    end)

    it("when it owes an answer", function ()
      serve {listTabs = function () end}
      connect {timeout = 0.1}
      connection:run(0.5)         -- it owes none
      assert.is_false(connection.closed)
      assert_fails("timeout", connection:listTabs())
      assert.is_true(connection.closed)
    end)

    it("but not on one that is only late", function ()
      local tracer = attach {startTrace = function (s, packet)
        local left = 20
        local function go_on ()
          left = left - 1
          if left > 0 then
            s:send {from = "elsewhere", type = "noise"}
            fake.later(go_on)
          else
            fake.handlers.startTrace(s, packet)
          end
        end
        go_on()
      end}
      connection.timeout = 0.15
      assert.is_table(tracer:startTrace())
    end)
  end)

  describe("refuses", function ()
    local function refuses (what, send)
      it(what, function ()
        local tracer = attach {startTrace = function (s, packet)
          fake.handlers.startTrace(s, packet)
          fake.later(function () send(s) end)
        end}
        local trace = tracer:startTrace {name = "t"}
        local next_packet = trace:packets()
        assert_fails("badPacket", next_packet())
        assert.is_true(connection.closed)
        assert.equal("closed", trace.why)
      end)
    end

    refuses("what is no packet", function (s) s:raw "HTTP/1.1 200 OK\r\n" end)
    refuses("a giant packet", function (s) s:raw "99999999999:{" end)
    refuses("a frame without a sequence", function (s)
      s:send {from = "trace1", type = "enteredFrame"}
    end)
    refuses("a sequence that is no number", function (s)
      s:send {from = "trace1", type = "enteredFrame", sequence = {}}
    end)
    refuses("a frame of the far future", function (s)
      s:send {from = "trace1", type = "enteredFrame", sequence = 1 << 40}
    end)
    refuses("a batch of nothing", function (s)
      s:send {from = "trace1", type = "traces"}
    end)
    refuses("a batch of rubbish", function (s)
      s:send {from = "trace1", type = "traces", traces = {1, 2}}
    end)
    refuses("a batch that is an object", function (s)
      s:send {from = "trace1", type = "traces", traces = {a = 1}}
    end)
    refuses("a trace without a name", function (s)
      s:send {from = "trace1", type = "startedTrace", why = "x", name = 1}
    end)

    it("nothing that is only strange", function ()
      local tracer = attach {stopTrace = function (s, packet)
        s:raw "0:2:[]3:xyz2:{}"
        s:send({from = "trace1", type = "newThing", a = 1}, {from = 5},
               {type = "enteredFrame"}, frames "a()")
        fake.handlers.stopTrace(s, packet)
      end}
      local trace = tracer:startTrace {name = "t"}
      assert.equal(trace, tracer:stopTrace())
      assert.equal("a()", fake.text(collect(trace)))
      assert.equal(3, connection.decoder.skipped)
    end)
  end)

  it("leaves what comes behind a reply for who asked next", function ()
    local tracer = attach {attach = function (s, packet)
      fake.handlers.attach(s, packet)
      s:send(started "c", frames "a()")
      s:send(stopped "c")
    end}
    local seen = {}
    tracer.onstart = function (trace) seen[#seen + 1] = trace end
    connection:run(0.03)
    assert.equal(1, #seen)
    assert.equal("a()", fake.text(collect(seen[1])))
  end)

  describe("in a running loop", function ()
    -- Runs it until 'done' is called.
    local function looped (work)
      local finished, err = false, nil
      fake.later(function ()
        local ok, problem = pcall(work, function () finished = true end)
        if not ok then
          err = problem
        end
      end)
      local limit = os.time() + 60
      while not finished and not err and os.time() < limit do
        uv.run "once"
      end
      assert(not err, err)
      assert.is_true(finished)
    end

    it("calls back", function ()
      serve {stopTrace = function (s, packet)
        s:send(frames "a()")
        fake.handlers.stopTrace(s, packet)
      end}
      local got = {}
      looped(function (done)
        client.connect({port = server.port}, function (c)
          connection = c
          c:attach(function (tracer)
            tracer:startTrace({name = "t"}, function (trace)
              trace.onframe = function (packet) got[#got + 1] = packet end
              tracer:stopTrace(function (same)
                got.same = same == trace
                tracer:detach(function (ok)
                  got.ok = ok
                  done()
                end)
              end)
            end)
          end)
        end)
      end)
      assert.is_true(got.same)
      assert.is_true(got.ok)
      assert.equal("a()", fake.text(got))
    end)

    it("yields in coroutines", function ()
      serve {startTrace = function (s, packet)
        fake.handlers.startTrace(s, packet)
        fake.later(function () s:send(frames "a()") end)
        fake.later(function () s:send(stopped(packet.name, "duration")) end)
      end}
      local texts = {}
      looped(function (done)
        local function work (name)
          connection = connection
                       or assert(client.connect {port = server.port})
          local tracer = assert(connection:attach())
          local trace = assert(tracer:startTrace {name = name})
          texts[#texts + 1] = fake.text(collect(trace))
          assert(tracer:detach())
          done()
        end
        coroutine.wrap(work)("t")
      end)
      assert.same({"a()"}, texts)
    end)

    it("refuses to block", function ()
      serve()
      connect()
      looped(function (done)
        local ok, message = pcall(connection.listTabs, connection)
        assert(not ok and message:find "loop is running")
        done()
      end)
    end)
  end)

  it("raises what a function of its user raises", function ()
    local tracer = attach()
    tracer.onframe = function () error "mine" end
    tracer:startTrace {name = "t"}
    server:send(frames "a()")
    assert.has_error(function () connection:run(1) end)
    tracer.onframe = nil
    assert.is_table(tracer:stopTrace())
  end)
end)
