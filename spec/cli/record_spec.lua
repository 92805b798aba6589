-- tracegrip record, and recordings asked for by the environment: the program
-- does not notice, and its file is nobody else's.

local cjson = require "cjson"

local run = require "spec.support.run"

-- A script for the shell, with T for the command, and files beside it.
local function shell (script, files, env)
  local mine = {T = run.build .. "/bin/tracegrip", LUA = run.lua}
  for name, value in pairs(env or {}) do
    mine[name] = value
  end
  return run.command({"sh", "-c", script}, {files = files, env = mine})
end

-- What info tells of the recording that a script leaves in "rec".
local function about (script, files, env)
  local result = shell(script .. "\n$T info --json rec", files, env)
  assert.equal("", result.stderr)
  local text = result.stdout:match "{\n.*"
  return cjson.decode(text), result
end

local function refused (script, files, ...)
  local result = shell(script, files)
  assert.matches("^tracegrip: [^\n]+\n$", result.stderr)
  for _, pattern in ipairs {...} do
    assert.matches(pattern, result.stderr)
  end
  return result
end

local hello = {["program.lua"] = "math.abs(-1) print 'ran'"}

describe("tracegrip record", function ()
  local function same (code, how)
    how = how or {}
    local files = {["program.lua"] = code}
    local mine = {files = files, stdin = how.stdin, env = how.env}
    local words = {"program.lua", table.unpack(how.args or {})}
    local traced = run.command({run.build .. "/bin/tracegrip", "record", "-o",
                                "rec", table.unpack(words)}, mine)
    assert.same(run.command({run.lua, table.unpack(words)}, mine), traced)
    return traced
  end

  it("passes on output, input, arguments and exit status", function ()
    local result = same([[
      print(arg[-1], #arg, ...)
      for line in io.lines() do print(line:upper()) end
      os.exit(7)
    ]], {args = {"-x", "--help", "two words"}, stdin = "one\ntwo\n"})
    assert.equal(7, result.status)
    assert.matches("ONE\nTWO\n$", result.stdout)
    assert.equal(1, same("error 'broken'").status)
  end)

  it("is not to be seen from inside", function ()
    same [[
      local names = {}
      for name in pairs(package.loaded) do names[#names + 1] = name end
      for name in pairs(_G) do names[#names + 1] = name end
      table.sort(names)
      print(table.concat(names, " "), package.path, package.cpath)
      print(debug.gethook())
      print(io.popen("env | grep -c 'TRACEGRIP\\|LUA_INIT'"):read "a")
    ]]
  end)

  it("runs the user's LUA_INIT once and gives it back", function ()
    local code = "print(x, os.getenv 'LUA_INIT', os.getenv 'LUA_INIT_5_4')"
    same(code, {env = {LUA_INIT = "x = (x or 0) + 1"}})
    same(code, {env = {LUA_INIT = "x = 1", LUA_INIT_5_4 = "x = 2"}})
  end)

  it("leaves a recording that knows what it is of", function ()
    local info = about("$T record -o rec program.lua a 'b c' >/dev/null",
                       hello)
    assert.equal("program.lua", info.program)
    assert.same({"a", "b c"}, info.arguments)
    assert.equal("complete", info.state)
    assert.is_nil(info.reason)
    assert.is_true(info.events >= 6)
    assert.is_true(math.abs(info.date - os.time()) < 600)
  end)

  it("takes the options that tracing has", function ()
    local info = about([[
      $T record --no-c --max-events 3 --trace name,time -o rec program.lua \
        >/dev/null]], {["program.lua"] = [[
      local function f () math.abs(1) end
      f() f() f()]]})
    assert.equal(3, info.events)
    assert.same({"name", "time"}, info.traces[1].types)
    assert.equal("maxEvents", info.traces[1].ended)
  end)

  it("keeps the end of what happens with --ring", function ()
    local files = {["program.lua"] =
      "for i = 1, 30000 do math.abs(i) end math.floor(1)"}
    local info, result = about(
      "$T record --ring --buffer 256K -o rec program.lua\n"
      .. "$T report --json rec >report", files)
    assert.equal(0, result.status)
    assert.is_true(info.lost.ring > 0)
    assert.is_true(info.file_bytes < 1 << 20)
    local text = shell("$T record --ring --buffer 256K -o rec program.lua\n"
                       .. "$T log rec | grep -c floor", files).stdout
    assert.equal("1\n", text)
  end)

  it("replaces an older recording and nothing else", function ()
    local twice = "$T record -o rec program.lua && "
                  .. "$T record -o rec program.lua"
    assert.equal("ran\nran\n", shell(twice, hello).stdout)
    local files = {["program.lua"] = "print 'ran'", mine = "important"}
    local result = refused("$T record -o mine program.lua; echo $?; cat mine",
                           files, "mine", "no recording", "%-%-force")
    assert.equal("1\nimportant", result.stdout)
    result = shell("$T record --force -o mine program.lua && $T info mine",
                   files)
    assert.matches("^ran\nprogram: ", result.stdout)
  end)

  it("takes the place of an empty file", function ()
    local result = shell(": >rec; $T record -o rec program.lua", hello)
    assert.equal("ran\n", result.stdout)
    assert.equal("", result.stderr)
  end)

  it("leaves alone what is being recorded", function ()
    refused([[
      $T record -o rec program.lua >out &
      until grep -qs ready out; do sleep 0.05; done
      $T record -o rec other.lua
      wait]],
      {["program.lua"] = [[
        io.stdout:write "ready\n"
        io.stdout:flush()
        os.execute "sleep 2"]], ["other.lua"] = "print 'ran'"},
      "being recorded by process %d+")
  end)

  it("does not start the program when it cannot write", function ()
    local function wrong (path, ...)
      local result = refused("$T record -o " .. path .. " program.lua; "
                             .. "echo $?", hello, ...)
      assert.equal("1\n", result.stdout)
    end
    wrong("no/such/rec", "no/such/rec: No such file or directory")
    wrong(".", "not a regular file")
    wrong("/dev/null", "not a regular file")
    wrong("program.lua/rec", "program.lua/rec: Not a directory")
    assert.equal("true\n", shell("test -c /dev/null && echo true").stdout)
  end)

  it("needs a file and a program", function ()
    local function usage (words, ...)
      local result = refused("$T record " .. words .. "; echo $?", hello, ...)
      assert.equal("2\n", result.stdout)
    end
    usage("program.lua", "'%-o'")
    usage("-o rec", "script")
    usage("-o rec --fly program.lua", "'%-%-fly'", "%-%-ring")
    usage("-o rec --buffer much program.lua", "%-%-buffer")
  end)
end)

describe("tracegrip record -- command", function ()
  it("records the Lua that the command runs", function ()
    local info, result = about([[
      mkdir sub
      $T record -o rec -- sh -c 'cd sub && exec "$LUA" ../program.lua "$@"' \
        sh a b]], hello)
    assert.matches("^ran\n", result.stdout)
    assert.equal("../program.lua", info.program)
    assert.same({"a", "b"}, info.arguments)
  end)

  it("records each Lua process of its own accord", function ()
    local result = shell([[
      $T record -o rec -- sh -c '"$LUA" one.lua; "$LUA" two.lua' || exit
      ls rec* | wc -l
      for file in rec*; do $T report $file | grep -o '[a-z]*.lua: '; done]],
      {["one.lua"] = "", ["two.lua"] = ""})
    assert.equal("", result.stderr)
    assert.equal("2\none.lua: \ntwo.lua: \n", result.stdout)
  end)

  it("passes on the command's exit status and words", function ()
    local result = shell([[
      $T record -o rec -- "$LUA" -e 'print(...) os.exit(5)' 'a  b' --help
      echo $?]])
    assert.equal("", result.stderr)
    assert.matches("5\n$", result.stdout)
  end)

  it("gives the environment back before the program looks", function ()
    local code = "print(os.getenv 'LUA_INIT', os.getenv 'LUA_INIT_5_4', "
                 .. "os.getenv 'TRACEGRIP_BOOT', x)"
    local result = shell([[$T record -o rec -- "$LUA" program.lua]],
                         {["program.lua"] = code}, {LUA_INIT = "x = 1"})
    assert.equal("x = 1\tnil\tnil\t1\n", result.stdout)
  end)

  it("leaves another version of Lua alone", function ()
    local found = shell("command -v lua5.1").status == 0
    if not found then
      return pending "no lua5.1 here"
    end
    local result = shell([[
      $T record -o rec -- sh -c 'lua5.1 a.lua; "$LUA" b.lua'
      $T report rec | grep -o '[a-z]*.lua: ']],
      {["a.lua"] = "print(_VERSION, x)", ["b.lua"] = ""},
      {LUA_INIT = "x = 1"})
    assert.equal("", result.stderr)
    assert.equal("Lua 5.1\t1\nb.lua: \n", result.stdout)
  end)

  it("says when there is no such command and keeps what there is", function ()
    local result = refused([[
      $T record -o rec program.lua
      $T record -o rec -- no-such-command; echo $?
      $T info rec | grep -c complete]], hello, "no%-such%-command")
    assert.equal("ran\n1\n1\n", result.stdout)
    refused("$T record -o rec -- ./program.lua", hello, "program.lua")
  end)
end)

describe("tracegrip.auto", function ()
  local program = "$LUA -ltracegrip.auto program.lua"

  it("records to the file that TRACEGRIP_RECORD names", function ()
    local info = about(program .. " >/dev/null", hello,
                       {TRACEGRIP_RECORD = "rec"})
    assert.equal("program.lua", info.program)
    assert.equal("complete", info.state)
  end)

  it("puts the process's number where %p is", function ()
    local result = shell(program .. "; ls", hello,
                         {TRACEGRIP_RECORD = "rec.%p.tgr"})
    assert.matches("\nrec%.%d+%.tgr\n", result.stdout)
  end)

  it("logs and records at once, with the same options", function ()
    local result = shell(program .. " && $T report --json rec", hello,
      {TRACEGRIP_RECORD = "rec", TRACEGRIP_LOG = "-",
       TRACEGRIP_OPTIONS = "c = false"})
    assert.matches("%(main chunk%)", result.stderr)
    assert.not_matches("math.abs", result.stderr)
    assert.matches('"%(main chunk%)"', result.stdout)
    assert.not_matches("math.abs", result.stdout)
  end)

  it("replaces an older recording and nothing else", function ()
    local result = shell(program .. " && " .. program .. " && ls", hello,
                         {TRACEGRIP_RECORD = "rec"})
    assert.equal("ran\nran\nprogram.lua\nrec\n", result.stdout)
    result = shell(program .. "; echo $?; cat rec",
                   {["program.lua"] = "print 'ran'", rec = "important"},
                   {TRACEGRIP_RECORD = "rec"})
    assert.equal("1\nimportant", result.stdout)
    assert.matches("^tracegrip: [^\n]*rec[^\n]*\n$", result.stderr)
  end)

  it("gives programs that a program runs files of their own", function ()
    local result = shell(program .. "; ls rec* | wc -l", {
      ["program.lua"] = "os.execute '$LUA -ltracegrip.auto inner.lua'",
      ["inner.lua"] = "print 'inner'"
    }, {TRACEGRIP_RECORD = "rec"})
    assert.equal("", result.stderr)
    assert.equal("inner\n2\n", result.stdout)
  end)
end)
