-- The session itself: framing, requests in order, who is told what before and
-- after there is a program.

local framing = require "tracegrip.dap.framing"
local session = require "tracegrip.dap.session"

local editor = require "spec.support.editor"
local run = require "spec.support.run"
local served = require "spec.support.served"

local it = editor.needed(it, pending)

describe("a session of the debug adapter", function ()
  it("tells what it can do, once", function ()
    editor.start():with(function (self)
      local can = self:initialize()
      assert.is_true(can.supportsConfigurationDoneRequest)
      assert.is_true(can.supportsLogPoints)
      assert.is_nil(can.supportsStepBack)
      assert.is_nil(can.supportsGotoTargetsRequest)
      local _, message = self:ask("initialize", {adapterID = "lua"})
      assert.equal("initialize came already", message)
    end)
  end)

  it("refuses what comes too early, is unknown or is malformed", function ()
    editor.start():with(function (self)
      local function refused (command, arguments)
        local _, message, details = self:ask(command, arguments)
        assert.equal(message, details.variables.message)
        return message
      end
      assert.equal("initialize has to come first", refused "threads")
      self:initialize()
      assert.equal("there is no program yet: launch or attach",
                   refused "threads")
      assert.equal("'makeCoffee' is no request known here",
                   refused "makeCoffee")
      assert.equal("launch: 'program' has to be a string",
                   refused("launch", {program = 3}))
    end)
  end)

  it("refuses what needs a program until that is there", function ()
    local early = {
      {"pause", {threadId = 1}}, {"evaluate", {expression = "1"}}, {"restart"},
      {"modules"}, {"setFunctionBreakpoints", {breakpoints = {{name = "f"}}}},
      {"setBreakpoints", {source = {path = "/x"}, breakpoints = {{line = 1}}}},
      {"breakpointLocations", {source = {path = "/x"}, line = 1}},
      {"setExceptionBreakpoints", {filters = {}}}, {"configurationDone"}
    }
    local function all_refused (self, first)
      for i, request in ipairs(early) do
        local answer = self:answer(first + i)
        assert.is_false(answer.success)
        assert.equal("the program is not there yet", answer.message)
        assert.equal(request[1], answer.command)
      end
    end
    run.within(function (where)
      run.write(where .. "/app.lua", "print(1)\n")
      for _, arguments in ipairs {
        {program = where .. "/app.lua", cwd = where, lua = run.lua},
        {program = "/nowhere/app.lua"}, {recording = "/nowhere/app.tgr"}
      } do
        editor.start():with(function (self)
          self:initialize()
          local first = self:post("launch", arguments)
          for _, request in ipairs(early) do
            self:post(request[1], request[2])
          end
          all_refused(self, first)
          assert.equal(arguments.cwd ~= nil, self:answer(first).success)
        end)
      end
    end)
  end)

  it("shows the user why a launch has failed", function ()
    for _, case in ipairs {
      {{}, "'program' is missing: the file to run"},
      {{program = "/nowhere/app.lua"},
       "'program': there is no file /nowhere/app.lua"},
      {{program = "/dev/null", cwd = "/nowhere"},
       "'cwd': there is no directory /nowhere"},
      {{program = "/dev/null", args = {3}},
       "'args' has to be a list of strings (number 1 is none)"},
      {{program = "/dev/null", console = "printer"},
       "'console' has to be internalConsole, integratedTerminal or "
       .. "externalTerminal, not printer"},
      {{program = "/dev/null", lua = "/nowhere/lua"},
       "cannot run /nowhere/lua: no such file or directory"},
      {{program = "/dev/null", console = "integratedTerminal"},
       "this editor has no terminal for programs: 'console' has to be "
       .. "internalConsole"},
    } do
      editor.start():with(function (self)
        self:initialize()
        local _, message, details = self:ask("launch", case[1])
        assert.equal(case[2], message)
        assert.is_true(details.showUser)
        assert.truthy(self:ask "disconnect")
        assert.equal(0, self.ended())
      end)
    end
  end)

  it("takes messages in any pieces, with any header fields", function ()
    editor.start():with(function (self)
      local body = '{"seq":7,"type":"request","command":"initialize",'
                   .. '"arguments":{"adapterID":"lua"}}'
      local text = ("Content-Type: x\r\ncontent-length:%d\r\n\r\n%s")
                   :format(#body, body)
      for i = 1, #text do
        self:say(text:sub(i, i))
      end
      assert.is_true(self:answer(7).success)
    end)
  end)

  it("ends where bytes are not this protocol", function ()
    for _, bytes in ipairs {
      "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
      "Content-Length: 99999999999\r\n\r\n", "Content-Length: 2\r\n\r\n[]",
      "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}",
      "Content-Type: x\r\n\r\n{}", "Content-Length: -1\r\n\r\n",
      "Content-Length: 4\r\n\r\nnull", ("x"):rep(5000),
    } do
      editor.start():with(function (self)
        self:say(bytes)
        assert.equal(0, self.ended())
      end)
    end
  end)

  it("passes over messages that nobody has asked for", function ()
    editor.start():with(function (self)
      for _, message in ipairs {
        {type = "response", request_seq = 99, command = "runInTerminal",
         success = true},
        {type = "event", event = "stopped"}, {type = "request"},
        {type = {}, command = {}}, {type = "request", command = 3},
      } do
        self:send(message)
      end
      assert.truthy(self:initialize())
    end)
  end)

  it("answers once, if the answer is none that could be sent", function ()
    local sent = {}
    local one = session.new {
      defer = function (f) f() end, finish = function () end,
      write = function (bytes) sent[#sent + 1] = bytes end,
      begin = function ()
        return {
          handlers = {launch = function () return {hole = print} end},
          capabilities = function () return {} end, close = function () end
        }
      end, capabilities = {}
    }
    for seq, command in ipairs {"initialize", "launch"} do
      one:receive(framing.encode {seq = seq, type = "request",
                                  command = command,
                                  arguments = {adapterID = "lua"}})
    end
    assert.equal(2, #sent)
    assert.truthy(sent[2]:find('"success":false', 1, true))
    assert.truthy(sent[2]:find("internal error", 1, true))
  end)

  it("needs pipes: whoever types the command is told so", function ()
    local done = run.command({run.build .. "/bin/tracegrip", "dap"})
    assert.same({1, ""}, {done.status, done.stdout})
    assert.truthy(done.stderr:find "^tracegrip: standard input and output")
  end)

  it("is there for each client of a port", function ()
    run.within(function (where)
      local command = served.start({"dap", "--port=0"}, where)
      command:until_ready(function () return command.err:find "%d\n" end)
      local port = tonumber(command.err:match "listening on 127.0.0.1:(%d+)\n")
      run.write(where .. "/app.lua", "local x = 1\nprint(x)\n")
      for _ = 1, 2 do
        editor.connect(port):with(function (self)
          self:initialize()
          self.where = where
          assert(self:ask("launch", {program = where .. "/app.lua",
                                     lua = run.lua}))
          self:stop_at {2}
          local _, place = self:stack(self:run())
          assert.equal("(main chunk):2", place)
        end)
      end
      command:kill()
      command:ended()
    end)
  end)
end)
