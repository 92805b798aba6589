-- Scripts that have a source map: what a debugger is told of them, and steps in
-- lines that are of no file or belong together.

local debugger = require "spec.support.debugger"

local it = debugger.needed(it, pending)

local place = debugger.place

local files = {
  ["app.lua"] = "require 'a'\nrequire 'b'\nrequire 'c'\nprint 'done'\n",
  ["a.lua"] = "local x = 1\nreturn x\n--# sourceMappingURL=maps/a%20b.map\n",
  ["b.lua"] = "return true\n", ["b.lua.map"] = "{}",
  ["c.lua"] = "local s = '--# sourceMappingURL=no.map'\nreturn s\n",
}
local env = {LUA_PATH = "./?.lua;;"}

-- The addresses of maps that were told, by the names of scripts.
local function maps_of (front)
  local maps = {}
  for _, script in ipairs(front:events "Debugger.scriptParsed") do
    local name = script.url:match "[^/]*$"
    maps[name] = script.sourceMapURL and script.sourceMapURL:match "[^/]*$"
  end
  return maps
end

describe("a script with a source map", function ()
  it("tells where that is", function ()
    debugger.debug(files, function (front, _, command)
      front:stop_at(9)                  -- who has none is told of no script
      front:ask "Debugger.resume"
      assert.equal(0, command:ended())
      assert.same({["a.lua"] = "a%20b.map", ["b.lua"] = "b.lua.map"},
                  maps_of(front))
    end, env)
  end)

  it("stands still before it runs, until all who want that have seen it",
     function ()
    debugger.debug(files, function (front, _, command, address)
      local other = debugger.connect(address)
      other:ask "Debugger.enable"
      for _, one in ipairs {front, other} do
        one:ask("Debugger.setInstrumentationBreakpoint", {
          instrumentation = "beforeScriptWithSourceMapExecution"
        })
      end
      local paused = front:go "resume"
      assert.equal("instrumentation", paused.reason)
      assert.matches("/a%.lua$", paused.data.url)
      assert.equal("(main chunk):1 (main chunk):1", place(paused))
      front:ask("Debugger.setBreakpointByUrl", {url = paused.data.url,
                                                lineNumber = 1})
      front:ask "Debugger.resume"
      front:ask "Debugger.resume"
      other:event "Debugger.paused"     -- the first, before the program's line
      other:event "Debugger.paused"
      assert.equal("(main chunk):2 (main chunk):1", place(other:go "resume"))
      assert.equal("instrumentation", other:go "resume".reason)
      front:ask "Debugger.resume"
      other:close()
      assert.equal(0, command:ended())
    end, env)
  end)
end)

describe("a step", function ()
  local program = [[
local n = 0
local function f ()
  n = n + 1
  return n
end
f()
n = n +
    f()
n = n * 2
print(n)
]]

  local function range (paused, first, last)
    return {scriptId = paused.callFrames[1].location.scriptId,
            start = {lineNumber = first - 1, columnNumber = 0},
            ["end"] = {lineNumber = last - 1, columnNumber = 0}}
  end

  it("goes over lines that are one with its own, in its frame", function ()
    debugger.debug(program, function (front)
      front:stop_at(6)
      local paused = front:go "resume"
      local list = {range(paused, 6, 9)}
      paused = front:go("stepOver", {skipList = list})
      assert.equal("(main chunk):10", place(paused))
    end)
    debugger.debug(program, function (front)
      front:stop_at(6)
      local paused = front:go "resume"
      paused = front:go("stepInto", {skipList = {range(paused, 3, 9)}})
      assert.equal("f:3 (main chunk):6", place(paused))
    end)
  end)

  local function skip (front, id, ...)
    local positions = {}
    for i, line in ipairs {...} do
      positions[i] = {lineNumber = line - 1, columnNumber = 0}
    end
    return front:ask("Debugger.setBlackboxedRanges", {scriptId = id,
                                                      positions = positions})
  end

  it("passes over lines that are told beforehand", function ()
    debugger.debug(program, function (front)
      front:stop_at(6)
      local paused = front:go "resume"
      local id = paused.callFrames[1].location.scriptId
      assert.is_nil((skip(front, id, 4, 2)))
      assert.truthy(skip(front, id, 3, 4, 7, 9))
      assert.equal("(main chunk):9", place(front:go "stepOver"))
    end)
    debugger.debug(program, function (front)
      front:stop_at(6)
      local paused = front:go "resume"
      skip(front, paused.callFrames[1].location.scriptId, 3, 4)
      assert.equal("f:4 (main chunk):6", place(front:go "stepInto"))
    end)
  end)

  it("is not what one waits for who says pause", function ()
    debugger.attach("io.stderr:write 'begun\\n'\nwhile not over do end\n",
                    function (front)
      local id
      for _, script in ipairs(front:events "Debugger.scriptParsed") do
        id = script.url:find "/app%.lua$" and script.scriptId or id
      end
      assert.truthy(skip(front, id, 1))
      assert.equal("(main chunk):2", place(front:go "pause"))
      front:ask("Runtime.evaluate", {expression = "over = true"})
    end)
  end)
end)
