-- Conditions and logpoints of breakpoints: they see what the frame has at each
-- hit, what is wrong with them is told, and they are compiled once.

local debugger = require "spec.support.debugger"

local it = debugger.needed(it, pending)

local place = debugger.place

local program = [[
local function f (a)
  local t = {1}
  return a
end
for i = 1, 5 do f(i) end
print "end"
]]

local function log (text)
  return "/** DEVTOOLS_LOGPOINT */ console.log(" .. text .. ")"
end

-- What the console says by the program's end: "line: type: texts".
local function said (front, command)
  front:ask "Debugger.resume"
  assert.equal(0, command:ended())
  local list = {}
  for i, call in ipairs(front:events "Runtime.consoleAPICalled") do
    local texts = {}
    for k, one in ipairs(call.args) do
      texts[k] = one.value == false and "false"
                 or tostring(one.value or one.description or one.type)
    end
    local at = call.stackTrace.callFrames[1]
    list[i] = ("%s: %s: %s"):format(at and at.lineNumber + 1 or "-", call.type,
                                    table.concat(texts, " "))
  end
  assert.is_nil(command.err:find("debugger:", 1, true), command.err)
  return list
end

describe("a condition that fails", function ()
  it("is told in the console, once for each message", function ()
    debugger.debug(program, function (front, _, command)
      front:stop_at(3, "a.b.c == 1")
      front:stop_at(2, "error('odd ' .. a % 2)")
      local list = said(front, command)
      table.sort(list)
      assert.equal(3, #list, table.concat(list, "\n"))
      local what = "error: The condition of the breakpoint at app.lua:%d has "
                   .. "failed: "
      assert.equal("2: " .. what:format(2) .. "odd 0", list[1])
      assert.equal("2: " .. what:format(2) .. "odd 1", list[2])
      assert.matches("^3: " .. what:format(3) .. "attempt to index", list[3])
      assert.equal("end\n", command.out)
    end)
  end)

  it("is told without an end: some messages, and no more", function ()
    debugger.debug(program:gsub("5 do", "500 do"),
                   function (front, _, command)
      front:stop_at(3, "error {} ~= error(a)")
      front:stop_at(2, "error('so ' .. a, 0)")
      assert.equal(21, #said(front, command))
    end)
  end)

  it("is told when it is set, if it does not compile", function ()
    debugger.debug(program, function (front, _, command)
      local set = front:stop_at(3, "a = = 2")
      assert.equal(1, #set.locations)
      local told = front:event "Runtime.consoleAPICalled"
      assert.matches("^The condition of the breakpoint at app.lua:3 does not "
                     .. "compile: unexpected symbol near '='",
                     told.args[1].value)
      assert.equal(1, #said(front, command))
      assert.equal("end\n", command.out)
    end)
  end)

  it("is told of a file that is yet to be loaded", function ()
    debugger.debug(program, function (front)
      front:ask("Debugger.setBreakpointByUrl", {
        url = "file:///not/here.lua", lineNumber = 6, condition = "a b"
      })
      local told = front:event "Runtime.consoleAPICalled"
      assert.matches("^The condition of the breakpoint at "
                     .. "file:///not/here.lua:7 does not compile: ",
                     told.args[1].value)
    end)
  end)
end)

describe("a logpoint", function ()
  it("logs all values, as they are at each hit", function ()
    debugger.debug(program, function (front, _, command)
      front:stop_at(3, log "'a', a, a / 2, nil, a > 3, t")
      front:stop_at(6, log "")
      assert.same({
        "3: log: a 1 0.5 undefined false table(#1)",
        "3: log: a 2 1.0 undefined false table(#1)",
        "3: log: a 3 1.5 undefined false table(#1)",
        "3: log: a 4 2.0 undefined true table(#1)",
        "3: log: a 5 2.5 undefined true table(#1)", "6: log: "
      }, said(front, command))
    end)
  end)

  it("has the table that it shows", function ()
    debugger.debug(program, function (front)
      front:stop_at(3, log "t")
      front:stop_at(6)
      front:go "resume"
      local call = front:events("Runtime.consoleAPICalled")[1]
      assert.equal("1", front:properties(call.args[1].objectId)["1"]
                             .description)
    end)
  end)

  it("is told of what fails in it, and does not stop", function ()
    debugger.debug(program, function (front, _, command)
      front:stop_at(3, log "a.x.y")
      front:stop_at(2, log "a +")
      local list = said(front, command)
      assert.equal(2, #list)
      assert.matches("The logpoint at app.lua:2 does not compile: ", list[1])
      assert.matches("The logpoint at app.lua:3 has failed: ", list[2])
      assert.equal("end\n", command.out)
    end)
  end)
end)

describe("a condition", function ()
  it("sees the variables of each frame that comes to its line", function ()
    debugger.debug([[
local function make (name)
  local count = 0
  return function (...)
    count = count + 1
    local x = count
    do local x = -x end
    return name, x, ...
  end
end
local a, b = make "a", make "b"
for i = 1, 3 do
  a(i)
  coroutine.wrap(b)(10 * i, "last")
end
]], function (front, _, command)
      front:stop_at(7, "name == 'b' and x == 2 and ... == 20")
      local at = front:go "resume"
      assert.equal("b", front:value(at, 1, "name").value)
      assert.equal(2, front:value(at, 1, "count").value)
      front:stop_at(5, log "name, count, x, select('#', ...)")
      assert.same({"5: log: a 3 undefined 1", "5: log: b 3 undefined 2"},
                  said(front, command))
    end)
  end)

  it("assigns what the frame has", function ()
    debugger.debug(program, function (front, _, command)
      front:stop_at(3, "(function () a = a * 2; last = a end)()")
      front:stop_at(6, log "last")
      assert.same({"6: log: 10"}, said(front, command))
    end)
  end)

  it("is asked beside others at the same line, of each debugger", function ()
    debugger.debug(program, function (front, _, command, address)
      local other = debugger.connect(address)
      other:ask "Debugger.enable"
      local mine = front:stop_at(3, "a == 2")
      local theirs = other:ask("Debugger.setBreakpointByUrl", {
        urlRegex = "app\\.lua$", lineNumber = 2, condition = "a >= 2"
      })
      local at = front:go "resume"
      table.sort(at.hitBreakpoints)
      local both = {mine.breakpointId, theirs.breakpointId}
      table.sort(both)
      assert.same(both, at.hitBreakpoints)
      assert.same({theirs.breakpointId}, front:go "resume".hitBreakpoints)
      other:close()
      front:ask "Debugger.resume"
      assert.equal(0, command:ended())
    end)
  end)

  it("keeps nothing of a frame that has gone", function ()
    debugger.debug([[
local weak = setmetatable({}, {__mode = "k"})
local function f (t)
  weak[t] = true
  return function () return t end
end
do
  local co = coroutine.create(function ()
    local g = f {}
    weak[g] = true
    return g
  end)
  weak[co] = true
  coroutine.resume(co)
end
collectgarbage()
collectgarbage()
print(next(weak))
]], function (front, _, command)
      front:stop_at(4, "t == nil")
      front:stop_at(10, "g == nil")
      front:ask "Debugger.resume"
      assert.equal(0, command:ended())
      assert.equal("nil\n", command.out)
    end)
  end)

  it("is compiled once, however often its line is reached", function ()
    debugger.debug(program:gsub("5 do", "5000 do"), function (front)
      local long = ("x"):rep(4 << 20)
      front:stop_at(3, "a == 5000 --[[" .. long .. "]]")
      local at = front:go "resume"
      assert.equal("f:3", place(at):match "^%S+")
      assert.equal("5000", front:value(at, 1, "a").description)
    end)
  end)

  -- Most the hook asks by itself (csrc/inspect/tests.h): not what calls.
  it("says the same whether the hook can ask it or not", function ()
    local asked = {
      "n == 2", "n ~= 2 and not s", "n > -1 and s", "s == 'a'", "s < 'b'",
      "#s == 1", "s .. n == 'a1'", "n + 1 == 2", "s + 1 == 4", "s + 1 ~= -1",
      "t.x == 1",
      "t.deep.x == n", "t['x'] == n and t[1] == nil", "t[2] == 'two'",
      "t == t", "t == same", "t ~= nil", "#t == 2", "t < same", "t.no",
      "up == n", "up", "nowhere == nil", "GLOBAL == 1", "-n == -1",
      "n // 1 | 1 == n", "(n == 1) == (s == 'a')", "t", "n and nil", "true",
      "t.x.y.z", "n < s", "(n)", "b == false", "b", "nan ~= nan"
    }
    local lines = {[[
GLOBAL = 1
local Class = {
  __index = function (_, key) return key == "x" and 1 or nil end,
  __eq = function () return true end, __len = function () return 2 end,
  __lt = function () return true end
}
local up, same = 2, setmetatable({}, Class)
local nan = 0 / 0
local function f (n, s, t, b)
  local _ = up, same, nan]]}
    for _ = 1, 2 * #asked do
      lines[#lines + 1] = "  _ = n"
    end
    lines[#lines + 1] = [[
end
f(1, "a", {x = 1, deep = {x = 1}, [2] = "two"}, false)
f(2, "3", setmetatable({deep = {}}, Class), true)
f(3.5, nil, same)
debug.setmetatable(nil, {__index = function () return {z = true} end})
getmetatable("").__add = function () return 4 end
f(2, "x", setmetatable({deep = {x = 2}}, {}), nil)]]
    debugger.debug(table.concat(lines, "\n") .. "\n",
                   function (front, _, command)
      for i, condition in ipairs(asked) do
        for k, text in ipairs {condition, "(function () return " .. condition
                               .. " end)()"} do
          front:ask("Debugger.setBreakpointByUrl", {
            urlRegex = "app\\.lua$", lineNumber = 8 + 2 * i + k - 1,
            condition = text, logExpressions = "'" .. i .. "', n"
          })
        end
      end
      front:ask "Debugger.resume"
      assert.equal(0, command:ended())
      local fast, slow = {}, {}
      for _, call in ipairs(front:events "Runtime.consoleAPICalled") do
        local line = call.stackTrace.callFrames[1].lineNumber + 1
        local list = call.type ~= "log" and {}
                     or line % 2 == 1 and fast or slow
        list[#list + 1] = call.type == "log"
                          and ("%s @ %s"):format(
                            asked[tonumber(call.args[1].value)],
                            call.args[2].description)
      end
      assert.is_true(#fast > 40)
      assert.same(slow, fast)
    end)
  end)
end)
