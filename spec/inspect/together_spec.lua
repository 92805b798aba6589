-- A debugger beside all else: traces, the program's own hooks, other ways to
-- open a program, its end; and that nothing is left when it is gone.

local debugger = require "spec.support.debugger"
local run = require "spec.support.run"

local it = debugger.needed(it, pending)

local place = debugger.place

describe("a trace that runs at the same time", function ()
  local program = [[
local tracegrip = require "tracegrip"
local function f (x)
  return x + 1
end
local trace = tracegrip.start {trace = {"name"}, c = false}
local a = f(1)
local b = f(2)
trace:stop()
local names = {}
for packet in trace:packets() do
  names[#names + 1] = packet.type .. " " .. tostring(packet.name)
end
print(table.concat(names, ","))
]]
  local events = "enteredFrame f,exitedFrame nil,enteredFrame f,"
                 .. "exitedFrame nil"

  it("has the program's calls and none of ours", function ()
    debugger.debug(program, function (front, _, command)
      front:stop_at(3)
      for i = 1, 2 do
        local at = front:go "resume"
        assert.equal("f:3", place(at):match "^%S+")
        assert.equal(i, front:value(at, 1, "x").value)
        assert.equal("function", front:value(at, 2, "f").type)
        assert.equal(9, front:value(at, 1, "(function () return 9 end)()")
                             .value)
      end
      assert.matches("^%(main chunk%):8", place(front:go "stepOut"))
      front:ask "Debugger.resume"
      assert.equal(0, command:ended())
      assert.equal(events .. "\n", command.out)
    end)
  end)

  it("has no time of a pause in its times", function ()
    debugger.debug([[
local tracegrip = require "tracegrip"
local function f (x)
  return x + 1
end
local trace = tracegrip.start {c = false}
f(1)
trace:stop()
local row = trace:report().functions[1]
print(row.name, row.calls, row.total_ms)
]], function (front, _, command)
      front:stop_at(3)
      front:go "resume"
      front:pass(2)
      front:ask "Debugger.resume"
      assert.equal(0, command:ended())
      local ms = tonumber(command.out:match "f\t1\t(%S+)\n")
      assert.is_true(ms < 1900, command.out)
    end)
  end)

  it("may begin and end within a step", function ()
    debugger.debug(program, function (front, _, command)
      local lines = {}
      for _ = 1, 6 do
        local paused = front:go "stepOver"
        lines[#lines + 1] = paused.callFrames[1].location.lineNumber + 1
      end
      assert.same({4, 5, 6, 7, 8, 9}, lines)
      front:ask "Debugger.resume"
      assert.equal(0, command:ended())
      assert.equal(events .. "\n", command.out)
    end)
  end)
end)

describe("a program's own hook", function ()
  it("stays, where it has one, and is not stopped in", function ()
    debugger.debug([[
local lines = 0
debug.sethook(function () lines = lines + 1 end, "l")
local x = 1
local y = 2
debug.sethook()
local after = x + y
print(lines, debug.gethook())
]], function (front, _, command)
      front:stop_at(4)
      front:ask "Debugger.resume"
      assert.equal(0, command:ended())
      assert.equal("3\tnil\n", command.out)
    end)
  end)
end)

describe("a program's own hook on a coroutine that has resumed another",
         function ()
  it("is there after pauses in that, whenever messages come", function ()
    debugger.debug([[
local count, lost = 0, 0
local function own () count = count + 1 end
local co = coroutine.wrap(function ()
  while true do
    coroutine.yield(1)
  end
end)
for round = 1, 50 do
  debug.sethook(own, "", 100)
  co()
  if debug.gethook() ~= own then lost = lost + 1 end
  debug.sethook()
end
print(lost)
]], function (front, _, command)
      front:stop_at(5)
      for _ = 1, 50 do
        front:go "resume"
        for _ = 1, 20 do
          front:post "Runtime.getIsolateId"
        end
      end
      front:ask "Debugger.resume"
      assert.equal(0, command:ended())
      assert.equal("0\n", command.out)
    end)
  end)
end)

describe("a program without breakpoints", function ()
  it("has no hook, though a debugger is attached", function ()
    debugger.debug([[
print(kept.gethook())
print(kept.gethook(coroutine.create(print)))
]], function (front, _, command)
      front:ask "Debugger.resume"
      assert.equal(0, command:ended())
      assert.equal("nil\nnil\n", command.out)
    end, debugger.keeping)
  end)

  it("loses the hook with the last breakpoint", function ()
    debugger.debug([[
print(kept.gethook() == nil)
local hook = kept.gethook()
print(hook)
]], function (front, _, command)
      local set = front:stop_at(2)
      front:go "resume"
      front:ask("Debugger.removeBreakpoint", {breakpointId = set.breakpointId})
      front:ask "Debugger.resume"
      assert.equal(0, command:ended())
      assert.equal("false\nnil\n", command.out)
    end, debugger.keeping)
  end)
end)

describe("a pause", function ()
  it("leaves nothing in the program's memory", function ()
    debugger.debug([[
local weak = setmetatable({}, {__mode = "k"})
do
  local t = {}
  weak[t] = true
  local here = 1
end
collectgarbage()
print(next(weak))
]], function (front, _, command)
      front:stop_at(5)
      local paused = front:go "resume"
      local t = front:scope(paused, 1, "local").t
      front:properties(t.objectId)
      front:value(paused, 1, "t")
      front:ask "Debugger.resume"
      assert.equal(0, command:ended())
      assert.equal("nil\n", command.out)
    end)
  end)

  it("costs as much memory the hundredth time as the first", function ()
    debugger.debug([[
local first
for i = 1, 300 do
  collectgarbage()
  first = first or i == 100 and collectgarbage "count"
end
print(collectgarbage "count" - first)
]], function (front, _, command)
      front:stop_at(4)
      for _ = 1, 300 do
        front:scope(front:go "resume", 1, "local")
      end
      front:ask "Debugger.resume"
      assert.equal(0, command:ended())
      assert.is_true(tonumber(command.out) < 8, command.out)
    end)
  end)

  it("is asked for by the program, at its own line", function ()
    debugger.debug([[
local tracegrip = require "tracegrip"
local function f (x)
  tracegrip.pause()
  return x
end
f(1)
]], function (front)
      local at = front:go "resume"
      assert.equal("f:3 (main chunk):6", place(at))
      assert.equal("other", at.reason)
      assert.equal("f:4 (main chunk):6", place(front:go "stepOver"))
    end)
  end)

  it("is no matter to a program that nobody debugs", function ()
    local result = run.code [[
      local tracegrip = require "tracegrip"
      tracegrip.pause()
      tracegrip.listen {inspect = 0}
      tracegrip.pause()
      print "ran"
    ]]
    assert.equal("ran\n", result.stdout)
  end)

  it("is survived by the program's globals, whatever they are", function ()
    debugger.debug([[
pcall, next, type, rawget, error, select = nil
string, table, debug, coroutine, require = nil
local x = 1
]], function (front)
      front:stop_at(3)
      local at = front:go "resume"
      assert.equal("(main chunk):3", place(at))
      assert.equal(3, front:value(at, 1, "1 + 2").value)
    end)
  end)
end)

describe("a program that opens itself", function ()
  it("does so by listen, for both protocols if it wants", function ()
    debugger.attach([[
local tracegrip = require "tracegrip"
local listening = assert(tracegrip.listen {inspect = 0, port = 0})
print(listening.port > 0, listening.inspect:match "^devtools://" ~= nil)
listening:close()
local debugged = assert(tracegrip.listen {inspect = 0})
print(debugged.address, debugged.port)
io.stderr:write "begun\n" while not done do end
debugged:close()
]], function (front, command)
      local address = command.err:match ".*&ws=(%S+)\n"
      local second = debugger.connect(address)
      assert.equal(2, second:ask("Runtime.evaluate",
                                 {expression = "1 + 1"}).result.value)
      front:ask("Runtime.evaluate", {expression = "done = true"})
      second:ended()
      front:ended()
      assert.equal(0, command:ended())
      assert.equal("true\ttrue\nnil\tnil\n", command.out)
    end)
  end)

  it("may be closed, and opened again, by a debugger's code", function ()
    debugger.attach([[
local tracegrip = require "tracegrip"
listening = assert(tracegrip.listen {inspect = 0})
print "open"
io.stderr:write "begun\n" while not again do end
listening:close()
print "closed"
]], function (front, command)
      front:ask("Runtime.evaluate", {expression = "listening:close()"})
      front:ask("Runtime.evaluate", {expression = "listening = require "
        .. "'tracegrip'.listen {inspect = 0}; again = true"})
      assert.equal(0, command:ended())
      assert.equal("open\nclosed\n", command.out)
    end)
  end)

  it("does so by TRACEGRIP_INSPECT", function ()
    local result = run.code([[
      require "tracegrip.auto"
      print "ran"
    ]], {env = {TRACEGRIP_INSPECT = "0"}})
    assert.equal("ran\n", result.stdout)
    assert.matches("^tracegrip: to debug, open devtools://", result.stderr)
  end)

  it("does so at the next port that is free if it is run by another",
     function ()
    local child = [[
      require "tracegrip.auto"
      print "ran"
    ]]
    run.within(function (where)
      run.write(where .. "/child.lua", child)
      local result = run.code([[
        local uv = require "luv"
        local taken = uv.new_tcp()
        taken:bind("127.0.0.1", 0)
        taken:listen(1, function () end)
        local port = taken:getsockname().port
        uv.os_setenv("TRACEGRIP_INSPECT", tostring(port))
        os.execute(arg[1] .. " " .. arg[2])
        print(port)
      ]], {args = {run.lua, where .. "/child.lua"}})
      local port = tonumber(result.stdout:match "^ran\n(%d+)\n$")
      local said, address =
        result.stderr:match "^(.*&ws=127%.0%.0%.1:(%d+)/%S+\n)$"
      assert(said and not said:find "\n.", result.stderr)
      assert.is_true(tonumber(address) > port)
    end)
  end)

  it("is told what is wrong with a port", function ()
    local result = run.code [[
      print(pcall(require("tracegrip").listen, {inspect = "x"}))
    ]]
    assert.matches("option 'inspect' must be a number from 0 to 65535",
                   result.stdout)
  end)
end)
