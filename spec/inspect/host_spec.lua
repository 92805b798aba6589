-- Errors in what C code that is not lua.c calls by lua_pcall: what a debugger
-- hears of them, with a message handler and without one (docs/inspect.md,
-- "Errors").

local debugger = require "spec.support.debugger"
local run = require "spec.support.run"

local it = debugger.needed(it, pending)

local modules = ("package.cpath = %q .. package.cpath\n"):format(
  run.build .. "/spec/?.so;")

-- "function:line caught|uncaught" of all pauses until the program is done.
local function pauses (front)
  local list, at = {}, front:event "Debugger.paused"
  while at do
    assert.equal("exception", at.reason)
    list[#list + 1] = ("%s %s"):format(debugger.place(at),
      at.data.uncaught and "uncaught" or "caught")
    front:post "Debugger.resume"
    at = front:event "Debugger.paused"
  end
  return list
end

local program = modules .. [[
local catches = require "catches"
local function fail ()
  local t = nil
  t.x = 1
end
catches.keep(fail)
catches.handle(function (e) return e end, fail)
pcall(catches.pass, fail)
catches.keep(pcall, fail)
catches.keep(coroutine.wrap(fail))
print "end"
]]

local function heard (state)
  local list
  debugger.debug(program, function (front, _, command)
    front:ask("Debugger.setPauseOnExceptions", {state = state})
    front:post "Debugger.resume"
    list = pauses(front)
    assert.equal(0, command:ended())
    assert.equal("end\n", command.out)
    assert.same({}, front:events "Runtime.exceptionThrown")
  end)
  return list
end

describe("an error that a C function catches", function ()
  it("is nobody's to tell without a message handler, and uncaught with one",
     function ()
    assert.same({"fail:5 (main chunk):8 uncaught", "fail:5 uncaught"},
                heard "uncaught")
  end)

  it("is caught where pcall catches it before or after that", function ()
    assert.same({"fail:5 (main chunk):8 uncaught",
                 "fail:5 (main chunk):9 caught",
                 "fail:5 (main chunk):10 caught", "fail:5 uncaught"},
                heard "all")
  end)
end)
