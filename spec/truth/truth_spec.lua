-- Times of a traced program, compared with samples of the same program that is
-- not traced (docs/truetimes.md): those that a report gives must be nearer to
-- them than those that were recorded.
--
-- Times are the clock's, and a busy machine gives some of them to others: so
-- each program has several tries, and one of them must do. Even so a machine
-- with much else to do tells nothing: TRACEGRIP_TRUTH=1 is for a quiet one.

local run = require "spec.support.run"

local TRIES = 15
local programs = run.root .. "/spec/truth/programs/"

-- Turns for a run that is sampled, and for one that is traced.
local turns = {
  sines = {4000, 100}, empty = {8000, 50}, fib = {3000, 100},
  sort = {3000, 80}, gsub = {4000, 300}, pingpong = {1500, 40},
  objects = {2000, 50}, deep = {8000, 200}, errors = {3000, 80},
  tokens = {2000, 50}
}

-- Shares of the time in functions, by name.
local function shares (report)
  local list, whole = {}, 0
  for _, f in ipairs(report.functions) do
    list[f.name] = (list[f.name] or 0) + f.self_ms
    whole = whole + f.self_ms
  end
  for name, ms in pairs(list) do
    list[name] = 100 * ms / whole
  end
  return list, whole
end

-- Half of the sum of differences: the share that is with the wrong function.
local function distance (a, b)
  local sum = 0
  for name, share in pairs(a) do
    sum = sum + math.abs(share - (b[name] or 0))
  end
  for name, share in pairs(b) do
    sum = sum + (a[name] and 0 or share)
  end
  return sum / 2
end

-- The reports of a recorded run: as usual, and as recorded.
local code = [[
  local what, program, turns = ...
  local tracegrip = require "tracegrip"
  arg = {[0] = program, turns}
  local chunk = assert(loadfile(program))
  local options = what == "samples" and {sample = 10000}
                  or {trace = {"name", "time"}}
  local trace = tracegrip.start(options)
  chunk(turns)
  trace:stop()
  local function write (report)
    for _, f in ipairs(report.functions) do
      print(f.name, ("%.17g"):format(f.self_ms), ("%.17g"):format(f.total_ms))
    end
    print("", ("%.17g"):format(report.duration_ms), 0)
  end
  write(trace:report())
  write(trace:report {raw = true})
]]

local function read (text)
  local reports, functions = {}, {}
  for name, self, total in text:gmatch "([^\n\t]*)\t(%S+)\t(%S+)\n" do
    if name ~= "" then
      functions[#functions + 1] = {name = name, self_ms = tonumber(self),
                                   total_ms = tonumber(total)}
    else
      reports[#reports + 1] = {functions = functions,
                               duration_ms = tonumber(self)}
      functions = {}
    end
  end
  return table.unpack(reports)
end

local function reports (name, what, n)
  local result = run.code(code, {args = {what, programs .. name .. ".lua",
                                         tostring(n)}})
  assert.equal("", result.stderr)
  return read(result.stdout)
end

-- No negative time, and no more than there was: of all functions together and
-- of each.
local function check_sums (report, raw)
  local _, whole = shares(report)
  assert.is_true(whole <= report.duration_ms + 1e-6)
  assert.is_true(report.duration_ms <= raw.duration_ms + 1e-6)
  assert.equal(#raw.functions, #report.functions)
  for _, f in ipairs(report.functions) do
    assert.is_true(f.self_ms >= 0)
    assert.is_true(f.total_ms >= 0 and f.total_ms <= report.duration_ms)
  end
end

local function is_nearer (name)
  local truth = shares((reports(name, "samples", turns[name][1])))
  local told
  for _ = 1, TRIES do
    local report, raw = reports(name, "calls", turns[name][2])
    check_sums(report, raw)
    local near = distance(truth, (shares(report)))
    local far = distance(truth, (shares(raw)))
    if near < far then
      return
    end
    told = ("%.1f points are wrong, %.1f were"):format(near, far)
  end
  error(told)
end

describe("times without what tracing costs", function ()
  local nearer = os.getenv "TRACEGRIP_TRUTH" and it or pending
  for name in pairs(turns) do
    it("add up and are never negative: " .. name, function ()
      check_sums(reports(name, "calls", turns[name][2] // 5))
    end)
    nearer("are nearer to the truth on a quiet machine: " .. name,
           function () is_nearer(name) end)
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
      local open, sum = 0, 0
      local raw, report = trace:report {raw = true}, trace:report()
      assert(report.duration_ms < raw.duration_ms)
      local true_last
      for packet in trace:packets {raw = false} do
        assert(not true_last or packet.time >= true_last)
        true_last = packet.time
      end
      assert(true_last < last)
      print(raw.duration_ms >= last - first)
    ]]
    assert.equal("true\n", result.stdout)
  end)
end)
