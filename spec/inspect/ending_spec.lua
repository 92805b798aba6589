-- Code that a debugger has the program run does not hold the program: it is
-- ended by a request, by the pause button, in time, and by the debugger's
-- leaving.

local debugger = require "spec.support.debugger"

local it = debugger.needed(it, pending)

-- A program that runs until it is told to end, and has said that it has begun.
local RUNS = [[
local n = 0
io.stderr:write "begun\n"
while not done do n = n + 1 end
print "ended"
]]

local function running (use)
  debugger.attach(RUNS, function (front, command, address)
    command:until_ready(function () return command.err:find "begun\n" end)
    use(front, command, address)
  end)
end

local function paused (use)
  debugger.debug("local x = 1\nlocal function f () return x end\nprint(f())\n",
                 use)
end

local endless = {
  ["a loop"] = "(function () while true do end end)()",
  ["statements"] = "while true do end",
  ["a loop that catches errors"] = [[
    (function ()
      while true do pcall(function () while true do end end) end
    end)()]],
  ["a coroutine that it makes by wrap"] =
    "coroutine.wrap(function () while true do end end)()",
  ["a coroutine that it makes by create"] = [[
    (function ()
      local co = coroutine.create(function () while true do end end)
      while true do coroutine.resume(co) end
    end)()]],
  ["ever new coroutines"] = [[
    (function ()
      while true do
        pcall(coroutine.wrap(function () while true do end end))
      end
    end)()]],
  ["a variable that is closed"] = [[
    (function ()
      local held <close> = setmetatable({}, {__close = function ()
        while true do end
      end})
      while true do end
    end)()]]
}

-- Asks for a value in the first frame without waiting for the reply; its id.
local function begin (front, at, expression, more)
  local params = {callFrameId = at.callFrames[1].callFrameId,
                  expression = expression}
  for key, value in pairs(more or {}) do
    params[key] = value
  end
  return front:post("Debugger.evaluateOnCallFrame", params)
end

local function details (front, id)
  return front:reply(id).result.exceptionDetails.exception.description
end

describe("code that does not end", function ()
  for what, expression in pairs(endless) do
    it("is ended by a request: " .. what, function ()
      paused(function (front, at)
        local id = begin(front, at, expression)
        assert.is_table(front:ask "Runtime.terminateExecution")
        assert.matches("ended by a debugger", details(front, id))
        assert.equal(2, front:value(at, 1, "1 + 1").value)
      end)
    end)

    it("is ended in time: " .. what, function ()
      paused(function (front, at)
        local id = begin(front, at, expression, {timeout = 50})
        assert.matches("took too long", details(front, id))
      end)
    end)
  end

  it("is ended in a coroutine of the program's that it resumes", function ()
    debugger.debug([[
local co = coroutine.create(function () coroutine.yield() while true do end end)
coroutine.resume(co)
local last
]], function (front)
      front:stop_at(3)
      local at = front:go "resume"
      local id = begin(front, at, "(coroutine.resume(co))")
      assert.is_table(front:ask "Runtime.terminateExecution")
      assert.is_false(front:reply(id).result.result.value)
    end)
  end)

  it("is ended by the pause button, which stops the program", function ()
    running(function (front)
      front:post("Runtime.evaluate", {expression = "while true do end"})
      assert.is_table(front:ask "Debugger.pause")
      assert.matches("^%(main chunk%):[23]$",
                     debugger.place(front:event "Debugger.paused"))
    end)
  end)

  it("is ended by the debugger's leaving", function ()
    running(function (front, command, address)
      front:post("Runtime.evaluate", {expression = "while true do end"})
      front:close()
      local second = debugger.connect(address)
      second:ask("Runtime.evaluate", {expression = "done = true"})
      assert.equal(0, command:ended())
      assert.equal("ended\n", command.out)
    end)
  end)

  it("is not ended by another debugger's leaving", function ()
    running(function (front, command, address)
      local second = debugger.connect(address)
      second:ask("Runtime.enable")
      local id = front:post("Runtime.evaluate", {
        expression = "(function () while not go do end return 7 end)()",
        timeout = 300       -- of the processor's time
      })
      second:close()
      assert.matches("took too long", details(front, id))
      front:ask("Runtime.evaluate", {expression = "done = true"})
      assert.equal(0, command:ended())
    end)
  end)

  local ENDLESS = "(function () io.stderr:write 'within\\n' "
                  .. "while true do end end)()"

  for what, condition in pairs {
    condition = ENDLESS, logpoint = "/** DEVTOOLS_LOGPOINT */ console.log("
                                    .. ENDLESS .. ")"
  } do
    it("is ended in a " .. what, function ()
      paused(function (front, _, command)
        front:stop_at(2, condition)
        front:stop_at(3)
        front:post "Debugger.resume"
        command:until_ready(function () return command.err:find "within" end)
        front:ask "Runtime.terminateExecution"
        assert.equal("(main chunk):3",
                     debugger.place(front:event "Debugger.paused"))
        front:close()
        assert.equal(0, command:ended())
        assert.equal("1\n", command.out)
      end)
    end)

    it("does not hold the program in a " .. what .. " when the debugger goes",
       function ()
      paused(function (front, _, command)
        front:stop_at(2, condition)
        front:post "Debugger.resume"
        command:until_ready(function () return command.err:find "within" end)
        front:close()
        assert.equal(0, command:ended())
        assert.equal("1\n", command.out)
      end)
    end)
  end

  it("is ended in a coroutine that was left behind before", function ()
    paused(function (front, at)
      front:value(at, 1, "_G.kept = coroutine.create(function () "
                         .. "coroutine.yield() while true do end end)")
      front:value(at, 1, "coroutine.resume(kept)")
      local id = begin(front, at, "(coroutine.resume(kept))", {timeout = 50})
      assert.is_false(front:reply(id).result.result.value)
    end)
  end)

  it("does not see the hook by which it can be ended", function ()
    paused(function (front, at)
      local value = front:value(at, 1, "tostring(debug.gethook())")
      assert.equal("nil", value.value)
    end)
  end)

  it("is told without frames of the debugger's own", function ()
    paused(function (front, at)
      local id = begin(front, at, "(function () while true do x = x end end)()",
                       {timeout = 50})
      local text = details(front, id)
      assert.matches("%(evaluated%):1: in ", text)
      assert.not_matches("tracegrip/inspect", text)
    end)
  end)
end)

describe("a C function that does not end", function ()
  it("is said to be one", function ()
    paused(function (front, at)
      begin(front, at, "('a'):rep(40):find(('a?'):rep(40) .. ('a'):rep(40))")
      front:post "Runtime.terminateExecution"
      local said = front:event "Runtime.consoleAPICalled"
      assert.equal("warning", said.type)
      assert.matches("in the C function 'string.find', which cannot be "
                     .. "interrupted", said.args[1].value)
    end)
  end)
end)
