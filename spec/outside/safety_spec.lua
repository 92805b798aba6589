-- What looking in from outside must not do to a process, and what a process
-- cannot do to whoever looks.

local dkjson = require "dkjson"

local hosts = require "spec.support.hosts"
local lookedat = require "spec.support.lookedat"
local run = require "spec.support.run"
local spied = require "spec.support.spied"
local stopped = require "spec.support.stopped"
local waiting = require "spec.support.waiting"
local uv = require "luv"

local busy = [[
local function work (n)
  local sum = 0
  for i = 1, n do
    sum = sum + i % 7
  end
  return sum
end
say 'x'
while true do work(1000) end]]

local function state_of (pid)
  local stat = run.read(("/proc/%d/stat"):format(pid)) or ""
  return stat:match "^.*%) (%a)"
end

local function tracer_of (pid)
  return (run.read(("/proc/%d/status"):format(pid)) or "")
         :match "TracerPid:%s*(%d+)"
end

-- One line, and nothing for programs.
local function check_refused (result, pattern)
  assert.equal(1, result.status, result.stderr)
  assert.equal("", result.stdout)
  assert.truthy(result.stderr:find "^tracegrip: [^\n]*\n$")
  assert.truthy(result.stderr:find(pattern), result.stderr)
end

describe("a process that is looked at", function ()
  it("runs on, whatever moment tracegrip is killed at", function ()
    lookedat.with(run.lua, busy, function (process)
      process:word()
      for i = 1, 12 do
        run.command({"timeout", "-s", "KILL", tostring(0.02 + i / 100),
                     run.build .. "/bin/tracegrip", "dump",
                     tostring(process.pid)})
      end
      -- The kernel lets go of it when the one that was killed is gone.
      assert(waiting.till(function ()
        return tracer_of(process.pid) == "0"
               and not state_of(process.pid):find "[tT]"
      end, run.patience))
    end)
  end)

  it("stays stopped, if somebody else has stopped it", function ()
    lookedat.with(run.lua, busy, function (process)
      process:word()
      stopped.at(process.pid)
      local result, document = lookedat.dump(process.pid)
      assert.equal("", result.stderr)
      assert.equal("running", document.states[1].coroutines[1].status)
      assert.equal("T", state_of(process.pid))
      process.handle:kill "sigcont"
    end)
  end)

  it("gets its signals", function ()
    lookedat.with(run.lua, busy, function (process)
      process:word()
      for _ = 1, 5 do
        lookedat.dump(process.pid)
      end
      process.handle:kill "sigterm"
      for _ = 1, run.patience do
        uv.run "nowait"
        if process.status then
          break
        end
        uv.sleep(1)
      end
      assert.equal(15, process.signal)
    end)
  end)

  it("does not have its waits ended", function ()
    lookedat.with(run.lua, [[
      say 'x'
      local text, message = io.read()
      say(tostring(text) .. tostring(message))
      io.read "a"]], function (process)
      process:waiting()
      for _ = 1, 5 do
        assert.is_true(lookedat.dump(process.pid).status == 0)
      end
      assert.equal("x", process:word())
      process.stdin:write "line\n"
      local word
      for _ = 1, run.patience do
        uv.run "nowait"
        word = process:word()
        if word ~= "x" then
          break
        end
        uv.sleep(1)
      end
      assert.equal("linenil", word)
    end)
  end)

  it("is shown within limits, however deep it is", function ()
    lookedat.with(run.lua, [[
      local function deep (n)
        if n > 0 then
          return 1 + deep(n - 1)
        end
        say 'x' io.read()
        return 0
      end
      deep(100000)]], function (process)
      process:waiting()
      local _, document = lookedat.dump(process.pid)
      local coroutine = document.states[1].coroutines[1]
      assert.equal(1000, #coroutine.frames)
      assert.is_true(coroutine.truncated)
      _, document = lookedat.dump(process.pid, {"--all"})
      coroutine = document.states[1].coroutines[1]
      assert.is_true(#coroutine.frames > 100000)
      assert.is_nil(coroutine.truncated)
    end)
  end)

  -- The kernel ends who takes more: seconds of a processor, MB of memory.
  local function bounded (words, megabytes)
    local limits = ("ulimit -t 40 -v %d;"):format((megabytes or 3000) * 1000)
    local command = {"sh", "-c", limits .. ' exec "$@"', "sh",
                     run.build .. "/bin/tracegrip"}
    table.move(words, 1, #words, #command + 1, command)
    return run.command(command, {env = {LUA = run.host}})
  end

  it("costs bounded time, whatever looks like coroutines in it", function ()
    lookedat.with(run.lua, spied.cpath .. [[
      local forged = require 'forged'
      forged.states(5000)
      for i = 1, 100 do forged.circle() end
      say 'x' io.read()]], function (process)
      process:waiting()
      local pid = tostring(process.pid)
      local result = bounded {"dump", pid, "--json"}
      assert.equal(0, result.status, result.stderr)
      local document = dkjson.decode(result.stdout)
      assert.is_true(#document.states[1].coroutines > 5000)
      assert.truthy(next(document.rejected))    -- the circles
      assert.equal(0, bounded({"heap", pid, "-o",
                               process.directory .. "/x"}).status)
      assert.equal(0, bounded({"record", "--pid", pid, "--wall", "--duration",
                               "300ms", "-o",
                               process.directory .. "/y"}).status)
    end)
  end)

  -- All of them have the deep stack of the one that runs.
  it("is shown within limits, however many coroutines it has", function ()
    lookedat.with(run.lua, spied.cpath .. [[
      local forged = require 'forged'
      local function deep (n)
        if n > 0 then return 1 + deep(n - 1) end
        forged.states(200000)
        say 'x' io.read()
        return 0
      end
      deep(900)]], function (process)
      process:waiting()
      local pid = tostring(process.pid)
      local result = bounded({"dump", pid, "--json"}, 300)
      assert.equal(0, result.status, result.stderr)
      local state, frames = dkjson.decode(result.stdout).states[1], 0
      assert.equal(10000, #state.coroutines)
      assert.is_true(state.omitted >= 190000)
      assert.equal("running", state.coroutines[1].status)
      for _, coroutine in ipairs(state.coroutines) do
        frames = frames + #coroutine.frames
      end
      assert.equal(100000, frames)
      assert.is_true(state.coroutines[10000].truncated)
      result = bounded({"dump", pid}, 300)
      assert.truthy(result.stdout:find(
        "\n1%d%d,%d%d%d coroutines more left out %(see %-%-all%)"),
        result.stderr)
    end)
  end)

  it("is told to have more states than are shown", function ()
    lookedat.with(run.lua, spied.crowd, function (process)
      process:waiting()
      local _, document = lookedat.dump(process.pid)
      assert.equal(64, #document.states)
      assert.equal(3, document.omitted)
      local result = run.command({run.build .. "/bin/tracegrip", "dump",
                                  tostring(process.pid)})
      assert.truthy(result.stdout:find("\n3 states more left out", 1, true))
    end)
  end)

  it("cannot write to the terminal by its names", function ()
    lookedat.with(run.lua, [[
      local f = (loadstring or load)(
        "local v = ... say(v) io.read()", "=\27[31mred\7")
      package.loaded["\27[2J"] = {["\27]0;title\7"] = f}
      _G.say, _G.read = say, io.read
      f("\27[5m")]], function (process)
      process:waiting()
      local result = run.command({run.build .. "/bin/tracegrip", "dump",
                                  tostring(process.pid), "--locals"})
      assert.equal(0, result.status)
      assert.is_nil(result.stdout:find "[\27\7]")
      assert.truthy(result.stdout:find "red")
      assert.is_nil(lookedat.dump(process.pid).stdout:find "[\27\7]")
    end)
  end)
end)

describe("dump refuses in one line", function ()
  it("a number that is no process's", function ()
    check_refused(lookedat.dump(2^22 + 1 | 0), "there is no process")
  end)

  it("a process without Lua", function ()
    local handle, pid = uv.spawn("sleep", {args = {"60"}}, function () end)
    local result = lookedat.dump(pid)
    handle:kill "sigkill"
    handle:close()
    uv.run "nowait"
    check_refused(result, "has no Lua in it")
  end)

  it("what is no core", function ()
    check_refused(lookedat.dump "/etc/passwd", "is no core file")
    check_refused(lookedat.dump "/bin/sh", "is no core file")
  end)

  it("a word that is neither a number nor a file", function ()
    local result = lookedat.dump "nothing-of-that-name"
    assert.equal(2, result.status)
    assert.truthy(result.stderr:find("neither the number of a process nor a "
                                     .. "core file", 1, true))
  end)

  it("a process of somebody else", function ()
    lookedat.with(run.lua, "say 'x' io.read()", function (process)
      process:waiting()
      local probe = {"setpriv", "--reuid=65534", "--regid=65534",
                     "--clear-groups", "--inh-caps=-all", run.lua,
                     run.root .. "/lua/tracegrip/cli/launcher.lua"}
      local words = table.move({"dump", tostring(process.pid), "--json"}, 1, 3,
                               #probe + 1, {table.unpack(probe)})
      local able = run.command({table.unpack(probe, 1, 6), "-v"})
      if able.status ~= 0 then
        return          -- not root, or no setpriv
      end
      local result = run.command(words, {cwd = "/"})
      check_refused(result, "may not be looked at: it is root's")
    end)
  end)
end)

-- A program with such a text in its constants, which waits.
local function with_constant (text, use)
  run.within(function (directory)
    run.write(directory .. "/p.c", ([[
      #include <stdio.h>
      const char ident[] = %s;
      int main (void) {
        FILE *f = fopen("word", "w");
        fputs(ident, f);
        fclose(f);
        return getchar();
      }]]):format(text))
    assert(os.execute(("cd %s && cc -o p p.c"):format(run.quote(directory))))
    local input = uv.new_pipe()
    local handle, pid = uv.spawn(directory .. "/p", {
      cwd = directory, stdio = {input}}, function () end)
    for _ = 1, run.patience do
      if (run.read(directory .. "/word") or "") ~= "" then
        break
      end
      uv.sleep(1)
    end
    local ok, message = pcall(use, pid)
    handle:kill "sigkill"
    handle:close()
    input:close()
    uv.run "nowait"
    assert(ok, message)
  end)
end

describe("what is not known for certain is refused by name:", function ()
  local function check (constant, pattern)
    with_constant(constant, function (pid)
      check_refused(lookedat.dump(pid), pattern)
    end)
  end

  it("a release that nobody has compared", function ()
    check('"$LuaVersion: Lua 5.4.99 Copyright"', "Lua 5%.4%.99 in it, whose")
    check('"$LuaVersion: Lua 5.3.7 Copyright"', "Lua 5%.3%.7 in it, whose")
  end)

  it("a LuaJIT of another series, or one whose layouts nothing fits",
     function ()
    check('"LuaJIT 2.0.5"', "LuaJIT 2%.0%.5 in it, whose layout is not known")
    check('"LuaJIT 2.1.0-beta3"',
          "LuaJIT 2%.1%.0%-beta3 in it, but no state that fits")
  end)

  it("a known release whose layout nothing fits", function ()
    check('"$LuaVersion: Lua 5.4.4 Copyright"',
          "Lua 5%.4%.4 in it, but no state that fits")
  end)

  local test = hosts.test("redis-server", nil, "redis-server", it, pending)
  local redis = {
    file = "redis-server",
    prepare = function (host)
      return {"--port", "0", "--unixsocket", host.directory .. "/socket",
              "--save", "", "--dir", host.directory}
    end,
    ready = function (host) return host:ask("PING\r\n", "PONG") end
  }

  -- Its tables have a field more. A script runs all the while.
  test("redis, whose Lua is patched, alive and in a core", function ()
    hosts.with(redis, function (host)
      local one = host:request "EVAL 'while true do end' 0\r\n"
      spied.used(host.pid, 0.1)
      local pattern = "has Lua 5%.1%.%d in it, but"
      check_refused(lookedat.dump(host.pid), pattern)
      check_refused(spied.ended(spied.start {
        "record", "--pid", tostring(host.pid), "-o", host.directory .. "/x.tgr"
      }), pattern)
      if lookedat.has_cores then
        check_refused(lookedat.dump(lookedat.core_of(host)), pattern)
      end
      one.pipe:close()
    end)
  end)
end)
