-- tracegrip run: to the program it is as if nobody watched.

local run = require "spec.support.run"

local tracegrip = run.build .. "/bin/tracegrip"
local INIT = run.variable "LUA_INIT"

-- A program run by tracegrip with its log in a file, and by Lua alone.
local function both (code, how)
  how = how or {}
  local files = {["program.lua"] = code}
  local words = table.move(how.args or {}, 1, #(how.args or {}), 2,
                           {how.script or "program.lua"})
  local mine = {files = files, stdin = how.stdin, env = how.env}
  local traced = run.command({tracegrip, "run", "-o", "/dev/null",
                              table.unpack(words)}, mine)
  return traced, run.command({run.lua, table.unpack(words)}, mine)
end

local function same (code, how)
  local traced, plain = both(code, how)
  assert.same(plain, traced)
  return traced
end

describe("tracegrip run", function ()
  it("passes on output, input and arguments", function ()
    local result = same([[
      print(#arg, ...)
      for i = 0, #arg do print(i, arg[i]) end
      for line in io.lines() do print(line:upper()) end
    ]], {args = {"-x", "--help", "two words", ""}, stdin = "one\ntwo\n"})
    assert.matches("ONE\nTWO\n$", result.stdout)
  end)

  it("leaves the interpreter's name where it was", function ()
    same "print(arg[-1], arg[-2])"
  end)

  it("passes on the exit status", function ()
    assert.equal(7, same("os.exit(7)").status)
    assert.equal(7, same("os.exit(7, true)").status)
    assert.equal(1, same("os.exit(false)").status)
    assert.equal(0, same("return 7").status)
  end)

  it("leaves error messages and tracebacks to Lua", function ()
    local result = same [[
      local function f () error("broken") end
      f()
    ]]
    assert.equal(1, result.status)
    assert.matches("program.lua:1: broken\nstack traceback:", result.stderr)
    same "error({})"
    same "error(setmetatable({}, {__tostring = function () return 'E' end}))"
    same "local x = ("
  end)

  it("lets Lua complain about a missing program", function ()
    assert.equal(1, same("", {script = "missing.lua"}).status)
  end)

  it("runs a program from standard input", function ()
    assert.equal("a\tb\n",
                 same("", {script = "-", args = {"a", "b"},
                           stdin = "print(...)"}).stdout)
  end)

  it("runs a program whose name looks like an option", function ()
    local result = run.command({tracegrip, "run", "-o", "/dev/null", "--",
                                "-odd.lua", "-x"},
                               {files = {["-odd.lua"] = "print(...)"}})
    assert.equal("-x\n", result.stdout)
  end)

  it("is not to be seen from inside", function ()
    same [[
      local names = {}
      for name in pairs(package.loaded) do names[#names + 1] = name end
      for name in pairs(_G) do names[#names + 1] = name end
      table.sort(names)
      print(table.concat(names, " "))
      print(package.path, package.cpath)
      print(debug.gethook())
      for _, name in ipairs {"LUA_INIT", "LUA_INIT_5_4", "LUA_INIT_5_5",
                             "TRACEGRIP_BOOT",
                             "TRACEGRIP_LIB", "TRACEGRIP_INIT"} do
        print(name, os.getenv(name))
      end
      print(collectgarbage("step"), debug.traceback("here"))
      print(io.popen("env | grep -c 'TRACEGRIP\\|LUA_INIT'"):read "a")
    ]]
  end)

  it("runs the user's LUA_INIT once and gives it back", function ()
    local code = ("print(x, os.getenv 'LUA_INIT', os.getenv '%s')"):format(INIT)
    same(code, {env = {LUA_INIT = "x = (x or 0) + 1; print 'init'"}})
    same(code, {env = {LUA_INIT = "x = 1", [INIT] = "x = 2"}})
    same(code, {env = {[INIT] = "@program.lua"}})
    local result = both(code, {env = {LUA_INIT = "x ="}})
    assert.equal(1, result.status)
    assert.matches("LUA_INIT:1: unexpected symbol", result.stderr)
  end)

  it("runs another tracegrip run inside", function ()
    local result = run.command({tracegrip, "run", "-o", "/dev/null", "a.lua"}, {
      env = {TRACEGRIP = tracegrip},
      files = {["a.lua"] = "print(os.execute(os.getenv 'TRACEGRIP' .. "
                           .. "' run -o /dev/null b.lua'))",
               ["b.lua"] = "print 'inner'"}
    })
    assert.equal("inner\ntrue\texit\t0\n", result.stdout)
  end)

  it("does not start the program if the log cannot be written", function ()
    local result = run.command({tracegrip, "run", "-o", "/no/such/log",
                                "program.lua"},
                               {files = {["program.lua"] = "print 'ran'"}})
    assert.equal(1, result.status)
    assert.equal("", result.stdout)
    assert.matches("^tracegrip: [^\n]*/no/such/log[^\n]*\n$", result.stderr)
  end)

  it("goes on when nobody reads the log any more", function ()
    local result = run.command({"sh", "-c",
      "{ \"$1\" run program.lua; echo $? >status; } 2>&1 >out | head -n 1 "
      .. ">/dev/null; cat out status", "sh", tracegrip},
      {files = {["program.lua"] =
        "for i = 1, 20000 do math.abs(i) end print 'done'"}})
    assert.equal("done\n0\n", result.stdout)
  end)

  it("keeps its log out of files that get the descriptor of stderr", function ()
    local result = run.command({"sh", "-c",
      "\"$1\" run program.lua 2>log; cat out; tail -n 1 log", "sh", tracegrip},
      {files = {["program.lua"] = [[
        io.stderr:close()
        local file = io.open("out", "w")
        file:write "mine\n"
        file:close()
      ]]}})
    assert.matches("^mine\n── %d+ calls", result.stdout)
  end)

  it("goes on when the disk is full", function ()
    local result = run.command({tracegrip, "run", "-o", "/dev/full",
                                "program.lua"},
                               {files = {["program.lua"] = "print 'done'"}})
    assert.equal("done\n", result.stdout)
    assert.equal(0, result.status)
  end)
end)

describe("tracegrip.auto", function ()
  local auto = {"-ltracegrip.auto"}

  it("changes nothing without its variables", function ()
    local result = run.code([[
      print(debug.gethook(), package.loaded["tracegrip.core"])
    ]], {flags = auto})
    assert.equal("nil\tnil\n", result.stdout)
    assert.equal("", result.stderr)
  end)

  it("logs to a file or to standard error", function ()
    local code = "math.abs(-1)"
    local how = {flags = auto, env = {TRACEGRIP_LOG = "-"}}
    assert.matches("math.abs%(%-1%)", run.code(code, how).stderr)
    how.env.TRACEGRIP_LOG = "calls.log"
    assert.equal("", run.code(code, how).stderr)
  end)

  it("takes the options of tracegrip.start", function ()
    local result = run.code("math.abs(-1)", {flags = auto, env = {
      TRACEGRIP_LOG = "-", TRACEGRIP_OPTIONS = "c = false"}})
    assert.matches("%(main chunk%)", result.stderr)
    assert.not_matches("math.abs", result.stderr)
    result = run.code("print 1", {flags = auto, env = {
      TRACEGRIP_LOG = "-", TRACEGRIP_OPTIONS = "colour = 1"}})
    assert.equal(1, result.status)
    assert.matches("colour", result.stderr)
  end)
end)
