-- Hosts that nobody has prepared, under load, and their cores: a server in
-- luv's loop, whose requests are coroutines, prosody, lighttpd and nginx with a
-- script in Lua, neovim. Samples of neovim and nginx are in
-- luajit_samples_spec.lua; redis is refused in safety_spec.lua.

local uv = require "luv"

local hosts = require "spec.support.hosts"
local lookedat = require "spec.support.lookedat"
local nginxes = require "spec.support.nginxes"
local prosodies = require "spec.support.prosodies"
local run = require "spec.support.run"
local spied = require "spec.support.spied"
local waiting = require "spec.support.waiting"

local always = it
local it = run.needs("luv", it, pending)

-- Work of 60, 30 and 10 parts, which takes many ticks.
local loops = [[
  local function A (n) local s = 0 for i = 1, n * 6 do s = s + i % 7 end end
  local function B (n) local s = 0 for i = 1, n * 3 do s = s + i % 7 end end
  local function C (n) local s = 0 for i = 1, n do s = s + i % 7 end end
  local function handle () A(20000) B(20000) C(20000) end
]]

-- What is done for one request, which lasts as long as there is a file.
local serving = loops .. [[
  local function is_long ()
    local file = io.open "@/long"
    return file and file:close()
  end
  local function serve ()
    handle()
    while is_long() do handle() end
  end
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

-- Whether it runs 'serve', of that file, where all that is in its state is as
-- the pattern says, a line a coroutine.
local function is_serving (target, file, pattern)
  local result, document = lookedat.dump(target)
  assert.equal("", result.stderr)
  local list, stacks = document.states[1].coroutines, {}
  for i, coroutine in ipairs(list) do stacks[i] = stack_of(coroutine) end
  if not (stacks[1] or ""):find " serve " then return false end
  assert.matches(pattern, table.concat(stacks, "\n"))
  for _, frame in ipairs(list[1].frames) do
    if frame.name == "serve" then
      assert.truthy(frame.url:find(file, 1, true), frame.url)
    end
  end
  return true
end

-- That a process shows what it serves while one request lasts, alive and in its
-- core. Either is of some moment, which may be one that shows less: it is tried
-- again then.
local function check_serving (host, request, file, pattern)
  host:write("long", "")
  local one = host:request(table.unpack(request))
  assert(waiting.till(function ()
    return is_serving(host.pid, file, pattern)
  end, run.patience))
  if lookedat.has_cores then
    assert(waiting.till(function ()
      return is_serving(lookedat.core_of(host), file, pattern)
    end, run.patience))
  end
  assert(os.remove(host.directory .. "/long"))
  return host:answer(one)
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
      if lookedat.has_cores then
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

describe("prosody", function ()
  local test = prosodies.test(always, pending)

  -- A stream's stanzas are a coroutine's, below C that parses them.
  test("is looked at while streams are opened, and in its core", function ()
    prosodies.with(serving, function (host)
      local path = host.directory .. "/x.tgr"
      local request = {prosodies.stream, prosodies.opened}
      sampled(host.pid, path, function ()
        for _ = 1, 150 do
          assert.matches("urn:counted", host:ask(table.unpack(request)))
        end
      end)
      check_parts(path)
      assert.matches("urn:counted", check_serving(
        host, request, "mod_counted.lua",
        "^running [^\n]*serve [^\n]*_streamopened .*\nnormal [^\n]* loop "))
    end)
  end)
end)

describe("lighttpd", function ()
  local test = hosts.test("lighttpd", "/usr/lib/lighttpd/mod_magnet.so",
                          "lighttpd with its Lua module", always, pending)
  local request = {"GET / HTTP/1.0\r\n\r\n"}

  local lighttpd = {
    file = "lighttpd",
    prepare = function (host)
      host:write("answer.lua", serving .. [[
        serve()
        lighty.r.resp_body.set {"done"}
        return 200]])
      host:write("conf", [[
        server.document-root = "@"
        server.bind = "@/socket"
        server.errorlog = "@/errors"
        server.modules = ("mod_magnet")
        magnet.attract-raw-url-to = ("@/answer.lua")]])
      return {"-D", "-f", host.directory .. "/conf"}
    end,
    ready = function (host) return host:ask(request[1]) end
  }

  test("is looked at while its script answers, and in its core", function ()
    hosts.with(lighttpd, function (host)
      local path = host.directory .. "/x.tgr"
      sampled(host.pid, path, function ()
        for _ = 1, 300 do
          assert.matches("done", host:ask(request[1]))
        end
      end)
      check_parts(path)
      assert.matches("done", check_serving(
        host, request, "answer.lua", "^running [^\n]*serve %(main chunk%)"))
    end)
  end)
end)

describe("nginx", function ()
  local test = nginxes.test(always, pending)

  test("has the functions of its handler in a dump and a core", function ()
    nginxes.with(serving .. "serve() ngx.say 'done'", function (nginx)
      assert.matches("done", check_serving(
        nginx, {nginxes.get "/"}, "handler.lua",
        "^running [^\n]*serve %(main chunk%)"))
    end)
  end)
end)

describe("neovim", function ()
  local test = hosts.test("nvim", nil, "neovim", always, pending)

  test("has the functions of its script in a dump and a core", function ()
    lookedat.with("nvim", loops .. [[
      local function serve () while true do handle() end end
      say "x"
      serve()]], function (process)
      process:word()
      local function check (target)
        return is_serving(target, "program.lua",
                          "^running [^\n]*serve %(main chunk%)")
      end
      assert(waiting.till(function () return check(process.pid) end,
                          run.patience))
      if lookedat.has_cores then
        assert(waiting.till(function ()
          return check(lookedat.core_of(process))
        end, run.patience))
      end
    end, {"--headless", "-u", "NONE", "-c", "luafile program.lua"})
  end)
end)
