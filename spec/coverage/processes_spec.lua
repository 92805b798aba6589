-- tracegrip coverage of more than one process: those that a command starts,
-- forked children, and those that end by a signal.

local covered = require "spec.coverage.covered"
local run = require "spec.support.run"

local lua = run.lua

local lib = [[
local M = {}
function M.one ()
  return 1
end
function M.two ()
  return 2
end
function M.never ()
  return 3
end
return M
]]

-- Says that it is there, and waits for the end of its standard input.
local waits = [[
local lib = require "lib"
lib.one()
io.stdout:write "there\n"
io.stdout:flush()
io.read "a"
lib.two()
]]

describe("coverage of a command", function ()
  it("has the counts of all Lua processes that it starts", function ()
    local result = covered.run({
      ["lib.lua"] = lib,
      ["one.lua"] = "require 'lib'.one()",
      ["two.lua"] = ("require 'lib'.two() os.execute '%s one.lua'"):format(lua)
    }, {"--", "sh", "-c", ("%s one.lua & %s two.lua; wait"):format(lua, lua)})
    assert.equal(0, result.status)
    assert.same({[1] = 3, [2] = 3, [3] = 2, [5] = 3, [6] = 1, [8] = 3, [9] = 0,
                 [11] = 3}, covered.lines(result.counts, "lib.lua"))
    assert.same({["(main chunk)"] = 3, ["M.one"] = 2, ["M.two"] = 1,
                 ["M.never"] = 0}, covered.calls(result.counts, "lib.lua"))
    assert.equal("", result.left)
  end)

  local with_busted = run.needs("busted.runner", it, pending)

  with_busted("has those of a suite that busted runs by another interpreter",
              function ()
    local result = covered.run({
      ["lib.lua"] = lib,
      ["lib_spec.lua"] = [[
        local lib = require "lib"
        it("is one", function () assert.equal(1, lib.one()) end)
      ]]
    }, {"--include", "lib", "--", "busted", "--lua=" .. lua,
        "--lpath=./?.lua", "-o", "TAP", "."})
    assert.matches("ok 1", result.stdout)
    assert.equal(1, covered.lines(result.counts, "/lib.lua")[3])
    assert.equal(0, covered.lines(result.counts, "/lib.lua")[6])
  end)

  it("also of programs that a script starts", function ()
    local result = covered.run({
      ["app.lua"] = ("os.execute '%s other.lua'"):format(lua),
      ["other.lua"] = "local x = 1\n"
    }, {"app.lua"})
    assert.same({[1] = 1}, covered.lines(result.counts, "other.lua"))
  end)

  it("takes a file for the same from another directory", function ()
    local result = covered.run({
      ["sub/app.lua"] = "local x = 1\n",
    }, {"--", "sh", "-c", ("%s sub/app.lua; cd sub; %s app.lua; %s ../sub/app"
                           .. ".lua"):format(lua, lua, lua)})
    assert.same({[1] = 3}, covered.lines(result.counts, "sub/app.lua"))
    assert.is_nil(result.counts:find("SF:.*SF:"))
  end)

  it("and that of a directory to which the program has gone", function ()
    local result = covered.run({
      ["app.lua"] = [[
        local process = require "process"
        dofile "part.lua"
        process.chdir "sub"
        dofile "inner.lua"
      ]],
      ["part.lua"] = "local x = 1\n", ["sub/inner.lua"] = "local x = 1\n"
    }, {"app.lua"}, {env = run.modules})
    assert.same({[1] = 1}, covered.lines(result.counts, "DIR/part.lua"))
    assert.same({[1] = 1}, covered.lines(result.counts, "DIR/sub/inner.lua"))
  end)

  it("counts a forked child by itself, and its parent on", function ()
    local result = covered.run({
      ["lib.lua"] = lib,
      ["app.lua"] = [[
        local process = require "process"
        local lib = require "lib"
        lib.one()
        local pid = process.fork()
        if pid == 0 then
          lib.two()
          process.leave(0)
        end
        process.wait(pid)
        lib.one()
      ]]
    }, {"app.lua"}, {env = run.modules})
    assert.equal(0, result.status, result.stderr)
    assert.same({["(main chunk)"] = 1, ["M.one"] = 2, ["M.two"] = 1,
                 ["M.never"] = 0}, covered.calls(result.counts, "lib.lua"))
    assert.equal(2, covered.lines(result.counts, "app.lua")[5])
    assert.equal(1, covered.lines(result.counts, "app.lua")[6])
    assert.equal(1, covered.lines(result.counts, "app.lua")[10])
  end)

  it("counts children of children, each for itself", function ()
    local result = covered.run({
      ["app.lua"] = [[
        local process = require "process"
        local function reached () return true end
        for _ = 1, 3 do
          local pid = process.fork()
          reached()
          if pid > 0 then process.wait(pid) end
        end
        process.leave(0)
      ]]
    }, {"app.lua"}, {env = run.modules})
    assert.equal(2 + 4 + 8, covered.calls(result.counts, "app.lua").reached)
  end)

  it("loses nothing when a process is ended by a signal", function ()
    for _, signal in ipairs {"TERM", "HUP", "KILL", "ABRT"} do
      local result = covered.run({["lib.lua"] = lib, ["app.lua"] = waits}, {
        "--", "sh", "-c", ([[
          mkfifo in out
          %s app.lua <in >out & pid=$!
          exec 3>in; read word <out
          kill -%s $pid; wait $pid; echo $?
        ]]):format(lua, signal)
      })
      assert.matches("^1%d%d\n$", result.stdout)
      assert.equal(1, covered.lines(result.counts, "lib.lua")[3], signal)
      assert.equal(0, covered.lines(result.counts, "lib.lua")[6], signal)
    end
  end)

  -- SIGINT is what Lua's own interpreter makes an error of.
  it("ends by the signal that has ended the program", function ()
    for signal, status in pairs {[15] = 143, [1] = 129, [9] = 137, [2] = 1} do
      local result = covered.run({
        ["app.lua"] = ([[
          local process = require "process"
          process.kill(process.pid(), %d)
          local n = 0
          while true do n = n + 1 end
        ]]):format(signal)
      }, {"app.lua"}, {env = run.modules})
      assert.equal(status, result.status)
      assert.equal(1, covered.lines(result.counts, "app.lua")[2])
    end
  end)

  it("counts what has become another program by then", function ()
    local result = covered.run({
      ["app.lua"] = "local x = 1\nos.execute 'true'\n"
    }, {"--", "sh", "-c", ("exec %s app.lua"):format(lua)})
    assert.same({[1] = 1, [2] = 1}, covered.lines(result.counts, "app.lua"))
  end)

  it("counts on after the program has closed all that it can", function ()
    local lines = {"require 'process'.closeall()"}
    for i = 1, 400 do
      lines[#lines + 1] = ("local function f%d () return %d end f%d()")
        :format(i % 100, i, i % 100)
      if i % 100 == 0 then
        lines[#lines] = lines[#lines] .. " do end (function () "
      end
    end
    lines[#lines + 1] = ("end)() "):rep(4)
    local result = covered.run({["app.lua"] = table.concat(lines, "\n")},
                               {"app.lua"}, {env = run.modules})
    local list = covered.lines(result.counts, "app.lua")
    for i = 2, 401 do
      assert.is_true(list[i] >= 1, i)
    end
  end)

  it("tells what cannot be counted, and leaves the program alone", function ()
    local result = covered.run({
      ["app.lua"] = [[
        local process = require "process"
        process.limit(4096)
        local pid = process.fork()
        if pid == 0 then
          local function f () return 1 end
          process.leave(f() == 1 and 7 or 8)
        end
        print(process.wait(pid))
      ]]
    }, {"app.lua"}, {env = run.modules})
    assert.matches("7", result.stdout)
    assert.matches("tracegrip: coverage: process %d+ is not counted: "
                   .. "File too large\n", result.stderr)
    assert.equal(0, result.status)
  end)

  it("tells of a process that came to have no room", function ()
    local lines = {"local function f () return 1 end f()",
                   "require 'process'.limit(20000)"}
    for i = 1, 400 do
      lines[#lines + 1] = ("do local function g () return %d end g() end")
                          :format(i)
    end
    lines[#lines + 1] = "print 'done'"
    local result = covered.run({["app.lua"] = table.concat(lines, "\n")},
                               {"--brief", "app.lua"}, {env = run.modules})
    assert.equal("done\n", result.stdout)
    assert.equal(0, result.status)
    assert.matches("tracegrip: coverage: counts are missing of process %d+: "
                   .. "File too large\n", result.stderr)
    assert.equal(2, covered.lines(result.counts, "app.lua")[1])
  end)

  it("keeps its folder from others, and away in the end", function ()
    local result = covered.run({
      ["app.lua"] = "os.execute 'ls -ld tmp/*'"
    }, {"app.lua"})
    assert.matches("^drwx%-%-%-%-%-%-", result.stdout)
    assert.equal("", result.left)
  end)

  describe("beside a recording", function ()
    local tracegrip = run.build .. "/bin/tracegrip"
    local files = {["lib.lua"] = lib, ["app.lua"] = "require 'lib'.one()"}

    local function check (words, command)
      local report
      local result = covered.run(files, words, {after = function (where)
        report = run.command({tracegrip, "report", where .. "/x.tgr"}).stdout
      end})
      assert.equal(0, result.status, result.stderr)
      assert.matches("M%.one", report, command)
      assert.equal(1, covered.lines(result.counts, "lib.lua")[3])
    end

    it("counts what a command in it records", function ()
      check {"--", tracegrip, "record", "-o", "x.tgr", "--", lua, "app.lua"}
      check {"--", tracegrip, "record", "-o", "x.tgr", "app.lua"}
    end)

    it("and what it is recorded with", function ()
      local report, counts
      run.within(function (where)
        for name, text in pairs(files) do
          run.write(where .. "/" .. name, text)
        end
        local result = run.command({
          tracegrip, "record", "-o", "x.tgr", "--", tracegrip, "coverage",
          "app.lua"
        }, {cwd = where})
        assert.equal(0, result.status, result.stderr)
        report = run.command({tracegrip, "report", where .. "/x.tgr"}).stdout
        counts = run.read(where .. "/coverage.info")
      end)
      assert.matches("M%.one", report)
      assert.equal(1, covered.lines(counts, "lib.lua")[3])
    end)
  end)

  it("is over for what outlives it, without a word", function ()
    local result = covered.run({
      ["app.lua"] = [[
        local process = require "process"
        if process.fork() == 0 then
          while io.open "tmp" and #io.popen "ls tmp":read "a" > 0 do
            process.sleep(0.05)
          end
          if process.fork() > 0 then process.leave(0) end
          local function f () return 1 end
          f()
          os.execute(arg[-1] .. " other.lua")
          io.open("done", "w"):close()
          process.leave(0)
        end
      ]], ["other.lua"] = "local x = 1"
    }, {"app.lua"}, {env = run.modules, after = function (where)
      while not run.read(where .. "/done") do
        os.execute "sleep 0.05"
      end
    end})
    assert.equal("", result.left)
    assert.is_nil(result.stderr:find "not counted")
    assert.equal(1, covered.lines(result.counts, "app.lua")[2])
  end)
end)
