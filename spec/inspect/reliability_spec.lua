-- A debugged program is the program's first: whatever becomes of debuggers, and
-- whatever the program does while it stands still.

local debugger = require "spec.support.debugger"
local run = require "spec.support.run"

local it = debugger.needed(it, pending)

local place = debugger.place

describe("a program that stands still", function ()
  local program = [[
local x = 1
print "here"
io.stdout:flush()
print "there"
]]

  -- What the command has said by its end, after that in the console of a pause.
  local function ends (code)
    local status, out, signal
    debugger.debug(program, function (front, _, command)
      front:stop_at(4)
      local at = front:go "resume"
      front:post("Debugger.evaluateOnCallFrame", {
        callFrameId = at.callFrames[1].callFrameId, expression = code
      })
      command:until_ready(function () return command.status end)
      status, out, signal = command:ended(), command.out, command.signal
    end)
    return status, out, signal
  end

  it("may be ended by the debugger's code", function ()
    assert.same({3, "here\n", 0}, {ends "os.exit(3)"})
    assert.same({3, "here\n", 0}, {ends "os.exit(3, true)"})
    assert.same({0, "here\n", 9},
                {ends "os.execute('kill -9 $PPID')"})
  end)

  it("goes on when an error is raised in the console", function ()
    debugger.debug(program, function (front, _, command)
      front:stop_at(4)
      local at = front:go "resume"
      local _, details = front:value(at, 1, "error {}")
      assert.matches("^Uncaught %(error object is a table value%)",
                     details.text)
      _, details = front:value(at, 1, "x.y.z")
      assert.matches("attempt to index a number value",
                     details.exception.description)
      front:ask "Debugger.resume"
      assert.equal(0, command:ended())
      assert.equal("here\nthere\n", command.out)
    end)
  end)

  it("goes on by whoever says so first, of several debuggers", function ()
    debugger.debug(program, function (front, _, command, address)
      local other = debugger.connect(address)
      other:ask "Debugger.enable"
      local at = other:event "Debugger.paused"
      assert.equal(1, other:value(at, 1, "0 + 1").value)
      front:post "Debugger.stepOver"
      at = other:event "Debugger.paused"
      assert.equal("(main chunk):2", place(at))
      front:event "Debugger.paused"
      other:post "Debugger.stepOver"
      assert.equal("(main chunk):3", place(front:event "Debugger.paused"))
      other:event "Debugger.paused"
      other:post "Debugger.resume"
      assert.is_table(front:event "Debugger.resumed")
      assert.equal(0, command:ended())
    end)
  end)

  it("is heard to the end by who stays when another one goes", function ()
    debugger.debug(program, function (front, paused, command, address)
      local other = debugger.connect(address)
      other:ask "Debugger.enable"
      other:close()
      assert.equal(2, front:value(paused, 1, "1 + 1").value)
      front:ask "Debugger.resume"
      assert.equal(0, command:ended())
    end)
  end)
end)

describe("a program that opens itself", function ()
  it("may be closed by the console of a pause, and opened again", function ()
    run.within(function (where)
      run.write(where .. "/app.lua", [[
local tracegrip = require "tracegrip"
listening = assert(tracegrip.listen {inspect = 0})
io.stderr:write(listening.inspect, "\n")
function f (x)
  return x
end
while not go do os.clock() end
f(1)
pcall(error)
print(debug.gethook())
listening = assert(tracegrip.listen {inspect = 0})
print(pcall == protected)
listening:close()
print(pcall == protected)
]])
      local command, address = debugger.start({"record", "-o", "x.tgr",
                                               "app.lua"}, where)
      local front = debugger.connect(address)
      front:ask "Debugger.enable"
      front:ask("Debugger.setPauseOnExceptions", {state = "all"})
      front:stop_at(5)
      front:ask("Runtime.evaluate", {expression = "go = true"})
      local at = front:event "Debugger.paused"
      assert.equal("f:5", place(at):match "^%S+")
      front:post("Debugger.evaluateOnCallFrame", {
        callFrameId = at.callFrames[1].callFrameId,
        expression = "(function () protected = pcall listening:close() end)()"
      })
      front:ended()
      assert.equal(0, command:ended())
      assert.equal("nil\ntrue\nfalse\n", command.out)
    end)
  end)
end)

describe("a program that forks", function ()
  local text = ("package.cpath = %q "):format(run.build .. "/spec/?.so") .. [[
local process = require "process"
local pid = process.fork()
local function here (x)
  return x
end
here(1)
if pid == 0 then
  io.stdout:write "child\n"
  io.stdout:flush()
  os.exit(7)
end
print(process.wait(pid))
]]

  it("has a child that stops nowhere, breakpoints or not", function ()
    debugger.debug(text, function (front, _, command)
      front:stop_at(4)
      local at = front:go "resume"
      assert.equal("here:4 (main chunk):6", place(at))
      command:until_says "child\n"
      front:ask "Debugger.resume"
      assert.equal(0, command:ended())
      assert.equal("child\n7\n", command.out)
    end)
  end)

  it("may do so in the console of a pause", function ()
    debugger.debug(text, function (front, _, command)
      front:stop_at(6)
      local at = front:go "resume"
      assert.equal("number", front:value(at, 1, "process.fork()").type)
      front:ask "Debugger.resume"
      assert.equal(0, command:ended())
    end)
  end)
end)

describe("a program's own hook", function ()
  local function output (text, ...)
    local lines, out = {...}, nil
    debugger.debug(text, function (front, _, command)
      for _, line in ipairs(lines) do
        front:stop_at(line)
      end
      while front:go "resume" do end
      assert.equal(0, command:ended())
      out = command.out
    end)
    return out
  end

  local text = [[
local function f (x)
  local y = x + 1
  return y
end
local function watched (mask, count, co)
  local seen = {}
  local function hook (event, line)
    seen[#seen + 1] = event .. (line and ":" .. line or "")
  end
  if co then
    debug.sethook(co, hook, mask, count)
    coroutine.resume(co, 1)
    print(debug.gethook(co) == hook, select(2, debug.gethook(co)))
  else
    debug.sethook(hook, mask, count)
    f(1)
    print(debug.gethook() == hook, select(2, debug.gethook()))
    debug.sethook()
  end
  print(mask, count, table.concat(seen, " "))
end
watched("cr")
watched("l")
watched("", 1)
watched("", 3)
watched("crl", 0, coroutine.create(f))
watched("", 2, coroutine.create(f))
print(debug.gethook())
f(1)
]]

  it("sees what it would see without breakpoints", function ()
    local usual = run.code(text, {name = "app.lua"})
    assert.equal(usual.stdout, output(text, 2, 8, 23))
  end)
end)
