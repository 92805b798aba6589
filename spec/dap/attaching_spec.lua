-- Programs that run already, what a program starts, tests, terminals.

local lfs = require "lfs"
local uv = require "luv"

local debugger = require "spec.support.debugger"
local editor = require "spec.support.editor"
local run = require "spec.support.run"
local waiting = require "spec.support.waiting"

local it = editor.needed(it, pending)

local loop = [[
local n = 0
io.stderr:write "begun\n"
while not over do
  n = n + 1
end
print("over", n > 0)
]]

-- Nothing of ours is in the temporary directory.
local function assert_empty (directory)
  for name in lfs.dir(directory) do
    assert.is_nil(name:find "tracegrip", name)
  end
end

-- A program that has begun, and a client that has said who it is.
local function beside (text, use, ...)
  debugger.attach(text, function (front, command, address)
    front:close()
    editor.start():with(function (self)
      self:initialize()
      use(self, command, tonumber(address:match ":(%d+)/"))
    end)
  end, ...)
end

-- Stops the loop, sees where it is and has it end.
local function check_and_end (self, command)
  assert(self:ask "configurationDone")
  assert(self:ask("pause", {threadId = 1}))
  local stopped = self:event "stopped"
  assert.equal("pause", stopped.reason)
  local frames = self:stack(stopped)
  assert.truthy(frames[1].line == 3 or frames[1].line == 4)
  assert.equal("true", (self:value(frames[1], "n >= 0")))
  assert(self:ask("evaluate", {expression = "over = true", context = "repl"}))
  assert(self:ask("disconnect"))
  assert.equal(0, command:ended())
  assert.equal("over\ttrue\n", command.out)
end

-- What comes to a port of its own goes to that one, as to a container's.
local function forward (port)
  local server = uv.new_tcp()
  local function pump (from, to)
    from:read_start(function (_, bytes)
      if bytes then
        to:write(bytes)
      else
        for _, handle in ipairs {from, to} do
          if not handle:is_closing() then
            handle:close()
          end
        end
      end
    end)
  end
  server:bind("127.0.0.1", 0)
  server:listen(8, function ()
    local near, far = uv.new_tcp(), uv.new_tcp()
    server:accept(near)
    far:connect("127.0.0.1", port, function ()
      pump(near, far)
      pump(far, near)
    end)
  end)
  return server, server:getsockname().port
end

