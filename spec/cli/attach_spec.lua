-- tracegrip attach: against a server that says what each test wants, and sends
-- blocks of small programs' traces.

local fake = require "spec.client.fake"
local recorded = require "spec.support.recorded"
local run = require "spec.support.run"
local sentblocks = require "spec.support.sentblocks"
local served = require "spec.support.served"
local uv = require "luv"

local it = run.needs("luv", it, pending)

local server

local function stopped (name, why)
  return {from = "trace1", type = "stoppedTrace", name = name, why = why}
end

-- A script whose startTrace sends blocks and then ends the trace.
local function sending (list, why)
  return {startTrace = function (s, packet)
    fake.handlers.startTrace(s, packet)
    s:stream(list)
    s:send(stopped(packet.name or "Trace 1", why or "duration"))
  end}
end

-- The same with the calls in 'text'.
local function saying (text, why)
  return sending(sentblocks.of(text), why)
end

-- The command in a directory, with a server that has the script.
local function start (directory, script, words, env)
  server = fake.new(script)
  local all = {"attach", "127.0.0.1:" .. server.port}
  table.move(words or {}, 1, #(words or {}), 3, all)
  return served.start(all, directory, env)
end

-- Runs it to its end: the command.
local function call (script, words, env)
  return run.within(function (directory)
    local command = start(directory, script, words, env)
    command:ended()
    return command
  end)
end

local function asked (kind)
  for _, packet in ipairs(server.requests) do
    if packet.type == kind then
      return packet
    end
  end
end

local attached = "tracegrip: attached to one.lua; Ctrl-C ends the trace\n"

-- What it has written to standard error since it attached, if it did.
local function complaint (command)
  local _, last = command.err:find(attached, 1, true)
  return command.err:sub((last or 0) + 1)
end

-- One line on standard error that says so, and this exit status.
local function assert_fails (command, status, pattern)
  assert.equal(status, command.status)
  assert.matches("^tracegrip: [^\n]*" .. pattern .. "[^\n]*\n$",
                 complaint(command))
end

describe("tracegrip attach", function ()
  after_each(function ()
    if server then
      server:close()
    end
    server = nil
  end)

  it("logs on standard output what the program does", function ()
    local command = call(saying "a(b())", {"--no-times", "--no-summary"})
    assert.equal(attached, command.err)
    assert.equal(0, command.status)
    local lines = {}
    for line in command.out:gmatch "[^\n]+" do
      lines[#lines + 1] = line:gsub("%s+", " ")
    end
    assert.same({"a() p.lua:4", "│ b() p.lua:3", "│ └", "└ a"}, lines)
  end)

  it("logs while the program runs", function ()
    run.within(function (directory)
      local command = start(directory, {startTrace = function (s, packet)
        fake.handlers.startTrace(s, packet)
        s:stream(sentblocks.of "a(")
      end})
      command:until_says "a%(%) +p.lua:3"
      command:kill()
      assert.equal(0, command:ended())
    end)
  end)

  it("asks for what it is told, as blocks", function ()
    call(saying "", {"--name", "n", "--trace", "name,arguments", "--no-c",
                     "--max-depth", "5", "--include", "^a", "--value-depth",
                     "all", "--duration", "2s", "--min-duration", "3"})
    local packet = asked "startTrace"
    assert.same({to = "trace1", type = "startTrace", name = "n", c = false,
                 trace = {"name", "arguments"}, blocks = true, maxDepth = 5,
                 include = {"^a"}, valueDepth = "all",
                 duration = 2000.0}, packet)
  end)

  it("attaches to another tab", function ()
    call({startTrace = function (s, packet)
      fake.handlers.startTrace(s, packet)
      s:send {from = "trace2", type = "stoppedTrace", name = "Trace 1",
              why = "maxEvents"}
    end}, {"--tab", "2"})
    assert.equal("trace2", asked("attach").to)
    server:close()
    assert_fails(call({}, {"--tab", "3"}), 1, "no tab 3")
  end)

  it("leaves out calls that are too short, itself", function ()
    local list = sentblocks.program [[
      local clock <const> = os.clock
      local function c () end
      local function b ()
        c()
        local start = clock()
        repeat until clock() > start + 0.5
      end
      local function d () end
      local function a () b() d() end
      a()
    ]]
    local command = call(sending(list), {"--min-duration", "400"})
    assert.matches("a%(", command.out)
    assert.matches("b%(", command.out)
    assert.not_matches("c%(", command.out)
    assert.not_matches("d%(", command.out)
  end)

  it("says that it is attached to a program that does nothing", function ()
    run.within(function (directory)
      local command = start(directory, {})
      command:until_ready(function () return command.err == attached end)
      assert.equal(attached, command.err)
      command:kill()
      assert.equal(0, command:ended())
    end)
  end)

  it("finds a program of this machine by its port", function ()
    server = fake.new(saying "a()")
    run.within(function (directory)
      for _, address in ipairs {tostring(server.port), ":" .. server.port} do
        local command = served.start({"attach", address}, directory)
        assert.equal(0, command:ended(), command.err)
      end
    end)
  end)

  it("takes no address for half of one", function ()
    for _, address in ipairs {"127.0.0.1", "localhost6006", "1.2.3.4:99999",
                              "[::1]", "::1", ("9"):rep(30)} do
      local result = run.command {run.build .. "/bin/tracegrip", "attach",
                                  address}
      assert.equal(2, result.status)
      assert.equal("tracegrip: '" .. address .. "' is no PORT, HOST:PORT or "
                   .. "unix:PATH\n", result.stderr)
    end
  end)

  it("says how a trace ended by itself", function ()
    local command = call(saying("a()", "overflow"))
    assert_fails(command, 0, "buffer")
  end)

  describe("with -o", function ()
    it("makes a recording like a local one", function ()
      run.within(function (directory)
        local command = start(directory, saying("a(b())c()"),
                              {"-o", "rec", "--name", "mine"})
        assert.equal(0, command:ended(), command.err)
        assert.equal("", command.out)
        local size = 0
        for _, bytes in ipairs(sentblocks.of "a(b())c()") do
          size = size + #bytes
        end
        assert.equal(("tracegrip: rec: %d bytes\n"):format(size),
                     complaint(command))
        local recording = assert(recorded.open(directory .. "/rec"))
        local info = recording:info()
        assert.equal("complete", info.state)
        assert.equal("one.lua", info.program)
        assert.equal("mine", info.traces[1].name)
        assert.equal("duration", info.traces[1].ended)
        assert.equal("a(b())c()", fake.text(recorded.packets(recording)))
      end)
    end)

    it("makes one that all commands read", function ()
      run.within(function (directory)
        assert.equal(0, start(directory, saying("a(b())c()"),
                              {"-o", "rec"}):ended())
        for _, words in ipairs {{"info"}, {"report"}, {"tree"}, {"log"},
                                {"export", "packets"}, {"export", "firefox"},
                                {"export", "chrome"}} do
          table.insert(words, "rec")
          local command = served.start(words, directory)
          assert.equal(0, command:ended(), command.err)
        end
      end)
    end)

    describe("tells of the program's process", function ()
      -- What info says, and the file itself, of a tab with that number.
      local function recorded_of (pid, use)
        local script = saying "a()"
        function script.listTabs (s)
          s:send {from = "root", selected = 0, tabs = {
            {actor = "tab1", title = "one.lua", traceActor = "trace1",
             pid = pid}}}
        end
        run.within(function (directory)
          local command = start(directory, script, {"-o", "rec"})
          assert.equal(0, command:ended(), command.err)
          local said = served.start({"info", "rec"}, directory)
          assert.equal(0, said:ended(), said.err)
          use(said.out, assert(recorded.open(directory .. "/rec")), directory)
        end)
      end

      it("which it was told", function ()
        recorded_of(4711, function (said, recording, directory)
          assert.matches("\nprocess: +4711\n", said)
          assert.matches("\narguments: not known\n", said)
          local info = recording:info()
          assert.equal(4711, info.pid)
          assert.is_nil(info.arguments)
          assert.is_true(info.recorder > 1 and info.recorder ~= 4711)
          local export = served.start({"export", "chrome", "rec",
                                       "-o", "rec.trace.json"}, directory)
          assert.equal(0, export:ended(), export.err)
          local file = assert(run.read(directory .. "/rec.trace.json"))
          assert.matches('"pid":4711,', file)
          assert.not_matches('"pid":' .. info.recorder .. "%D", file)
        end)
      end)

      it("also in a copy", function ()
        recorded_of(4711, function (_, recording, directory)
          assert(recording:save(directory .. "/copy"))
          local info = assert(recorded.open(directory .. "/copy")):info()
          assert.equal(4711, info.pid)
          assert.is_nil(info.arguments)
        end)
      end)

      it("unless that is no number of a process", function ()
        for _, pid in ipairs {false, -1, 0, 1.5, 1e300, "x", {}} do
          recorded_of(pid, function (said, recording)
            assert.matches("\nprocess: +not known\n", said)
            assert.is_nil(recording:info().pid)
          end)
        end
      end)
    end)

    it("takes the place of a recording only", function ()
      run.within(function (directory)
        run.write(directory .. "/rec", "a letter")
        local command = start(directory, saying "a()", {"-o", "rec"})
        command:ended()
        assert_fails(command, 1, "%-%-force")
        assert.equal("a letter", run.read(directory .. "/rec"))
        server:close()
        command = start(directory, saying "a()", {"-o", "rec", "--force"})
        assert.equal(0, command:ended(), command.err)
      end)
    end)
  end)

  describe("when interrupted", function ()
    for _, signal in ipairs {"sigint", "sigterm"} do
      it("by " .. signal .. " detaches and keeps all there is", function ()
        run.within(function (directory)
          local command = start(directory, {
            startTrace = function (s, packet)
              fake.handlers.startTrace(s, packet)
              s:stream(sentblocks.of "a(b(")
            end,
            detach = function (s, packet)
              fake.handlers.detach(s, packet)
              s:send(stopped("Trace 1", "detached"))
            end
          }, {"-o", "rec"})
          command:until_ready(function () return asked "startTrace" end)
          fake.later(function () command:kill(signal) end)
          assert.equal(0, command:ended(), command.err)
          assert.is_table(asked "detach")
          local recording = assert(recorded.open(directory .. "/rec"))
          assert.equal("complete", recording:info().state)
          assert.equal(2, #recorded.packets(recording))
        end)
      end)
    end

    it("before the trace has started detaches all the same", function ()
      run.within(function (directory)
        local command
        command = start(directory, {
          startTrace = function (s, packet)
            command:kill()
            fake.later(function () fake.handlers.startTrace(s, packet) end)
          end
        }, {"-o", "rec"})
        assert.equal(0, command:ended(), command.err)
        assert.is_table(asked "detach")
        local recording = assert(recorded.open(directory .. "/rec"))
        assert.equal("complete", recording:info().state)
      end)
    end)

    it("twice does not wait for an answer", function ()
      run.within(function (directory)
        local command = start(directory, {detach = function () end})
        command:until_ready(function () return asked "startTrace" end)
        fake.later(function () command:kill() end)
        command:until_ready(function () return asked "detach" end)
        command:kill()
        assert.equal(0, command:ended())
      end)
    end)
  end)

  it("does not mind how the server says that a trace has ended", function ()
    for _, why in ipairs {{}, 5, true, "because"} do
      run.within(function (directory)
        local command = start(directory, saying("a()", why), {"-o", "rec"})
        assert.equal(0, command:ended(), command.err)
        assert.equal(2, #recorded.packets(assert(recorded.open(directory
                                                               .. "/rec"))))
      end)
    end
  end)

  describe("fails in one line", function ()
    it("when the server goes away, with a recording up to there", function ()
      run.within(function (directory)
        local command = start(directory, {startTrace = function (s, packet)
          fake.handlers.startTrace(s, packet)
          s:stream(sentblocks.of "a(b()")
          fake.later(function () s:hang_up() end)
        end}, {"-o", "rec"})
        command:ended()
        assert_fails(command, 1, "closed the connection")
        local recording = assert(recorded.open(directory .. "/rec"))
        assert.equal("cut off", recording:info().state)
        assert.equal(3, #recorded.packets(recording))
      end)
    end)

    it("when nobody listens", function ()
      server = fake.new {}
      local port = server.port
      server:close()
      server = nil
      local result = run.command {run.build .. "/bin/tracegrip", "attach",
                                  "127.0.0.1:" .. port}
      assert.equal(1, result.status)
      assert.matches("^tracegrip: cannot connect[^\n]*\n$", result.stderr)
      result = run.command {run.build .. "/bin/tracegrip", "attach",
                            "unix:/no/such/socket"}
      assert.equal(1, result.status)
      assert.matches("^tracegrip: cannot connect[^\n]*\n$", result.stderr)
    end)

    it("when somebody else is attached", function ()
      run.within(function (directory)
        local command = start(directory, {attach = function (s)
          s:send {from = "trace1", error = "wrongState",
                  message = "Already attached to a client"}
        end}, {"-o", "rec"})
        command:ended()
        assert_fails(command, 1, "Already attached")
        assert.is_nil(run.read(directory .. "/rec"))
      end)
    end)

    it("when the server is another TraceActor", function ()
      for _, traits in ipairs {{}, {blocks = 1000}, {blocks = true}, false} do
        local command = call({connect = function (s)
          s:send {from = "root", applicationType = "lua", traits = traits}
        end})
        assert_fails(command, 1, "sends no blocks that this version reads")
        assert.is_nil(asked "attach")
        server:close()
      end
    end)

    it("when what came is nonsense", function ()
      assert_fails(call {connect = function (s) s:raw "SSH-2.0-x\r\n" end}, 1,
                   "header")
    end)

    it("when it cannot write", function ()
      assert_fails(call(saying "a()", {"-o", "/no/such/place"}), 1,
                   "/no/such/place")
    end)
  end)

  it("ends quietly when nobody reads its output", function ()
    run.within(function (directory)
      local list = sentblocks.program [[
        local function a () end
        for _ = 1, 300000 do a() end
      ]]
      server = fake.new {startTrace = function (s, packet)
        fake.handlers.startTrace(s, packet)
        local sent = 0
        local function more ()    -- and does not end the trace
          if sent < #list and not s.gone then
            sent = sent + 1
            s:stream {list[sent]}
            fake.later(more)
          end
        end
        more()
      end}
      local words = {"attach", "127.0.0.1:" .. server.port}
      local command = served.start(words, directory)
      command:until_says "a"
      command:deafen()
      assert.equal(0, command:ended())
      assert.equal(attached, command.err)
    end)
  end)

  describe("tells the token", function ()
    local script = {authenticate = function (s)
      s:send {from = "root", type = "authenticated"}
    end, startTrace = saying("").startTrace}

    it("of the environment", function ()
      assert.equal(0, call(script, {}, {TRACEGRIP_TOKEN = "abc"}).status)
      assert.equal("abc", asked("authenticate").token)
    end)

    it("of a file", function ()
      run.within(function (directory)
        run.write(directory .. "/token", "secret \n")
        local command = start(directory, script, {"--token-file", "token"},
                              {TRACEGRIP_TOKEN = "abc"})
        assert.equal(0, command:ended(), command.err)
        assert.equal("secret", asked("authenticate").token)
      end)
    end)

    it("of a file that others may read, with a remark", function ()
      local mine, others = tonumber("600", 8), tonumber("640", 8)
      for mode, said in pairs {
        [mine] = "", [others] = "tracegrip: token holds the token and is open "
          .. "to others (mode 0640); chmod 600 keeps it to you\n"
      } do
        run.within(function (directory)
          run.write(directory .. "/token", "secret")
          assert(uv.fs_chmod(directory .. "/token", mode))
          local command = start(directory, script,
                                {"--token-file", "token"})
          assert.equal(0, command:ended(), command.err)
          assert.equal(said .. attached, command.err)
          assert.equal("secret", asked("authenticate").token)
        end)
        server:close()
      end
    end)

    it("if it can be read", function ()
      assert_fails(call(script, {"--token-file", "/no/such"}), 1, "/no/such")
    end)
  end)

  it("knows wrong usage", function ()
    for _, words in ipairs {{}, {"nowhere"}, {"host:0"}, {"host:65536"},
                            {"unix:"}, {"1", "--fly"},
                            {"1", "--overflow", "drop"},
                            {"1", "--trace", "colour"}, {"1", "2"}} do
      local result = run.command {run.build .. "/bin/tracegrip", "attach",
                                  table.unpack(words)}
      assert.equal(2, result.status)
      assert.matches("^tracegrip: [^\n]+\n$", result.stderr)
    end
  end)

  it("connects to a Unix socket", function ()
    run.within(function (directory)
      local path = directory .. "/socket"
      server = fake.new(saying "a()", path)
      local command = served.start({"attach", "unix:" .. path}, directory)
      assert.equal(0, command:ended(), command.err)
      assert.matches("a%(", command.out)
      uv.run "nowait"
    end)
  end)
end)
