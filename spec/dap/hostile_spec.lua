-- Programs that die whatever is asked of them, and clients that break off.

local uv = require "luv"

local editor = require "spec.support.editor"
local run = require "spec.support.run"
local waiting = require "spec.support.waiting"
local wrongstops = require "spec.support.wrongstops"

local it = editor.needed(it, pending)

local program = [[
local t = {a = {1}}
local function f (x)
  return x + 1
end
f(1)
print(t)
]]

-- What is asked of a program that is dead, or is dying.
local requests = {
  {"threads"}, {"stackTrace", {threadId = 1}}, {"scopes", {frameId = 1}},
  {"variables", {variablesReference = 2}}, {"evaluate", {expression = "1"}},
  {"setVariable", {variablesReference = 2, name = "t", value = "1"}},
  {"setExpression", {expression = "t", value = "1"}},
  {"completions", {text = "t.", column = 3}}, {"continue", {threadId = 1}},
  {"next", {threadId = 1}}, {"stepIn", {threadId = 1}},
  {"stepOut", {threadId = 1}}, {"pause", {threadId = 1}},
  {"stepInTargets", {frameId = 1}}, {"exceptionInfo", {threadId = 1}},
  {"source", {sourceReference = 1}}, {"loadedSources"}, {"modules"},
  {"setFunctionBreakpoints", {breakpoints = {{name = "f"}}}},
  {"dataBreakpointInfo", {name = "t"}},
  {"setDataBreakpoints", {breakpoints = {{dataId = "1"}}}},
  {"setExceptionBreakpoints", {filters = {"caught"}}},
  {"breakpointLocations", {source = {path = "/x.lua"}, line = 1}},
}

local function kill_program (self)
  for _, body in ipairs(self:events "process") do
    uv.kill(body.systemProcessId, "sigkill")
  end
end

describe("a program that dies", function ()
  it("is told of, and every request has its answer", function ()
    for _, request in ipairs(requests) do
      editor.launch(program, function (self)
        self:stop_at {3}
        local stopped = self:run()
        local frames = self:stack(stopped)
        self:scope(frames[1], "Locals")
        kill_program(self)
        local first = self:post(request[1], request[2])
        assert.is_boolean(self:answer(first).success)
        assert.equal(128 + 9, self:event("exited").exitCode)
        self:event "terminated"
        local again = self:post(request[1], request[2])
        assert.is_boolean(self:answer(again).success)
      end)
    end
  end)

  it("may do so before it has begun", function ()
    editor.launch(program, function (self)
      kill_program(self)
      self:event "terminated"
      self:stop_at {3}
      assert(self:ask "configurationDone")
      assert(self:ask "disconnect")
      assert.equal(0, self.ended())
    end)
  end)
end)

describe("a client that breaks off", function ()
  it("takes the program with it that it has started", function ()
    editor.launch("while true do end", function (self)
      self:post "configurationDone"
      local pid = self:events("process")[1].systemProcessId
      assert.truthy(run.read(("/proc/%d/stat"):format(pid)))
      self.output:shutdown()
      assert.equal(0, self.ended())
      assert.truthy(waiting.till(function ()
        return not run.read(("/proc/%d/stat"):format(pid))
      end, run.patience))
    end)
  end)
end)

describe("arguments of the wrong kind", function ()
  it("are refused by name, and change nothing", function ()
    editor.launch(program, function (self)
      self:stop_at {3}
      local stopped = self:run()
      for _, case in ipairs {
        {"stackTrace", {}}, {"stackTrace", {threadId = "1"}},
        {"stackTrace", {threadId = 99}}, {"scopes", {frameId = -1}},
        {"variables", {variablesReference = 1 << 40}},
        {"variables", {variablesReference = 0.5}},
        {"evaluate", {expression = {}}},
        {"evaluate", {expression = "1", frameId = 12345}},
        {"setBreakpoints", {source = 1}},
        {"setBreakpoints", {source = {path = "/x"}, breakpoints = {{}}}},
        {"setFunctionBreakpoints", {breakpoints = {{}}}},
        {"setExceptionBreakpoints", {filters = {}, filterOptions = {
          {filterId = "caught", condition = "("}}}},
        {"source", {sourceReference = 77}}, {"next", {threadId = 42}},
        {"stepIn", {threadId = 1, targetId = 4711}},
        {"completions", {text = "x", column = 1, frameId = 4711}},
        {"launch", {program = "x"}}, {"attach", {port = 1}},
        {"stepBack", {threadId = 1}}, {"goto", {threadId = 1, targetId = 1}},
      } do
        local body, message = self:ask(case[1], case[2])
        assert.is_nil(body, case[1])
        assert.is_nil(message:find("internal error", 1, true))
      end
      local all = assert(self:ask "modules").modules
      local some = assert(self:ask("modules", {startModule = -2,
                                               moduleCount = 3})).modules
      assert.same({table.unpack(all, 1, 3)}, some)
      for _, case in ipairs(wrongstops) do
        local body, message = self:ask(case[1], case[2])
        assert.is_nil(body)
        assert.equal(case[3], message)
      end
      local _, place = self:stack(stopped)
      assert.equal("f:3 (main chunk):5", place)
    end)
  end)
end)
