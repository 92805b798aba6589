-- What a program says by tracegrip.console, as a debugger is told of it.

local debugger = require "spec.support.debugger"

local it = debugger.needed(it, pending)

-- Runs a program to its end; a string for each message: its type and values.
local function shown (message)
  local list = {message.type}
  for _, value in ipairs(message.args) do
    list[#list + 1] = tostring(value.value or value.description or value.type)
  end
  return table.concat(list, " ")
end

local function all_shown (front)
  local list = {}
  for i, message in ipairs(front:events "Runtime.consoleAPICalled") do
    list[i] = shown(message)
  end
  return list
end

local function messages_of (text)
  local list
  debugger.debug('local console = require "tracegrip.console"\n' .. text,
    function (front, _, command)
      front:ask "Debugger.resume"
      front:ended()
      assert.equal(0, command:ended())
      list = all_shown(front)
    end)
  return list
end

describe("the console", function ()
  it("tells a debugger what the program says, by V8's types", function ()
    assert.same({
      "log 1 two nil", "info i", "warning w", "error e", "debug d",
      "startGroup g", "startGroupCollapsed console.groupCollapsed",
      "endGroup console.groupEnd", "table table", "trace console.trace"
    }, (function ()
      local list = messages_of [[
console.log(1, "two", nil)
console.info "i"
console.warn "w"
console.error "e"
console.debug "d"
console.group "g"
console.groupCollapsed()
console.groupEnd()
console.table({})
console.trace()
]]
      list[1] = list[1]:gsub("undefined", "nil")
      return list
    end)())
  end)

  it("shows counters and timers as text with their label", function ()
    local list = messages_of [[
console.count "c"
console.count "c"
console.countReset "c"
console.count()
console.time "t"
console.timeLog("t", "so far")
console.timeEnd "t"
console.timeEnd "t"
]]
    list[4] = list[4]:gsub("%d+%.?%d*", "N")
    list[5] = list[5]:gsub("%d+%.?%d*", "N")
    assert.same({
      "count c: 1", "count c: 2", "count default: 1", "log t: N ms so far",
      "timeEnd t: N ms", "warning Timer 't' does not exist"
    }, list)
  end)

  it("tells of assertions that fail", function ()
    assert.same({"assert no", "assert console.assert"}, messages_of [[
console.assert(true, "yes")
console.assert(1 == 2, "no")
console.assert(nil)
]])
  end)

  it("does not touch print", function ()
    debugger.debug("print('x')", function (front, _, command)
      front:ask "Debugger.resume"
      front:ended()
      assert.equal(0, command:ended())
      assert.equal("x\n", command.out)
      assert.same({}, all_shown(front))
    end)
  end)

  it("says where and when", function ()
    debugger.debug([[
local console = require "tracegrip.console"
local function inner ()
  console.log "x"
end
local function outer ()
  inner()
end
outer()
]], function (front)
      front:post "Debugger.resume"
      local message = front:event "Runtime.consoleAPICalled"
      local list = {}
      for i, frame in ipairs(message.stackTrace.callFrames) do
        list[i] = ("%s:%d"):format(frame.functionName, frame.lineNumber + 1)
      end
      assert.equal("inner:3 outer:6 (main chunk):8",
                   table.concat(list, " ", 1, 3))
      assert.near(os.time() * 1000, message.timestamp, 60000)
    end)
  end)

  it("keeps values live and lets them be opened", function ()
    debugger.debug([[
local console = require "tracegrip.console"
local t = {a = {1, 2}}
console.log(t)
t.a = "changed"
console.log "done"
require "tracegrip".pause()
]], function (front)
      front:post "Debugger.resume"
      local value = front:event("Runtime.consoleAPICalled").args[1]
      assert.equal("a", value.preview.properties[1].name)
      front:event "Debugger.paused"
      assert.equal("changed", front:properties(value.objectId).a.value)
      front:ask("Runtime.releaseObjectGroup", {objectGroup = "console"})
      local _, problem = front:ask("Runtime.getProperties",
                                   {objectId = value.objectId})
      assert.equal("Could not find object with given id", problem.message)
    end)
  end)

  it("previews the rows of a table", function ()
    debugger.debug([[
local console = require "tracegrip.console"
console.table {{name = "a", n = 1}, {name = "b", n = 2}}
]], function (front)
      front:post "Debugger.resume"
      local value = front:event("Runtime.consoleAPICalled").args[1]
      local row = value.preview.properties[2]
      assert.equal("2", row.name)
      assert.equal("name", row.valuePreview.properties[2].name)
      assert.equal("b", row.valuePreview.properties[2].value)
    end)
  end)

  it("shows what was said before a debugger came, the last 1000", function ()
    debugger.attach([[
local console = require "tracegrip.console"
for i = 1, 1234 do
  console.log(i, {i})
end
io.stderr:write "begun\n"
while not done do end
]], function (front, _, address)
      local late = debugger.connect(address)
      late:ask "Runtime.enable"
      local list = late:events "Runtime.consoleAPICalled"
      assert.equal(1000, #list)
      assert.equal(235, list[1].args[1].value)
      assert.equal(1234, list[1000].args[1].value)
      assert.equal(1234, late:properties(list[1000].args[2].objectId)["1"]
                         .value)
      late:ask "Runtime.discardConsoleEntries"
      local later = debugger.connect(address)
      later:ask "Runtime.enable"
      assert.same({}, later:events "Runtime.consoleAPICalled")
      assert.is_true(#front:events "Runtime.consoleAPICalled" > 0)
    end)
  end)

  it("lets go of what a message has shown when it is too old", function ()
    debugger.debug([[
local console = require "tracegrip.console"
local seen = setmetatable({}, {__mode = "k"})
local function say ()
  local t = {}
  seen[t] = true
  console.log(t)
end
say()
for i = 1, 1000 do
  console.log(i)
end
collectgarbage()
print(next(seen))
]], function (front, _, command)
      front:ask "Debugger.resume"
      front:ended()
      assert.equal("nil\n", command.out)
    end)
  end)

  it("is heard from code that a debugger runs", function ()
    debugger.debug("function f () require 'tracegrip.console'.log('deep') end",
      function (front, paused)
        front:value(paused, 1, "require 'tracegrip.console'.log('here', 1)")
        assert.equal("log here 1",
                     shown(front:event "Runtime.consoleAPICalled"))
        front:stop_at(1)
      end)
  end)

  it("goes on for a debugger that does not read, and says what it missed",
  function ()
    debugger.attach([[
local console = require "tracegrip.console"
local text = ("x"):rep(100000)
io.stderr:write "begun\n" while not go do end
for i = 1, 1500 do
  console.log(i, text)
end
print "through"
io.stdout:flush()
while not stop do end
]], function (front, command)
      front.handle:read_stop()
      front:post("Runtime.evaluate", {expression = "go = true"})
      command:until_ready(function () return command.out ~= "" end)
      assert.equal("through\n", command.out)
      front:listen()
      local heard, missed = 0, 0
      repeat
        local message = front:event "Runtime.consoleAPICalled"
        local text = message.type == "warning" and message.args[1].value
        heard = heard + (text and 0 or 1)
        missed = missed + (text and tonumber(text:match "^(%d+) messages")
                                or 0)
      until heard + missed == 1500
      assert.is_true(missed > 0)
    end)
  end)
end)

describe("console.assert", function ()
  local program = [[
local console = require "tracegrip.console"
local n = 1
console.assert(n > 1, "too small")
print(n)
]]

  it("stops the program where exceptions do", function ()
    debugger.debug(program, function (front, _, command)
      front:ask("Debugger.setPauseOnExceptions", {state = "all"})
      local paused = front:go "resume"
      assert.equal("assert", paused.reason)
      assert.equal("(main chunk):3", debugger.place(paused))
      assert.equal(1, front:scope(paused, 1, "local").n.value)
      assert.equal("assert too small",
                   shown(front:events("Runtime.consoleAPICalled")[1]))
      assert.equal("(main chunk):4", debugger.place(front:go "stepOver"))
      front:ask "Debugger.resume"
      front:ended()
      assert.equal("1\n", command.out)
    end)
  end)

  it("does not stop it elsewhere", function ()
    debugger.debug(program, function (front)
      front:ask("Debugger.setPauseOnExceptions", {state = "none"})
      front:ask "Debugger.resume"
      front:ended()
      assert.equal(1, #front:events "Debugger.paused")
    end)
  end)
end)
