-- A program that waits in C, such as a server without a request, is asked as
-- any other: what is known of it, breakpoints; and code, where luv's loop can
-- be woken for that. Elsewhere it says where it is.

local debugger = require "spec.support.debugger"
local run = require "spec.support.run"
local schema = require "spec.support.schema"

local it = debugger.needed(it, pending)

-- Calls use(front end, command, gate) of a program that has opened the pipe
-- "gate" to read, as its first act.
local function with_gate (text, use)
  run.within(function (where)
    run.write(where .. "/app.lua", text)
    assert(os.execute("mkfifo " .. run.quote(where .. "/gate")))
    local command, address = debugger.start({"serve", "--inspect=0",
                                             "app.lua"}, where)
    local gate <close> = assert(io.open(where .. "/gate", "w"))
    debugger.with(command, use, debugger.connect(address), command, gate)
  end)
end

local function notes (front)
  return front:events "Runtime.consoleAPICalled"
end

-- Asks until it is told that there is no answer, as the program may be about to
-- wait: what it is told, and the id of the request.
local function refused (front, method, params)
  local id
  repeat
    id = front:post(method, params)
    while not front.replies[id] and #notes(front) == 0 do
      front:pass(0.01)
    end
  until #notes(front) > 0
  assert.is_nil(front.replies[id])
  return notes(front)[1].args[1].value, id
end

-- All that needs no Lua to run: it has its answers while the program waits.
local function look (front, line)
  assert(front:ask "Runtime.enable")
  assert(front:ask "Debugger.enable")
  local script
  for _, one in ipairs(front:events "Debugger.scriptParsed") do
    script = one.url:find "/app%.lua$" and one.scriptId or script
  end
  local source = front:ask("Debugger.getScriptSource", {scriptId = script})
  assert.matches("^local ", source.scriptSource)
  assert.is_true(#front:ask("Debugger.getPossibleBreakpoints", {
    start = {scriptId = script, lineNumber = 0}
  }).locations > 0)
  assert.equal(1, #front:stop_at(line).locations)
  assert.equal("Lua 5", front:ask("Runtime.evaluate", {
    expression = "_VERSION", throwOnSideEffect = true
  }).result.value:sub(1, 5))
end

local server = [[
local uv = require "luv"
local function handle (n)
  return n + 1
end
local listener = uv.new_tcp()
listener:bind("127.0.0.1", 0)
listener:listen(1, function () end)
local function count ()
  local n = 0
  uv.walk(function () n = n + 1 end)
  return n
end
function later ()
  local timer = uv.new_timer()
  timer:start(0, 0, function () timer:close() handle(1) end)
end
function finish ()
  print(count(), uv.loop_alive())
  listener:close()
end
io.stderr:write "begun\n"
uv.run(MODE)
print("over", count(), uv.loop_close())
]]

describe("a program that waits in luv's loop", function ()
  it("answers at once, and stops at a breakpoint", function ()
    debugger.attach(server:gsub("MODE", ""), function (front)
      look(front, 3)
      assert.equal("number", front:ask("Runtime.evaluate", {
        expression = "later() return 1 + 1"
      }).result.type)
      local paused = front:event "Debugger.paused"
      assert.matches("^handle:3 ", debugger.place(paused))
      front:ask "Debugger.resume"
    end)
  end)

  it("has the handles that it had, and its loop ends", function ()
    debugger.attach(server:gsub("MODE", ""), function (front, command)
      for _ = 1, 5 do
        assert(front:ask("Runtime.evaluate", {expression = "1 + #arg"}))
      end
      front:ask("Runtime.evaluate", {expression = "finish()"})
      assert.equal(0, command:ended())
      -- the one that has brought the code is still closing
      assert.matches("^[12]\ttrue\nover\t0\t0\n$", command.out)
    end)
  end)

  it("is told from one whose loop would end with our event", function ()
    debugger.attach(server:gsub("MODE", "'once'"), function (front, command)
      look(front, 3)
      local told = refused(front, "Runtime.evaluate", {expression = "x = 1"})
      assert.matches("C function: run at [%w./_-]*app%.lua:22", told)
      assert.equal("", command.out)
    end)
  end)
end)

describe("a program that waits in another C function", function ()
  it("answers what needs no Lua, says where it is, and runs the rest later",
     function ()
    with_gate([[
local gate = io.open "gate"
local function read ()
  return (gate:read "l")
end
local co = coroutine.wrap(function () return read() end)
local line = co()
print(line, x)
]], function (front, command, gate)
      look(front, 7)
      local told, id = refused(front, "Runtime.evaluate",
                               {expression = "x = 7"})
      assert.matches("C function: read at [%w./_-]*app%.lua:3", told)
      local other = front:post("Runtime.evaluate", {expression = "x = x + 1"})
      assert(front:ask "Runtime.getIsolateId")
      assert.is_nil(front.replies[id] or front.replies[other])
      gate:write "hello\n"
      gate:flush()
      local paused = front:event "Debugger.paused"
      assert.matches("^%(main chunk%):7", debugger.place(paused))
      assert(front:reply(id).result and front:reply(other).result)
      assert.equal(8, front:value(paused, 1, "x").value)
      front:ask "Debugger.resume"
      assert.equal(0, command:ended())
      assert.equal("hello\t8\n", command.out)
      assert.equal(1, #front:events "Runtime.consoleAPICalled")
      assert.is_true(schema.known() == false or front.valid > 0)
    end)
  end)

  it("keeps its collector as it was", function ()
    with_gate([[
local gate = io.open "gate"
local freed = 0
collectgarbage "stop"
setmetatable({}, {__gc = function () freed = freed + 1 end})
gate:read "l"
print(collectgarbage "isrunning", freed)
collectgarbage "restart"
gate:read "l"
print(collectgarbage "isrunning")
]], function (front, command, gate)
      look(front, 6)
      gate:write "1\n"
      gate:flush()
      front:event "Debugger.paused"
      front:ask "Debugger.resume"
      command:until_says "false\t0"
      assert(front:ask "Runtime.getIsolateId")
      gate:write "2\n"
      gate:flush()
      assert.equal(0, command:ended())
      assert.equal("false\t0\ntrue\n", command.out)
    end)
  end)

  it("is told of where it cannot even say that", function ()
    debugger.debug([[
local text = ("a"):rep(40)
print "ready"
io.stdout:flush()
text:find(("a?"):rep(40) .. text)
]], function (front, _, command)
      front:post "Debugger.resume"
      command:until_says "ready"
      assert.matches("^The program does not answer",
                     (refused(front, "Runtime.getIsolateId")))
    end)
  end)
end)
