-- The program's own hooks: it sees, gets and loses them as without tracing.

local conform = require "spec.support.conform"

local function same (sentence, program)
  it(sentence, function ()
    local _, result = conform.same(program, {
      trace = {"name", "arguments", "return", "throw", "yield", "time"}
    })
    assert.not_equal("", result.stdout)
    assert.equal("", result.stderr)
  end)
end

-- Prints what a hook is told, for the functions of the program itself.
local telling = [[
  local function tell (event, line)
    local info = debug.getinfo(2, "Sn")
    if info.short_src == "program.lua" then
      print(event, line, info.name, info.namewhat)
    end
  end
  local function g (x) return x end
  local function f (x)
    local y = g(x)
    return y
  end
  local function t (x) return f(x) end
]]

describe("debug.sethook of the program", function ()
  same("with calls", telling .. [[
    debug.sethook(tell, "c")
    t(1)
    pcall(f, 2)
    debug.sethook()
    f(3)
  ]])

  same("with returns", telling .. [[
    debug.sethook(tell, "r")
    t(1)
    debug.sethook()
    f(3)
  ]])

  same("with lines", telling .. [[
    debug.sethook(tell, "l")
    for i = 1, 2 do
      f(i)
    end
    debug.sethook()
    f(3)
  ]])

  same("with calls, returns and lines", telling .. [[
    debug.sethook(tell, "crl")
    t(1)
    pcall(error)
    debug.sethook()
    f(3)
  ]])

  same("with a count", [[
    local n = 0
    debug.sethook(function (event) n = n + 1 end, "", 100)
    for i = 1, 10000 do end
    debug.sethook()
    print(n)
    local last = n
    for i = 1, 10000 do end
    print(n == last)
  ]])

  same("with a count and lines", [[
    local n, lines = {}, 0
    debug.sethook(function (event, line)
      n[event] = (n[event] or 0) + 1
    end, "l", 1)
    for i = 1, 10 do
      local x = i
    end
    debug.sethook()
    print(n.line, n.count)
  ]])

  same("with a count that stops a runaway loop", [[
    local function run (f)
      debug.sethook(function () error("too long", 0) end, "", 10000)
      local ok, message = pcall(f)
      debug.sethook()
      print(ok, message)
    end
    run(function () while true do end end)
    run(function () local function f () return f() end f() end)
    run(function () return 1 end)
  ]])

  same("on another coroutine", telling .. [[
    local co = coroutine.create(function (x)
      f(x)
      coroutine.yield()
      f(x + 1)
    end)
    debug.sethook(co, tell, "crl")
    print(debug.gethook(co) == tell, debug.gethook())
    coroutine.resume(co, 1)
    f(2)
    coroutine.resume(co)
    print(select(2, debug.gethook(co)))
    debug.sethook(co)
    print(debug.gethook(co))
  ]])

  same("is inherited by coroutines made while it is set", telling .. [[
    debug.sethook(tell, "c")
    local co = coroutine.create(f)
    debug.sethook()
    print(debug.gethook(co) == tell, debug.gethook())
    print(coroutine.resume(co, 1))
  ]])

  same("that raises an error", telling .. [[
    debug.sethook(function (event)
      local info = debug.getinfo(2, "n")
      if info.name == "g" then error("hooked", 0) end
    end, "c")
    print(pcall(f, 1))
    debug.sethook()
    print(pcall(f, 1))
  ]])

  same("that sets another hook, or none", telling .. [[
    local n = 0
    debug.sethook(function ()
      n = n + 1
      if n == 3 then debug.sethook() end
    end, "c")
    f(1) f(2) f(3)
    print(n, debug.gethook())
    debug.sethook(function () debug.sethook(tell, "l") end, "c")
    f(1)
    debug.sethook()
    print(debug.gethook())
  ]])

  same("with an empty mask is none", [[
    debug.sethook(print, "")
    print(debug.gethook())
    debug.sethook(print, "", 0)
    print(debug.gethook())
  ]])

  same("and gethook agree", [[
    print(debug.gethook())
    local function hook () end
    for _, mask in ipairs {"c", "r", "l", "cr", "crl", "rl"} do
      debug.sethook(hook, mask)
      local f, m, n = debug.gethook()
      print(f == hook, m, n)
    end
    debug.sethook(hook, "c", 1000)
    local f, m, n = debug.gethook()
    print(f == hook, m, n)
    debug.sethook(hook, "", 7)
    f, m, n = debug.gethook()
    print(f == hook, m, n)
    debug.sethook(nil)
    print(debug.gethook())
    print(select("#", debug.gethook()))
    print(debug.gethook(coroutine.create(print)))
  ]])

  same("sees nothing of the tracer in debug.getinfo and traceback", [[
    local function f ()
      print(debug.traceback("here"))
      local level = 0
      while true do
        local info = debug.getinfo(level, "Slnt")
        if not info then break end
        print(level, info.short_src, info.currentline, info.name,
              info.namewhat, info.what, info.istailcall)
        level = level + 1
      end
    end
    f()
    coroutine.wrap(f)()
    print(pcall(debug.sethook, 1, 2, 3))
    print(pcall(debug.gethook, 1))
  ]])

  same("sees the same with debug.getlocal and getupvalue", [[
    local u = 5
    local function f (a, b, ...)
      local c = u
      for i = 1, 6 do print(i, debug.getlocal(1, i)) end
      print(debug.getlocal(1, -1), debug.getlocal(1, -2))
      print(debug.getupvalue(debug.getinfo(1, "f").func, 1))
    end
    f(1, 2, 3)
    print(debug.getlocal(f, 1), debug.getlocal(f, 2), debug.getlocal(f, 3))
    print(debug.getupvalue(debug.sethook, 1), debug.getupvalue(pcall, 1))
  ]])
end)

