-- --preload: programs that embed Lua and heed no LUA_INIT. The hosts here are
-- spec/support/embedding.c, built in several ways.

local cjson = require "cjson"

local run = require "spec.support.run"

local tracegrip = run.build .. "/bin/tracegrip"
local host = run.build .. "/spec/embedding"
local there = run.read(host) ~= nil
local root = io.popen("id -u"):read "n" == 0

local hosted = there and it or function (name)
  pending(name .. ": no liblua" .. run.version .. ".so to embed")
end

local files = {
  ["work.lua"] = [[
local function work (n)
  return n * 2
end
work(21)
work(4)
]],
  ["show.lua"] = [[
local names = {}
for name in pairs(package.loaded) do names[#names + 1] = name end
for name in pairs(_G) do names[#names + 1] = name end
table.sort(names)
print(table.concat(names, " "))
print(package.path, package.cpath, arg, debug.gethook())
print(debug.traceback("here"))
]],
  ["quits.lua"] = "os.exit(3)"
}

-- A script for the shell, with T for the command, HOST for the program that has
-- Lua from a library, and WITHIN for where others are.
local function shell (script, env)
  local mine = {T = tracegrip, HOST = host, WITHIN = run.build .. "/spec",
                LUA = run.lua}
  for name, value in pairs(env or {}) do
    mine[name] = value
  end
  return run.command({"sh", "-c", script}, {files = files, env = mine})
end

-- The log of what a command does, without times and places.
local function logged (command)
  local result = shell("$T record --preload -o rec -- " .. command
                       .. " >out 2>&1; $T log --no-times rec | cut -c1-20")
  return (result.stdout:gsub(" +\n", "\n"))
end

local calls = [[
(main chunk)()
│ work(21)
│ └→ 42
│ work(4)
│ └→ 8
└ (main chunk)
── 3 calls
]]

describe("tracegrip record --preload", function ()
  for _, how in ipairs {"open", "few", "none"} do
    hosted("records a host that opens libraries: " .. how, function ()
      assert.equal(calls, logged("$HOST " .. how .. " work.lua"))
    end)
  end

  hosted("records a host that has Lua in a plug-in alone", function ()
    assert.equal(calls, logged(
      "$WITHIN/plugging $WITHIN/plugin.so open work.lua"))
  end)

  hosted("names the host, and what it was given", function ()
    local result = shell [[
      $T record --preload -o rec -- $HOST open work.lua; $T info --json rec]]
    local about = cjson.decode(result.stdout)
    assert.equal(host, about.program)
    assert.same({"open", "work.lua"}, about.arguments)
  end)

  hosted("names a host that asks for a recording itself", function ()
    local result = shell([[
      echo "require 'tracegrip.auto'" >asks.lua
      $HOST open asks.lua; $T info rec | grep '^program:']],
      {TRACEGRIP_RECORD = "rec"})
    assert.equal(host, result.stdout:match "program: +(%C+)")
  end)

  for _, how in ipairs {"again", "threads"} do
    hosted("gives every state of a process a file: " .. how, function ()
      local result = shell("$T record --preload -o rec -- $HOST " .. how .. [[
 work.lua work.lua work.lua
        for file in rec*; do
          $T info --json "$file" | grep '^  "events"'
        done]])
      local _, count = result.stdout:gsub('"events": 6,', "")
      assert.equal(3, count)
    end)
  end

  hosted("is not to be seen from inside", function ()
    local plain = shell "$HOST open show.lua"
    local traced = shell "$T record --preload -o rec -- $HOST open show.lua"
    assert.same(plain, traced)
  end)

  hosted("lets a host run that has no memory for it, and says so", function ()
    local result = shell "$T record --preload -o rec -- $HOST small work.lua"
    assert.equal("", result.stdout)
    assert.matches(
      "^tracegrip: this Lua state is not traced: not enough memory\n",
      result.stderr)
    assert.matches("nothing was recorded", result.stderr)
    assert.equal(1, result.status)
  end)

  hosted("records what the command runs, hosts and interpreters", function ()
    local result = shell [[
      $T record --preload -o rec -- \
        $HOST command "$HOST open work.lua" "$LUA work.lua" "true"
      for file in rec*; do $T info "$file" | grep '^program:'; done]]
    local programs = {}
    for name in result.stdout:gmatch "program: +(%C+)" do
      programs[#programs + 1] = name
    end
    table.sort(programs)
    assert.same({host, "work.lua"}, programs)
  end)

  hosted("leaves its own command line alone", function ()
    local result = shell [[
      $T record --preload -o rec -- \
        $HOST command "$HOST open work.lua" "$T info rec >/dev/null"
      ls rec*]]
    assert.equal("rec\n", result.stdout)
  end)

  it("runs the user's LUA_INIT once in an interpreter, and records it once",
     function ()
    local result = shell([[
      $T record --preload -o rec -- $LUA work.lua; ls rec*]],
      {[run.variable "LUA_INIT"] = "print 'init'"})
    assert.equal("init\nrec\n", result.stdout)
  end)

  it("keeps what LD_PRELOAD has already", function ()
    local before = os.getenv "LD_PRELOAD"         -- a sanitizer
    before = (before and before .. ":" or "") .. "libm.so.6"
    local result = shell([[
      $T record --preload -o rec -- sh -c 'echo "$LD_PRELOAD"']],
      {LD_PRELOAD = before})
    assert.equal(before .. ":" .. run.lib .. "/tracegrip/preload.so\n",
                 result.stdout)
  end)

  it("changes nothing of programs that are not Lua", function ()
    local result = shell "$T record --preload -o rec -- sh -c 'ls; exit 0'"
    assert.equal("quits.lua\nshow.lua\nwork.lua\n", result.stdout)
    assert.equal(1, result.status)
    assert.matches("^tracegrip: nothing was recorded: [^\n]*shared library"
                   .. "[^\n]*\n$", result.stderr)
  end)

  hosted("passes on the host's exit status", function ()
    assert.equal(3, shell [[
      $T record --preload -o rec -- $HOST open quits.lua]].status)
  end)

  hosted("says that a host has Lua inside", function ()
    local result = shell [[
      $T record --preload -o rec -- $WITHIN/embedding_static open work.lua]]
    assert.matches("^tracegrip: %-%-preload does not reach [^\n]*: it has Lua "
                   .. run.version:gsub("%.", "%%.") .. " inside", result.stderr)
    assert.equal(1, result.status)
  end)

  hosted("says that a program with more rights does not heed LD_PRELOAD",
         function ()
    if not root then
      return pending "only root can make such a program of another's"
    end
    local result = shell [[
      cp $HOST mine; chown 65534 mine; chmod 4755 mine
      $T record --preload -o rec -- ./mine open work.lua]]
    assert.matches(
      "^tracegrip: %-%-preload does not reach %./mine: [^\n]*setuid",
      result.stderr)
  end)

  it("records clingo's scripts, if that is here", function ()
    if not os.execute "command -v clingo >/dev/null" then
      return pending "no clingo here (Debian's gringo)"
    end
    local result = shell [[
      cat >model.lp <<'END'
#script (lua)
function gen(x) return clingo.Number(x.number * 2) end
#end.
p(@gen(3)).
END
      $T record --preload -o rec -- clingo model.lp >/dev/null
      $T log --no-times rec | grep -o 'clingo.Number(6)']]
    assert.equal("clingo.Number(6)\n", result.stdout)
  end)

  it("is for commands", function ()
    for _, command in ipairs {"record -o rec", "run", "serve", "coverage"} do
      local result = shell("$T " .. command .. " --preload work.lua")
      assert.equal(2, result.status)
      assert.matches("^tracegrip: %-%-preload is for a command[^\n]*\n$",
                     result.stderr)
    end
  end)
end)

describe("--preload", function ()
  hosted("logs what a host calls, with run", function ()
    local result = shell [[
      $T run --preload --no-times -- $HOST few work.lua 2>&1 | cut -c1-20]]
    assert.equal(calls, (result.stdout:gsub(" +\n", "\n")))
  end)

  it("logs to standard error alone", function ()
    local result = shell "$T run --preload -o calls.log -- true"
    assert.equal(2, result.status)
    assert.matches("standard error", result.stderr)
  end)

  hosted("counts the lines of a host, with coverage", function ()
    local result = shell "$T coverage --preload -o lcov -- $HOST none work.lua"
    assert.matches("3 of 3 lines", result.stderr)
    assert.equal(0, result.status)
  end)

  hosted("says that coverage does not count a second state", function ()
    local result = shell [[
      $T coverage --preload -o lcov -- $HOST again work.lua work.lua]]
    assert.matches("^tracegrip: this Lua state is not counted: [^\n]+\n",
                   result.stderr)
  end)

  hosted("opens every state of a host, also where the port is taken",
         function ()
    local result = shell [[
      $T serve --port 47981 --preload -- \
        $HOST command "$HOST open work.lua & $HOST open work.lua; wait"
      true]]
    local _, count = result.stderr:gsub("listening on 127%.0%.0%.1:%d+\n", "")
    assert.equal(2, count)
  end)

  hosted("opens a host to clients, with serve", function ()
    local result = shell "$T serve --preload -- $HOST open work.lua"
    assert.matches("^tracegrip: listening on 127%.0%.0%.1:%d+\n$",
                   result.stderr)
    assert.equal(0, result.status)
  end)
end)
