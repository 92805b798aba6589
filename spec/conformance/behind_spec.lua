-- What happens behind the hook's back: errors that C catches, coroutines that C
-- resumes, frames for which Lua runs no hook, a hook that is away for a moment.
-- luacheck: no max line length

local conform = require "spec.support.conform"
local run = require "spec.support.run"

local head = 'local behind = require "behind" '

-- The packets of a program, and `how.lost` more, of calls made without the hook.
local function frames (sentence, program, expected, how)
  how = how or {}
  how.env = run.modules
  it(sentence, function ()
    local result = conform.check(head .. program, expected, how)
    assert.same({hook = how.lost}, result[1].lost)
  end)
end

-- When each function was entered and left for the last time.
local function times (program)
  local result = conform.run(head .. program, {
    env = run.modules, trace = {"name", "time"}
  })
  assert.is_true(result.ok, result.message)
  local entered, left, open = {}, {}, {}
  for _, p in ipairs(result[1].packets) do
    if p.type == "enteredFrame" then
      open[#open + 1] = p.name
      entered[p.name] = p.time
    else
      left[table.remove(open)] = p.time
    end
  end
  return entered, left
end

local bad = [[
  local function bad () local x = nil + 1 end
  local function outer () bad() end
  local function after () end
]]

describe("frames unwound to a function of Lua's", function ()
  it("end when pcall goes on", function ()
    local entered, left = times(bad .. "start() pcall(outer) after()")
    assert.is_true(left.bad > entered.bad)
    assert.equal(left.pcall, left.bad)
    assert.equal(left.pcall, left.outer)
  end)

  it("end when pcall goes on, if that is older than the trace", function ()
    local entered, left = times(bad .. [[
      pcall(function () start() outer() end)
      after()
    ]])
    assert.is_true(left.bad > entered.bad)
    assert.equal(left.bad, left.outer)
  end)

  it("end when coroutine.resume goes on", function ()
    local entered, left = times(bad .. [[
      start()
      coroutine.resume(coroutine.create(outer))
      after()
    ]])
    assert.is_true(left.bad > entered.bad)
    assert.equal(left["coroutine.resume"], left.bad)
    assert.equal(left["coroutine.resume"], left.outer)
  end)

  it("end when pcall goes on, after a coroutine between", function ()
    local _, left = times(bad .. [[
      start()
      pcall(coroutine.wrap(outer))
      after()
    ]])
    assert.equal(left.pcall, left.bad)
    assert.equal(left.pcall, left.outer)
  end)
end)

describe("frames unwound to a host, which may have slept since,", function ()
  it("end with the last event before", function ()
    local entered, left = times(bad .. "start() behind.catch(outer, after)")
    assert.equal(entered.bad, left.bad)
    assert.equal(entered.bad, left.outer)
    assert.is_true(left.bad < entered.after)
  end)

  it("end with the last event before, if that is no frame", function ()
    local entered, left = times(bad .. [[
      local function begin () start() end
      behind.catch(begin, outer, after)
    ]])
    assert.equal(entered.bad, left.bad)
    assert.equal(entered.bad, left.outer)
    assert.is_true(left.bad < entered.after)
  end)

  it("end with the last event before, if that was hidden", function ()
    local program = bad .. [[
      local function work () for i = 1, 100 do math.abs(i) end bad() end
      start {trace = {"name", "time"}, exclude = {"^bad$", "^after$"}, c = false}
      behind.catch(work, after)
    ]]
    local entered, left = times(program)
    assert.is_true(left.work > entered.work)
  end)

  it("end with the last event before, in a coroutine", function ()
    local entered, left = times(bad .. [[
      start()
      behind.resume(coroutine.create(outer), 1)
      after()
    ]])
    assert.equal(entered.bad, left.bad)
    assert.equal(entered.bad, left.outer)
  end)
end)

describe("a stack overflow", function ()
  frames("under xpcall ends what is above it and nothing else", [[
    local function parse (n) return 1 + parse(n + 1) end
    local function handle (i) if i == 2 then parse(1) end end
    local function handler (message) return "handled" end
    local function serve ()
      for i = 1, 3 do xpcall(handle, handler, i) end
    end
    start()
    serve()
  ]], [[
    > serve
      > xpcall
        > handle
        < handle return
      < xpcall return
      > xpcall
        > handle
          > parse
            > parse
            < parse throw
          < parse throw
        < handle throw
      < xpcall return
      > xpcall
        > handle
        < handle return
      < xpcall return
    < serve return
  ]], {trace = {"name"}, options = {maxDepth = 5}})

  -- Its function has many registers, so that there are only some thousand calls.
  it("calls the handler from the innermost frame", function ()
    local result = conform.run([[
      local names = {}
      for i = 1, 200 do names[i] = "x" .. i end
      local parse = load("local function parse () local "
                         .. table.concat(names, ",")
                         .. " return 1 + parse() end return parse")()
      local function handler (message) return message end
      start()
      xpcall(parse, handler)
    ]], {trace = {"name", "depth"}, timeout = 60})
    assert.is_true(result.ok, result.message)
    local calls, handler = 0, nil
    for _, p in ipairs(result[1].packets) do
      if p.name == "parse" then
        calls = calls + 1
      elseif p.name == "handler" then
        assert.is_nil(handler)
        handler = p
      end
    end
    assert.is_true(calls > 1000)
    assert.equal(calls + 1, handler.depth)
  end)
end)

describe("a coroutine that C resumes", function ()
  frames("again and again yields each time", [[
    local function wait (n) local m = coroutine.yield(n, "x") return m end
    local function script (n)
      for i = 1, 2 do n = wait(n) end
      return n
    end
    start()
    local co = coroutine.create(script)
    behind.resume(co, 4)
  ]], [[
    > coroutine.create(#1 function script)
    < coroutine.create return #1 thread
    > behind.resume(#1 thread, 4)
      > script(1)
        > wait(1)
          > coroutine.yield(1, "x")
          < coroutine.yield yield 1, "x"
        < wait yield 1, "x"
      < script yield 1, "x"
      > script resumed
        > wait resumed
          > coroutine.yield resumed
          < coroutine.yield return 2
        < wait return 2
        > wait(2)
          > coroutine.yield(2, "x")
          < coroutine.yield yield 2, "x"
        < wait yield 2, "x"
      < script yield 2, "x"
      > script resumed
        > wait resumed
          > coroutine.yield resumed
          < coroutine.yield return 3
        < wait return 3
      < script return 3
    < behind.resume return
  ]])

  frames("yields each time, if coroutine.yield is hidden", [[
    local function script ()
      for i = 1, 2 do coroutine.yield() end
    end
    start()
    local co = coroutine.create(script)
    behind.resume(co, 3)
  ]], [[
    > script()
    < script yield
    > script resumed
    < script yield
    > script resumed
    < script return
  ]], {trace = {"name", "arguments"}, options = {c = false}})

  it("is not charged for what C does between", function ()
    local entered, left = {}, {}
    local result = conform.run(head .. [[
      local function script () coroutine.yield() coroutine.yield() end
      start()
      behind.resume(coroutine.create(script), 3)
    ]], {env = run.modules, trace = {"name", "time"}})
    assert.is_true(result.ok, result.message)
    for _, p in ipairs(result[1].packets) do
      if p.name == "coroutine.yield" and not p.resumed then
        entered[#entered + 1] = p.time
      elseif p.why == "yield" and #left < #entered then
        left[#left + 1] = p.time
      end
    end
    assert.equal(2, #entered)
    assert.same(entered, left)
  end)

  frames("goes on after an error that coroutine.yield itself raises", [[
    local function less () coroutine.yield(1) end
    local function script ()
      pcall(table.sort, {2, 1}, less)
      coroutine.yield(2)
      return 3
    end
    start()
    local co = coroutine.create(script)
    behind.resume(co, 2)
  ]], [[
    > coroutine.create
    < coroutine.create return
    > behind.resume
      > script
        > pcall
          > table.sort
            > less
              > coroutine.yield
              < coroutine.yield throw
            < less throw
          < table.sort throw
        < pcall return
        > coroutine.yield
        < coroutine.yield yield
      < script yield
      > script resumed
        > coroutine.yield resumed
        < coroutine.yield return
      < script return
    < behind.resume return
  ]], {trace = {"name"}})

  frames("yields in C, which Lua does not tell", [[
    local function f () end
    local function script (a)
      behind.yield(a, 1)
    end
    start()
    local co = coroutine.create(script)
    behind.resume(co, 1)
    f()
    behind.resume(co, 1)
  ]], [[
    > coroutine.create(#1 function script)
    < coroutine.create return #1 thread
    > behind.resume(#1 thread, 1)
      > script(1)
        > behind.yield(1, 1)
        < behind.yield yield nil
      < script yield nil
    < behind.resume return
    > f()
    < f return
    > behind.resume(#1 thread, 1)
      > script resumed
        > behind.yield resumed
        < behind.yield return 1
      < script return
    < behind.resume return
  ]])
end)

describe("a yield in C", function ()
  frames("has the values that coroutine.resume and wrap give", [[
    local function script (a)
      local b = behind.yield(a, "x")
      behind.yield(b)
    end
    start()
    local co = coroutine.create(script)
    coroutine.resume(co, 1)
    coroutine.resume(co, 2)
    local wrapped = coroutine.wrap(script)
    wrapped(3)
  ]], [[
    > coroutine.create(#1 function script)
    < coroutine.create return #1 thread
    > coroutine.resume(#1 thread, 1)
      > script(1)
        > behind.yield(1, "x")
        < behind.yield yield 1, "x"
      < script yield 1, "x"
    < coroutine.resume return true, 1, "x"
    > coroutine.resume(#1 thread, 2)
      > script resumed
        > behind.yield resumed
        < behind.yield return 2
        > behind.yield(2)
        < behind.yield yield 2
      < script yield 2
    < coroutine.resume return true, 2
    > coroutine.wrap(#1 function script)
    < coroutine.wrap return #1 function (anonymous function)
    > wrapped(3)
      > script(3)
        > behind.yield(3, "x")
        < behind.yield yield 3, "x"
      < script yield 3, "x"
    < wrapped return 3, "x"
  ]])
end)

describe("a hook that is borrowed for an event", function ()
  frames("misses a return, of which neither value nor error is known", [[
    local function check (password)
      behind.borrow("i", 1)
      local function has (user, password) return user ~= password end
      return has("me", password)
    end
    local function login (user, password)
      local ok = check(password)
      return ok
    end
    start()
    login("me", "secret")
  ]], [[
    > login("me", redacted)
      > check(redacted)
        > behind.borrow("i", 1)
        < behind.borrow return ?
      < check tail
      > has("me", redacted)
      < has return true
    < login return true
  ]], {options = {redact = {"password"}}})

  frames("misses a call, and sees what that calls", [[
    local function g (x) return x end
    local function missed () g(1) g(2) return 3 end
    local function f ()
      local away = {mask = "cr"}
      behind.later(away)
      repeat local garbage = {} until away.done
      missed()
      g(4)
    end
    start()
    f()
  ]], [[
    > f()
      > behind.later(#1{mask = "cr"})
      < behind.later return
      > g(1)
      < g return 1
      > g(2)
      < g return 2
      > g(4)
      < g return 4
    < f return
  ]], {lost = 2})

  frames("misses a call that calls nothing", [[
    local function missed () return 3 end
    local function f ()
      local away = {mask = "cr"}
      behind.later(away)
      repeat local garbage = {} until away.done
      missed()
      return 4
    end
    start()
    f()
  ]], [[
    > f()
      > behind.later(#1{mask = "cr"})
      < behind.later return
    < f return 4
  ]], {lost = 2})

  frames("misses a call that fails, and that is no end of its caller", [[
    local function g (x) error("no", 0) end
    local function missed () g(1) end
    local function f ()
      local away = {mask = "cr"}
      behind.later(away)
      repeat local garbage = {} until away.done
      pcall(missed)
      pcall(g)
    end
    start()
    f()
  ]], [[
    > f()
      > behind.later(#1{mask = "cr"})
      < behind.later return
      > missed()
        > g(1)
          > error("no", 0)
          < error throw "no"
        < g throw "no"
      < missed throw "no"
      > pcall(#1 function g)
        > g(nil)
          > error("no", 0)
          < error throw "no"
        < g throw "no"
      < pcall return false, "no"
    < f return
  ]], {lost = 2})

  frames("misses several returns", [[
    local function h () behind.borrow("r", 3) end
    local function g () h() end
    local function after (x) end
    local function f () g() after("x") end
    start()
    f()
  ]], [[
    > f()
      > g()
        > h()
          > behind.borrow("r", 3)
          < behind.borrow return ?
        < h return ?
      < g return ?
      > after("x")
      < after return
    < f return
  ]])

  frames("misses a return before a tail call", [[
    local function after (x) return x end
    local function f () behind.borrow("r", 1) return after("x") end
    start()
    f()
  ]], [[
    > f()
      > behind.borrow("r", 1)
      < behind.borrow return ?
    < f tail
    > after("x")
    < after return "x"
  ]])

  frames("misses the end of what pcall calls, or of pcall", [[
    local function f () behind.borrow("r", 2) return 1 end
    local function g () end
    start()
    pcall(f)
    pcall(behind.borrow, "r", 2)
    g()
  ]], [[
    > pcall(#1 function f)
      > f()
        > behind.borrow("r", 2)
        < behind.borrow return ?
      < f return ?
    < pcall return true, 1
    > pcall(#1 function behind.borrow, "r", 2)
      > behind.borrow("r", 2)
      < behind.borrow return ?
    < pcall return ?
    > g()
    < g return
  ]])

  frames("misses the end of a coroutine", [[
    local function f () behind.borrow("r", 2) return 1 end
    start()
    local co = coroutine.create(f)
    coroutine.resume(co)
    local wrapped = coroutine.wrap(f)
    wrapped()
  ]], [[
    > coroutine.create(#1 function f)
    < coroutine.create return #1 thread
    > coroutine.resume(#1 thread)
      > f()
        > behind.borrow("r", 2)
        < behind.borrow return ?
      < f return ?
    < coroutine.resume return true, 1
    > coroutine.wrap(#1 function f)
    < coroutine.wrap return #1 function (anonymous function)
    > wrapped()
      > f()
        > behind.borrow("r", 2)
        < behind.borrow return ?
      < f return ?
    < wrapped return 1
  ]])
end)
