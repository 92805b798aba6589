-- The live log, line by line. What is at the right edge is two spaces away
-- here, and times are left out where they are not the point.

local run = require "spec.support.run"

local tracegrip = run.build .. "/bin/tracegrip"

local function log (code, flags, how)
  local words = {tracegrip, "run", "-o", "-", "--no-summary", "--no-times"}
  table.move(flags or {}, 1, #(flags or {}), #words + 1, words)
  words[#words + 1] = "program.lua"
  how = how or {}
  how.files = {["program.lua"] = code}
  local result = run.command(words, how)
  return result.stdout:gsub("   +", "  "), result
end

local function dedent (text)
  local margin = text:match "^ *"
  return (("\n" .. text):gsub("\n" .. margin, "\n"):gsub(" *$", ""):sub(2))
end

local function logs (name, code, flags, expected)
  if expected == nil then
    flags, expected = nil, flags
  end
  it(name, function ()
    assert.equal(dedent(expected), (log(dedent(code), flags)))
  end)
end

describe("the log", function ()
  logs("shows calls and results, nested", [[
    local function fib (n)
      if n < 2 then return n end
      return fib(n - 1) + fib(n - 2)
    end
    local x = fib(2)
  ]], [[
    (main chunk)()  program.lua
    │ fib(2)  program.lua:5
    │ │ fib(1)  program.lua:3
    │ │ └→ 1
    │ │ fib(0)  program.lua:3
    │ │ └→ 0
    │ └ fib → 1
    └ (main chunk)
  ]])

  logs("shows the program's markers where they are, groups one level in", [[
    local console = require "tracegrip.console"
    local function f (n)
      console.group("f", n)
      console.log({n = n})
      console.groupEnd()
      return console.count "f"
    end
    f(1)
    coroutine.wrap(function () console.error "late" end)()
    console.timeEnd "never"
  ]], {"--include", "^f$", "--include", "program.lua", "--no-c",
       "--exclude", "main chunk"}, [[
    f(1)  program.lua:8
    │ ◆ group "f", 1  program.lua:3
    │  ◆ log {n = 1}  program.lua:4
    │ ◆ count "f"  1  program.lua:6
    └ f
    ── coroutine 2 ──
    function <program.lua:9>()
    │ ◆ error "late"  program.lua:9
    └ function <program.lua:9>
    ── main coroutine ──
    ◆ warn "Timer 'never' does not exist"  program.lua:10
  ]])

  -- luacheck: push no max line length
  logs("shows values as literals", [[
    local function f (...) return ... end
    local t = {1, {3}, ["a b"] = 1.5}
    f(nil, true, 1, 1.0, "q\"\n\0\xffé", t, print, f)
    f(math.mininteger, 1/0, {{1}}, coroutine.create(f), io.stdout)
  ]], {"--no-c"}, [[
    (main chunk)()  program.lua
    │ f(nil, true, 1, 1.0, "q\"\n\x00\xFFé", {1, {...}, ["a b"] = 1.5}, function: print, function: f)  program.lua:3
    │ └→ nil, true, 1, 1.0, "q\"\n\x00\xFFé", {1, {...}, ["a b"] = 1.5}, function: print, function: f
    │ f(math.mininteger, math.huge, {{...}}, thread, userdata: FILE*)  program.lua:4
    │ └→ math.mininteger, math.huge, {{...}}, thread, userdata: FILE*
    └ (main chunk)
  ]])
  -- luacheck: pop

  logs("names classes and marks what is shared", [[
    local function f (...) end
    local Account = {__name = "Account"}
    local a = setmetatable({n = 1}, Account)
    f(a, a)
    local t = setmetatable({}, {})
    t.self = t
    f(t)
  ]], {"--no-c"}, [[
    (main chunk)()  program.lua
    │ f(&1 Account {n = 1}, *1)  program.lua:4
    │ └
    │ f(&1 object {self = *1})  program.lua:7
    │ └
    └ (main chunk)
  ]])

  logs("shortens values to the limits", [[
    local function f (...) end
    f({1, 2, 3}, "abcdef", {{{1}}})
  ]], {"--value-properties", "2", "--value-string", "3",
       "--value-depth", "2"}, [[
    (main chunk)()  program.lua
    │ f({1, 2, ...}, "abc"..., {{{...}}})  program.lua:2
    │ └
    └ (main chunk)
  ]])

  logs("keeps secrets", [[
    local function login (user, password) end
    login("ann", "x")
    login({password = "x"}, "y")
  ]], {"--redact", "^pass"}, [[
    (main chunk)()  program.lua
    │ login("ann", <redacted>)  program.lua:2
    │ └
    │ login({password = <redacted>}, <redacted>)  program.lua:3
    │ └
    └ (main chunk)
  ]])

  logs("marks errors and who catches them", [[
    local function f () error({code = 1}) end
    local function g () f() end
    pcall(g)
  ]], [[
    (main chunk)()  program.lua
    │ pcall(function: g)  program.lua:3
    │ │ g()
    │ │ │ f()  program.lua:2
    │ │ │ │ error({code = 1})  program.lua:1
    │ │ │ │ └!! error {code = 1}
    │ │ │ └ f !! error {code = 1}
    │ │ └ g !! error {code = 1}
    │ └ pcall → false, {code = 1}
    └ (main chunk)
  ]])

  logs("marks tail calls", [[
    local function g (x) return x end
    local function f (x) return g(x) end
    f(1)
  ]], {"--trace", "name,arguments,return"}, [[
    (main chunk)()
    │ f(1)
    │ └→ tail call
    │ g(1)
    │ └→ 1
    └ (main chunk)
  ]])

  logs("shows which coroutine runs", [[
    local co = coroutine.create(function (a)
      local b = coroutine.yield(a + 1)
      error(b)
    end)
    coroutine.resume(co, 1)
    coroutine.resume(co, 2)
  ]], {"--trace", "name,arguments,return,throw,yield", "--exclude", "create"},
  [[
    (main chunk)()
    │ coroutine.resume(thread, 1)
    │ │ ── coroutine 2 ──
    │ │ function <program.lua:1>(1)
    │ │ │ coroutine.yield(2)
    │ │ │ └⇢ yield 2
    │ │ └ function <program.lua:1> ⇢ yield 2
    │ ── main coroutine ──
    │ └ coroutine.resume → true, 2
    │ coroutine.resume(thread, 2)
    │ │ ── coroutine 2 ──
    │ │ function <program.lua:1>  resumed
    │ │ │ coroutine.yield  resumed
    │ │ │ └→ 2
    │ │ │ error(2)
    │ │ │ └!! error 2
    │ │ └ function <program.lua:1> !! error 2
    │ ── main coroutine ──
    │ └ coroutine.resume → false, 2
    └ (main chunk)
  ]])

  logs("hides what is too deep or filtered out", [[
    local function h () end
    local function g () h() end
    local function f () g() end
    f()
    tostring(1)
  ]], {"--max-depth", "3", "--exclude", "^tostring$"}, [[
    (main chunk)()  program.lua
    │ f()  program.lua:4
    │ │ g()  program.lua:3
    │ │ └
    │ └ f
    └ (main chunk)
  ]])

  logs("shows what a hidden function calls", [[
    local function g () end
    local function f () g() end
    f()
  ]], {"--exclude", "^f$"}, [[
    (main chunk)()  program.lua
    │ g()  program.lua:2
    │ └
    └ (main chunk)
  ]])

  logs("shows no more than was asked for", [[
    local function f (a, ...) return a end
    f(1)
  ]], {"--trace", "name,parameterNames"}, [[
    (main chunk)(...)
    │ f(a, ...)
    │ └
    └ (main chunk)
  ]])

  logs("ends after a number of events", [[
    for i = 1, 10 do math.abs(i) end
  ]], {"--max-events", "3"}, [[
    (main chunk)()  program.lua
    │ math.abs(1)  program.lua:1
    │ └→ 1
  ]])

  it("leaves out short calls and keeps the times of the others", function ()
    local text = log([[
      local function quick () end
      local function slow ()
        local start = os.clock()
        while os.clock() - start < 0.5 do quick() end
      end
      for i = 1, 10 do quick() end
      slow()
    ]], {"--min-duration", "400", "--no-c"})
    assert.equal(dedent [[
      (main chunk)()  program.lua
      │ slow()  program.lua:7
      │ └
      └ (main chunk)
    ]], text)
  end)

  it("folds deep indentation behind a number", function ()
    local text = log("local function f (n) if n > 0 then f(n - 1) end end\n"
                     .. "f(50)")
    assert.matches("\n40┊ │ f%(10%)", text)
    for line in text:gmatch "[^\n]+" do
      assert.is_true(utf8.len(line:match "^(.-)  " or line) < 60, line)
    end
  end)

  it("is complete after an error that nobody catches", function ()
    local text, result = log "local function f () error 'x' end f()"
    assert.equal(1, result.status)
    assert.matches("\n└ %(main chunk%) !! error \"program.lua:1: x\"\n$",
                   text)
  end)

  it("is complete after os.exit", function ()
    for _, call in ipairs {"os.exit(3)", "os.exit(3, true)"} do
      local text, result = log("local function f () " .. call .. " end f()")
      assert.equal(3, result.status)
      assert.matches("\n└ %(main chunk%) × terminated\n$", text)
    end
  end)

  it("is complete after Ctrl-C", function ()
    local result = run.command({"sh", "-c", [[
      "$1" run -o log program.lua &
      until grep -qs math.abs log; do sleep 0.05; done
      kill -INT $!; wait $!
      echo $?; tail -n 2 log]], "sh", tracegrip},
      {files = {["program.lua"] = "while true do math.abs(1) end"}})
    assert.matches("^1\n[^\n]+└ %(main chunk%) [^\n]+\n── %d+ calls, ",
                   result.stdout)
  end)

  it("ends with a summary", function ()
    local result = run.command({tracegrip, "run", "program.lua"},
      {files = {["program.lua"] = "math.abs(1)"}})
    assert.matches("\n── 2 calls, [%d.]+ [mµ]*s\n$", result.stderr)
  end)

  it("counts calls once, and coroutines that were shown", function ()
    local code = [[
      local function a () end
      local function b () coroutine.yield() coroutine.yield() end
      for _, f in ipairs {a, b} do
        local next = coroutine.wrap(function () f() end)
        for _ = 1, f == b and 3 or 1 do next() end
      end]]
    for words, last in pairs {
      [""] = "5 calls in 3 coroutines", ["--include ^b$"] = "1 call",
      ["--thread 3"] = "2 calls", ["--thread 1"] = "1 call"
    } do
      local result = run.command({"sh", "-c", '"$0" record --no-c -o rec.tgr '
        .. 'program.lua && "$0" log rec.tgr ' .. words, tracegrip},
        {files = {["program.lua"] = code}})
      assert.matches("\n── " .. last .. ", [%d.]+ [nmµ]*s\n$", result.stdout,
                     nil, words)
    end
  end)

  it("has times that grow", function ()
    local result = run.command({tracegrip, "run", "program.lua"},
      {files = {["program.lua"] = "for i = 1, 9 do math.abs(i) end"}})
    local last = 0
    for time in result.stderr:gmatch "\n +(%d+%.%d%d%d)  " do
      assert.is_true(tonumber(time) >= last)
      last = tonumber(time)
    end
    assert.is_true(last > 0)
  end)

  it("has colours when told to", function ()
    assert.not_matches("\27", (log("print(1)")))
    assert.matches("\27%[", (log("math.abs(1)", {"--color", "always"})))
  end)

  it("leaves standard output alone", function ()
    local result = run.command({tracegrip, "run", "program.lua"},
      {files = {["program.lua"] = "io.write 'a' io.stderr:write 'b'"}})
    assert.equal("a", result.stdout)
    assert.matches("b", result.stderr)
  end)
end)
