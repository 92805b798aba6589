-- Several Lua states in one process, on one thread and on many; the ways in
-- which a state or a process ends while it is traced; fork.

local run = require "spec.support.run"

-- What every program begins with. A trace is written as a line: ">f" for each
-- entry, "<f" for each exit ("!f" an exception, "~f" a yield, "#f" terminated),
-- with the thread where it is not 1; it must nest, without holes.
local head = [[
package.cpath = %q .. package.cpath
local states = require "states"

-- The same as text, for other states.
PRELUDE = [=[
local tracegrip = require "tracegrip"
local marks = {["return"] = "<", exception = "!", yield = "~",
               terminated = "#"}
function show (trace)
  local open, parts = {}, {}
  for p in trace:packets() do
    assert(p.sequence == #parts, "sequence")
    local text
    if p.type == "enteredFrame" then
      text = p.name .. (p.thread ~= 1 and p.thread or "")
      open[#open + 1] = text
    else
      text = assert(table.remove(open), "nesting")
    end
    parts[#parts + 1] = (p.why and marks[p.why] or ">") .. text
  end
  return table.concat(parts, " "), #parts
end
function start (o)
  o = o or {}
  o.trace = o.trace or {"name", "thread"}
  return tracegrip.start(o)
end
]=]
assert(load(PRELUDE))()

local function new (code)
  local s = states.new()
  s:run(PRELUDE .. (code or ""))
  return s
end
]]

local function program (body)
  return head:format(run.build .. "/spec/?.so;") .. body
end

local function execute (body, how)
  local result = run.code(program(body), how)
  assert.equal("", result.stderr)
  assert.equal(how and how.status or 0, result.status)
  return result.stdout
end

local function check (expected, body, how)
  assert.equal(expected, execute(body, how))
end

describe("several states on one thread", function ()
  it("are traced each on its own, event by event in turn", function ()
    check(("100 true\n"):rep(3), [[
      local list = {}
      for i = 1, 3 do
        list[i] = new(("T = start {include = {'^f%d$'}} "
                       .. "function f%d () end"):format(i, i))
      end
      for _ = 1, 50 do
        for i, s in ipairs(list) do s:run("f" .. i .. "()") end
      end
      for i, s in ipairs(list) do
        local text, n = s:run "T:stop() return show(T)"
        local one = (">f%d <f%d "):format(i, i)
        print(n .. " " .. tostring(text == one:rep(50):sub(1, -2)))
      end
    ]])
  end)

  it("alternate in coroutines that their host resumes", function ()
    check(("true\n"):rep(2), [[
      local list = {}
      for i = 1, 2 do
        list[i] = new [=[
          function f () end
          T = start {include = {"^f$", "^coroutine.yield$"}}
        ]=]
      end
      for _ = 1, 20 do
        for _, s in ipairs(list) do
          s:resume "f() coroutine.yield() f()"
        end
        for _, s in ipairs(list) do
          s:run "f()"
          assert(s:resume() == "end")
        end
      end
      for _, s in ipairs(list) do
        local text = s:run "T:stop() return show(T)"
        local one = ">f2 <f2 >coroutine.yield2 ~coroutine.yield2 >f <f "
                    .. ">coroutine.yield2 <coroutine.yield2 >f2 <f2 "
        local all = {}
        for i = 1, 20 do all[i] = one:gsub("2", i + 1) end
        local wanted = table.concat(all):sub(1, -2)
        print(text == wanted)
      end
    ]])
  end)

  it("are not mixed up by an address that goes from one to another",
  function ()
    check("true\ntrue\n", [[
      local a = new "function f () end T = start {include = {'^f$'}}"
      local b = new "function g () end T = start {include = {'^g$'}}"
      for _ = 1, 50 do
        a:resume "f()"
        a:drop()
        b:resume "g()"
        b:drop()
      end
      local f = a:run "T:stop() return show(T)"
      local g = b:run "T:stop() return show(T)"
      print((f:gsub("[%d ]", "") == (">f<f"):rep(50)))
      print((g:gsub("[%d ]", "") == (">g<g"):rep(50)))
    ]])
  end)

  it("call each other while both are traced", function ()
    check("f( g( h) )\n>f <f\n", [[
      local inner = new "function f () end T = start {include = {'^f$'}}"
      function h () return "h" end
      local function g () return inner:run "f() return 'g'" .. "( " .. h() end
      function f () return "f( " .. g() .. ") )" end
      local t = start {include = {"^f$", "^g$", "^h$"}}
      io.write(f(), "\n")
      t:stop()
      assert(show(t) == ">f >g >h <h <g <f")
      print((inner:run "T:stop() return show(T)"))
    ]])
  end)
end)

describe("coroutines of one host", function ()
  it("are told apart although they have one address", function ()
    check(">f2 <f2 >f3 <f3 >f4 <f4\n", [[
      local s = new "function f () end T = start {include = {'^f$'}}"
      for _ = 1, 3 do
        s:resume "f()"
        s:drop()
      end
      print((s:run "T:stop() return show(T)"))
    ]])
  end)
end)

describe("a state that goes from thread to thread", function ()
  it("is traced as if it had stayed", function ()
    check(">f <f >f2 >coroutine.yield2 ~coroutine.yield2 ~f2 >f <f "
          .. ">f2 >coroutine.yield2 <coroutine.yield2 <f2\n", [[
      local s = new [=[
        function f (x) if x then coroutine.yield() end end
        CO = coroutine.create(f)
        T = start {include = {"^f$", "yield"}}
        f()
      ]=]
      s:elsewhere "coroutine.resume(CO, 1)"
      s:run "f()"
      s:elsewhere "coroutine.resume(CO)"
      print((s:run "T:stop() return show(T)"))
    ]])
  end)

  it("leaves a host's coroutine where it was", function ()
    check(">f <f >f2 <f2 >f <f >f2 <f2 >f <f\n", [[
      local s = new "function f () end T = start {include = {'^f$'}} f()"
      s:resume "f() coroutine.yield() f()"
      s:elsewhere "f()"
      s:resume()
      s:elsewhere "f()"
      print((s:run "T:stop() return show(T)"))
    ]])
  end)
end)

describe("states on many threads", function ()
  it("are traced at the same time", function ()
    check("4000 4000 4000 4000\n", [[
      local code = PRELUDE .. [=[
        function f (x) if x == 500 then error(x) end end
        local function body () for i = 1, 10 do f(i) coroutine.yield(i) end end
        local count = 0
        for i = 1, 20 do
          local t = start {include = {"^f$"}}
          for j = 1, 5 do
            local co = coroutine.wrap(body)
            for k = 1, 10 do co() end
          end
          for j = 1, 50 do pcall(f, j * 10) end
          t:stop()
          collectgarbage()
          local text, n = show(t)
          assert(select(2, text:gsub("!", "")) == 1)
          count = count + n
        end
        return count
      ]=]
      print(table.concat({states.together(code, code, code, code)}, " "))
    ]])
  end)
end)

describe("a state that closes while traced", function ()
  it("leaves nothing behind", function ()
    check("ok\n", [[
      for i = 1, 20 do
        local s = new [=[
          function f () coroutine.yield() end
          T = start {}
          U = start {overflow = "ring", buffer = 16384}
          require "tracegrip.console".startTrace()
          CO = coroutine.create(f)
          coroutine.resume(CO)
          setmetatable({}, {__gc = function () f = pcall(error) end})
        ]=]
        s:resume "f()"
        s:close()
      end
      print "ok"
    ]])
  end)

  it("ends from inside a coroutine with os.exit", function ()
    local packets = run.packets([[
      local function f () os.exit(3, true) end
      coroutine.wrap(f)()
    ]], {trace = {"name"}})
    local open, ended = 0, 0
    for _, p in ipairs(packets) do
      open = open + (p.type == "enteredFrame" and 1 or -1)
      ended = ended + (p.why == "terminated" and 1 or 0)
    end
    assert.equal(0, open)
    assert.equal(4, ended)  -- os.exit, f, the wrapped function, the chunk
  end)
end)

describe("the module", function ()
  it("may be unloaded and loaded again", function ()
    check(">f <f\n>f <f\n", [[
      function f () end
      for _ = 1, 2 do
        local t = start {include = {"^f$"}}
        f()
        t:stop()
        print((show(t)))
        t = nil
        for name in pairs(package.loaded) do
          if name:find "^tracegrip" then package.loaded[name] = nil end
        end
        tracegrip, show, start = nil, nil, nil
        collectgarbage() collectgarbage()
        assert(load(PRELUDE))()
      end
    ]])
  end)

  it("may be unloaded while it traces", function ()
    check("true\n>f <f\n", [[
      function f () end
      start {include = {"^f$"}}
      for name in pairs(package.loaded) do
        if name:find "^tracegrip" then package.loaded[name] = nil end
      end
      tracegrip, show, start = nil, nil, nil
      collectgarbage() collectgarbage()
      print(debug.gethook() == nil)
      assert(load(PRELUDE))()
      local t = start {include = {"^f$"}}
      f()
      t:stop()
      print((show(t)))
    ]])
  end)

  it("goes with the last state that has it, and comes again", function ()
    if run.keeps() then
      return pending "musl keeps what it has loaded"
    end
    local code = [[
      package.cpath = %q .. package.cpath
      local states = require "states"
      local function mapped ()
        local file <close> = assert(io.open "/proc/self/maps")
        return file:read "a":find("tracegrip/core.so", 1, true) ~= nil
      end
      for i = 1, 100 do
        local s, r = states.new(), states.new()
        s:run "T = require('tracegrip').start()"
        r:run "require('tracegrip').start()"
        s:run "local co = coroutine.wrap(print) pcall(error) T:stop()"
        s:close()
        r:run "string.rep('x', 3)"
        r:close()
        if i == 1 then print(mapped()) end
      end
      print(mapped())
    ]]
    local result = run.code(code:format(run.build .. "/spec/?.so;"))
    assert.equal("", result.stderr)
    assert.equal("false\nfalse\n", result.stdout)
  end)
end)

describe("a coroutine that nobody told of", function ()
  it("loses the hook at its first event", function ()
    check("external hook nil\n>f2 <f2\n", [[
      function f () return debug.gethook() end
      local t = start()
      local co = states.thread(function () f() return f() end)
      t:stop()
      local before = debug.gethook(co)
      io.write(tostring(before), " ")
      print(select(2, coroutine.resume(co)))
      t = start {include = {"^f$"}}
      local co = states.thread(function () f() end)
      coroutine.resume(co)
      t:stop()
      print((show(t)))
    ]])
  end)
end)

describe("fork", function ()
  it("leaves each side its own trace", function ()
    check("child >f <f >f <f >f <f\nparent >f <f >g <g\n", [[
      function f () end
      function g () end
      local t = start {include = {"^f$", "^g$"}}
      f()
      local status = states.fork(function ()
        for _ = 1, 2 do f() end
        t:stop()
        io.write("child ", (show(t)), "\n")
        io.stdout:flush()
        return 7
      end)
      assert(status == 7, status)
      g()
      t:stop()
      print("parent " .. (show(t)))
    ]])
  end)

  it("lets the child exit while traced, by os.exit and by exit", function ()
    check("4\n5\n6\n", [[
      local t = start()
      print((states.fork(function () os.exit(4) end)))
      print((states.fork(function () os.exit(5, true) end)))
      print((states.fork(function () states.exit(6) end)))
    ]])
  end)

  it("leaves the live log to the parent", function ()
    local text = run.within(function (directory)
      local path = directory .. "/log"
      local out = execute(([[
        local core = require "tracegrip.core"
        function f () end
        function g () end
        function h () end
        local log = core.log({include = {"^[fgh]$"}}, {path = %q})
        f()
        states.fork(function () g() assert(not log.active) end)
        states.fork(function () g() os.exit(0, true) end)
        h()
        log:stop()
      ]]):format(path))
      assert.equal("", out)
      return run.read(path)
    end)
    assert.matches("f%(%)", text)
    assert.matches("h%(%)", text)
    assert.not_matches("g%(%)", text)
    assert.equal(1, select(2, text:gsub("2 calls", "")))
  end)

  it("takes no lock with it that another thread holds", function ()
    check("ok\n", [[
      -- What a child leaves by is exit, which also puts the places of files
      -- back that were being read when it was made: so no thread reads a module
      -- by then.
      local all = ([=[
        package.cpath = %q .. package.cpath
        local states = require "states"
      ]=]):format(package.cpath:match "^[^;]*;") .. PRELUDE .. [=[
        start():stop()
        states.meet(3)
      ]=]
      local busy = all .. [=[
        for i = 1, 30 do
          local t = start()
          for j = 1, 2000 do string.rep("x", 3) end
          t:stop()
        end
        return "busy"
      ]=]
      local forking = all .. [=[
        local t = start {include = {"^string.rep$"}}
        for i = 1, 20 do
          local status = states.fork(function ()
            local u = start()
            for j = 1, 200 do string.rep("y", 3) end
            u:stop()
            os.exit(9)
          end)
          assert(status == 9, status)
        end
        t:stop()
        return "forked"
      ]=]
      local a, b, c = states.together(busy, forking, busy)
      assert(a == "busy" and b == "forked" and c == "busy")
      print "ok"
    ]], {timeout = 60})
  end)
end)

describe("exit on another thread", function ()
  it("ends a process that is traced", function ()
    local out = execute([[
      function f () end
      local t = start {overflow = "ring"}
      states.leave(5)
      while true do f(load "return 1") end
    ]], {status = 5})
    assert.equal("", out)
  end)
end)
