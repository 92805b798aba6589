-- Profiles and coverage, as a debugger gets them.

local debugger = require "spec.support.debugger"

local it = debugger.needed(it, pending)

local busy = [[
local function inner (n)
  local x = 0
  for i = 1, n do x = x + i % 7 end
  return x
end
local function outer () return inner(100000) + 1 end
local co = coroutine.wrap(function ()
  while true do outer() coroutine.yield() end
end)
io.stderr:write "begun\n" while not stop do co() outer() end
]]

-- function name -> self hits.
local function hits_of (profile)
  local hits = {}
  for _, node in ipairs(profile.nodes) do
    local name = node.callFrame.functionName
    hits[name] = (hits[name] or 0) + node.hitCount
  end
  return hits
end

local function most_ticked (node)
  table.sort(node.positionTicks, function (a, b) return a.ticks > b.ticks end)
  return node.positionTicks[1].line
end

describe("a profile", function ()
  it("has samples of what ran, with places that the debugger knows",
  function ()
    debugger.attach(busy, function (front)
      front:ask("Profiler.enable")
      front:ask("Profiler.setSamplingInterval", {interval = 500})
      front:ask("Profiler.start")
      front:pass(1)
      local profile = front:ask("Profiler.stop").profile
      local hits, total = hits_of(profile), 0
      for _, n in pairs(hits) do
        total = total + n
      end
      assert.is_true(hits.inner > total * 0.8)
      assert.equal(#profile.samples, #profile.timeDeltas)
      local at = profile.startTime
      for _, delta in ipairs(profile.timeDeltas) do
        assert.equal("integer", math.type(delta))
        at = at + delta
      end
      assert.is_true(at <= profile.endTime + 1)
      local scripts = {}
      for _, script in ipairs(front:events "Debugger.scriptParsed") do
        scripts[script.scriptId] = script.url
      end
      for _, node in ipairs(profile.nodes) do
        local frame = node.callFrame
        if frame.functionName == "inner" then
          assert.equal(frame.url, scripts[frame.scriptId])
          assert.matches("/app.lua$", frame.url)
          assert.equal(0, frame.lineNumber)
          assert.equal(3, most_ticked(node))
        end
        assert.is_nil(frame.url:find "tracegrip/inspect")
      end
      front:ask("Runtime.evaluate", {expression = "stop = true"})
      front:ended()
    end)
  end)

  it("is none if none was begun, and ends with its debugger", function ()
    debugger.attach(busy, function (front, _, address)
      local _, problem = front:ask "Profiler.stop"
      assert.equal("No recording profiles found", problem.message)
      local other = debugger.connect(address)
      other:ask "Profiler.start"
      _, problem = other:ask("Profiler.setSamplingInterval", {interval = 1})
      assert.equal(-32000, problem.code)
      other:close()
      front:ask "Profiler.start"
      assert.is_true(#front:ask("Profiler.stop").profile.nodes > 0)
    end)
  end)
end)

-- The text of each range with its count.
local function shown (text, ranges)
  local list = {}
  for i, range in ipairs(ranges) do
    list[i] = ("%d %s"):format(range.count, text:sub(range.startOffset + 1,
                                                     range.endOffset))
  end
  return list
end

-- The functions of app.lua after a program has run to its pause.
local function covered (program, params, more)
  local functions
  debugger.debug(program .. "\nrequire 'tracegrip'.pause()", function (front)
    front:ask "Profiler.enable"
    front:ask("Profiler.startPreciseCoverage", params)
    front:go "resume"
    local result = front:ask("Profiler.takePreciseCoverage").result
    assert.equal(1, #result)
    assert.matches("/app.lua$", result[1].url)
    functions = result[1].functions
    if more then
      more(front, functions)
    end
  end)
  return functions
end

local program = [[
local function f (n)
  if n > 2 then
    return "big"
  end
  return n
end
local function never ()
end
for i = 1, 3 do f(i) end]]

describe("coverage", function ()
  it("counts calls and blocks of lines", function ()
    local functions = covered(program, {callCount = true, detailed = true})
    assert.equal(3, #functions)
    assert.same({"", "f", "never"}, {functions[1].functionName,
                                     functions[2].functionName,
                                     functions[3].functionName})
    assert.is_true(functions[2].isBlockCoverage)
    assert.same({
      '3 function f (n)\n  if n > 2 then\n    return "big"\n  end\n'
      .. "  return n\nend",
      '1     return "big"\n  end\n', "2   return n\nend"
    }, shown(program, functions[2].ranges))
    assert.same({"0 function never ()\nend"},
                shown(program, functions[3].ranges))
  end)

  it("says what has run if counts are not wanted", function ()
    local functions = covered(program, {callCount = false, detailed = false})
    assert.equal(1, #functions[2].ranges)
    assert.equal(1, functions[2].ranges[1].count)
    assert.is_false(functions[2].isBlockCoverage)
  end)

  it("has offsets of UTF-16", function ()
    local functions = covered("local s = '\u{1F600}é'; local function f () end",
                              {callCount = true, detailed = true})
    assert.equal(23, functions[2].ranges[1].startOffset)
    assert.equal(40, functions[2].ranges[1].endOffset)
  end)

  it("has nested ranges", function ()
    local text = [[
local x = 1
if x > 1 then
  function g ()
    return 1
  end
end
local y = 2]]
    local functions = covered(text, {callCount = true, detailed = true})
    assert.equal("0   function g ()\n    return 1\n  end\nend\n",
                 shown(text, functions[1].ranges)[2])
  end)

  it("begins anew when it is taken, and stops", function ()
    covered(program, {callCount = true, detailed = true},
    function (front)
      for _, script in ipairs(front:ask("Profiler.takePreciseCoverage")
                              .result) do
        for _, one in ipairs(script.functions) do
          assert.equal(0, one.ranges[1].count)
        end
      end
      front:ask "Profiler.stopPreciseCoverage"
      local _, problem = front:ask "Profiler.takePreciseCoverage"
      assert.equal("Precise coverage has not been started.", problem.message)
      assert.same({}, front:ask("Profiler.getBestEffortCoverage").result)
    end)
  end)

  it("counts in coroutines, and beside breakpoints and steps", function ()
    local text = [[
local co = coroutine.wrap(function ()
  for i = 1, 3 do
    coroutine.yield(i)
  end
end)
for i = 1, 3 do
  co()
end
]]
    debugger.debug(text, function (front)
      front:ask("Profiler.startPreciseCoverage",
                {callCount = true, detailed = true})
      front:stop_at(3)
      front:go "resume"
      assert.equal("(main chunk):6", debugger.place(front:go "stepOut"))
      front:go "resume"
      front:go "resume"
      local functions = front:ask("Profiler.takePreciseCoverage").result[1]
                        .functions
      assert.equal(3, functions[2].ranges[2].count)
    end)
  end)
end)