describe("a program that runs already", function ()
  it("is attached to by its port, and goes on when that is over", function ()
    beside(loop, function (self, command, port)
      assert(self:ask("attach", {port = port}))
      self:event "initialized"
      local can = self:events("capabilities")[1].capabilities
      assert.is_false(can.supportsTerminateRequest)
      check_and_end(self, command)
    end)
  end)

  it("is attached to by its process", function ()
    beside(loop, function (self, command)
      assert(self:ask("attach", {pid = command.pid}))
      self:event "initialized"
      assert.equal(command.pid, self:events("process")[1].systemProcessId)
      check_and_end(self, command)
    end)
  end)

  it("is attached to by its process and its token", function ()
    run.within(function (where)
      run.write(where .. "/app.lua", loop)
      local command = debugger.start({"serve", "--inspect=0", "app.lua"},
                                     where, {TRACEGRIP_TOKEN = "secret"})
      command:until_ready(function () return command.err:find "begun\n" end)
      editor.start():with(function (self)
        self:initialize()
        local _, message = self:ask("attach", {pid = command.pid})
        assert.truthy(message:find "a token is required, or another one$")
      end)
      editor.start():with(function (self)
        self:initialize()
        assert(self:ask("attach", {pid = command.pid, token = "secret"}))
        self:event "initialized"
        check_and_end(self, command)
      end)
    end)
  end)

  it("opens itself on a signal that it waits for, and gets no other",
     function ()
    local waits = [[
local tracegrip, uv = require "tracegrip", require "luv"
local timer = uv.new_timer()
timer:start(1000, 1000, function () if over then os.exit(0) end end)
%s
io.stdout:write("begun\n")
io.stdout:flush()
uv.run()
]]
    local function start (more, use)
      local out, said = uv.new_pipe(false), ""
      local process, pid, status
      run.within(function (where)
        run.write(where .. "/app.lua", waits:format(more))
        process, pid = uv.spawn(run.lua, {
          args = {where .. "/app.lua"}, stdio = {nil, out, nil},
          env = {run.variable "LUA_PATH" .. "=" .. run.path,
                 run.variable "LUA_CPATH" .. "=" .. run.cpath}
        }, function (code, signal)
          status = {code, signal}
          process:close()
        end)
        out:read_start(function (_, bytes) said = said .. (bytes or "") end)
        assert(waiting.till(function () return said ~= "" end, run.patience))
        editor.start():with(function (self)
          self:initialize()
          use(self, pid, function () return status end)
        end)
        if not status then
          process:kill "sigkill"
        end
        out:close()
      end)
    end
    start([[
uv.new_signal():start("sigusr2", function ()
  tracegrip.listen {inspect = 0}
end)]], function (self, pid, ended)
      assert(self:ask("attach", {pid = pid}))
      assert(self:ask "configurationDone")
      assert(self:ask("evaluate", {expression = "over = true",
                                   context = "repl"}))
      assert.same({0, 0}, waiting.till(ended, run.patience))
    end)
    start("", function (self, pid, ended)
      local _, message = self:ask("attach", {pid = pid})
      assert.truthy(message:find "does not open on SIGUSR2")
      assert.is_nil(ended())
    end)
  end)

  it("is told apart from what cannot be debugged", function ()
    local pid
    local sleeper = uv.spawn("sleep", {args = {"60"}}, function () end)
    pid = sleeper:get_pid()
    editor.start():with(function (self)
      self:initialize()
      local function refused (arguments)
        local _, message, details = self:ask("attach", arguments)
        assert.is_true(details.showUser)
        return message
      end
      assert.equal(("process %d has not loaded tracegrip: start it with "
        .. "tracegrip serve --inspect, or with TRACEGRIP_INSPECT"):format(pid),
        refused {pid = pid})
    end)
    editor.start():with(function (self)
      self:initialize()
      local _, message = self:ask("attach", {port = 1})
      assert.equal("cannot attach: 127.0.0.1:1: nobody listens there", message)
    end)
    editor.start():with(function (self)
      self:initialize()
      local _, message = self:ask("attach", {})
      assert.equal("'port' or 'pid' is missing: which program to attach to",
                   message)
    end)
    sleeper:kill "sigkill"
    sleeper:close()
  end)

  it("has its files elsewhere, if the client says where", function ()
    run.within(function (here)
      run.write(here .. "/app.lua", loop)
      beside(loop, function (self, command, port)
        local there = uv.fs_readlink(("/proc/%d/cwd"):format(command.pid))
        assert(self:ask("attach", {port = port, pathMappings = {
          {localRoot = here .. "/", remoteRoot = there}
        }}))
        self:event "initialized"
        local set = assert(self:ask("setBreakpoints", {
          source = {path = here .. "/app.lua"}, breakpoints = {{line = 4}}
        })).breakpoints
        assert.is_true(set[1].verified)
        assert(self:ask "configurationDone")
        local frames = self:stack(self:event "stopped")
        assert.equal(here .. "/app.lua", frames[1].source.path)
        assert(self:ask("evaluate", {expression = "over = true",
                                     context = "repl"}))
        assert(self:ask "disconnect")
        assert.equal(0, command:ended())
      end)
    end)
  end)

  it("tells its end to whoever has attached", function ()
    beside(loop, function (self, command, port)
      assert(self:ask("attach", {port = port}))
      assert(self:ask "configurationDone")
      command:kill "sigkill"
      self:event "terminated"
      local none, message = self:ask("evaluate", {expression = "1"})
      assert.is_nil(none)
      assert.equal("the program has ended", message)
    end)
  end)

  it("is ended with the session, if the client wants that", function ()
    beside(loop, function (self, command, port)
      assert(self:ask("attach", {port = port}))
      assert(self:ask("disconnect", {terminateDebuggee = true}))
      command:ended()
      assert.equal(15, command.signal)
    end)
  end)

  it("is not ended by a number that is told through another's port", function ()
    beside(loop, function (self, command, port)
      local forwarder, through = forward(port)
      assert(self:ask("attach", {port = through}))
      local none, message = self:ask("disconnect", {terminateDebuggee = true})
      assert.is_nil(none)
      assert.equal("the program runs on another machine or in a container: it "
                   .. "cannot be ended from here", message)
      forwarder:close()
      assert.is_nil(command.status)
      command:kill "sigkill"
      command:ended()
      assert.equal(9, command.signal)
    end)
  end)
end)

---------------------------------------------------------------------------
-- What a program starts
---------------------------------------------------------------------------

local parent = {
  ["app.lua"] = [[
local pipe = io.popen(arg[-1] .. " child.lua")
print("child said " .. pipe:read "a")
pipe:close()
]],
  ["child.lua"] = "local x = 5\nio.write(x)\n",
}

