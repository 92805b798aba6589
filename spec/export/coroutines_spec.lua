-- Coroutines in documents: what they are called, where they are drawn.

local exported = require "spec.export.exported"
local seen = require "spec.export.seen"

-- The first trace of a program.
local function traced (program, how)
  return exported.of(program, how)[1]
end

local function document (trace, format)
  return seen.json(trace.text[format])
end

local function names_of (doc)
  local list = {}
  for _, profile in ipairs(doc.profiles) do
    list[#list + 1] = profile.name
  end
  return list
end

describe("a coroutine", function ()
  local program = [[
    local function inner () coroutine.yield() end
    local function worker () inner() return inner() end
    local function wait () local t = os.clock() + 0.002
      repeat until os.clock() > t end
    start()
    local next = coroutine.wrap(worker)
    next()
    wait()
    next()
    next()
  ]]

  -- What is told of coroutine 2 in each format.
  local function told (how)
    local trace = traced(program, how)
    local _, names = seen.chrome(document(trace, "chrome"))
    local folded = trace.text.folded:match "([^\n;]*), coroutine;"
    return names[2], names_of(document(trace, "speedscope"))[2], folded
  end

  it("is named after what it begins with, and its number comes last",
  function ()
    local chrome, speedscope = told {}
    assert.equal("worker (p.lua:2), coroutine 2", chrome)
    assert.equal(chrome, speedscope)
  end)

  it("has that name also where its beginning is hidden", function ()
    for _, filter in ipairs {{exclude = {"^worker$"}}, {from = 1}} do
      local chrome, speedscope = told {export = filter}
      assert.equal("worker (p.lua:2), coroutine 2", chrome)
      assert.equal(chrome, speedscope)
    end
  end)

  it("has that name also where a ring has dropped its beginning", function ()
    local trace = traced [[
      local function inner () math.abs(1) coroutine.yield() end
      local function worker () while true do inner() end end
      start {trace = {"name", "time", "location", "thread"}, buffer = 4096,
             overflow = "ring"}
      local next = coroutine.wrap(worker)
      for i = 1, 2000 do
        for j = 1, 300 do math.abs(j) end
        next()
      end
    ]]
    local _, names = seen.chrome(document(trace, "chrome"))
    assert.is_true(trace.lost.ring > 0)
    assert.equal("worker (p.lua:2), coroutine 2", names[2])
    assert.matches("worker %(p.lua:2%), coroutine;", trace.text.folded)
  end)

  it("is called by its place if it has no name", function ()
    local trace = traced [[
      start()
      coroutine.wrap(function () tostring(1) end)()
    ]]
    local _, names = seen.chrome(document(trace, "chrome"))
    assert.equal("p.lua:2, coroutine 2", names[2])
  end)

  it("shares a track with others from the thousandth on", function ()
    local trace = traced [[
      local function f () math.abs(1) end
      start()
      for i = 1, 1500 do coroutine.wrap(f)() end
    ]]
    local tracks, names = seen.chrome(document(trace, "chrome"))
    local count, shared = 0, nil
    for track, name in pairs(names) do
      count = count + 1
      shared = name == "other coroutines" and track or shared
    end
    assert.equal(1000, count)
    assert.equal(4 * (1501 - 999), #tracks[shared])
    local profiles = names_of(document(trace, "speedscope"))
    assert.equal(1000, #profiles)
    assert.equal("other coroutines", profiles[1000])
  end)

  it("is waited for by name, on the track of whoever resumes it", function ()
    local trace = traced [[
      local function gen () coroutine.yield() end
      local function outer () coroutine.wrap(gen)() end
      start()
      coroutine.wrap(outer)()
    ]]
    local waits = {}
    for _, event in ipairs(document(trace, "chrome").traceEvents) do
      if event.cat == "Coroutine" then
        waits[#waits + 1] = ("%d: %s"):format(event.tid, event.name)
      end
    end
    assert.same({"2: (in gen (p.lua:1), coroutine 3)"}, waits)
  end)
end)
