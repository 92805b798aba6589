-- Where a debugger stops a program: breakpoints, the pause button, and steps.

local debugger = require "spec.support.debugger"
local run = require "spec.support.run"

local it = debugger.needed(it, pending)

local place = debugger.place

local program = [[
local function add (a, b)
  local sum = a + b
  return sum
end

local function work (n)
  local total = 0
  for i = 1, n do
    total = add(total, i)
  end
  return total
end

-- nothing here
print(work(3))
]]

describe("a breakpoint", function ()
  it("stops before its line, each time", function ()
    debugger.debug(program, function (front, paused, command)
      assert.equal("other", paused.reason)
      assert.equal("(main chunk):4", place(paused))
      local set = front:stop_at(2)
      assert.equal(1, set.locations[1].lineNumber)
      for i = 1, 3 do
        local at = front:go "resume"
        assert.equal("other", at.reason)
        assert.same({set.breakpointId}, at.hitBreakpoints)
        assert.equal("add:2 work:9 (main chunk):15", place(at))
        assert.equal(i, front:scope(at, 1, "local").b.value)
      end
      front:ask "Debugger.resume"
      assert.equal(0, command:ended())
      assert.equal("6\n", command.out)
    end)
  end)

  it("moves to the next line that has code", function ()
    debugger.debug(program, function (front)
      local set = front:stop_at(13)
      assert.equal(14, set.locations[1].lineNumber)
      assert.equal("(main chunk):15", place(front:go "resume"))
    end)
  end)

  it("stays unresolved where no code follows", function ()
    debugger.debug(program, function (front)
      assert.same({}, front:stop_at(100).locations)
    end)
  end)

  it("stops only while its condition holds", function ()
    debugger.debug(program, function (front)
      front:stop_at(2, "b == 2\n\n//# sourceURL=debugger://breakpoint")
      local at = front:go "resume"
      assert.equal("2", front:value(at, 1, "b").description)
      assert.equal("3", front:value(at, 1, "a + b").description)
    end)
  end)

  it("logs instead of stopping, where it is a logpoint", function ()
    debugger.debug(program, function (front, _, command)
      front:stop_at(3, "/** DEVTOOLS_LOGPOINT */ console.log('sum', sum)")
      front:ask "Debugger.resume"
      assert.equal(0, command:ended())
      local logged = {}
      for i, call in ipairs(front:events "Runtime.consoleAPICalled") do
        logged[i] = call.args[1].value .. call.args[2].value
      end
      assert.same({"sum1", "sum3", "sum6"}, logged)
    end)
  end)

  it("is resolved when its file is loaded", function ()
    debugger.debug({
      ["app.lua"] = "local m = dofile 'other.lua'\nm()\n",
      ["other.lua"] = "return function ()\n  local x = 1\n  return x\nend\n"
    }, function (front)
      front:ask("Debugger.setBreakpointByUrl", {
        urlRegex = "^file:///.*/other\\.lua$", lineNumber = 2
      })
      local at = front:go "resume"
      assert.equal(2, at.callFrames[1].location.lineNumber)
      assert.equal(1, #front:events "Debugger.breakpointResolved")
    end)
  end)

  it("stops in what only the running program has", function ()
    debugger.attach([[
local function f (x)
  return x
end
io.stderr:write "begun\n" while not go do end
f(1)
]], function (front)
      assert.equal(1, #front:stop_at(2).locations)
      front:ask("Runtime.evaluate", {expression = "go = true"})
      assert.equal("f:2 (main chunk):5",
                   place(front:event "Debugger.paused"))
    end)
  end)

  it("stops in chunks whose text cannot be had", function ()
    for chunk, url in pairs {["=made"] = "lua://lua/made",
                             ["@/no/made.lua"] = "file:///no/made.lua"} do
      debugger.debug([[
        local f = load("local a = 1\nlocal b = a + 1\nreturn b", "]] .. chunk
                     .. [[")
        f() f()]], function (front, _, command)
        front:ask("Debugger.setBreakpointByUrl", {url = url, lineNumber = 1})
        for _ = 1, 2 do
          front:ask "Debugger.resume"
          local paused = front:event "Debugger.paused"
          assert.matches("^%(main chunk%):2 ", place(paused))
        end
        front:ask "Debugger.resume"
        assert.equal(0, command:ended())
      end)
    end
  end)

  it("holds for calls that begin after its answer", function ()
    debugger.attach([[
local function f (x)
  return x
end
local done
local function g ()
  while round == done do coroutine.wrap(os.clock)() end
  done = round
  f(done)
end
io.stderr:write "begun\n" while true do coroutine.wrap(g)() end
]], function (front)
      for n = 1, 40 do
        local set = front:stop_at(2)
        front:ask("Runtime.evaluate", {expression = "round = " .. n})
        local at = front:event "Debugger.paused"
        assert.equal("f:2 g:8", place(at))
        front:ask("Debugger.removeBreakpoint",
                  {breakpointId = set.breakpointId})
        front:ask "Debugger.resume"
      end
    end)
  end)

  it("is gone when it is removed, and with all others on demand", function ()
    debugger.debug(program, function (front)
      local set = front:stop_at(2)
      front:stop_at(11)
      front:go "resume"
      front:ask("Debugger.removeBreakpoint",
                {breakpointId = set.breakpointId})
      assert.equal("work:11 (main chunk):15", place(front:go "resume"))
      front:stop_at(2)
      front:ask("Debugger.setBreakpointsActive", {active = false})
      front:ask "Debugger.resume"
      front:event "Debugger.resumed"
      assert.is_nil(front:event "Debugger.paused")
    end)
  end)

  it("is where its location says: setBreakpoint, possible ones", function ()
    debugger.debug(program, function (front, paused)
      local id = paused.callFrames[1].location.scriptId
      local set = front:ask("Debugger.setBreakpoint", {
        location = {scriptId = id, lineNumber = 4}
      })
      assert.equal(6, set.actualLocation.lineNumber)
      local possible = front:ask("Debugger.getPossibleBreakpoints", {
        start = {scriptId = id, lineNumber = 0, columnNumber = 0},
        ["end"] = {scriptId = id, lineNumber = 4, columnNumber = 0}
      })
      local found = {}
      for i, one in ipairs(possible.locations) do
        found[i] = one.lineNumber
      end
      assert.same({1, 2, 3}, found)
    end)
  end)

  it("stops in coroutines, older ones too, behind their resumers", function ()
    debugger.debug([[
local co = coroutine.wrap(function ()
  coroutine.yield(1)
  local here = 2
  return here
end)
co()
co()
]], function (front)
      front:ask("Debugger.setAsyncCallStackDepth", {maxDepth = 32})
      front:go "stepOver"
      front:go "stepOver"
      front:stop_at(4)
      local at = front:go "resume"
      assert.equal(":4", place(at))
      local parent = at.asyncStackTrace
      assert.equal("coroutine.resume", parent.description)
      local lines = {}
      for _, frame in ipairs(parent.callFrames) do
        lines[#lines + 1] = frame.url:find "app" and frame.lineNumber + 1
      end
      assert.same({7}, lines)
    end)
  end)
end)

describe("the pause button", function ()
  it("stops a loop that calls nothing", function ()
    debugger.attach([[
local go = true
io.stderr:write "begun\n" while go do
end
print "gone on"
]], function (front, command)
      local at = front:go "pause"
      assert.equal("other", at.reason)
      front:ask("Debugger.setVariableValue", {
        callFrameId = at.callFrames[1].callFrameId, scopeNumber = 0,
        variableName = "go", newValue = {value = false}
      })
      front:ask "Debugger.resume"
      assert.equal(0, command:ended())
      assert.equal("gone on\n", command.out)
    end)
  end)

  it("stops in a coroutine that never yields", function ()
    debugger.attach([[
coroutine.wrap(function ()
  local n = 0
  io.stderr:write "begun\n" while true do
    n = n + 1
  end
end)()
]], function (front)
      local at = front:go "pause"
      assert.equal("number", front:value(at, 1, "n").type)
    end)
  end)
end)

-- Until the kernel says that a process's first thread waits.
local function until_asleep (front, pid)
  while not run.read(("/proc/%d/stat"):format(pid)):find "^%d+ %b() S" do
    front:pass(0.01)
  end
end

describe("the pause button in a program that sleeps", function ()
  it("stops it when the function of C returns", function ()
    debugger.attach([[
io.stderr:write "begun\n" while not go do end
local pipe = io.popen "until test -e awake; do sleep 0.05; done; echo woken"
io.stderr:write "sleeps\n" local word = pipe:read "a"
print(word)
]], function (front, command)
      front:ask("Runtime.evaluate", {expression = "go = true"})
      command:until_ready(function () return command.err:find "sleeps" end)
      until_asleep(front, command.pid)
      assert(front:ask "Debugger.pause")
      run.write(("/proc/%d/cwd/awake"):format(command.pid), "")
      local at = front:event "Debugger.paused"
      assert.equal("(main chunk):4", place(at))
      front:ask "Debugger.resume"
      assert.equal(0, command:ended())
      assert.equal("woken\n\n", command.out)
    end)
  end)
end)

describe("a step", function ()
  it("over a line passes over its calls", function ()
    debugger.debug(program, function (front)
      front:stop_at(8)
      front:go "resume"
      local list = {}
      for i = 1, 4 do
        list[i] = place(front:go "stepOver"):match "^%S+"
      end
      assert.same({"work:9", "work:8", "work:9", "work:8"}, list)
    end)
  end)

  it("into a line goes into a call, and out of it to the caller", function ()
    debugger.debug(program, function (front)
      front:stop_at(9)
      front:go "resume"
      assert.equal("add:2 work:9 (main chunk):15", place(front:go "stepInto"))
      assert.equal("step", front:go "stepInto".reason)
      assert.equal("work:9 (main chunk):15", place(front:go "stepOut"))
    end)
  end)

  it("over the end of a function comes to the caller", function ()
    debugger.debug(program, function (front)
      front:stop_at(3)
      front:go "resume"
      assert.equal("work:9 (main chunk):15", place(front:go "stepOver"))
    end)
  end)

  it("ends where an error was caught", function ()
    debugger.debug([[
local function fail ()
  local x = 1
  error "no"
end
pcall(fail)
print "after"
]], function (front)
      front:stop_at(3)
      front:go "resume"
      assert.equal("(main chunk):6", place(front:go "stepOver"))
    end)
  end)

  it("over a yield comes to the resumer", function ()
    debugger.debug([[
local co = coroutine.wrap(function ()
  coroutine.yield()
  return 1
end)
co()
print "after"
]], function (front)
      front:stop_at(2)
      front:go "resume"
      assert.equal("(main chunk):6", place(front:go "stepOver"))
    end)
  end)

  it("into a resume goes into the coroutine, by whatever way", function ()
    debugger.debug([[
local function body ()
  local x = 1
  coroutine.yield(x)
  return x
end
local co = coroutine.create(body)
coroutine.resume(co)
coroutine.resume(co)
local wrapped = coroutine.wrap(body)
wrapped()
]], function (front)
      front:stop_at(7)
      front:stop_at(10)
      front:go "resume"
      assert.equal("body:2", place(front:go "stepInto"))
      assert.equal("(main chunk):8", place(front:go "stepOut"))
      assert.equal("body:4", place(front:go "stepInto"))
      assert.equal("(main chunk):10", place(front:go "resume"))
      assert.equal("body:2", place(front:go "stepInto"))
    end)
  end)

  it("over a tail call passes over what takes its place", function ()
    debugger.debug([[
local function last ()
  local x = 1
  return x
end
local function first ()
  return last()
end
first()
print "after"
]], function (front)
      front:stop_at(6)
      front:go "resume"
      assert.equal("(main chunk):9", place(front:go "stepOver"))
    end)
  end)

  it("goes into metamethods", function ()
    debugger.debug([[
local t = setmetatable({}, {__index = function (_, key)
  return key
end})
local x = t.y
print(x)
]], function (front)
      front:stop_at(4)
      front:go "resume"
      assert.equal(2, front:go "stepInto".callFrames[1].location.lineNumber
                      + 1)
    end)
  end)

  it("to a place stops there once", function ()
    debugger.debug(program, function (front, paused)
      local id = paused.callFrames[1].location.scriptId
      local at = front:go("continueToLocation", {
        location = {scriptId = id, lineNumber = 2}
      })
      assert.equal("add:3 work:9 (main chunk):15", place(at))
      front:ask "Debugger.resume"
      front:event "Debugger.resumed"
      assert.is_nil(front:event "Debugger.paused")
    end)
  end)

  it("passes over files that are to be ignored", function ()
    debugger.debug({
      ["app.lua"] = "local f = dofile 'lib.lua'\nf()\nprint 'after'\n",
      ["lib.lua"] = "return function ()\n  local x = 1\n  return x\nend\n"
    }, function (front)
      front:ask("Debugger.setBlackboxPatterns", {patterns = {"/lib\\.lua$"}})
      assert.equal("(main chunk):2", place(front:go "stepInto"))
      assert.equal("(main chunk):3", place(front:go "stepInto"))
    end)
  end)
end)