describe("what a program starts", function ()
  it("is a session of its own, where the client has such", function ()
    editor.launch(parent, function (self, where)
      self.answering.startDebugging = function (_, request)
        self.child = request
        self:reply(request, {})
      end
      self:post "configurationDone"
      waiting.till(function () return self.child end, run.patience)
      local given = self.child.arguments
      assert.equal("attach", given.request)
      assert.equal("child.lua", given.configuration.name)
      editor.start():with(function (other)
        other:initialize()
        other.where = where
        assert(other:ask("attach", given.configuration))
        other:stop_at({2}, "child.lua")
        local stopped = other:run()
        local frames = other:stack(stopped)
        assert.equal("5", (other:value(frames[1], "x")))
        assert(other:ask("continue", stopped))
        other:event "terminated"
      end)
      self:event "terminated"
      assert.equal("child said 5\n", self:printed "stdout")
    end, nil, {supportsStartDebuggingRequest = true})
  end)

  it("runs by itself, where the client will not have it", function ()
    editor.launch(parent, function (self)
      self.answering.startDebugging = function (_, request)
        self:reply(request, nil)
      end
      self:post "configurationDone"
      self:event "terminated"
      assert.equal("child said 5\n", self:printed "stdout")
    end, nil, {supportsStartDebuggingRequest = true})
  end)

  it("runs by itself, where nothing is to be debugged", function ()
    editor.launch(parent, function (self)
      self.answering.startDebugging = function (_, request)
        self.child = request
        self:reply(request, nil)
      end
      self:post "configurationDone"
      self:event "terminated"
      assert.is_nil(self.child)
      assert.equal("child said 5\n", self:printed "stdout")
    end, {noDebug = true}, {supportsStartDebuggingRequest = true})
  end)

  it("knows nothing of it, where the client has none", function ()
    local text = [[
print(os.getenv "TRACEGRIP_BOOT", os.getenv "LUA_INIT_5_4", os.getenv "A",
      os.getenv "HOME")
]]
    editor.launch(text, function (self)
      self:post "configurationDone"
      self:event "terminated"
      assert.equal("nil\tnil\t1\tnil\n", self:printed "stdout")
    end, {env = {A = "1", HOME = require "dkjson".null}})
  end)
end)

-- It goes on until it is told to end: whoever has left it would be ended with
-- its next line, if nobody read that.
local talking = [[
local function there (name)
  local file = io.open(name)
  return file and file:close()
end
repeat
  print(("x"):rep(1000))
  io.stderr:write("y\n")
until there "go"
io.open("over", "w"):close()
]]

describe("a program that the client leaves", function ()
  local function left (begin, ended)
    editor.launch(talking, function (self, where)
      begin(self)
      assert(self:ask("disconnect", {terminateDebuggee = false}))
      ended(self)
      assert.is_nil(run.read(where .. "/over"))
      run.write(where .. "/go", "")
      assert.truthy(waiting.till(function ()
        return run.read(where .. "/over")
      end, run.patience))
    end)
  end

  local function by_itself (self)
    assert.equal(0, self.ended())
  end

  it("goes on from where it was", function ()
    left(function (self)
      self:post "configurationDone"
      self:event "output"
    end, by_itself)
    left(function (self)
      self:stop_at {7}
      self:run()
    end, by_itself)
  end)

  it("goes on where the adapter is killed at once", function ()
    left(function (self)
      self:post "configurationDone"
      self:event "output"
    end, function (self) self.kill() end)
  end)

  it("begins, if it has not yet", function ()
    left(function () end, by_itself)
  end)

  it("does not wait for a debugger in what it starts", function ()
    local files = {["app.lua"] = [[
local pipe = io.popen(arg[-1] .. " child.lua")
local child = pipe:read "a"
local file <close> = io.open("over", "w")
file:write(child)
]], ["child.lua"] = "io.write 'ran'"}
    editor.launch(files, function (self, where)
      local asked
      self.answering.startDebugging = function () asked = true end
      self:post "configurationDone"
      waiting.till(function () return asked end, run.patience)
      assert(self:ask("disconnect", {terminateDebuggee = false}))
      assert.truthy(waiting.till(function ()
        return run.read(where .. "/over") == "ran"
      end, run.patience))
    end, nil, {supportsStartDebuggingRequest = true})
  end)

  it("leaves nothing in the temporary directory", function ()
    for _, ends in ipairs {true, false} do
      editor.launch(talking, function (self, where)
        self:post "configurationDone"
        self:event "output"
        run.write(where .. "/go", "")
        assert(self:ask("disconnect", {terminateDebuggee = ends}))
        assert.equal(0, self.ended())
        assert_empty(where)
      end)
    end
  end)
end)

