-- Long strings that are seen again and again: recorded once, shown each time.

local run = require "spec.support.run"

local prelude = [[
  local tracegrip = require "tracegrip"
  local types = {"name", "arguments", "return", "throw", "yield"}
  local function start (options)
    options = options or {}
    options.trace = types
    return tracegrip.start(options)
  end
  local function text (s, limit)
    limit = limit or 256
    return function (grip)
      if #s <= limit then
        return grip == s
      end
      return type(grip) == "table" and grip.type == "longString"
             and grip.length == #s and grip.initial == s:sub(1, limit)
    end
  end
  local function first (p)
    if p.arguments then
      return p.arguments.values[1]
    end
    local outcome = p["return"] or p.throw or p.yield
    return outcome and outcome.value
  end
]]

local function passes (sentence, program)
  it(sentence, function ()
    local result = run.code(prelude .. program)
    assert.equal(0, result.status, result.stderr)
  end)
end

describe("a long string", function ()
  passes("is whole wherever it is passed to", [[
    local function inner (s) return s end
    local function outer (s, t)
      inner(s)
      local r = inner(t)
      return r
    end
    local a, b = ("a"):rep(1000), ("b"):rep(100)
    local trace = start {c = false}
    for i = 1, 1000 do
      outer(i % 2 == 0 and a or b, b)
    end
    trace:stop()
    local n = 0
    for p in trace:packets() do
      local i = n // 6
      local expected = n % 6 < 3 and i % 2 == 1 and a or b
      assert(text(expected)(first(p)), n)
      n = n + 1
    end
    assert(n == 6000)
  ]])

  passes("takes few bytes when it is seen again", [[
    local function f (s) return s end
    local s = ("x"):rep(100000)
    local trace = start {c = false}
    f(s)
    local once = trace.bytes
    for i = 1, 99 do f(s) end
    trace:stop()
    assert(trace.bytes - once < 99 * 2 * 25, trace.bytes)
  ]])

  passes("is itself when another had its address", [[
    local function f (s) end
    local trace = start {c = false}
    for i = 1, 2000 do
      f(("%04d"):format(i) .. ("-"):rep(196))
      if i % 50 == 0 then collectgarbage() end
    end
    trace:stop()
    local n = 0
    for p in trace:packets() do
      if p.arguments then
        n = n + 1
        assert(first(p) == ("%04d"):format(n) .. ("-"):rep(196))
      end
    end
    assert(n == 2000)
  ]])

  passes("is there from the start of each trace", [[
    local function f (s) end
    local s = ("x"):rep(100)
    local outer = start {c = false}
    f(s)
    local inner = start {c = false}
    f(s)
    inner:stop() outer:stop()
    local again = start {c = false}
    f(s)
    again:stop()
    for _, trace in ipairs {outer, inner, again} do
      for p in trace:packets() do
        assert(p.name ~= "f" or first(p) == s)
      end
    end
  ]])

  passes("is there in a ring", [[
    local function f (s) end
    local s = ("x"):rep(200)
    local trace = start {c = false, overflow = "ring", buffer = 1 << 19}
    for i = 1, 200000 do f(s) end
    trace:stop()
    local n = 0
    assert(trace.lost.ring > 0)
    for p in trace:packets() do
      if p.arguments then
        n = n + 1
        assert(first(p) == s)
      end
    end
    assert(n > 1000, n)
  ]])

  passes("is what was yielded, thrown and handled", [[
    local s = ("x"):rep(300)
    local function handler (message) return #message end
    local function body (x) coroutine.yield(x) error(x, 0) end
    local trace = start()
    local co = coroutine.create(body)
    coroutine.resume(co, s)
    coroutine.resume(co)
    xpcall(error, handler, s, 0)
    trace:stop()
    local why, right = {}, text(s)
    for p in trace:packets() do
      if p.yield or p.throw then
        assert(right(first(p)), p.why)
        why[#why + 1] = p.why
      end
    end
    assert(table.concat(why, " ")
           == "yield yield exception exception exception",
           table.concat(why, " "))
  ]])

  passes("is a key, a value and the name of a class", [[
    local s = ("x"):rep(100)
    local function f (x) end
    local object = setmetatable({[s] = s}, {__name = s})
    local trace = start {c = false}
    f(s) f(object)
    trace:stop()
    local pools = {}
    for p in trace:packets() do
      if p.arguments then pools[#pools + 1] = p.arguments.objectPool end
    end
    local d = pools[2][1]
    assert(d.class == s and d.ownProperties[s].value == s)
  ]])

  passes("is cut where each trace wants it", [[
    local s = ("xyz"):rep(100)
    local function f (x) end
    local short = start {c = false, valueString = 10}
    local long = start {c = false, valueString = 100}
    for i = 1, 10 do f(s) end
    long:stop() short:stop()
    for p in short:packets() do
      assert(p.name ~= "f" or text(s, 10)(first(p)))
    end
    for p in long:packets() do
      assert(p.name ~= "f" or text(s, 100)(first(p)))
    end
  ]])

  passes("is there when a list had to be begun again", [[
    local big, s = {}, ("x"):rep(200)
    for i = 1, 4000 do
      big[i] = ("%d"):format(i) .. ("y"):rep(100)
    end
    local function f (a, b, c) end
    local trace = start {c = false, valueProperties = "all"}
    for i = 1, 10 do f(s, big, s) end
    trace:stop()
    for p in trace:packets() do
      if p.arguments then
        local values = p.arguments.values
        local list = p.arguments.objectPool[1].ownProperties
        assert(values[1] == s and values[3] == s)
        for i = 1, 4000 do
          assert(list["[" .. i .. "]"].value == big[i])
        end
      end
    end
  ]])

  passes("is held back with a call of some duration", [[
    local clock, s = os.clock, ("x"):rep(200)
    local function wait (x)
      local from = clock()
      while clock() < from + 0.02 do end
      return x
    end
    local function f (x) return (wait(x)) end
    local trace = start {c = false, minDuration = 10}
    f(s)
    trace:stop()
    local n = 0
    for p in trace:packets() do
      n = n + 1
      assert(first(p) == s)
    end
    assert(n == 4)
  ]])
end)
