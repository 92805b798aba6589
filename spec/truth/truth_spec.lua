-- Times of a traced program add up, and are in the order of those recorded. How
-- true they are is no matter of a spec: 'make truth' (table.lua).

local run = require "spec.support.run"

local here = run.root .. "/spec/truth/"
local programs = {"calls", "deep", "empty", "errors", "fib", "gsub", "oop",
                  "pingpong", "sines", "sort", "tokens"}

-- What measure.lua prints of a traced run: {duration_ms, functions = a list of
-- {self_ms, total_ms}}, of the times that are corrected and of those recorded.
local code = [[
  local program = ...
  local tracegrip = require "tracegrip"
  arg = {[0] = program, "10"}
  local chunk = assert(loadfile(program))
  local function write (report)
    for _, f in ipairs(report.functions) do
      print(("%.17g"):format(f.self_ms), ("%.17g"):format(f.total_ms))
    end
    print(("%.17g"):format(report.duration_ms), "")
  end
  local trace = tracegrip.start {trace = {"name", "time"}}
  chunk()
  trace:stop()
  write(trace:report())
  write(trace:report {raw = true})
]]

local function reports (name)
  local list, functions = {}, {}
  local program = here .. "programs/" .. name .. ".lua"
  local result = run.code(code, {args = {program}})
  assert.equal("", result.stderr)
  for self, total in result.stdout:gmatch "(%S+)\t(%S*)\n" do
    if total ~= "" then
      functions[#functions + 1] = {self_ms = tonumber(self),
                                   total_ms = tonumber(total)}
    else
      list[#list + 1] = {functions = functions, duration_ms = tonumber(self)}
      functions = {}
    end
  end
  return table.unpack(list)
end

local function sum_of (report)
  local sum = 0
  for _, f in ipairs(report.functions) do
    sum = sum + f.self_ms
  end
  return sum
end

-- No negative time, and no more than there was: of all functions together and
-- of each.
local function check_sums (report, raw)
  local whole = sum_of(report)
  assert.is_true(whole <= report.duration_ms + 1e-6)
  assert.is_true(report.duration_ms <= raw.duration_ms + 1e-6)
  assert.is_true(#raw.functions > 1)
  assert.equal(#raw.functions, #report.functions)
  for _, f in ipairs(report.functions) do
    assert.is_true(f.self_ms >= 0)
    assert.is_true(f.total_ms >= 0 and f.total_ms <= report.duration_ms)
  end
end

describe("times without what tracing costs", function ()
  for _, name in ipairs(programs) do
    it("add up and are never negative: " .. name, function ()
      check_sums(reports(name))
    end)
  end
end)

describe("times as recorded", function ()
  it("are those of packets", function ()
    local result = run.code [[
      local trace = require "tracegrip".start {trace = {"time", "name"}}
      local function f () end
      for _ = 1, 1000 do f() end
      trace:stop()
      local first, last
      for packet in trace:packets() do
        first, last = first or packet.time, packet.time
      end
      local raw, report = trace:report {raw = true}, trace:report()
      assert(report.duration_ms < raw.duration_ms)
      print(raw.duration_ms >= last - first)
    ]]
    assert.equal("true\n", result.stdout)
  end)

  it("and the others have one order, with the same moments apart", function ()
    local result = run.code [[
      local trace = require "tracegrip".start {trace = {"time", "name"}}
      local function f (n) if n > 0 then return 1 + f(n - 1) end return 0 end
      for _ = 1, 100 do
        f(20)
        pcall(error)
        coroutine.wrap(function () coroutine.yield() end)()
      end
      trace:stop()
      local raw, n = {}, 0
      for packet in trace:packets() do raw[#raw + 1] = packet end
      for packet in trace:packets {raw = false} do
        n = n + 1
        local before = raw[n - 1]
        assert(packet.type == raw[n].type and packet.name == raw[n].name)
        assert(packet.time <= raw[n].time)
        if before then
          local apart = packet.time - last
          assert(apart == 0 and raw[n].time == before.time
                 or apart > 0.9e-6 and raw[n].time > before.time)
        end
        last = packet.time
      end
      print(n == #raw and n > 4000)
    ]]
    assert.equal("", result.stderr)
    assert.equal("true\n", result.stdout)
  end)
end)
