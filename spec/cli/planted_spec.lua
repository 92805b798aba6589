--- Lua files of the current directory that are named like modules of ours, or
-- like libraries that we need: nobody but the program that is traced loads
-- them.

local lfs = require "lfs"
local run = require "spec.support.run"

local it = run.needs("luv", it, pending)

local launcher = run.build .. "/bin/tracegrip"

local names = {
  "argparse", "cjson", "luv", "tracegrip", "tracegrip/core", "tracegrip/curl",
  "tracegrip/options", "tracegrip/wslay", "tracegrip/cli/main"
}

local program = [[
  local ok, luv = pcall(require, "luv")
  print(ok and luv or "none", package.path == os.getenv "PATH_SEEN",
        package.cpath == os.getenv "CPATH_SEEN")
]]

-- A directory with all of them: each says that it runs, and returns its name.
local function plant (directory)
  for _, folder in ipairs {"tracegrip", "tracegrip/cli"} do
    assert(lfs.mkdir(directory .. "/" .. folder))
  end
  for _, name in ipairs(names) do
    run.write(directory .. "/" .. name .. ".lua",
              ("io.stderr:write('PLANTED %s\\n') return '%s'")
              :format(name, name))
  end
  run.write(directory .. "/program.lua", program)
end

-- Lua's own path, with the directory before what the suite has.
local function environment ()
  local env = {
    [run.variable "LUA_PATH"] = "./?.lua;" .. run.path,
    [run.variable "LUA_CPATH"] = "./?.so;" .. run.cpath
  }
  local code = "io.write(package.path, '\\n', package.cpath)"
  local told = run.command({run.lua, "-e", code}, {env = env})
  env.PATH_SEEN, env.CPATH_SEEN = told.stdout:match "^(.*)\n(.*)$"
  return env
end

local function within (use)
  return run.within(function (directory)
    plant(directory)
    local env = environment()
    return use(function (words, more)
      for name, value in pairs(more or {}) do
        env[name] = value
      end
      return run.command(words, {cwd = directory, env = env})
    end, directory)
  end)
end

local function tracegrip (...)
  return {launcher, ...}
end

local function without_planted (result)
  assert.is_nil(result.stderr:find "PLANTED")
  return result
end

describe("Lua files of the current directory", function ()
  it("are run by no command", function ()
    within(function (command)
      local recorded = command(tracegrip("record", "-o", "x.tgr",
                                         "program.lua"))
      assert.equal("luv\ttrue\ttrue\n", recorded.stdout)
      assert.equal("PLANTED luv\n", recorded.stderr)
      for _, words in ipairs {
        {"--version"}, {"help"}, {"info", "x.tgr"}, {"report", "x.tgr"},
        {"tree", "x.tgr"}, {"log", "x.tgr"}, {"events", "x.tgr"},
        {"export", "html", "x.tgr", "-o", "x.html"},
        {"export", "firefox", "x.tgr", "-o", "x.json"}
      } do
        local result = without_planted(command(tracegrip(table.unpack(words))))
        assert.equal(0, result.status, result.stderr)
      end
      local away = without_planted(command(tracegrip("attach", "unix:nobody")))
      assert.equal(1, away.status)
      assert.matches("^tracegrip: cannot connect", away.stderr)
      without_planted(command(tracegrip("view", "--no-open", "none.tgr")))
    end)
  end)

  it("are run by no command that is installed", function ()
    within(function (command, directory)
      local installed = directory .. "/installed"
      run.write(installed, run.read(run.root
                                    .. "/lua/tracegrip/cli/launcher.lua"))
      local result = without_planted(command {run.lua, installed, "--version"})
      assert.equal(0, result.status, result.stderr)
    end)
  end)

  it("are the program's, as without a trace", function ()
    within(function (command)
      for _, words in ipairs {
        {"run", "program.lua"}, {"serve", "program.lua"},
        {"coverage", "program.lua"}, {"record", "-o", "y.tgr", "--",
                                      run.lua, "program.lua"}
      } do
        local result = command(tracegrip(table.unpack(words)))
        assert.equal("luv\ttrue\ttrue\n", result.stdout, result.stderr)
        local _, n = ("\n" .. result.stderr):gsub("\nPLANTED", "")
        assert.equal(1, n, result.stderr)
      end
    end)
  end)

  it("are not what top runs", function ()
    within(function (command)
      local result = command(tracegrip("top", "-n", "1", "program.lua"))
      assert.is_nil(result.stderr:find "PLANTED", result.stderr)
      assert.matches("luv\ttrue\ttrue\n", result.stdout)
    end)
  end)

  it("are not what a program that listens loads for us", function ()
    within(function (command)
      local auto = {
        LUA_INIT = "require 'tracegrip.auto'", TRACEGRIP_LISTEN = "0",
        TRACEGRIP_RECORD = "%p.tgr", TRACEGRIP_INSPECT = "0",
        [run.variable "LUA_PATH"] = run.path,
        [run.variable "LUA_CPATH"] = run.cpath
      }
      local result = command({run.lua, "-e", "print((require 'luv'))"}, auto)
      assert.equal("luv\n", result.stdout)
      assert.matches("^tracegrip: listening on [^\n]*\n"
                     .. "tracegrip: to debug, open [^\n]*\nPLANTED luv\n$",
                     result.stderr)
    end)
  end)
end)
