-- Calls beyond a document's limit: their time is drawn as "(calls left out)",
-- and the functions that are there have the times that they have in the report.

local exported = require "spec.export.exported"
local profiles = require "spec.export.profiles"
local seen = require "spec.export.seen"

local LEFT = "(calls left out)"
local formats = {"chrome", "cpuprofile", "firefox", "folded", "html", "otlp",
                 "packets", "speedscope"}

-- Every call of outer has many short ones and a long one; so has a coroutine.
local program = [[
  local function wait (us)
    local t = os.clock() + us / 1e6
    repeat until os.clock() > t
  end
  local function short () end
  local function outer ()
    for i = 1, 20 do short() end
    wait(1000)
    for i = 1, 20 do short() end
  end
  start()
  for i = 1, 10 do outer() end
  local co = coroutine.wrap(function ()
    for i = 1, 5 do outer() coroutine.yield() end
  end)
  for i = 1, 5 do co() end
]]

local CALLS = 2 * 15 + 1    -- outer, wait, and what the coroutine begins with

local function traced (filter)
  local options = {limit = CALLS + 5 + 5, exclude = {"clock"}, raw = true}
  for key, value in pairs(filter or {}) do
    options[key] = value
  end
  return exported.of(program, {formats = formats, export = options})[1]
end

-- name -> ns, of the steps of one track.
local function selves (steps)
  local sums = {}
  for _, one in pairs((seen.stacks(steps))) do
    local name = one.path:match "([^;]*) [^ ;]*$"
    sums[name] = (sums[name] or 0) + one.self
  end
  return sums
end

local read = {}

function read.chrome (text)
  return selves(seen.chrome(seen.json(text))[1])
end

function read.cpuprofile (text)
  local sums = {}
  for _, node in pairs((seen.cpuprofile(seen.json(text)))) do
    sums[node.name] = (sums[node.name] or 0) + node.self
  end
  return sums
end

function read.speedscope (text)
  return selves(seen.speedscope(seen.json(text))[1])
end

function read.folded (text)
  local sums = {}
  for stack, us in pairs(seen.folded(text)) do
    local name = stack:match "[^;]*$"
    sums[name] = (sums[name] or 0) + us * 1000
  end
  return sums
end

function read.firefox (text)
  local doc = seen.json(text)
  local stacks = profiles.stacks(doc.shared)
  return selves(profiles.steps(doc.threads[1], stacks))
end

describe("calls beyond the limit", function ()
  local trace

  lazy_setup(function () trace = traced() end)

  -- What the report has of 'outer' and 'wait', of which all calls are there.
  local function check (format, sums)
    local result = trace.exported[format]
    assert.is_true(result.leftOut > 400, format)
    assert.is_true(sums[LEFT] > 0, format)
    local off = format == "folded" and 20000 or 3000
    assert.near(result.leftOut_ms * 1e6, sums[LEFT], off)
    for _, f in ipairs(trace.report.functions) do
      if f.name == "outer" or f.name == "wait" then
        assert.near(f.self_ms * 1e6, sums[f.name], off, format .. f.name)
      end
    end
  end

  for format, read_sums in pairs(read) do
    it("are boxes of their own: " .. format, function ()
      check(format, read_sums(trace.text[format]))
    end)
  end

  it("are not counted as calls", function ()
    for _, format in ipairs(formats) do
      assert.equal(CALLS + 10, trace.exported[format].calls, format)
    end
  end)

  it("have no markers in the Firefox Profiler", function ()
    local doc = seen.json(trace.text.firefox)
    local list = profiles.markers(doc.threads[1], doc.shared.stringArray)
    for _, m in ipairs(list) do
      assert.not_equal(LEFT, m.fn)
    end
  end)

  it("are not in packets and spans", function ()
    assert.is_nil(trace.text.packets:find(LEFT, 1, true))
    assert.is_nil(trace.text.otlp:find(LEFT, 1, true))
  end)

  it("are no boxes if the user left them out", function ()
    local short = traced {minDuration = 0.5, limit = 1000}
    for _, format in ipairs(formats) do
      assert.is_nil(short.text[format]:find(LEFT, 1, true), format)
    end
  end)

  it("are no boxes where all are there", function ()
    local whole = traced {limit = 100000}
    for _, format in ipairs(formats) do
      assert.equal(0, whole.exported[format].leftOut)
      assert.is_nil(whole.text[format]:find(LEFT, 1, true), format)
    end
  end)
end)
