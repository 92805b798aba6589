-- Pauses on exceptions: errors of all kinds are seen where they are raised,
-- with the stack still there, and what the program does with them stays the
-- same.

local debugger = require "spec.support.debugger"
local run = require "spec.support.run"

local it = debugger.needed(it, pending)

-- Message handlers of others are told from other calls by the interpreter's
-- memory.
local it_reads = debugger.needs_memory(it, pending)

local place = debugger.place

-- The next pauses up to the program's end, each as "line: error".
local function errors (front, command, which)
  front:ask("Debugger.setPauseOnExceptions", {state = which})
  local list = {}
  local at = front:go "resume"
  while at do
    assert.equal("exception", at.reason)
    local what = at.data
    list[#list + 1] = ("%d: %s%s"):format(
      at.callFrames[1].location.lineNumber + 1,
      tostring(what.value or what.description or what.type),
      what.uncaught and " (uncaught)" or "")
    at = front:go "resume"
  end
  command:ended()
  return list
end

local program = [[
local function fail (what)
  local here = what
  error(here)
end
print(pcall(fail, "text"))
print(select("#", pcall(fail, nil)))
print(pcall(function () local t = nil; return t + 1 end))
print(pcall(function () undefined() end))
print(pcall(string.rep))
print(pcall(function ()
  assert(false, "no")
end))
print(xpcall(fail, function (e) return "handled " .. tostring(e) end, "x"))
print(coroutine.resume(coroutine.create(function ()
  coroutine.yield(error "in a coroutine")
end)))
local co = coroutine.wrap(function ()
  local x = {} .. "y"
end)
print(pcall(co))
local yields = coroutine.wrap(function ()
  print(pcall(function ()
    coroutine.yield(1)
    error("behind a yield", 0)
  end))
  error {}
end)
yields()
print(select("#", pcall(yields)))
print(pcall(yields))
error {"no more"}
]]

