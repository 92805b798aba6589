-- What a program does to its own values and globals does not get in the way of
-- looking at them, and what a debugger asks for is done with those alone.

local debugger = require "spec.support.debugger"
local run = require "spec.support.run"

local it = debugger.needed(it, pending)

-- Runs files up to the end of the first and stops there.
local function stopped (text, use)
  local _, lines = text:gsub("\n", "")
  debugger.debug(text .. "\nlocal last\n", function (front, _, command)
    front:stop_at(lines + 2)
    use(front, front:go "resume", command)
  end)
end

local function set (front, at, scope, name, value)
  return front:ask("Debugger.setVariableValue", {
    callFrameId = at.callFrames[1].callFrameId, scopeNumber = scope,
    variableName = name, newValue = value
  })
end

describe("globals that are guarded", function ()
  it("are set as any others", function ()
    stopped([[
function set () error "called" end
setmetatable(_G, {
  __index = function (_, name) error("not declared: " .. name, 2) end,
  __newindex = function (_, name) error("not declared: " .. name, 2) end
})
known = rawset(_G, "known", 1) and 2]], function (front, at)
      local scopes = at.callFrames[1].scopeChain
      assert.equal("global", scopes[#scopes].type)
      assert.is_table(set(front, at, #scopes - 1, "known", {value = 3}))
      assert.equal(3, front:value(at, 1, "known").value)
      assert.is_table(set(front, at, #scopes - 1, "fresh", {value = "x"}))
      assert.equal("x", front:value(at, 1, "fresh").value)
    end)
  end)

  it("say that the debugger's code has used them", function ()
    stopped([[
setmetatable(_G, {
  __index = function (_, name) error("not declared: " .. name, 2) end,
  __newindex = function (_, name) error("not declared: " .. name, 2) end
})]], function (front, at)
      for _, code in ipairs {"absent", "absent = 1"} do
        local object = front:value(at, 1, code)
        assert.matches("^%(evaluated%):1: not declared: absent",
                       object.description)
        assert.not_matches("inspect/", object.description)
      end
    end)
  end)
end)

describe("values with a metatable of their type", function ()
  it("are shown as if they had none", function ()
    stopped([[
local function called () print "called" return "?" end
local meta = {__tostring = called, __index = called, __lt = called,
              __eq = called, __name = "mine"}
debug.setmetatable(0, meta)
debug.setmetatable(nil, meta)
debug.setmetatable(true, meta)
local n, x, none, yes = 7, 1.5, nil, true]], function (front, at, command)
      local all = front:scope(at, 1, "local")
      assert.equal("7", all.n.description)
      assert.equal("1.5", all.x.description)
      assert.equal("undefined", all.none.type)
      assert.is_true(all.yes.value)
      front:value(at, 1, "{n, x, yes, [1.5] = 2}", {generatePreview = true})
      front:ask "Debugger.resume"
      assert.equal(0, command:ended())
      assert.equal("", command.out)
    end)
  end)
end)

-- Every function of every library and every metamethod of every type counts its
-- calls, and fails if it is not for the program.
local HOSTILE = [[
local real = {rawset = rawset, pairs = pairs, type = type, select = select,
              setmetatable = debug.setmetatable, unpack = table.unpack}
calls, quiet = 0, false
local function wrapped (f)
  return function (...)
    if quiet then calls = calls + 1 end
    return f(...)
  end
end
for _, library in real.pairs {_G, string, table, math, utf8, coroutine, io, os,
                              debug, package} do
  for name, f in real.pairs(library) do
    if real.type(f) == "function" then
      real.rawset(library, name, wrapped(f))
    end
  end
end
local meta = {}
for _, event in real.pairs {"index", "newindex", "call", "tostring", "name",
                            "concat", "len", "eq", "lt", "le", "add", "unm",
                            "close", "pairs"} do
  meta["__" .. event] = function () calls = calls + 1 return nil end
end
for _, value in real.pairs {"", 0, true, real.pairs,
                            coroutine.create(real.type)} do
  real.setmetatable(value, meta)
end
real.setmetatable(nil, meta)
]]

describe("a program that has changed libraries and metatables", function ()
  it("is debugged with none of them", function ()
    stopped(HOSTILE .. [[
local text, list, n = "text", {1, 2, key = "x", [true] = print}, 7
quiet = true
local function f (a) return a end
n = f(n)
n = f(n)]], function (front, at, command)
      local all = front:scope(at, 1, "local")
      assert.equal("text", all.text.value)
      assert.equal("table(#2)", all.list.description)
      front:properties(all.list.objectId)
      front:scope(at, 1, "global")
      assert.equal("x", front:value(at, 1, "list.key",
                                    {generatePreview = true}).value)
      assert.equal("x", front:value(at, 1, "list.key",
                                    {throwOnSideEffect = true}).value)
      assert.equal(0, front:value(at, 1, "calls").value)
      front:ask("Debugger.setPauseOnExceptions", {state = "all"})
      front:ask "Profiler.enable"
      front:ask("Profiler.startPreciseCoverage", {callCount = true})
      front:ask "Profiler.takePreciseCoverage"
      assert.equal(0, front:value(at, 1, "calls").value)
      front:ask "Debugger.resume"
      assert.equal(0, command:ended())
      assert.not_matches("debugger:", command.err)
    end)
  end)

  it("has its own in what it evaluates", function ()
    stopped([[
getmetatable("").__index = function (s, i) return string.sub(s, i, i) end
local s = "abc"]], function (front, at)
      assert.equal("b", front:value(at, 1, "s[2]").value)
      front:value(at, 1, "debug.setmetatable('', nil)")
      assert.equal("abc", front:value(at, 1, "s").value)
      front:value(at, 1, "debug.setmetatable('', {__index = error})")
      assert.equal("abc", front:scope(at, 1, "local").s.value)
    end)
  end)

  it("listens", function ()
    local done = run.code([[
local tracegrip = require "tracegrip"
]] .. HOSTILE .. [[
quiet = true
local listening, problem = tracegrip.listen {inspect = 0, port = 0}
local made, counted = listening ~= nil, calls
listening:close()
os.exit(made and counted == 0)
]])
    assert.equal(0, done.status, done.stderr)
  end)
end)

describe("a field of a large table", function ()
  it("is changed where it is shown", function ()
    stopped([[
local t = {}
for i = 1, 1000 do t[i] = i end]], function (front, at)
      local id = front:scope(at, 1, "local").t.objectId
      local part = front:properties(id)["[101 … 200]"].objectId
      local function change (name)
        return front:ask("Runtime.callFunctionOn", {
          objectId = part, functionDeclaration = "function(a, b) "
            .. "{ this[a] = b; }",
          arguments = {{value = name}, {value = "new"}}
        })
      end
      assert.is_table(change "150")
      assert.equal("new", front:value(at, 1, "t[150]").value)
      assert.is_nil(change "7")
      assert.equal("number", front:value(at, 1, "t[7]").type)
    end)
  end)
end)

describe("an evaluation", function ()
  it("ends in time, whatever it catches", function ()
    stopped("local x", function (front, at)
      local object, details = front:value(at, 1, [[
        (function ()
          while true do
            pcall(function () while true do end end)
          end
        end)()]], {timeout = 100})
      assert.matches("took too long", object.description)
      assert.is_table(details)
    end)
  end)

  it("tells of its error to who asks for silence as well", function ()
    stopped("local x", function (front, at)
      local object, details = front:value(at, 1, "x.y", {silent = true})
      assert.equal("error", object.subtype)
      assert.is_table(details)
    end)
  end)
end)

describe("what a debugger was shown", function ()
  it("is let go of when it has gone", function ()
    debugger.attach([[
local weak = (function ()
  kept = {}
  return setmetatable({kept}, {__mode = "v"})
end)()
io.stderr:write "begun\n" while kept do end
while weak[1] do collectgarbage() end
print "gone"
]], function (front, command)
      front:ask("Runtime.evaluate", {expression = "kept"})
      front:ask("Runtime.evaluate", {expression = "kept = nil"})
      front:pass(0.1)
      assert.equal("", command.out)
      front:close()
      assert.equal(0, command:ended())
      assert.equal("gone\n", command.out)
    end)
  end)

  it("is no coroutine that has died of an error", function ()
    debugger.debug([[
local weak = setmetatable({}, {__mode = "k"})
do
  local co = coroutine.create(error)
  weak[co] = true
  coroutine.resume(co, {})
end
collectgarbage()
print(next(weak))
]], function (front, _, command)
      front:ask("Debugger.setPauseOnExceptions", {state = "all"})
      assert.equal("exception", front:go "resume".reason)
      front:ask "Debugger.resume"
      assert.equal(0, command:ended())
      assert.equal("nil\n", command.out)
    end)
  end)
end)
