-- Times of a traced program, compared with those of the same program that is
-- not traced, as sampled from outside of its interpreter (docs/truetimes.md).
--
-- A machine that does much else, or whose speed changes, tells nothing: 'make
-- truth' is for a quiet one. There each of several runs is measured and
-- sampled anew, and the medians count.

local run = require "spec.support.run"

local RUNS = 15
local DEAR, NEAR = 5, 3     -- points of a hundred
local programs = run.root .. "/spec/truth/programs/"

-- Turns for a run that is sampled, and for one that is traced.
local turns = {
  sines = {4000, 100}, empty = {8000, 50}, fib = {3000, 100},
  sort = {3000, 80}, gsub = {4000, 300}, pingpong = {1500, 40},
  objects = {2000, 50}, deep = {8000, 200}, errors = {3000, 80},
  tokens = {2000, 50}
}

-- A function is known by its line; of C by the last word of its name.
local prelude = [[
  local program, turns = ...
  local tracegrip = require "tracegrip"
  arg = {[0] = program, turns}
  local chunk = assert(loadfile(program))
  local function write (report)
    for _, f in ipairs(report.functions) do
      local line = f.name == "(main chunk)" and 0 or f.line
      print(line or f.name:match "[^.]*$", ("%.17g"):format(f.self_ms),
            ("%.17g"):format(f.total_ms))
    end
    print("", ("%.17g"):format(report.duration_ms), 0)
  end
  collectgarbage()
]]

-- The reports of a traced run: as usual, and as recorded.
local traced = prelude .. [[
  local trace = tracegrip.start {trace = {"name", "time"}}
  chunk(turns)
  trace:stop()
  write(trace:report())
  write(trace:report {raw = true})
]]

-- The same of one that is not traced, in ticks.
local sampled = prelude .. [[
  local sampler = require "sampled"
  local wrap = coroutine.wrap
  function coroutine.wrap (f)
    local resumed = wrap(f)
    sampler.watch(select(2, debug.getupvalue(resumed, 1)))
    return resumed
  end
  sampler.start()
  chunk(turns)
  for key, ticks in pairs(sampler.stop()) do
    print(key, ticks, ticks)
  end
  print("", 0, 0)
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

local function reports (code, name, n)
  return run.within(function (directory)
    run.write(directory .. "/code.lua", code)
    local result = run.command({
      run.lua, "code.lua", programs .. name .. ".lua", tostring(n)},
      {cwd = directory, env = run.modules})
    assert.equal("", result.stderr)
    return read(result.stdout)
  end)
end

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

-- The median of each function's share, by name.
local function medians (list)
  local all, result = {}, {}
  for _, each in ipairs(list) do
    for name, share in pairs(each) do
      all[name] = all[name] or {}
      table.insert(all[name], share)
    end
  end
  for name, values in pairs(all) do
    table.sort(values)
    result[name] = values[(#values + 1) // 2]
  end
  return result
end

local function measured (name)
  local truth, found, recorded = {}, {}, {}
  for i = 1, RUNS do
    truth[i] = shares((reports(sampled, name, turns[name][1])))
    local report, raw = reports(traced, name, turns[name][2])
    check_sums(report, raw)
    found[i], recorded[i] = shares(report), shares(raw)
  end
  return medians(truth), medians(found), medians(recorded)
end

-- What is wrong, a line for each function; the table on the way, for whoever
-- looks.
local function compare (name)
  local truth, found, recorded = measured(name)
  local wrong = {}
  for key, share in pairs(truth) do
    local got = found[key] or 0
    local line = ("%-9s %-14s recorded %5.1f  corrected %5.1f  truth %5.1f")
                 :format(name, key, recorded[key] or 0, got, share)
    if share > DEAR then
      io.stderr:write("\n", line)
    end
    if share > DEAR and math.abs(got - share) > NEAR then
      wrong[#wrong + 1] = line
    end
  end
  assert.equal("", table.concat(wrong, "\n"))
end

describe("times without what tracing costs", function ()
  local near = os.getenv "TRACEGRIP_TRUTH" and it or pending
  for name in pairs(turns) do
    it("add up and are never negative: " .. name, function ()
      check_sums(reports(traced, name, turns[name][2] // 5))
    end)
    near("are near the truth on a quiet machine: " .. name,
         function () compare(name) end)
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
