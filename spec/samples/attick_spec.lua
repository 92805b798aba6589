-- What a tick meets, read where it strikes: functions that give their frames
-- away, lines of straight code, processor time. The truth is counted: functions
-- that do the same work, and the program's own processor time.

local cjson = require "cjson"

local recorded = require "spec.support.recorded"
local run = require "spec.support.run"

local function busy (seconds, functions, body)
  return ([[
    %s
    local start = os.clock()
    repeat
      for i = 1, 2000 do %s end
    until os.clock() - start > %s
    print(os.clock())
  ]]):format(functions, body, seconds)
end

local function sampled (code, check)
  recorded.with(code, {sample = 1000}, {direct = "1"},
                function (_, recording, result)
    local trace = recording:traces()[1]
    check(trace, tonumber(result.stdout:match "[%d.]+"))
  end)
end

-- Ticks of a function by line, as a CPU profile has them, and their sum.
local function line_ticks (trace, name)
  local path = os.tmpname()
  assert(trace:export("cpuprofile", path))
  local document = cjson.decode(run.read(path))
  os.remove(path)
  local lines, sum = {}, 0
  for _, node in ipairs(document.nodes) do
    for _, hit in ipairs(node.callFrame.functionName == name
                         and node.positionTicks or {}) do
      lines[hit.line] = (lines[hit.line] or 0) + hit.ticks
      sum = sum + hit.ticks
    end
  end
  return lines, sum
end

local work = "x * 3 + x / 7 - x // 5 + x % 11 * 2 - x / 3 + x // 9"

describe("a tick", function ()
  -- Of two functions that do the same each has about half of the ticks of both:
  -- about, since one may be slower by where its code happens to be.
  it("finds a function that is about to make a tail call", function ()
    local functions = ([[
      local function leaf (x) return x end
      local function tail (x) local y = %s return leaf(y) end
      local function plain (x) local y = %s local r = leaf(y) return r end
    ]]):format(work, work)
    sampled(busy(1, functions, "tail(i) plain(i)"), function (trace)
      local ticks = recorded.ticks(trace)
      local both = ticks.tail + ticks.plain
      assert.is_true(both > 50)
      assert.near(0.5, ticks.tail / both, 0.25)
      assert.is_true((ticks.leaf or 0) < 0.7 * ticks.tail)
    end)
  end)

  it("finds the line of straight code", function ()
    local functions = ([[local sin = math.sin
      local function heavy (x)
        local y = %s
        local z = %s
        return sin(y + z)
      end]]):format(work, work)
    local program = busy(1, functions, "heavy(i)")
    local _, before = program:match("^(.-)local y"):gsub("\n", "")
    local first = before + 1
    sampled(program, function (trace)
      local lines, sum = line_ticks(trace, "heavy")
      local one, other = lines[first] or 0, lines[first + 1] or 0
      assert.is_true(sum > 50)
      assert.is_true((one + other) / sum > 0.6)
      assert.near(0.5, one / (one + other), 0.3)
    end)
  end)

  it("stands for processor time", function ()
    local functions = ("local function f (x) return %s end"):format(work)
    sampled(busy(0.5, functions, "f(i)"), function (trace, used)
      local sum = 0
      for _, row in ipairs(trace:report().functions) do
        sum = sum + row.self_ms
      end
      assert.near(1000 * used, sum, 150 + 100 * used)
    end)
  end)

  -- The program is killed while that function runs; there may have been no
  -- sample in its caller, which has no name then.
  local function hung (call)
    local f = "local function f (x) return x + 1 end"
    local code = busy(0.3, f, "f(i)") .. [[
      os.execute("(sleep 1.5; kill -9 " .. process.pid() .. ") &")
      local text = ("a"):rep(400)
    ]] .. call
    local times = {}
    recorded.with(code, {sample = 1000}, {direct = "1"},
                  function (info, recording)
      assert.equal("cut off", info.state)
      for _, row in ipairs(recording:traces()[1]:report().functions) do
        times[row.name] = row.self_ms
      end
    end)
    return times
  end

  it("shows a C function that does not return", function ()
    assert.is_true(hung('text:find("a*a*a*a*b")')["string.find"] > 50)
  end)

  it("shows one of which nothing is known", function ()
    local times = hung('for _ in text:gmatch("a*a*a*a*b") do end')
    assert.is_true(times["(C function)"] > 50)
  end)

  it("changes nothing, whatever it strikes", function ()
    local program = [[
      local sum = 0
      local function mix (x) sum = (sum * 31 + x) % 1000000007 end
      local function deep (n)
        if n == 0 then error {n} end
        return 1 + deep(n - 1)
      end
      local function nest (d)
        return d == 0 and 1
               or coroutine.wrap(function () return nest(d - 1) + 1 end)()
      end
      local function tail (n) if n > 0 then return tail(n - 1) end return n end
      for t = 1, 4000 do
        local co = coroutine.wrap(function ()
          for i = 1, t % 7 do coroutine.yield(i) end
          error "end"
        end)
        repeat
          local ok, v = pcall(co)
          mix(ok and v or 0)
        until not ok
        mix(select(2, pcall(deep, t % 150))[1])
        mix(nest(t % 12) + tail(t % 90))
        mix(#(("abc"):rep(t % 50):gsub("b", function (x) return x .. t end)))
        local l = {}
        for i = 1, 30 do l[i] = (i * t) % 17 end
        table.sort(l, function (a, b) return a > b end)
        mix(l[1] + (load("return " .. t % 1000))())
        do
          local x <close> = setmetatable({}, {__close = function () mix(t) end})
        end
        setmetatable({}, {__gc = function () end})
        if t % 70 == 0 then
          local n = 0
          debug.sethook(function () n = n + 1 end, "l")
          pcall(deep, 3)
          debug.sethook()
          mix(n)
        end
      end
      print(sum)]]
    recorded.with(program, {sample = 10000}, nil, function (info, _, result)
      assert.equal(run.code(program).stdout, result.stdout)
      assert.equal("complete", info.state)
    end)
  end)
end)
