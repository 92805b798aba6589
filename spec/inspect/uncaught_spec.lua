-- Errors that end a program, as a debugger is told of them.

local debugger = require "spec.support.debugger"
local run = require "spec.support.run"

local it = debugger.needed(it, pending)

-- What Lua itself says of the program.
local function alone (text)
  local said
  run.within(function (where)
    run.write(where .. "/app.lua", text)
    said = run.command({run.lua, "app.lua"}, {cwd = where}).stderr
  end)
  return said
end

-- Runs a program to its end; what was thrown, and the command.
local function thrown (text, state)
  local list, ended
  debugger.debug(text, function (front, _, command)
    front:ask("Debugger.setPauseOnExceptions", {state = state or "none"})
    front:ask "Debugger.resume"
    if state then
      front:event "Debugger.paused"
      front:ask "Debugger.resume"
    end
    front:ended()
    assert.equal(1, command:ended())
    list, ended = front:events "Runtime.exceptionThrown", command
  end)
  local said = ended.err:gsub("^tracegrip: to debug[^\n]*\n", "")
  assert.equal(alone(text), said)
  return list
end

local function place (details)
  local list = {}
  for i, frame in ipairs(details.stackTrace.callFrames) do
    list[i] = ("%s:%d"):format(frame.functionName, frame.lineNumber + 1)
  end
  return table.concat(list, " ")
end

describe("an error that ends the program", function ()
  it("is told with its frames, and Lua says of it what it always says",
  function ()
    local list = thrown [[
local function inner () error "broken" end
local function outer () inner() end
outer()
]]
    assert.equal(1, #list)
    local details = list[1].exceptionDetails
    assert.equal("Uncaught", details.text)
    assert.equal("app.lua:1: broken", details.exception.description)
    assert.equal("error:1 inner:1 outer:2 (main chunk):3 :1", place(details))
    assert.near(os.time() * 1000, list[1].timestamp, 60000)
  end)

  it("may be any value", function ()
    for text, description in pairs {
      ["error {1, 2}"] = "table(#2)", ["local x = nil + 1"] =
        "app.lua:1: attempt to perform arithmetic on a nil value",
      ["error(setmetatable({}, {__tostring = function () return 'T' end}))"]
        = "table", ["error()"] = "nil", ["error(7)"] = "7",
      ["coroutine.wrap(function () error('in', 0) end)()"]
        = "app.lua:1: in"
    } do
      local list = thrown(text)
      assert.equal(1, #list)
      assert.equal(description, list[1].exceptionDetails.exception.description)
    end
  end)

  it("is told once where errors stop the program", function ()
    local list = thrown("local function f () error 'x' end\nf()", "uncaught")
    assert.equal(1, #list)
    assert.equal("error:1 f:1 (main chunk):2 :1",
                 place(list[1].exceptionDetails))
  end)

  it("is told where C has no more levels", function ()
    local list = thrown [[
local function deeper ()
  return (("x"):gsub("x", deeper))
end
deeper()
]]
    assert.equal(1, #list)
    assert.matches("C stack overflow",
                   list[1].exceptionDetails.exception.description)
  end)

  it("is told of a program that runs when the debugger comes", function ()
    debugger.attach("io.stderr:write 'begun\\n'\n"
                    .. "while not stop do end\nerror 'late'",
      function (front, command)
        front:ask("Runtime.evaluate", {expression = "stop = true"})
        local details = front:event("Runtime.exceptionThrown").exceptionDetails
        assert.equal("app.lua:3: late", details.exception.description)
        assert.equal(1, command:ended())
      end)
  end)

  it("is not looked for by calls of a host's functions", function ()
    run.within(function (where)
      run.write(where .. "/app.lua", ("package.cpath = %q .. package.cpath\n")
        :format(run.build .. "/spec/?.so;") .. [[
local state = require "states".new()
print(state:alike [=[
  assert(require "tracegrip".listen {inspect = 0})
  while not done do end
]=])
]])
      local command, address = debugger.start({"serve", "--inspect=0",
                                               "app.lua"}, where)
      command:until_ready(function ()
        address = command.err:match "&ws=%S+\n.*&ws=(%S+)\n"
        return address
      end)
      local front = debugger.connect(address)
      front:ask "Runtime.enable"
      front:ask("Runtime.evaluate", {expression = "1"})
      front:ask("Runtime.evaluate", {expression = "done = true"})
      assert.equal(0, command:ended())
      assert.equal("0\n", command.out)
    end)
  end)

  it("is none if it is caught", function ()
    debugger.debug([[
pcall(error, 'x')
coroutine.resume(coroutine.create(error))
]], function (front, _, command)
        front:ask "Debugger.resume"
        front:ended()
        assert.equal(0, command:ended())
        assert.same({}, front:events "Runtime.exceptionThrown")
      end)
  end)
end)
