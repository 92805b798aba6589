-- Loss: what a full buffer keeps, and that every loss is counted.

local conform = require "spec.support.conform"

-- Two packets a call: f(1), f(2) ... f(n), and nothing else.
local function calls (n)
  return ([[
    local function f (i) end
    start()
    for i = 1, %d do f(i) end
  ]]):format(n)
end

local function lost (trace)
  local n = 0
  for _, count in pairs(trace.lost) do
    n = n + count
  end
  return n
end

local function traced (n, options)
  local result = conform.run(calls(n), {
    trace = {"name", "arguments"}, options = options
  })
  assert.is_true(result.ok, result.message)
  for i, p in ipairs(result[1].packets) do
    assert.equal(i - 1, p.sequence)
  end
  return result[1]
end

-- First and last argument of all calls entered; the kinds must alternate.
local function range (packets)
  local first, last
  for i, p in ipairs(packets) do
    assert.equal(i % 2 == 1 and "enteredFrame" or "exitedFrame", p.type)
    if p.arguments then
      local n = p.arguments.values[1]
      assert.is_true(not last or n == last + 1)
      first, last = first or n, n
    end
  end
  return first, last
end

describe("overflow 'stop'", function ()
  it("keeps the beginning and counts the rest", function ()
    local trace = traced(20000, {buffer = 16384, overflow = "stop"})
    local first, last = range(trace.packets)
    assert.equal(1, first)
    assert.is_true(last > 100 and last < 10000, last)
    assert.equal(40000, #trace.packets + lost(trace))
    assert.equal(lost(trace), trace.lost.overflow)
  end)

  it("loses nothing in a buffer that is large enough", function ()
    local trace = traced(20000, {overflow = "stop"})
    assert.equal(40000, #trace.packets)
    assert.equal(0, lost(trace))
  end)
end)

describe("overflow 'ring'", function ()
  it("keeps the end and counts the rest", function ()
    local trace = traced(20000, {buffer = 16384, overflow = "ring"})
    local packets = trace.packets
    -- the exit of a call whose entry is lost has no packet
    assert.equal("enteredFrame", packets[1].type)
    local first, last = range(packets)
    assert.is_true(first > 10000, first)
    assert.equal(20000, last)
    -- nor is that exit counted as lost, if what is kept begins inside a call
    local sum = #packets + lost(trace)
    assert.is_true(sum == 40000 or sum == 39999, sum)
  end)

  it("keeps everything while there is room", function ()
    local trace = traced(100, {buffer = 1 << 20, overflow = "ring"})
    assert.equal(200, #trace.packets)
    assert.equal(0, lost(trace))
  end)

  it("nests although its beginning is gone", function ()
    local text = conform.text([[
      local function f (n) if n > 0 then f(n - 1) end end
      local function g () for i = 1, 3000 do f(3) end end
      start()
      g()
      f(1)
    ]], {trace = {"name", "arguments"},
         options = {buffer = 16384, overflow = "ring"}})
    assert.matches("\n> f%(1%)\n  > f%(0%)\n  < f return\n< f return$", text)
  end)

  it("has room for values that are large for it", function ()
    local result = conform.run([[
      local function f (s) end
      start()
      for i = 1, 600 do f(("x"):rep(i % 7 == 0 and 6000 or 100)) end
    ]], {options = {buffer = 16384, overflow = "ring", include = {"^f$"},
                    valueString = "all"}, trace = {"name", "arguments"}})
    assert.is_true(result.ok, result.message)
    for i, p in ipairs(result[1].packets) do
      assert.equal(i % 2 == 1 and "enteredFrame" or "exitedFrame", p.type)
    end
    local sum = #result[1].packets + lost(result[1])
    assert.is_true(sum == 1200 or sum == 1199, sum)     -- see above
  end)

  it("keeps names although their first use is gone", function ()
    local trace = traced(20000, {buffer = 16384, overflow = "ring"})
    assert.equal("f", trace.packets[1].name)
  end)
end)

describe("a buffer", function ()
  it("is each trace's own", function ()
    local result = conform.run(([[
      local function f (i) end
      local small = start {trace = {"name", "arguments"}, buffer = 16384,
                           overflow = "stop"}
      local ring = start {trace = {"name", "arguments"}, buffer = 16384,
                          overflow = "ring"}
      local whole = start {trace = {"name", "arguments"}, include = {"^f$"}}
      for i = 1, 20000 do f(i) end
      whole:stop() ring:stop() small:stop()
    ]]))
    assert.is_true(result.ok, result.message)
    assert.is_true(#result[1].packets < 20000)
    assert.is_true(#result[2].packets < 20000)
    assert.equal(40000, #result[3].packets)
    assert.equal(0, lost(result[3]))
    assert.is_true(lost(result[1]) > 0 and lost(result[2]) > 0)
  end)
end)

describe("maxEvents", function ()
  it("stops the trace after so many packets", function ()
    local result = conform.run([[
      local function f (i) end
      local trace = start {trace = {"name", "arguments"}, maxEvents = 11}
      for i = 1, 100 do f(i) end
      print(trace.active)
    ]])
    assert.is_true(result.ok, result.message)
    assert.equal(11, #result[1].packets)
    assert.equal("false\n", result.stdout)
  end)

  it("leaves the hook only to others", function ()
    local result = conform.run([[
      local function f (i) end
      local a = start {trace = {"name"}, maxEvents = 3}
      for i = 1, 10 do f(i) end
      print(not debug.gethook())
      local b = start {trace = {"name"}, maxEvents = 4, include = {"^f$"}}
      local c = start {trace = {"name"}, include = {"^f$"}}
      for i = 1, 10 do f(i) end
      c:stop()
    ]])
    assert.equal("true\n", result.stdout)
    assert.equal(3, #result[1].packets)
    assert.equal(4, #result[2].packets)
    assert.equal(20, #result[3].packets)
  end)
end)

describe("duration", function ()
  it("stops the trace after so many milliseconds", function ()
    local result = conform.run([[
      local clock = os.clock
      local function f () end
      local trace = start {trace = {"name", "time"}, duration = 100,
                           include = {"^f$"}}
      local from = clock()
      while clock() < from + 0.2 do f() end
      print(trace.active, not debug.gethook())
    ]])
    assert.is_true(result.ok, result.message)
    assert.equal("false\ttrue\n", result.stdout)
    local packets = result[1].packets
    assert.is_true(#packets > 10)
    -- the last one may have waited for a processor
    local time = packets[#packets - 1].time - packets[1].time
    assert.is_true(time <= 101, time)
  end)
end)
