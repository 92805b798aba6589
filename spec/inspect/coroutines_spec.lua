-- Breakpoints and steps in programs with coroutines and with hooks of their
-- own: what was suspended, or had another hook, when a breakpoint was set stops
-- there all the same. Random ones are in schedulers_spec.

local debugger = require "spec.support.debugger"
local run = require "spec.support.run"

local it = debugger.needed(it, pending)

-- All coroutines of a state are found in the interpreter's memory.
local it_reads = debugger.needs_memory(it, pending)

local place = debugger.place

-- Two coroutines in turn, and a function that is called between them.
local turns = [[
local function worker ()
  while true do
    local x = 1
    coroutine.yield(x)
  end
end
local function other ()
  while true do
    local y = 2
    coroutine.yield(y)
  end
end
local function tick (n)
  return n + 1
end
local a, b = MAKE(worker), MAKE(other)
local n = 0
while n < 50 do
  RESUME(a)
  RESUME(b)
  n = tick(n)
end
]]

local function with (make, resume)
  return (turns:gsub("MAKE", make):gsub("RESUME(%b())", resume))
end

-- Stops in 'tick' three times, then sets breakpoints in both coroutines, which
-- have run under the hook by now.
local function stop_in_both (front)
  local set = front:stop_at(14)
  for _ = 1, 3 do
    assert.matches("^tick:14", place(front:go "resume"))
  end
  front:ask("Debugger.removeBreakpoint", {breakpointId = set.breakpointId})
  for round = 1, 3 do
    local line = round % 2 == 1 and 3 or 4
    local first = front:stop_at(line)
    assert.equal("worker:" .. line, place(front:go "resume"))
    local second = front:stop_at(line + 6)
    assert.equal("other:" .. line + 6, place(front:go "resume"))
    for _, one in ipairs {first, second} do
      front:ask("Debugger.removeBreakpoint",
                {breakpointId = one.breakpointId})
    end
  end
end

describe("a breakpoint in a coroutine that is suspended", function ()
  it("stops at its next resume", function ()
    debugger.debug(with("coroutine.create", "coroutine.resume%1"),
                   stop_in_both)
  end)

  it("stops at the next call of what coroutine.wrap gave", function ()
    debugger.debug(with("coroutine.wrap", function (co)
      return co:sub(2, -2) .. "()"
    end), stop_in_both)
  end)

  it("stops where Lua's own resume was kept from before", function ()
    debugger.debug(with("kept.create", "kept.resume%1"), stop_in_both,
                   debugger.keeping)
  end)

  it_reads("stops where code of C resumes it", function ()
    local text = ("package.cpath = %q .. package.cpath "):format(
      run.build .. "/spec/?.so;") .. 'local behind = require "behind" '
    debugger.debug(text .. with("coroutine.create", function (co)
      return "behind.resume" .. co:gsub("%)$", ", 1)")
    end), stop_in_both)
  end)

  it("stops in a program that ran when the debugger came", function ()
    debugger.attach(with("coroutine.create", "coroutine.resume%1")
                      :gsub("while n < 50",
                            [[io.stderr:write "begun\n" while not stop]]),
                   function (front)
      front:stop_at(3)
      for _ = 1, 4 do
        assert.equal("worker:3", place(front:event "Debugger.paused"))
        front:post "Debugger.resume"
      end
      assert.equal("worker:3", place(front:event "Debugger.paused"))
      front:stop_at(9)
      assert.equal("other:9", place(front:go "resume"))
    end)
  end)
end)

describe("a step into a resume", function ()
  local function step_inside (front)
    front:stop_at(19)
    for _ = 1, 4 do
      assert.equal("(main chunk):19", place(front:go "resume"))
    end
    local list = {}
    for i = 1, 6 do
      list[i] = place(front:go "stepInto")
    end
    assert.same({"worker:3", "worker:4", "(main chunk):20", "other:9",
                 "other:10", "(main chunk):21"}, list)
  end

  it("stops inside of a coroutine that has run before", function ()
    debugger.debug(with("coroutine.create", "coroutine.resume%1"),
                   step_inside)
    debugger.debug(with("coroutine.wrap", function (co)
      return co:sub(2, -2) .. "()"
    end), step_inside)
  end)
end)

describe("a breakpoint", function ()
  it("stops after the program has set a hook and taken it away", function ()
    debugger.debug([[
local function f (x)
  return x
end
debug.sethook(function () end, "", 100000)
f(1)
debug.sethook()
f(2)
local co = coroutine.create(function ()
  f(3)
  coroutine.yield()
  f(5)
end)
coroutine.resume(co)
debug.sethook(co, print, "", 100000)
debug.sethook(co)
f(4)
coroutine.resume(co)
]], function (front)
      front:stop_at(2)
      for n = 2, 5 do
        local at = front:go "resume"
        assert.matches("^f:2", place(at))
        assert.equal(n, front:value(at, 1, "x").value)
      end
    end)
  end)

  it("stops in a coroutine that was made while the program had a hook",
     function ()
    debugger.debug([[
debug.sethook(function () end, "", 100000)
local co = coroutine.wrap(function (x)
  while true do
    x = coroutine.yield(x)
  end
end)
co(1)
debug.sethook()
co(2)
]], function (front)
      front:stop_at(4)
      assert.matches("^[^ ]*:4", place(front:go "resume"))
      assert.matches("^[^ ]*:4", place(front:go "resume"))
    end)
  end)

  it("stops in a __close method that coroutine.close calls", function ()
    debugger.debug([[
local function closed ()
  return 1
end
local co = coroutine.create(function ()
  local c <close> = setmetatable({}, {__close = closed})
  coroutine.yield()
end)
coroutine.resume(co)
print(coroutine.close(co))
]], function (front, _, command)
      front:go "stepOver"
      front:go "stepOver"
      front:go "stepOver"
      front:stop_at(2)
      local at = front:go "resume"
      assert.equal("closed:2", place(at))
      front:ask "Debugger.resume"
      assert.equal(0, command:ended())
      assert.equal("true\n", command.out)
    end)
  end)
end)

describe("a program that asks for its hook", function ()
  it("is told of its own, and may set again what it is told", function ()
    debugger.debug([[
local function f (x)
  return x
end
local hook, mask, count = debug.gethook()
print(hook, mask, count)
debug.sethook(function () end, "", 1000)
f(1)
debug.sethook(hook, mask, count)
f(2)
]], function (front, _, command)
      front:stop_at(2)
      assert.equal(2, front:value(front:go "resume", 1, "x").value)
      front:ask "Debugger.resume"
      assert.equal(0, command:ended())
      assert.equal("nil\tnil\tnil\n", command.out)
    end)
  end)
end)
