-- One clock: whatever the format, a recording's documents begin at the same
-- moment, and what markers tell of spans is on it.

local cjson = require "cjson".new()

local run = require "spec.support.run"
local tracegrip = require "tracegrip"

cjson.decode_max_depth(100000)

-- Calls use(trace, directory) with a recorded program's trace.
local function recorded (words, code, use)
  run.within(function (directory)
    run.write(directory .. "/p.lua", code)
    local command = {run.build .. "/bin/tracegrip", "record", "-o", "rec"}
    table.move(words, 1, #words, #command + 1, command)
    command[#command + 1] = "p.lua"
    local result = run.command(command, {cwd = directory})
    assert.equal(0, result.status, result.stderr)
    use(assert(tracegrip.open(directory .. "/rec")):traces()[1], directory)
  end)
end

-- method .. label -> its packet
local function markers_of (trace, filter)
  local found = {}
  for packet in trace:packets(filter) do
    if packet.type == "marker" then
      found[packet.method .. " " .. tostring(packet.arguments.values[1])] =
        packet
    end
  end
  return found
end

local function events_of (trace, directory)
  assert(trace:export("chrome", directory .. "/chrome", {limit = 1000000}))
  return cjson.decode(run.read(directory .. "/chrome")).traceEvents
end

-- Of timers that follow one another, each around one call; many small calls
-- make tracing most of what was recorded.
local rounds = [[
  local console = require "tracegrip.console"
  local function leaf (i) return i end
  local function work (n) for i = 1, n do leaf(i) end end
  console.time "all"
  for round = 1, 3 do
    console.time("round " .. round)
    work(3000)
    console.timeEnd("round " .. round)
  end
  console.timeLog "all"
  console.timeEnd "all"
]]

describe("a timer", function ()
  it("is as long as the time between its two markers", function ()
    recorded({}, rounds, function (trace)
      for _, raw in ipairs {false, true} do
        local markers = markers_of(trace, {raw = raw})
        for _, label in ipairs {"all", "round 1", "round 2", "round 3"} do
          local begun, ended = markers["time " .. label],
                               markers["timeEnd " .. label]
          assert.near(ended.time - begun.time, ended.duration, 1.5e-6)
        end
        local logged = markers["timeLog all"]
        assert.near(logged.time - markers["time all"].time, logged.duration,
                    1.5e-6)
      end
    end)
  end)

  it("is drawn around the call that it is around, one after the other on one "
     .. "track", function ()
    recorded({}, rounds, function (trace, directory)
      local boxes, tracks, works = {}, {}, {}
      for _, event in ipairs(events_of(trace, directory)) do
        if event.cat == "console" and event.ph == "X" then
          boxes[event.name] = event
          tracks[event.tid] = (tracks[event.tid] or 0) + 1
        elseif event.name == "work" then
          works[#works + 1] = event
        end
      end
      table.sort(works, function (a, b) return a.ts < b.ts end)
      assert.equal(3, #works)
      for i, work in ipairs(works) do
        local box, after = boxes["round " .. i], works[i + 1]
        assert.is_true(box.ts <= work.ts)
        assert.is_true(box.ts + box.dur >= work.ts + work.dur)
        assert.is_true(not after or box.ts + box.dur <= after.ts)
        assert.equal(boxes["round 1"].tid, box.tid)
      end
      assert.equal(3, tracks[boxes["round 1"].tid])
      assert.equal(1, tracks[boxes.all.tid])
    end)
  end)

  it("that began before the trace has begun before its first packet",
     function ()
    local begun = [[
      local first = require "tracegrip".start()   -- so that timers are known
      console.time "all"
      console.startTrace "late"
    ]]
    local result = run.code(rounds:gsub('console.time "all"', function ()
      return begun
    end) .. [[
      local trace = console.stopTrace "late"
      local function told (raw)
        for packet in trace:packets {raw = raw} do
          if packet.method == "timeEnd"
             and packet.arguments.values[1] == "all" then
            return packet
          end
        end
      end
      local packet = told(false)
      print(packet.time - trace:packets {raw = false}().time,
            packet.duration, told(true).duration)
    ]])
    assert.equal(0, result.status, result.stderr)
    local passed, duration, raw = result.stdout:match "(%S+)\t(%S+)\t(%S+)"
    assert.is_true(tonumber(duration) >= tonumber(passed) - 1e-6)
    assert.is_true(tonumber(duration) <= tonumber(raw) + 1e-6)
  end)
end)

describe("a cycle of the collector", function ()
  it("is no longer without the costs of tracing than with them", function ()
    recorded({"--memory"}, [[
      local function make (i) return {i} end
      for i = 1, 20000 do make(i) end
    ]], function (trace)
      local lengths = {}
      for _, raw in ipairs {true, false} do
        local n = 0
        for packet in trace:packets {raw = raw} do
          if packet.method == "collection" then
            n = n + 1
            if raw then
              lengths[n] = packet.duration
            else
              assert.is_true(packet.duration <= lengths[n] + 2e-6)
            end
          end
        end
        assert.equal(#lengths, n)
        assert.is_true(n > 0)
      end
    end)
  end)
end)

describe("time 0", function ()
  local formats = {"chrome", "cpuprofile", "firefox", "gecko", "html", "pprof",
                   "speedscope"}

  it("is the same in all formats, also with a marker before the first call",
     function ()
    recorded({"--memory", "--include", "^f$"}, [[
      local console = require "tracegrip.console"
      local function f () return {} end
      console.log "before"
      for i = 1, 10 do f() end
    ]], function (trace, directory)
      local first = trace:packets {raw = false}().time
      for _, format in ipairs(formats) do
        local result = assert(trace:export(format, directory .. "/out"))
        assert.equal(first, result.start_ms, format)
      end
    end)
  end)

  it("is what --from + counts from", function ()
    recorded({"--memory"}, [[
      local function f () return {} end
      collectgarbage()
      for i = 1, 10 do f() end
    ]], function (trace, directory)
      local fs = {}
      assert(trace:export("speedscope", directory .. "/out"))
      local document = cjson.decode(run.read(directory .. "/out"))
      for _, event in ipairs(document.profiles[1].events) do
        local name = document.shared.frames[event.frame + 1].name
        if event.type == "O" and name == "f" then
          fs[#fs + 1] = event.at
        end
      end
      local result = run.command({run.build .. "/bin/tracegrip", "export",
        "packets", "--true", "--include", "^f$", "-o", "-", "--from",
        ("+%.6f"):format(fs[6] / 1e6), "rec"}, {cwd = directory})
      local count = select(2, result.stdout:gsub('"enteredFrame"', ""))
      assert.equal(5, count)
    end)
  end)
end)
