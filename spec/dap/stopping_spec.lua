-- Where a program stops, and how it goes on.

local editor = require "spec.support.editor"
local run = require "spec.support.run"
local waiting = require "spec.support.waiting"

local it = editor.needed(it, pending)

local program = [[
local Account = {}
Account.__index = Account
function Account:add (n)
  self.sum = self.sum + n
  return self.sum
end
local account = setmetatable({sum = 0}, Account)
for i = 1, 5 do
  account:add(i)
end
print(account.sum)
]]

describe("a launched program", function ()
  it("stops at a breakpoint that is verified when its file is loaded",
     function ()
    local files = {["app.lua"] = "require('m')\n",
                   ["m.lua"] = "local x = 1\n\nlocal y = 2\nreturn x + y\n"}
    editor.launch(files, function (self)
      local set = self:stop_at({2, 4}, "m.lua")
      assert.is_false(set[1].verified)
      assert.equal("pending", set[1].reason)
      local stopped = self:run()
      local changed = {}
      for i, body in ipairs(self:events "breakpoint") do
        assert.is_true(body.breakpoint.verified)
        changed[i] = ("%d:%d"):format(body.breakpoint.id, body.breakpoint.line)
      end
      table.sort(changed)
      assert.same({set[1].id .. ":3", set[2].id .. ":4"}, changed)
      local _, place = self:stack(stopped)
      assert.equal("(main chunk):3 (main chunk):1", place)
    end, {env = {LUA_PATH = "./?.lua;;"}})
  end)

  it("stops where it was told to in the file that is run", function ()
    editor.launch(program, function (self)
      local set = self:stop_at {4, 5}
      assert.is_true(set[1].verified)
      local stopped = self:run()
      assert.equal("breakpoint", stopped.reason)
      assert.same({set[1].id}, stopped.hitBreakpointIds)
      assert.is_true(stopped.allThreadsStopped)
      local frames, place = self:stack(stopped)
      assert.equal("add:4 (main chunk):9", place)
      assert.equal(self.where .. "/app.lua", frames[1].source.path)
      assert.is_nil(frames[1].source.sourceReference)
    end)
  end)

  it("stops where it was told to last, however soon that comes", function ()
    editor.launch(program, function (self)
      local source = {path = self.where .. "/app.lua"}
      local function post (...)
        local list = {}
        for i, line in ipairs {...} do
          list[i] = {line = line}
        end
        return self:post("setBreakpoints", {source = source,
                                            breakpoints = list})
      end
      local first, second = post(4, 9, 11), post(5)
      assert.equal(3, #self:answer(first).body.breakpoints)
      assert.equal(1, #self:answer(second).body.breakpoints)
      local stopped, lines = self:run(), {}
      for i = 1, 3 do
        lines[i] = self:stack(stopped)[1].line
        stopped = i < 3 and self:go("continue", stopped)
      end
      assert.same({5, 5, 5}, lines)
    end)
  end)

  it("says where a breakpoint can stand, loaded or not", function ()
    local text = [[
-- nothing
local function f (x)
  return x
end

print(f(1))
]]
    local main = "require 'm'\n\nload 'local x = 1\\n\\nprint(x)' ()\n"
    local files = {["app.lua"] = main, ["m.lua"] = text,
                   ["n.lua"] = "local x = 1\n\nreturn x\n",
                   ["bad.lua"] = "local x = = 1\n"}
    editor.launch(files, function (self, where)
      assert.equal("1 3", self:locations("app.lua", 1, 100))
      assert.equal("3 4 6", self:locations("m.lua", 1, 100))
      self:stop_at({6}, "m.lua")
      local stopped = self:run()
      run.write(where .. "/m.lua", "\n\n\n\n\nprint()\n\nprint()\n")
      assert.equal("3 4 6", self:locations("m.lua", 1, 100))
      assert.equal("4 6", self:locations("m.lua", 4, 6))
      assert.equal("3", self:locations("m.lua", 3))
      assert.equal("", self:locations("m.lua", 5))
      assert.equal("1 3", self:locations("n.lua", 1, 100))
      assert.equal("", self:locations("bad.lua", 1, 100))
      local none, message = self:ask("breakpointLocations", {
        source = {path = "/nowhere.lua"}, line = 1
      })
      assert.is_nil(none)
      assert.equal("/nowhere.lua is not loaded, and cannot be read here",
                   message)
      stopped = self:go("stepOut", stopped)
      repeat
        stopped = self:go("stepIn", stopped)
      until not self:stack(stopped)[1].source.path
      local source = self:stack(stopped)[1].source
      assert.same({{line = 1}, {line = 3}}, self:ask("breakpointLocations", {
        source = source, line = 1, endLine = 3
      }).breakpoints)
    end)
  end)

  it("moves a breakpoint to the next line with code", function ()
    editor.launch("local x = 1\n\n-- nothing\nprint(x)\n", function (self)
      assert.equal(4, self:stop_at({2})[1].line)
      self:run()
      local set = self:stop_at {2, 5}
      assert.same({true, 4}, {set[1].verified, set[1].line})
      assert.is_false(set[2].verified)
      assert.same({"failed", "there is no code at this line or after it"},
                  {set[2].reason, set[2].message})
    end)
  end)

  it("heeds conditions and hit counts", function ()
    for _, case in ipairs {
      {{condition = "n == 3"}, "3"}, {{hitCondition = "2"}, "2"},
      {{hitCondition = ">= 4"}, "4"}, {{hitCondition = "% 5"}, "5"},
      {{condition = "n > 1", hitCondition = "== 2"}, "3"},
    } do
      editor.launch(program, function (self)
        case[1].line = 4
        self:stop_at {case[1]}
        local frames = self:stack(self:run())
        assert.equal(case[2], self:value(frames[1], "n"))
      end)
    end
  end)

  it("tells what is wrong with a condition", function ()
    editor.launch(program, function (self)
      local set = self:stop_at {{line = 4, hitCondition = "often"},
                                {line = 9, condition = "i ="}}
      assert.truthy(set[1].message:find "No hit count: 'often'")
      self:post "configurationDone"
      local said = self:event("output", function (body)
        return body.output:find "does not compile"
      end)
      assert.truthy(said.output:find "condition of the breakpoint")
      self:event "terminated"
    end)
  end)

  it("logs instead of stopping, with the place", function ()
    editor.launch(program, function (self)
      self:stop_at {{line = 4, logMessage = "n is {n}, {self.sum + n} then {}",
                     condition = "n % 2 == 0"}}
      self:post "configurationDone"
      self:event "terminated"
      local said = {}
      for _, body in ipairs(self:events "output") do
        if body.category == "console" then
          said[#said + 1] = body.output
          assert.equal(4, body.line)
          assert.equal(self.where .. "/app.lua", body.source.path)
        end
      end
      assert.same({"n is 2, 3 then {}\n", "n is 4, 10 then {}\n"}, said)
    end)
  end)

  it("stops where a log message is empty", function ()
    editor.launch(program, function (self)
      local set = self:stop_at {{line = 4, logMessage = ""}}
      assert.same({set[1].id}, self:run().hitBreakpointIds)
    end)
  end)

  it("stops in functions by their names, whatever is loaded later", function ()
    local files = {
      ["app.lua"] = "local m = require 'm'\nm.f(1)\nm.Class:g(2)\n",
      ["m.lua"] = [[
local m = {Class = {}}
function m.f (x)
  return x
end
function m.Class:g (x)
  return x
end
return m
]]}
    editor.launch(files, function (self)
      local set = assert(self:ask("setFunctionBreakpoints", {breakpoints = {
        {name = "m.f"}, {name = "g", condition = "x == 2"}, {name = "nobody"}
      }})).breakpoints
      local stopped = self:run()
      assert.equal("function breakpoint", stopped.reason)
      assert.same({set[1].id}, stopped.hitBreakpointIds)
      local _, place = self:stack(stopped)
      assert.equal("f:3 (main chunk):2", place)
      stopped = self:go("continue", stopped)
      _, place = self:stack(stopped)
      assert.equal("g:6 (main chunk):3", place)
      assert.is_false(set[3].verified)
    end, {env = {LUA_PATH = "./?.lua;;"}})
  end)

  -- The names of the functions that one with this name stops in, in order.
  local function stops_at (text, name)
    local places = {}
    editor.launch(text, function (self)
      local set = assert(self:ask("setFunctionBreakpoints", {
        breakpoints = {{name = name}}
      })).breakpoints
      self:post "configurationDone"
      local function ended ()
        return self:events "exited" [1]
      end
      while true do
        waiting.till(function ()
          return ended() or #self:events "stopped" > #places
        end, run.patience)
        if #self:events "stopped" == #places then
          break
        end
        local stopped = self:event "stopped"
        assert.same({set[1].id}, stopped.hitBreakpointIds)
        local frames = self:stack(stopped)
        places[#places + 1] = self:value(frames[1], "...")
        assert(self:ask("continue", {threadId = 1}))
      end
    end)
    return table.concat(places, " ")
  end

  local together = [[
local t, a, b, c, d = {}
function t.one (...) return ... end function t:two (...) return 2 end
a, b = function (...) return "a" end, function (...) return "b" end
c, d = function (...) end, function (...) end
local u = {f = function (...) return 1 end, g = function (...)
  return 2 end, h = function (...) return 3 end}
local function out (...) return function (...) return 1 end end -- function
t.one(1) t:two(2) a(3) b(4) c(5) d(6) u.f(7) u.g(8) u.h(9) out(10)(11)
pcall(a, 12) pcall(b, 13) pcall(c, 14)
]]

  it("stops in one of several functions of a line", function ()
    for name, calls in pairs {
      ["t.one"] = "1", one = "1", two = "2", ["t:two"] = "2", a = "3 12",
      b = "4 13", f = "7", g = "8", h = "9", out = "10"
    } do
      assert.equal(calls, stops_at(together, name), name)
    end
  end)

  it("tells functions of a line that are written alike by who calls them",
     function ()
    assert.equal("5 14", stops_at(together, "c"))
    assert.equal("6 14", stops_at(together, "d"))
  end)

  it("stops in functions when they are called, and at no other time",
     function ()
    local text = [[
local function one (n) return n and one or n end
local function loop (n) for i = 1, n do one(i) end end
local function outer ()
  return function () return 1 end
end
local function vararg (...) return ... end
for i = 1, 2 do one(i) end loop(2)
print(outer()(), vararg(1), vararg(2))
]]
    editor.launch(text, function (self)
      self:ask("setFunctionBreakpoints", {breakpoints = {
        {name = "one", hitCondition = "% 3"}, {name = "loop"},
        {name = "outer"}, {name = "vararg", condition = "... == 2"}
      }})
      local stopped, places = self:run(), {}
      for i = 1, 4 do
        local _, place = self:stack(stopped)
        places[i] = place
        stopped = i < 4 and self:go("continue", stopped)
      end
      assert.same({"loop:2 (main chunk):7",
                   "one:1 loop:2 (main chunk):7",
                   "outer:4 (main chunk):8", "vararg:6 (main chunk):8"},
                  places)
      self:ask("continue", {threadId = 1})
      self:event "exited"
      assert.equal(4, #self:events "stopped")
    end)
  end)

  it("stops at errors, as the filters and their patterns say", function ()
    local erring = [[
pcall(error, "first")
pcall(function () error({code = 7}) end)
pcall(error, "second thing")
error "at last"
]]
    editor.launch(erring, function (self)
      assert(self:ask("setExceptionBreakpoints", {
        filters = {"uncaught"},
        filterOptions = {{filterId = "caught", condition = "second"}}
      }))
      local stopped = self:run()
      assert.same({"exception", "second thing"},
                  {stopped.reason, stopped.text})
      local about = assert(self:ask("exceptionInfo", {threadId = 1}))
      assert.same({"always", "second thing"},
                  {about.breakMode, about.description})
      self:go("continue", stopped)
      about = assert(self:ask("exceptionInfo", {threadId = 1}))
      assert.equal("unhandled", about.breakMode)
      assert.truthy(about.details.stackTrace:find "app.lua:4: %(main chunk%)")
      self:ask("continue", {threadId = 1})
      assert.equal(1, self:event("exited").exitCode)
      self:event "terminated"
      assert.truthy(self:printed("stderr"):find "at last")
    end)
  end)

  it("steps in, over and out, and into the function that is chosen", function ()
    local nested = [[
local function f (x)
  return x + 1
end
local function g (x)
  return x * 2
end
local y = f(g(3)) + #tostring(5)
print(y)
]]
    editor.launch(nested, function (self)
      self:stop_at {7}
      local stopped = self:run()
      local frames = self:stack(stopped)
      local targets = assert(self:ask("stepInTargets",
                                      {frameId = frames[1].id})).targets
      assert.same({"f", "g"}, {targets[1].label, targets[2].label})
      stopped = self:go("stepIn", stopped, {targetId = targets[1].id})
      assert.equal("step", stopped.reason)
      local _, place = self:stack(stopped)
      assert.equal("f:2 (main chunk):7", place)
      stopped = self:go("stepOut", stopped)
      _, place = self:stack(stopped)
      assert.equal("(main chunk):7", place)
      stopped = self:go("next", stopped)
      _, place = self:stack(stopped)
      assert.equal("(main chunk):8", place)
    end)
  end)

  it("is stepped over an error that no filter asks for", function ()
    editor.launch([[
local function try ()
  pcall(error, "first")
  return 1
end
local function twice ()
  local x = try()
  x = x + try()
  return x
end
print(twice())
print(twice())
]], function (self)
      self:stop_at {6}
      assert(self:ask("setExceptionBreakpoints", {
        filters = {}, filterOptions = {{filterId = "caught",
                                        condition = "second"}}
      }))
      local stopped = self:go("next", self:run())
      assert.equal("step", stopped.reason)
      local _, place = self:stack(stopped)
      assert.equal("twice:7 (main chunk):10", place)
      stopped = self:go("stepOut", stopped)
      _, place = self:stack(stopped)
      assert.equal("(main chunk):10", place)
    end)
  end)

  it("stops on entry, and when it is asked to", function ()
    editor.launch("local n = 0\nwhile true do n = n + 1 end\n",
                  function (self)
      local stopped = self:run()
      assert.equal("entry", stopped.reason)
      local _, place = self:stack(stopped)
      assert.equal("(main chunk):1", place)
      assert(self:ask("continue", {threadId = 1}))
      assert(self:ask("pause", {threadId = 1}))
      stopped = self:event "stopped"
      assert.equal("pause", stopped.reason)
      _, place = self:stack(stopped)
      assert.equal("(main chunk):2", place)
    end, {stopOnEntry = true})
  end)

  it("does not stop at all without debugging", function ()
    editor.launch(program, function (self)
      self:stop_at {4}
      self:post "configurationDone"
      self:event "terminated"
      assert.equal("15\n", self:printed "stdout")
      assert.same({}, self:events "stopped")
    end, {noDebug = true})
  end)

  it("says where code is that has no file", function ()
    local text = "local f = load('local z = ...\\nreturn z + 1')\nf(1)\n"
    editor.launch(text, function (self)
      self:stop_at {2}
      local stopped = self:go("stepIn", self:run())
      local frames = self:stack(stopped)
      local source = frames[1].source
      assert.equal('[string "local z = ..."]', source.name)
      assert.is_nil(source.path)
      local body = assert(self:ask("source", {
        sourceReference = source.sourceReference, source = source
      }))
      assert.equal("local z = ...\nreturn z + 1", body.content)
      local set = assert(self:ask("setBreakpoints", {
        source = source, breakpoints = {{line = 2}}
      })).breakpoints
      assert.is_true(set[1].verified)
      stopped = self:go("continue", stopped)
      assert.same({set[1].id}, stopped.hitBreakpointIds)
    end)
  end)

  it("is ended, or ends and says how", function ()
    editor.launch("print(...)\nio.stderr:write 'err'\nos.exit(7)\n",
                  function (self)
      self:post "configurationDone"
      assert.equal(7, self:event("exited").exitCode)
      self:event "terminated"
      assert.equal("a b\tc\n", self:printed "stdout")
      assert.equal("err", self:printed "stderr")
    end, {args = {"a b", "c"}})
    editor.launch("while true do end", function (self)
      self:post "configurationDone"
      assert(self:ask "terminate")
      assert.equal(128 + 15, self:event("exited").exitCode)
      self:event "terminated"
    end)
  end)

  it("starts anew, with the same breakpoints", function ()
    editor.launch(program, function (self)
      local set = self:stop_at {4}
      self:run()
      assert(self:ask("restart", {arguments = {args = {"again"}}}))
      local stopped = self:event "stopped"
      assert.same({set[1].id}, stopped.hitBreakpointIds)
      local frames = self:stack(stopped)
      assert.equal("1", self:value(frames[1], "n"))
      assert.equal('"again"', self:value(frames[1], "arg[1]"))
      assert.same({}, self:events "terminated")
    end)
  end)

  it("is over where it cannot be started anew", function ()
    editor.launch(program, function (self)
      self:stop_at {4}
      self:run()
      local none, message = self:ask("restart", {
        arguments = {program = "/nowhere/app.lua"}
      })
      assert.is_nil(none)
      assert.equal("'program': there is no file /nowhere/app.lua", message)
      self:event "terminated"
      assert.equal(1, #self:events "terminated")
    end)
  end)
end)
