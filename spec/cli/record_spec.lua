-- tracegrip record, and recordings asked for by the environment: the program
-- does not notice, and its file is nobody else's.

local cjson = require "cjson"

local run = require "spec.support.run"

local INIT = run.variable "LUA_INIT"

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

-- How many recordings there are whose names begin with "rec", and how many of
-- them are complete, at the end of a script.
local function complete (script, files, env)
  local result = shell(script .. [[

    echo
    for file in rec*; do $T info "$file" | grep '^state:'; done]], files, env)
  local all, good = 0, 0
  for state in result.stdout:gmatch "state: +(%a+)" do
    all = all + 1
    good = good + (state == "complete" and 1 or 0)
  end
  return all, good, result
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
    local code = ("print(x, os.getenv 'LUA_INIT', os.getenv '%s')"):format(INIT)
    same(code, {env = {LUA_INIT = "x = (x or 0) + 1"}})
    same(code, {env = {LUA_INIT = "x = 1", [INIT] = "x = 2"}})
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
    local text = shell("$T record --ring --buffer 256k -o rec program.lua\n"
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

  it("keeps an older recording where there is no program", function ()
    local result = shell([[
      $T record -o rec program.lua
      $T record -o rec nosuch.lua; echo $?
      $T record -o rec wrong.lua; echo $?
      $T report rec | grep -c program.lua:]],
      {["program.lua"] = "print 'ran'", ["wrong.lua"] = "x ="})
    assert.equal("ran\n1\n1\n2\n", result.stdout)
    assert.equal(run.command({run.lua, "nosuch.lua"}).stderr
                 .. run.command({run.lua, "wrong.lua"},
                                {files = {["wrong.lua"] = "x ="}}).stderr,
                 result.stderr)
  end)

  it("reads a program that can be read once", function ()
    local result = shell([[
      mkfifo pipe
      echo "print 'ran'" >pipe &
      $T record -o rec pipe; $T report rec | grep -c pipe:]])
    assert.equal("ran\n2\n", result.stdout)
  end)

  it("writes to nothing that a link leads to", function ()
    local result = shell([[
      echo mine >other; ln -s other rec; ln -s none rec2
      for o in "record -o rec" "record --force -o rec" "record -o rec2" \
               "run -o rec" "run --force -o rec" "coverage -o rec"; do
        $T $o program.lua; echo $?
      done
      $T record -o good.tgr program.lua; ln -s other good.trace.json.gz
      $T log -o rec good.tgr; echo $?
      $T export chrome good.tgr; echo $?
      $T export packets -o rec good.tgr; echo $?
      cat other; ls none; ls]], hello)
    assert.equal(("1\n"):rep(6) .. "ran\n" .. ("1\n"):rep(3)
                 .. "mine\ngood.tgr\ngood.trace.json.gz\nother\nprogram.lua\n"
                 .. "rec\nrec2\n", result.stdout)
    local _, lines = result.stderr:gsub("tracegrip: [^\n]* symbolic link", "")
    assert.equal(9, lines, result.stderr)
  end)

  it("lets the program run where the directory is gone", function ()
    local result = shell([[
      here=$PWD; mkdir gone; cd gone; rmdir ../gone
      TRACEGRIP_RECORD=rec $LUA $here/program.lua; echo $?
      TRACEGRIP_RECORD=$here/rec $LUA $here/program.lua; echo $?
      cd $here; $T info rec | grep -c complete]],
      {["program.lua"] = "print 'ran' os.exit(7)"},
      {[INIT] = "require 'tracegrip.auto'"})
    assert.equal("ran\n7\nran\n7\n1\n", result.stdout)
    assert.equal("tracegrip: this process is not recorded: rec: there is no "
                 .. "working directory (No such file or directory)\n",
                 result.stderr)
  end)

  it("writes to devices that are links", function ()
    local result = shell([[
      $T run --no-times --no-summary -o /dev/stdout program.lua | grep -c print
      $T record -o good.tgr program.lua
      $T export packets -o /proc/self/fd/1 good.tgr | grep -c enteredFrame]],
      hello)
    assert.equal("1\nran\n3\n", result.stdout)
    assert.matches("^tracegrip: /proc/self/fd/1: [^\n]*\n$", result.stderr)
  end)

  it("makes files that are their owner's alone", function ()
    local result = shell([[
      umask 0
      $T record -o rec.tgr program.lua; $T run -o run.log program.lua
      $T log -o log.log rec.tgr; $T export packets rec.tgr
      $LUA -e '
        local trace = require("tracegrip").start()
        print "x"
        trace:stop()
        assert(trace:save "saved.tgr")
        assert(trace:export("packets", "exported.jsonl"))'
      stat -c "%a %n" *.tgr *.log *.jsonl]], hello)
    assert.equal("ran\nran\nx\n600 rec.tgr\n600 saved.tgr\n600 log.log\n"
                 .. "600 run.log\n600 exported.jsonl\n600 rec.jsonl\n",
                 result.stdout)
  end)

  it("is not written over by what is none", function ()
    local result = shell([[
      $T record -o rec program.lua; $T record -o two program.lua
      for o in "run -o rec program.lua" "log -o rec two" \
               "export packets -o rec two"; do $T $o; echo $?; done
      $T info rec | grep -c complete
      $T run --force -o rec program.lua; grep -c print rec]], hello)
    assert.equal("ran\nran\n1\n1\n1\n1\nran\n1\n", result.stdout)
    local _, lines = result.stderr:gsub("\ntracegrip: [^\n]* is a recording",
                                        "")
    assert.equal(2, lines, result.stderr)
  end)

  it("leaves other names of an older recording what they are", function ()
    local result = shell([[
      $T record -o rec program.lua; ln rec kept
      $T record -o rec other.lua
      $T report kept | grep -c program.lua:; $T report rec | grep -c other.lua:
      ]], {["program.lua"] = "", ["other.lua"] = ""})
    assert.equal("2\n2\n", result.stdout)
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
      touch enough
      wait]],
      {["program.lua"] = [[
        io.stdout:write "ready\n"
        io.stdout:flush()
        os.execute "until test -e enough; do sleep 0.05; done"]],
       ["other.lua"] = "print 'ran'"},
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
    usage("-o - program.lua", "%-o %- is none")
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

  it("records what these processes run, however deep", function ()
    local all, good, result = complete(
      [[$T record -o rec -- "$LUA" one.lua]], {
        ["one.lua"] = "os.execute [=[sh -c '$LUA two.lua; $LUA three.lua']=]",
        ["two.lua"] = "io.write(io.popen('$LUA four.lua'):read 'a')",
        ["three.lua"] = "print 'three'", ["four.lua"] = "print 'four'"})
    assert.equal("", result.stderr)
    assert.matches("^four\nthree\n", result.stdout)
    assert.same({4, 4}, {all, good})
  end)

  it("replaces older recordings, of its own run none", function ()
    local script = [[
      $T record -o rec -- sh -c '"$LUA" one.lua; "$LUA" two.lua'
      rm rec.*
      $T record -o rec -- sh -c '"$LUA" two.lua; "$LUA" one.lua'
      $T report rec | grep -o '[a-z]*.lua: ']]
    local all, good, result = complete(script,
                                       {["one.lua"] = "", ["two.lua"] = ""})
    assert.same({2, 2}, {all, good})
    assert.matches("^two.lua: \n", result.stdout)
  end)

  it("runs the user's LUA_INIT once in each process", function ()
    local code = "x = (x or 0) + 1"
    local files = {
      ["program.lua"] = "print(x) os.execute '$LUA inner.lua'",
      ["inner.lua"] = "print(x, os.getenv 'LUA_INIT')"
    }
    local result = shell([[$T record -o rec -- "$LUA" program.lua]], files,
                         {LUA_INIT = code})
    assert.equal("1\n1\t" .. code .. "\n", result.stdout)
    assert.equal("", result.stderr)
    result = shell([[$T record -o rec -- "$LUA" program.lua]], files,
                   {LUA_INIT = "x = 8", [INIT] = code})
    assert.equal("1\n1\tx = 8\n", result.stdout)
  end)

  -- Whatever reads LUA_INIT, or a variable of another version, is left alone.
  it("sets variables of its own version only", function ()
    local script = [[$T record -o rec -- sh -c '
      test "$LUA_INIT" = "x = 1" &&
        env | grep -o "^LUA_INIT[A-Z_0-9]*" | sort']]
    local result = shell(script, nil, {LUA_INIT = "x = 1"})
    assert.equal("LUA_INIT\n" .. INIT .. "\n", result.stdout)
    result = shell(script .. "; echo $?")
    assert.equal("1\n", result.stdout)
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

  it("says when nothing was recorded and keeps what there is", function ()
    local result = refused([[
      $T record -o rec program.lua
      $T record -o rec -- "$LUA" -E -e 'os.exit(7)'; echo $?
      $T report rec | grep -c program.lua:]], hello,
      "nothing was recorded", "rec is of an earlier run")
    assert.equal("ran\n7\n2\n", result.stdout)
    result = refused("$T record -o rec -- true; echo $?; ls", nil,
                     "nothing was recorded")
    assert.equal("1\n", result.stdout)
  end)

  it("lets a program run that cannot be recorded, and says so", function ()
    local result = shell([[
      mkdir sub
      $T record -o sub/rec -- sh -c 'rmdir sub; "$LUA" program.lua'; echo $?]],
      {["program.lua"] = "print(debug.gethook()) os.exit(3)"})
    assert.equal("nil\n3\n", result.stdout)
    assert.matches("^tracegrip: this process is not recorded: [^\n]*sub/rec"
                   .. "[^\n]*\ntracegrip: nothing was recorded[^\n]*\n$",
                   result.stderr)
  end)

  it("lets a program run that the module does not suit", function ()
    local result = run.code("print('ran', x)", {env = {
      [INIT] = "@" .. run.root .. "/lua/tracegrip/boot.lua",
      LUA_INIT = "x = 1",
      TRACEGRIP_BOOT = "{cores = {['Lua " .. run.version .. "'] = "
                       .. "'/no/such.so'}, inits = {}, call = 'record', "
                       .. "stay = true, options = {}, style = {path = 'rec'}}"
    }})
    assert.equal("ran\t1\n", result.stdout)
    assert.equal(0, result.status)
    assert.matches("^tracegrip: this process is not recorded: [^\n]*such.so"
                   .. "[^\n]*\n$", result.stderr)
  end)

  it("passes on signals, and ends as the command does", function ()
    local result = shell([[
      $T record -o rec -- "$LUA" -e 'io.stdout:write "ready\n"
        io.stdout:flush() os.execute "sleep 100" print "over"' >out &
      until grep -qs ready out; do sleep 0.05; done
      kill -TERM $!; wait $!; echo $?
      $T info rec 2>&1 | grep -c 'cut off']])
    assert.equal("143\n1\n", result.stdout)
  end)

  it("works under itself: a program belongs to the innermost", function ()
    local result = shell([[
      $T record -o outer -- $T record -o inner program.lua
      $T report outer | grep -o '[a-z]*.lua: '
      $T report inner | grep -o '[a-z]*.lua: '
      $T record -o outer -- $T record -o inner -- "$LUA" program.lua
      for file in inner*; do $T report $file | grep -o '[a-z]*.lua: '; done
      ]], {["program.lua"] = "os.execute '$LUA below.lua'",
           ["below.lua"] = "print(x)"}, {[INIT] = "x = (x or 0) + 1"})
    assert.equal("1\nbelow.lua: \nprogram.lua: \n"
                 .. "1\nprogram.lua: \nbelow.lua: \n", result.stdout)
    assert.matches("^tracegrip: nothing was recorded[^\n]*\n$",
                   result.stderr)
  end)

  it("runs the user's LUA_INIT once under itself, if there is one", function ()
    local script = [[
      $T record -o outer -- $T record -o inner program.lua
      $T record -o outer -- $T record -o inner2 -- "$LUA" program.lua
      $T record -o outer -- $T run -o log program.lua
      $T record -o outer --force -- "$LUA" program.lua]]
    local files = {["program.lua"] = "print(x)"}
    for _, env in ipairs {{[INIT] = "x = (x or 0) + 1"},
                          {LUA_INIT = "x = (x or 0) + 1"}} do
      assert.equal("1\n1\n1\n1\n", shell(script, files, env).stdout)
    end
    assert.equal("nil\nnil\nnil\nnil\n", shell(script, files).stdout)
  end)

  it("records what another command of ours runs", function ()
    local result = shell([[
      $T record -o rec -- $T run program.lua
      $T report rec | grep -o '[a-z]*.lua: ']], hello)
    assert.equal("ran\nprogram.lua: \n", result.stdout)
    assert.matches("math.abs%(%-1%)", result.stderr)
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
    local mine = "TRACEGRIP_RECORD=rec " .. program
    local result = shell(mine .. " && " .. mine .. " && ls", hello)
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

  it("gives each program of a script a file, and replaces older ones",
     function ()
    local script = [[
      TRACEGRIP_RECORD=rec sh -c '$LUA -ltracegrip.auto one.lua
                                  $LUA -ltracegrip.auto two.lua'
    ]]
    local files = {["one.lua"] = "", ["two.lua"] = ""}
    local all, good = complete(script, files)
    assert.same({2, 2}, {all, good})
    all, good = complete(script .. "rm rec.*\n" .. script, files)
    assert.same({2, 2}, {all, good})
  end)

  it("keeps a recording that is over from the program's own children",
     function ()
    local result = shell(program .. [[

      $T report rec | grep -o '[a-z]*.lua: '; ls rec* | wc -l]], {
      ["program.lua"] = "os.execute '$LUA -ltracegrip.auto inner.lua'",
      ["inner.lua"] = "print 'inner'"
    }, {TRACEGRIP_RECORD = "rec", TRACEGRIP_OPTIONS = "maxEvents = 1"})
    assert.equal("inner\nprogram.lua: \n2\n", result.stdout)
    assert.equal("", result.stderr)
  end)

  it("gives programs that start at once a file each", function ()
    for _ = 1, 5 do
      local all, good, result = complete([[
        TRACEGRIP_RECORD=rec $LUA -ltracegrip.auto program.lua >/dev/null
        export TRACEGRIP_RECORD=rec
        sh -c 'for i in 1 2 3 4 5 6 7 8; do
          $LUA -ltracegrip.auto program.lua & done; wait'
        unset TRACEGRIP_RECORD]], hello)
      assert.equal("", result.stderr)
      assert.equal(("ran\n"):rep(8), result.stdout:match "^[ran\n]*ran\n")
      assert.same({8, 8}, {all, good})
    end
  end)

  it("gives each Lua state of a process a file", function ()
    local all, good, result = complete("$LUA program.lua", {["program.lua"] = [[
      package.cpath = os.getenv "SPECLIB" .. "/?.so;" .. package.cpath
      local states = require "states"
      local all = {}
      local code = "require 'tracegrip.auto' math.abs(-1)"
      for i = 1, 5 do
        all[i] = states.new()
        all[i]:run(code)
      end
      for i = 1, 5 do all[i]:close() end
      for _ = 1, 5 do
        local state = states.new()
        state:run(code)
        state:close()
      end
      print 'ran']]},
      {TRACEGRIP_RECORD = "rec", SPECLIB = run.build .. "/spec"})
    assert.equal("", result.stderr)
    assert.matches("^ran\n", result.stdout)
    assert.same({10, 10}, {all, good})
  end)

  it("says so when it meets another version of Lua, which runs on",
     function ()
    local files = {["program.lua"] = "print 'ran'", ["fake.lua"] = ""}
    local env = {TRACEGRIP_RECORD = "rec"}
    local result = shell(
      [[$LUA -e '_VERSION = "Lua 5.1"' -ltracegrip.auto program.lua; ls]],
      files, env)
    assert.equal("ran\nfake.lua\nprogram.lua\n", result.stdout)
    assert.equal("tracegrip: this process is not traced: it runs Lua 5.1\n",
                 result.stderr)
    if shell("command -v lua5.1").status ~= 0 then
      return pending "no lua5.1 here"
    end
    env.LUA_PATH = run.root .. "/lua/?.lua"
    result = shell("lua5.1 -ltracegrip.auto program.lua", files, env)
    assert.equal("ran\n", result.stdout)
    assert.equal("tracegrip: this process is not traced: it runs Lua 5.1\n",
                 result.stderr)
  end)
end)
