-- The value of an error was taken from where it may be: the second argument of
-- whatever was called next, the second result of any C function, the argument
-- of what returned last. So the secret of a host's next event was shown as the
-- error of the one before, and "another error" as what became of it.
-- luacheck: no max line length

local conform = require "spec.support.conform"
local run = require "spec.support.run"

-- Programs have the functions of catches.c in "catches".
local function frames (sentence, program, expected, how)
  how = how or {}
  how.env = run.modules
  conform.frames(it, sentence, 'local catches = require "catches" ' .. program,
                 expected, how)
end

describe("the value of an error that a C function keeps to itself", function ()
  frames("is not the argument of the next call", [[
    local function bad (x) return x.y.z end
    local function event (user, password) return user end
    start()
    catches.serve(bad, event)
  ]], [[
    > catches.serve(#1 function bad, #2 function event)
      > bad(nil)
      < bad throw ?
      > event("event", redacted)
      < event return "event"
    < catches.serve return
  ]], {options = {redact = {"password"}}})

  frames("is not that of an object closed later", [[
    local object = setmetatable({}, {__close = function (o, e) end})
    local function bad () return nil + 1 end
    start()
    catches.close(object, bad)
  ]], [[
    > catches.close(#1{}^#2{~}, #3 function bad)
      > bad()
      < bad throw ?
      > __close(#1{}^#2{~}, nil)
      < __close return
    < catches.close return
  ]])

  frames("is not what that returns", [[
    local function bad () return nil + 1 end
    start()
    catches.answer(bad)
    catches.code(bad)
  ]], [[
    > catches.answer(#1 function bad)
      > bad()
      < bad throw ?
    < catches.answer return false, "another value"
    > catches.code(#1 function bad)
      > bad()
      < bad throw ?
    < catches.code return nil, 2
  ]])

  frames("is not what that throws instead", [[
    local function bad () return nil + 1 end
    local function good () bad() end
    local function f () catches.change(good) end
    start()
    pcall(f)
  ]], [[
    > pcall(#1 function f)
      > f()
        > catches.change(#1 function good)
          > good()
            > bad()
            < bad throw ?
          < good throw ?
        < catches.change throw "p.lua:3: another error"
      < f throw "p.lua:3: another error"
    < pcall return false, "p.lua:3: another error"
  ]])

  frames("is what was given to error", [[
    local function bad () error("mine", 0) end
    local function f () catches.change(bad) end
    start()
    pcall(f)
    catches.answer(bad)
  ]], [[
    > pcall(#1 function f)
      > f()
        > catches.change(#1 function bad)
          > bad()
            > error("mine", 0)
            < error throw "mine"
          < bad throw "mine"
        < catches.change throw "p.lua:2: another error"
      < f throw "p.lua:2: another error"
    < pcall return false, "p.lua:2: another error"
    > catches.answer(#1 function bad)
      > bad()
        > error("mine", 0)
        < error throw "mine"
      < bad throw "mine"
    < catches.answer return false, "another value"
  ]])

  frames("is not the argument of the call before", [[
    local function same (x) return x end
    local function bad (x) same(x) return nil + 1 end
    start()
    catches.keep(bad, "secret")
  ]], [[
    > catches.keep(#1 function bad, "secret")
      > bad("secret")
        > same("secret")
        < same return "secret"
      < bad throw ?
    < catches.keep return
  ]])

  frames("is the argument of its C message handler, once told from a call", [[
    local function bad () return nil + 1 end
    local function worse () missing() end
    start()
    catches.handle(string.upper, bad)
    catches.handle(string.upper, worse)
    catches.handle(string.upper, string.rep)
  ]], [[
    > catches.handle(#1 function string.upper, #2 function bad)
      > bad()
        > string.upper("p.lua:1: attempt to perform arithmetic on a nil value")
        < string.upper return "P.LUA:1: ATTEMPT TO PERFORM ARITHMETIC ON A NIL VALUE"
      < bad throw "p.lua:1: attempt to perform arithmetic on a nil value"
    < catches.handle return false, "P.LUA:1: ATTEMPT TO PERFORM ARITHMETIC ON A NIL VALUE"
    > catches.handle(#1 function string.upper, #2 function worse)
      > worse()
        > string.upper("p.lua:2: attempt to call a nil value (global 'missing')")
        < string.upper return "P.LUA:2: ATTEMPT TO CALL A NIL VALUE (GLOBAL 'MISSING')"
      < worse throw "p.lua:2: attempt to call a nil value (global 'missing')"
    < catches.handle return false, "P.LUA:2: ATTEMPT TO CALL A NIL VALUE (GLOBAL 'MISSING')"
    > catches.handle(#1 function string.upper, #2 function string.rep)
      > string.rep()
        > string.upper("bad argument #1 to 'string.rep' (string expected, got no value)")
        < string.upper return "BAD ARGUMENT #1 TO 'STRING.REP' (STRING EXPECTED, GOT NO VALUE)"
      < string.rep throw ?
    < catches.handle return false, "BAD ARGUMENT #1 TO 'STRING.REP' (STRING EXPECTED, GOT NO VALUE)"
  ]])
end)

describe("the value of an error under xpcall", function ()
  frames("is the message when it comes through wrap", [[
    local function fail (l) coroutine.yield(l.name) end
    local function total (l) for n in coroutine.wrap(fail), l do end end
    local function onerror (m, extra) return "handled" end
    start()
    xpcall(total, onerror, false)
  ]], [[
    > xpcall(#1 function total, #2 function onerror, false)
      > total(false)
        > coroutine.wrap(#1 function fail)
        < coroutine.wrap return #1 function (anonymous function)
        > for iterator(false, nil)
          > fail(false)
          < fail throw "p.lua:1: attempt to index a boolean value (local 'l')"
          > onerror("p.lua:2: p.lua:1: attempt to index a boolean value (local 'l')", nil)
          < onerror return "handled"
        < for iterator throw "p.lua:2: p.lua:1: attempt to index a boolean value (local 'l')"
      < total throw "p.lua:2: p.lua:1: attempt to index a boolean value (local 'l')"
    < xpcall return false, "handled"
  ]])

  frames("is not what the program calls the handler with", [[
    local function handler (m) return "handled" end
    local function quiet (x) handler("call") return nil + x end
    local function hooked ()
      debug.sethook(function () debug.sethook() error("hook", 0) end, "l")
      handler("call")
    end
    start()
    xpcall(catches.keep, handler, quiet)
    xpcall(hooked, handler)
  ]], [[
    > xpcall(#1 function catches.keep, #2 function handler, #3 function quiet)
      > catches.keep(#1 function quiet)
        > quiet(nil)
          > handler("call")
          < handler return "handled"
        < quiet throw ?
      < catches.keep return
    < xpcall return true
    > xpcall(#1 function hooked, #2 function handler)
      > hooked()
        > debug.sethook(#1 function (anonymous function), "l")
        < debug.sethook return
      < hooked throw ?
    < xpcall return false, "handled"
  ]])

  frames("is known after its handler has caught another", [[
    local function bad () error("in", 0) end
    local function handler (m) pcall(bad) return "handled" end
    local function f () return nil + 1 end
    start()
    xpcall(f, handler)
  ]], [[
    > xpcall(#1 function f, #2 function handler)
      > f()
        > handler("p.lua:3: attempt to perform arithmetic on a nil value")
          > pcall(#1 function bad)
            > bad()
              > error("in", 0)
              < error throw "in"
            < bad throw "in"
          < pcall return false, "in"
        < handler return "handled"
      < f throw "p.lua:3: attempt to perform arithmetic on a nil value"
    < xpcall return false, "handled"
  ]])
end)

describe("the value of an error that goes on through wrap", function ()
  frames("loses one position only, if resume gives it", [[
    local function bad () return nil + 1 end
    local function outer () coroutine.wrap(bad)() end
    start()
    local co = coroutine.create(outer)
    coroutine.resume(co)
  ]], [[
    > coroutine.create(#1 function outer)
    < coroutine.create return #1 thread
    > coroutine.resume(#1 thread)
      > outer()
        > coroutine.wrap(#1 function bad)
        < coroutine.wrap return #1 function (anonymous function)
        > (anonymous function)()
          > bad()
          < bad throw "p.lua:1: attempt to perform arithmetic on a nil value"
        < (anonymous function) throw "p.lua:2: p.lua:1: attempt to perform arithmetic on a nil value"
      < outer throw "p.lua:2: p.lua:1: attempt to perform arithmetic on a nil value"
    < coroutine.resume return false, "p.lua:2: p.lua:1: attempt to perform arithmetic on a nil value"
  ]])

  frames("is not known if wrap's caller is older than the trace", [[
    local function bad () return nil + 1 end
    local function outer () start() coroutine.wrap(bad)() end
    pcall(outer)
  ]], [[
    > coroutine.wrap(#1 function bad)
    < coroutine.wrap return #1 function (anonymous function)
    > (anonymous function)()
      > bad()
      < bad throw ?
    < (anonymous function) throw "p.lua:2: p.lua:1: attempt to perform arithmetic on a nil value"
  ]])

  it("loses the position of a file with a long name", function ()
    local file = ("long/"):rep(14) .. "p.lua"
    local result = conform.run([[
      local f = assert(load("local function bad () return nil + 1 end "
        .. "local function call () coroutine.wrap(bad)() end pcall(call)",
        "@" .. ("long/"):rep(14) .. "p.lua"))
      start()
      f()
    ]], {trace = {"name", "throw"}})
    local short = "..." .. file:sub(-56) .. ":1: "
    local list = {}
    for _, packet in ipairs(result[1].packets) do
      if packet.why == "exception" then
        list[#list + 1] = packet.throw.value
      end
    end
    local message = short .. "attempt to perform arithmetic on a nil value"
    assert.same({message, short .. message, short .. message}, list)
  end)
end)

describe("the value of an error that a pcall older than the trace catches",
         function ()
  frames("is known if no function between can have caught it", [[
    local function bad () return nil + 1 end
    local function outer () start() table.sort({2, 1}, bad) end
    pcall(outer)
  ]], [[
    > table.sort(#1{2, 1}, #2 function bad)
      > bad()
      < bad throw "p.lua:1: attempt to perform arithmetic on a nil value"
    < table.sort throw "p.lua:1: attempt to perform arithmetic on a nil value"
  ]])

  frames("is not known beyond a C function", [[
    local function bad () return nil + 1 end
    local function outer () start() bad() end
    pcall(catches.change, outer)
  ]], [[
    > bad()
    < bad throw ?
  ]])
end)

describe("error and assert called wrongly", function ()
  frames("throw Lua's complaint", [[
    local function f (...) error(...) end
    local function call (...) coroutine.wrap(f)(...) end
    start()
    xpcall(call, print, "x", {})
  ]], [[
    > xpcall(#1 function call, #2 function print, "x", #3{})
      > call("x", #1{})
        > coroutine.wrap(#1 function f)
        < coroutine.wrap return #1 function (anonymous function)
        > (anonymous function)("x", #1{})
          > f("x", #1{})
            > error("x", #1{})
            < error throw "p.lua:1: bad argument #2 to 'error' (number expected, got table)"
          < f throw "p.lua:1: bad argument #2 to 'error' (number expected, got table)"
          > print("p.lua:2: p.lua:1: bad argument #2 to 'error' (number expected, got table)")
          < print return
        < (anonymous function) throw "p.lua:2: p.lua:1: bad argument #2 to 'error' (number expected, got table)"
      < call throw "p.lua:2: p.lua:1: bad argument #2 to 'error' (number expected, got table)"
    < xpcall return false, NOTHING
  ]])
end)

describe("an error of coroutine.wrap's function that is nil", function ()
  frames("is known by the variable that it closes", [[
    local object = setmetatable({}, {__close = function () end})
    local function dies () error() end
    local function f ()
      local c <close> = object
      coroutine.wrap(dies)()
    end
    start()
    pcall(f)
  ]], [[
    > pcall(#1 function f)
      > f()
        > coroutine.wrap(#1 function dies)
        < coroutine.wrap return #1 function (anonymous function)
        > (anonymous function)()
          > dies()
            > error()
            < error throw NOTHING
          < dies throw NOTHING
        < (anonymous function) throw NOTHING
      < f throw NOTHING
      > __close()
      < __close return
    < pcall return false, NOTHING
  ]])
end)

describe("the error of a coroutine in which the trace began", function ()
  local fails = [[
    local function f () local x = nil + 1 end
    local function body () start() f() end
  ]]

  frames("is that of the resume", fails .. [[
    coroutine.resume(coroutine.create(body))
  ]], [[
    > f()
    < f throw "p.lua:1: attempt to perform arithmetic on a nil value"
  ]])

  frames("is that of a pcall beyond coroutine.wrap", fails .. [[
    local function outer () coroutine.wrap(body)() end
    pcall(outer)
  ]], [[
    > f()
    < f throw "p.lua:1: attempt to perform arithmetic on a nil value"
  ]])

  frames("is that of its xpcall's handler", fails .. [[
    local function outer () xpcall(body, function () end) end
    coroutine.resume(coroutine.create(outer))
  ]], [[
    > f()
      > (anonymous function)()
      < (anonymous function) return
    < f throw "p.lua:1: attempt to perform arithmetic on a nil value"
  ]])
end)