describe("a trace beside the program's hook", function ()
  it("goes on", function ()
    conform.check([[
      local function hook () end
      local function f () end
      start()
      f()
      debug.sethook(hook, "crl", 3)
      f()
      debug.sethook()
      f()
    ]], [[
      > f()
      < f return
      > debug.sethook(#1 function hook, "crl", 3)
      < debug.sethook return
      > f()
      < f return
      > debug.sethook()
      < debug.sethook return
      > f()
      < f return
    ]])
  end)

  it("goes on when the hook was there first", function ()
    local result = conform.check([[
      local n = 0
      local function hook () n = n + 1 end
      local function f () end
      debug.sethook(hook, "c")
      local trace = start()
      n = 0
      f()
      f()
      trace:stop()
      debug.sethook()
      print(n >= 2)
    ]], [[
      > f()
      < f return
      > f()
      < f return
    ]])
    assert.equal("true\n", result.stdout)
  end)

  it("shows no frame of the hook function", function ()
    conform.check([[
      local function inside () end
      local function hook () inside() end
      local function f () end
      start()
      debug.sethook(hook, "c")
      f()
      debug.sethook()
    ]], [[
      > debug.sethook(#1 function hook, "c")
      < debug.sethook return
      > f()
      < f return
      > debug.sethook()
      < debug.sethook return
    ]])
  end)

  it("unwinds what an error of the hook unwinds", function ()
    conform.check([[
      local function f () local x = 1 end
      local function hook ()
        if debug.getinfo(2, "f").func == f then error("hooked", 0) end
      end
      local function run () debug.sethook(hook, "l") f() end
      local function after () end
      start()
      pcall(run)
      debug.sethook()
      after()
    ]], [[
      > pcall(#1 function run)
        > run()
          > debug.sethook(#1 function hook, "l")
          < debug.sethook return
          > f()
          < f throw "hooked"
        < run throw "hooked"
      < pcall return false, "hooked"
      > debug.sethook()
      < debug.sethook return
      > after()
      < after return
    ]])
  end)

  it("leaves the program's hook in place when it stops", function ()
    local result = conform.run [[
      local function hook () end
      debug.sethook(hook, "c")
      local trace = start()
      print(debug.gethook() == hook)
      trace:stop()
      local f, mask, count = debug.gethook()
      print(f == hook, mask, count)
      trace = start()
      debug.sethook(hook, "l", 5)
      trace:stop()
      f, mask, count = debug.gethook()
      print(f == hook, mask, count)
      debug.sethook()
      print(debug.gethook())
    ]]
    assert.is_true(result.ok, result.message)
    assert.equal("true\ntrue\tc\t0\ntrue\tl\t5\n",
                 result.stdout:match "^(.*\n)[^\n]*\n$")
  end)
end)
