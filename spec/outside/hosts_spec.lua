-- Hosts that nobody has prepared, under load: a server in luv's loop, whose
-- requests are coroutines, lighttpd with a script in Lua, and a core of nginx.
-- Samples of neovim and nginx are in luajit_samples_spec.lua.

local uv = require "luv"

local lookedat = require "spec.support.lookedat"
local nginxes = require "spec.support.nginxes"
local run = require "spec.support.run"
local spied = require "spec.support.spied"
local waiting = require "spec.support.waiting"

local always = it
local it = run.needs("luv", it, pending)

-- Of what a sanitizer has mapped a core fills the disk.
local has_cores = lookedat.has_gcore and not os.getenv "LD_PRELOAD"

-- Work of 60, 30 and 10 parts, which takes many ticks.
local loops = [[
  local function A (n) local s = 0 for i = 1, n * 6 do s = s + i % 7 end end
  local function B (n) local s = 0 for i = 1, n * 3 do s = s + i % 7 end end
  local function C (n) local s = 0 for i = 1, n do s = s + i % 7 end end
  local function handle () A(20000) B(20000) C(20000) end
]]

-- Each connection has a coroutine, and each line that comes an answer.
local server = loops .. [[
  local uv = require "luv"
  local door = uv.new_pipe()
  door:bind "socket"
  door:listen(16, function ()
    local client = uv.new_pipe()
    door:accept(client)
    local answer = coroutine.wrap(function ()
      while true do handle() client:write "done\n" coroutine.yield() end
    end)
    client:read_start(function (_, data)
      if data then answer() else client:close() end
    end)
  end)
  say "x"
  uv.run()]]

-- A connection that sends as many lines, each when the one before was answered;
-- how many answers there were. It stays open until close().
local function ask (socket, line, times)
  local one = {pipe = uv.new_pipe(), answers = 0, over = false}
  one.pipe:connect(socket, function (problem)
    if problem then
      one.over = true
      return
    end
    one.pipe:read_start(function (_, data)
      one.answers = one.answers + (data and 1 or 0)
      one.over = not data or one.answers == times
      if not one.over then one.pipe:write(line) end
    end)
    one.pipe:write(line)
  end)
  waiting.till(function () return one.over end, run.patience)
  return one
end

-- Samples of the process while load() makes requests.
local function sampled (pid, path, load)
  local command = spied.start {"record", "--pid", tostring(pid), "-o", path,
                               "--sample", "10000"}
  spied.looking(command)
  load()
  command.handle:kill "sigint"
  spied.ended(command)
  assert.equal(0, command.status, command.stderr)
end

local function check_parts (path)
  return spied.check_shares(path, {A = 0.6, B = 0.3, C = 0.1}, "self_ms", 1, 4)
end

-- What a coroutine does, innermost first, in one line.
local function stack_of (coroutine)
  local names = {coroutine.status}
  for _, frame in ipairs(coroutine.frames) do
    names[#names + 1] = frame.name
  end
  return table.concat(names, " ")
end

describe("a server in luv's loop", function ()
  it("is sampled while requests come in, and loses none", function ()
    lookedat.with(run.lua, server, function (process)
      process:word()
      local path = process.directory .. "/x.tgr"
      local one
      sampled(process.pid, path, function ()
        one = ask(process.directory .. "/socket", "x", 500)
      end)
      one.pipe:close()
      assert.equal(500, one.answers)
      local rows = check_parts(path)
      assert.is_true(rows.handle.total_ms > 0.5 * rows["luv.run"].total_ms)
    end)
  end)

  it("shows its connections' coroutines, and in its core", function ()
    lookedat.with(run.lua, server, function (process)
      process:word()
      local one = ask(process.directory .. "/socket", "x", 3)
      local targets = {process.pid}
      if has_cores then
        targets[2] = lookedat.core_of(process)
      end
      for _, target in ipairs(targets) do
        local result, document = lookedat.dump(target)
        assert.equal("", result.stderr)
        local list = document.states[1].coroutines
        assert.equal(2, #list)
        assert.matches("^running luv%.run", stack_of(list[1]))
        assert.matches("^suspended coroutine%.yield", stack_of(list[2]))
      end
      one.pipe:close()
    end)
  end)
end)

describe("lighttpd", function ()
  local here = io.popen "command -v lighttpd":read "l"
  local has_module = run.read "/usr/lib/lighttpd/mod_magnet.so"
  local test = here and has_module and it or function (sentence)
    pending(sentence .. ": there is no lighttpd with its Lua module here")
  end

  test("is sampled while its script answers requests", function ()
    run.within(function (directory)
      local socket = directory .. "/socket"
      run.write(directory .. "/answer.lua", loops .. [[
        handle()
        lighty.r.resp_body.set {"done"}
        return 200]])
      run.write(directory .. "/conf", ([[
        server.document-root = "@"
        server.bind = "@/socket"
        server.errorlog = "@/errors"
        server.modules = ("mod_magnet")
        magnet.attract-raw-url-to = ("@/answer.lua")]]):gsub("@", directory))
      local process = {}
      process.handle, process.pid = uv.spawn(here, {
        args = {"-D", "-f", directory .. "/conf"}, stdio = {nil, nil, 2}
      }, function () process.ended = true end)
      finally(function ()
        process.handle:kill "sigkill"
        waiting.till(function () return process.ended end, run.patience)
        process.handle:close()
        uv.run "nowait"
      end)
      local function answered ()
        local one = ask(socket, "GET / HTTP/1.0\r\n\r\n", 1)
        one.pipe:close()
        return one.answers == 1
      end
      assert(waiting.till(function () return process.ended or answered() end,
                          run.patience))
      local path = directory .. "/x.tgr"
      sampled(process.pid, path, function ()
        for _ = 1, 300 do assert(answered()) end
      end)
      check_parts(path)
    end)
  end)
end)

describe("nginx", function ()
  local test = has_cores and nginxes.test(always, pending)
               or function (sentence)
    pending(sentence .. " needs gcore (package gdb), and no sanitizer")
  end

  -- While it serves one request that lasts until there is a file.
  test("has the functions of its handler in a core", function ()
    nginxes.with(loops .. [[
      local function is_over ()
        local file = io.open(ngx.config.prefix() .. "/stop")
        return file and file:close()
      end
      local function serve () while not is_over() do handle() end end
      serve()
      ngx.say "done"]], function (nginx)
      local request = nginx:request "/"
      local running
      assert(waiting.till(function ()
        local core = lookedat.core_of(nginx)
        local result, document = lookedat.dump(core)
        os.remove(core)
        assert.equal("", result.stderr)
        assert.equal(nginx.pid, document.pid)
        running = document.states[1].coroutines[1]
        return stack_of(running):find " serve "
      end, run.patience))
      assert.matches("^running .*serve %(main chunk%)$", stack_of(running))
      for _, frame in ipairs(running.frames) do
        assert(frame.kind == "C" or frame.url:find "/handler%.lua$", frame.url)
      end
      run.write(nginx.directory .. "/stop", "")
      waiting.till(function () return request.over end, run.patience)
      request.pipe:close()
      assert.matches("done", request.answer)
    end)
  end)
end)
