-- The tree itself: which Lua the suite runs under, what make env and make
-- install give, what has to be installed for the suite.

local lfs = require "lfs"

local run = require "spec.support.run"

local make = {"make", "--no-print-directory", "-s", "-C", run.root}

local function with (...)
  return table.move({...}, 1, select("#", ...), #make + 1, {table.unpack(make)})
end

-- A shell as a user has it: nothing of the tree in its environment.
local function shell (script)
  return run.command({"env", "-u", run.variable "LUA_PATH",
                      "-u", run.variable "LUA_CPATH", "-u", "LUA_PATH",
                      "-u", "LUA_CPATH", "sh", "-ec", script})
end

-- The first words of the modules that build-aux/deps.sh installs. A command may
-- be a module as well: busted, luacheck.
local function installed ()
  local names = {}
  local deps = run.read(run.root .. "/build-aux/deps.sh")
  for name in deps:gmatch "\n +module [%w.-]+ (%w+)" do
    names[name] = true
  end
  for name in deps:gmatch "\n +command_ [%w.-]+ (%w+)" do
    names[name] = true
  end
  return names
end

-- Whether a module is of this tree, or made by the very file that asks for it.
local function ours (name, path, text)
  return name:find "^tracegrip" or name:find "^spec%."
         or run.read(("%s/spec/support/%s.c"):format(run.root, name))
         or run.read(("%s/spec/bench/%s.c"):format(run.root, name))
         or run.read(path:gsub("[^/]*$", name .. ".lua"))
         or text:find(name .. ".lua", 1, true)
end

local function required (text)
  return text:gmatch "require *%(?['\"]([%w_.]+)['\"]"
end

describe("the tree", function ()
  it("asks for no module that make deps does not install", function ()
    local known, strangers = installed(), {}
    local files = run.command {"find", run.root .. "/spec",
                               run.root .. "/examples", "-name", "*.lua"}
    for path in files.stdout:gmatch "[^\n]+" do
      local text = run.read(path)
      for name in required(text) do
        if not known[name:match "^%w+"] and not ours(name, path, text) then
          strangers[#strangers + 1] = path .. ": " .. name
        end
      end
    end
    assert.same({}, strangers)
  end)

  it("runs its suite under a Lua that it is for", function ()
    assert.equal("Lua 5.4", _VERSION)
    assert.matches("^Lua 5%.[45]\n$",
                   run.command({run.lua, "-e", "print(_VERSION)"}).stdout)
  end)

  it("says in one line what its suite did not run, and why", function ()
    run.within(function (directory)
      assert(lfs.mkdir(directory .. "/spec"))
      run.write(directory .. "/spec/a_spec.lua", [[
        it("passes", function () end)
        it("waits", function () pending "no luck here" end)
        pending("the rest needs luck")
      ]])
      run.write(directory .. "/spec/b_spec.lua",
                "pending('this needs luck')  it('ends', function () end)")
      local result = run.command({"sh", "-c", [[
        ln -s "$ROOT/build-aux" .
        build-aux/suite.sh busted --lua="$HOST"]]},
        {cwd = directory, env = {ROOT = run.root, HOST = run.host,
                                 JOBS = "1"}})
      local line = result.stdout:match "\nnot run: ([^\n]*)\n%d+ successes"
      assert.truthy(line, result.stdout .. result.stderr)
      assert.truthy(line:find("1 test (no luck here)", 1, true), line)
      assert.truthy(line:find("2 tests (needs luck)", 1, true), line)
      assert.equal(0, result.status)
    end)
  end)

  it("works from any directory with what make env prints", function ()
    local exports = run.command(with("env", "BUILD=" .. run.build))
    assert.equal(0, exports.status)
    local result = shell(exports.stdout .. [[
      cd /
      "$LUA" -e 'print(require "tracegrip".traceTypes[1])'
      command -v tracegrip]])
    assert.equal("name\n" .. run.build .. "/bin/tracegrip\n", result.stdout)
  end)

  it("leaves what other versions of Lua read alone, and has it inside",
     function ()
    local exports = run.command(with("env", "BUILD=" .. run.build))
    local result = shell("export LUA_PATH='/mine/?.lua;;'\n"
                         .. exports.stdout .. [[
      cd /
      echo "$LUA_PATH"
      "$LUA" -e 'print(package.path:find("/mine/?.lua", 1, true) ~= nil)'
      "$LUA" -e 'print(package.path:find("/usr/", 1, true) ~= nil)']])
    assert.equal("/mine/?.lua;;\ntrue\ntrue\n", result.stdout)
  end)

  -- What `make install` puts below a directory, and a script there, in which a
  -- command "lua5.5" is this Lua.
  local function installed_in (directory, script)
    local made = run.command(with("install", "BUILD=" .. run.build,
                                  "DESTDIR=" .. directory, "PREFIX=/usr"))
    assert.equal("", made.stderr)
    return shell(([[
      USR=%s/usr V=%s MORE='%s' ROOT=%s
      mkdir bin
      ln -s "$(command -v "$LUA")" bin/lua$V
      export PATH="$PWD/bin:$PATH"
      lib=$USR/share/lua/$V
      export LUA_PATH="$lib/?.lua;$lib/?/init.lua;;$MORE"
      export LUA_CPATH="$USR/lib/lua/$V/?.so;;"
    ]]):format(directory, run.version, run.borrowed, run.root) .. script)
  end

  it("works from where make install puts it", function ()
    run.within(function (directory)
      local result = installed_in(directory, [[
        echo 'print("traced")' > one.lua
        $USR/bin/tracegrip run -o log.txt one.lua
        grep -c 'print("traced")' log.txt]])
      assert.equal("", result.stderr)
      assert.equal("traced\n1\n", result.stdout)
    end)
  end)

  it("records each version of Lua that it is installed for", function ()
    if run.version == "5.4" then
      return pending "no Lua 5.5 here"
    end
    run.within(function (directory)
      local result = installed_in(directory, [[
        cp -R "$ROOT"/build/lib/lua/5.4 $USR/lib/lua
        echo 'print(_VERSION, x)' > one.lua
        export LUA_INIT_5_4='x = 4' LUA_INIT_5_5='x = 5'
        $USR/bin/tracegrip record -o rec -- sh -c '
          lua5.5 one.lua; lua5.4 one.lua; lua5.5 one.lua'
        for file in rec*; do
          $USR/bin/tracegrip info $file | sed -n "s/^versions:.*, Lua/Lua/p"
        done | cut -d. -f1-2 | sort]])
      assert.equal("", result.stderr)
      assert.equal("Lua 5.5\t5\nLua 5.4\t4\nLua 5.5\t5\n"
                   .. "Lua 5.4\nLua 5.5\nLua 5.5\n", result.stdout)
    end)
  end)
end)