describe("a pause on an exception", function ()
  it("shows the frames of the error, and their variables", function ()
    debugger.debug(program, function (front)
      front:ask("Debugger.setPauseOnExceptions", {state = "all"})
      local at = front:go "resume"
      assert.equal("exception", at.reason)
      assert.equal("fail:3 (main chunk):5", place(at))
      assert.equal("fail", at.callFrames[1].functionName)
      assert.same({type = "string", value = "app.lua:3: text",
                   uncaught = false}, at.data)
      assert.equal("text", front:scope(at, 1, "local").here.value)
      assert.equal("text!", front:value(at, 1, "here .. '!'").value)
    end)
  end)

  it_reads("comes for errors of all kinds, and changes none", function ()
    local usual = run.code(program)
    debugger.debug(program, function (front, _, command)
      local list = errors(front, command, "all")
      assert.same({
        "3: app.lua:3: text", "3: undefined",
        "7: app.lua:7: attempt to perform arithmetic on a nil value "
          .. "(local 't')",
        "8: app.lua:8: attempt to call a nil value (global 'undefined')",
        "9: bad argument #1 to 'string.rep' (string expected, got no value)",
        "11: app.lua:11: no", "3: app.lua:3: x",
        "15: app.lua:15: in a coroutine",
        "18: app.lua:18: attempt to concatenate a table value",
        "24: behind a yield", "26: table",
        "30: cannot resume dead coroutine",
        "31: table(#1) (uncaught)"
      }, list)
      local function normal (text)
        return (text:gsub("%S+:(%d+: )", "%1"))
      end
      assert.equal(normal(usual.stdout), normal(command.out))
    end)
  end)

  it_reads("comes for those alone that nobody catches, if so wished",
           function ()
    debugger.debug([[
pcall(error, "caught")
coroutine.resume(coroutine.create(function () error "by resume" end))
xpcall(function () error "by xpcall" end, function () end)
pcall(coroutine.wrap(function () error "behind wrap" end))
local co = coroutine.wrap(function ()
  local deep = 1
  coroutine.wrap(function ()
    local deeper = 2
    local t = nil
    t.x = 1
  end)()
end)
co()
]], function (front, _, command)
      assert.same({"10: app.lua:10: attempt to index a nil value "
                   .. "(local 't') (uncaught)"},
                  errors(front, command, "uncaught"))
    end)
  end)

  it_reads("comes for those alone that somebody catches, if so wished",
           function ()
    debugger.debug([[
pcall(error, "caught", 0)
error("uncaught", 0)
]], function (front, _, command)
      assert.same({"1: caught"}, errors(front, command, "caught"))
    end)
  end)

  it("has the variables of a coroutine that has died, and its resumers",
     function ()
    debugger.debug([[
local function work (n)
  local double = 2 * n
  error(double)
end
local co = coroutine.create(work)
print(coroutine.resume(co, 4))
]], function (front, _, command)
      front:ask("Debugger.setPauseOnExceptions", {state = "all"})
      front:ask("Debugger.setAsyncCallStackDepth", {maxDepth = 32})
      local at = front:go "resume"
      assert.equal(8, at.data.value)
      assert.equal("work:3", place(at))
      assert.equal(8, front:scope(at, 1, "local").double.value)
      assert.equal(5, front:value(at, 1, "n + 1").value)
      local lines = {}
      for _, frame in ipairs(at.asyncStackTrace.callFrames) do
        lines[#lines + 1] = frame.url:find "app" and frame.lineNumber + 1
      end
      assert.same({6}, lines)
      assert.equal("(main chunk):6", place(front:go "stepOver"))
      front:ask "Debugger.resume"
      assert.equal(0, command:ended())
      assert.equal("false\t8\n", command.out)
    end)
  end)

  it_reads("is followed by a step to where the error is caught", function ()
    debugger.debug([[
local function fail ()
  error "no"
end
pcall(fail)
print "after"
xpcall(fail, function (e)
  return e .. "!"
end)
print "end"
]], function (front, _, command)
      front:ask("Debugger.setPauseOnExceptions", {state = "all"})
      assert.equal("fail:2 (main chunk):4", place(front:go "resume"))
      assert.equal("(main chunk):5", place(front:go "stepOver"))
      assert.equal("fail:2 (main chunk):6", place(front:go "resume"))
      assert.equal(":7 fail:2 (main chunk):6", place(front:go "stepOver"))
      assert.equal("(main chunk):9", place(front:go "stepOut"))
      front:ask "Debugger.resume"
      assert.equal(0, command:ended())
    end)
  end)

  it("passes over files that are to be ignored, and over all on demand",
     function ()
    debugger.debug({
      ["app.lua"] = "local f = dofile 'lib.lua'\npcall(f)\npcall(error)\n",
      ["lib.lua"] = "return function ()\n  error 'no'\nend\n"
    }, function (front, _, command)
      front:ask("Debugger.setBlackboxPatterns", {patterns = {"/lib\\.lua$"}})
      assert.same({"3: undefined"}, errors(front, command, "all"))
    end)
    debugger.debug("pcall(error)\n", function (front, _, command)
      front:ask("Debugger.setSkipAllPauses", {skip = true})
      assert.same({}, errors(front, command, "all"))
    end)
  end)

  it_reads("comes for an error and not for those of its handler", function ()
    debugger.debug([[
print(xpcall(error, function (e)
  local x = e.field.field
end, {}))
]], function (front, _, command)
      assert.same({"1: table"}, errors(front, command, "all"))
    end)
  end)

  it("comes where the stack overflows", function ()
    debugger.debug([[
local function deeper (n)
  return 1 + deeper(n + 1)
end
local ok, message = pcall(deeper, 1)
print(ok, message:match "stack overflow")
]], function (front, _, command)
      local list = errors(front, command, "all")
      assert.equal(1, #list)
      assert.matches("^2: .*stack overflow", list[1])
      assert.equal("false\tstack overflow\n", command.out)
    end)
  end)

  it("comes where C has no more levels, and says nothing besides", function ()
    debugger.debug([[
local function deeper ()
  return (("x"):gsub("x", deeper))
end
local ok, message = pcall(deeper)
print(ok, message:match "C stack overflow")
]], function (front, _, command)
      local list = errors(front, command, "all")
      assert.equal(1, #list)
      assert.matches("C stack overflow", list[1])
      assert.equal("false\tC stack overflow\n", command.out)
      assert.is_nil(command.err:find("debugger:", 1, true))
    end)
  end)

  it("is no matter to debuggers that have not asked for any", function ()
    debugger.debug([[
pcall(error)
print(kept.gethook())
]], function (front, _, command)
      assert.equal(-32000, select(2, front:ask("Debugger.setPauseOnExceptions",
                                               {state = "some"})).code)
      assert.same({}, errors(front, command, "none"))
      assert.equal("nil\n", command.out)
    end, debugger.keeping)
  end)

  it("comes no more when who asked for it has gone", function ()
    debugger.debug([[
local x = 1
pcall(error)
print(kept.gethook())
]], function (front, _, command, address)
      local other = debugger.connect(address)
      other:ask "Debugger.enable"
      other:ask("Debugger.setPauseOnExceptions", {state = "all"})
      other:close()
      front:ask "Debugger.resume"
      assert.equal(0, command:ended())
      assert.equal("nil\n", command.out)
    end, debugger.keeping)
  end)

  it("comes for one of a __close method that coroutine.close calls, where "
     .. "that was called", function ()
    debugger.debug([[
local bad = {__close = function () error("closing", 0) end}
local function body ()
  local c <close> = setmetatable({}, bad)
  coroutine.yield()
  error("first", 0)
end
local co = coroutine.create(body)
coroutine.resume(co)
print(coroutine.close(co))
co = coroutine.create(body)
coroutine.resume(co)
coroutine.resume(co)
print(coroutine.close(co))
co = coroutine.wrap(body)
co()
print(pcall(co))
co = coroutine.create(error)
coroutine.resume(co, "dead")
print(coroutine.close(co))
print(coroutine.close(coroutine.create(print)))
]], function (front, _, command)
      assert.same({"9: closing", "5: first", "13: closing", "5: first",
                   "16: closing", "1: dead"}, errors(front, command, "all"))
      assert.equal("false\tclosing\nfalse\tclosing\nfalse\tclosing\n"
                   .. "false\tdead\ntrue\n", command.out)
    end)
  end)
end)

describe("a program whose errors are watched", function ()
  local function same (text, how)
    local usual = run.code(text, {name = "app.lua"})
    debugger.debug(text, function (front, _, command)
      errors(front, command, how)
      assert.equal(usual.stdout, command.out)
      assert.equal(usual.status, command:ended())
    end)
  end

  it("sees its own frames and no others, at all levels", function ()
    same([[
local function short (text)
  return (text:gsub("%S-([^/ ]+%.lua)", "%1"):gsub("0x%x+", "address"))
end
local function fail () error "no" end
print(short(select(2, xpcall(fail, debug.traceback))))
print(short(select(2, xpcall(fail, function (e)
  return debug.traceback(e, 1) .. debug.getinfo(2, "n").name
end))))
print(short(select(2, pcall(function () error("x", 2) end))))
print(pcall(function () return debug.getinfo(2, "n").name end))
print(short(debug.traceback()))
local values = {pcall(function (...) return ... end, 1, nil, 3)}
print(#values, values[1], values[4])
print(debug.getinfo(pcall, "S").what, pcall == _G.pcall)
]], "all")
  end)

  it("yields across pcall, closes variables, and calls its copies", function ()
    same([[
local mine = pcall
local co = coroutine.wrap(function ()
  return mine(function (a)
    local b = coroutine.yield(a)
    local c <close> = setmetatable({}, {__close = function (_, e)
      print("closed", type(e))
      coroutine.yield "closing"
    end})
    error {coroutine.yield(b)}
  end, 1)
end)
print(co(), co(2), co(3))
local ok, e = co()
print(ok, e[1])
]], "all")
  end)

  it("has its own hook, which sees no call of ours", function ()
    same([[
local seen = {}
debug.sethook(function (event)
  local info = debug.getinfo(2, "Sn")
  seen[#seen + 1] = event .. " " .. tostring(info.name) .. " " .. info.what
end, "cr")
pcall(error, "x")
pcall(function () local t = nil; t.x = 1 end)
debug.sethook()
print(table.concat(seen, "\n"))
]], "all")
  end)
end)

describe("a trace", function ()
  it_reads("has no frame of ours beside an error that is watched", function ()
    local text = [[
local tracegrip = require "tracegrip"
local function fail () error "no" end
local trace = tracegrip.start {trace = {"name", "throw"}}
pcall(fail)
xpcall(fail, function (e) return e end)
coroutine.resume(coroutine.create(fail))
trace:stop()
for packet in trace:packets() do
  print(packet.type, packet.name, packet.completion,
        packet.value and packet.value.value)
end
]]
    local usual = run.code(text, {name = "app.lua"})
    debugger.debug(text, function (front, _, command)
      assert.equal(3, #errors(front, command, "all"))
      assert.equal(usual.stdout, command.out)
    end)
  end)
end)