describe("an adapter that is told to end", function ()
  local function runs (pid)
    local status = run.read(("/proc/%d/status"):format(pid))
    return status and not status:find "State:%s+Z"
  end

  it("ends what it has started, and leaves nothing behind", function ()
    for _, signal in ipairs {"sigint", "sigterm", "sighup"} do
      editor.launch("while true do end", function (self, where)
        self:post "configurationDone"
        local pid = self:events("process")[1].systemProcessId
        assert.is_true(runs(pid))
        self.kill(signal)
        assert.truthy(waiting.till(function () return not runs(pid) end,
                                   run.patience))
        self.ended()
        assert_empty(where)
      end)
    end
  end)
end)

describe("tests", function ()
  it("of busted are run, all of a file or one", function ()
    local files = {["app.lua"] = [[
describe("sums", function ()
  it("adds", function ()
    local sum = 1 + 1
    assert.equal(2, sum)
  end)
  it("adds (more)", function ()
    local sum = 2 + 2
    assert.equal(4, sum)
  end)
end)
]]}
    editor.launch(files, function (self)
      self:stop_at {4, 8}
      local stopped = self:run()
      local frames = self:stack(stopped)
      assert.same({8, "4"}, {frames[1].line, (self:value(frames[1], "sum"))})
      assert(self:ask("continue", stopped))
      assert.equal(0, self:event("exited").exitCode)
      self:event "terminated"
      assert.truthy(self:printed("stdout"):find "1 success")
    end, {busted = true, test = "(more)"})
  end)
end)

describe("the client's terminal", function ()
  it("runs the program", function ()
    local text = "local x = 1\nio.stdout:write 'here'\n"
    run.within(function (where)
      run.write(where .. "/app.lua", text)
      editor.start():with(function (self)
        self:initialize {supportsRunInTerminalRequest = true}
        self.where = where
        local printed, process, asked = "", nil, nil
        self.answering.runInTerminal = function (_, request)
          asked = request.arguments
          local env, out = {}, uv.new_pipe(false)
          for name, value in pairs(uv.os_environ()) do
            env[name] = value
          end
          for name, value in pairs(asked.env) do
            env[name] = type(value) == "string" and value or nil
          end
          local list = {}
          for name, value in pairs(env) do
            list[#list + 1] = name .. "=" .. value
          end
          process = uv.spawn(asked.args[1], {
            args = {table.unpack(asked.args, 2)}, cwd = asked.cwd, env = list,
            stdio = {nil, out, 2}
          }, function () process:close() end)
          out:read_start(function (_, bytes)
            printed = printed .. (bytes or "")
          end)
          local later = uv.new_timer()      -- the program is sooner there
          later:start(300, 0, function ()
            later:close()
            self:reply(request, {processId = process:get_pid()})
          end)
        end
        assert(self:ask("launch", {
          program = where .. "/app.lua", cwd = where, lua = run.lua,
          console = "integratedTerminal", args = {"one two"}
        }))
        assert.same({"integrated", where}, {asked.kind, asked.cwd})
        assert.same({run.lua, where .. "/app.lua", "one two"}, asked.args)
        self:stop_at {2}
        local stopped = self:run()
        assert(self:ask("continue", stopped))
        self:event "terminated"
        waiting.till(function () return printed == "here" end, run.patience)
        assert.equal("here", printed)
      end)
    end)
  end)
end)

describe("a flood of output", function ()
  it("comes whole, in characters, to a client that reads", function ()
    local text = [[
for i = 1, 20000 do
  print(i, ("ä"):rep(40))
end
]]
    editor.launch(text, function (self)
      self:post "configurationDone"
      self:event "terminated"
      local out = self:printed "stdout"
      local _, lines = out:gsub("\n", "")
      assert.equal(20000, lines)
      assert.truthy(utf8.len(out))
      assert.equal("\n20000\t" .. ("ä"):rep(40) .. "\n", out:sub(-88))
    end)
  end)

  it("does not keep a program for ever that nobody reads", function ()
    local text = [[
local line = ("x"):rep(1000)
for _ = 1, 200000 do
  print(line)
end
io.open("over", "w"):close()
]]
    editor.launch(text, function (self, where)
      self:post "configurationDone"
      self.input:read_stop()
      assert.truthy(waiting.till(function ()
        return run.read(where .. "/over")
      end, run.patience))
      self.input:read_start(function (_, bytes)
        self.raw = (self.raw or "") .. (bytes or "")
        self.closed = not bytes
      end)
      assert.truthy(waiting.till(function ()
        return (self.raw or ""):find "bytes of output were left out"
      end, run.patience))
    end)
  end)
end)
