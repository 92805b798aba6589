-- What is said of ticks that do not come as they should: by the program that
-- was recorded, by those who read the recording, and by top.

local run = require "spec.support.run"

local spin = [[
  local refused = require "refused"
  local function spin (seconds)
    local stop = os.clock() + seconds
    while os.clock() < stop do
      local x = 0
      for i = 1, 1000 do x = x + i end
    end
  end
]]

-- The interpreter's memory is not read: C functions are seen when they return.
local unread = {TRACEGRIP_DIRECT = "0"}
for name, value in pairs(run.modules) do
  unread[name] = value
end

-- What 'record' says in the end, and the notes of the recording.
local function record (code, env)
  return run.within(function (directory)
    local bin = run.build .. "/bin/tracegrip"
    run.write(directory .. "/program.lua", spin .. code)
    local function command (...)
      return run.command({bin, ...}, {
        cwd = directory, env = env or run.modules
      })
    end
    local result = command("record", "--sample", "1000", "-o", "p.tgr",
                           "program.lua")
    local report = command("report", "p.tgr")
    local info = command("info", "p.tgr")
    return result, report.stdout, info.stdout:match "\nticks: +([^\n]*)"
  end)
end

-- Where the system refuses perf events, as containers do, the timer in their
-- place is told of in all that is said, and its ticks are too few to count.
local refused = select(2, record "spin(0.05)"):find "refused perf events"

local function with_events (sentence, body)
  it(sentence, refused and function ()
    pending "perf events are refused here"
  end or body)
end

describe("ticks", function ()
  -- A machine that takes the processor away while a sample is taken, and counts
  -- that as the thread's time, has a tick dropped.
  with_events("that come as they should are nothing to tell of", function ()
    local result, report, info = record "spin(0.2)"
    assert.equal("", (result.stderr:gsub(
      "^[^\n]* lacks %d samples? %(taking them took half of the time%)\n", "")))
    assert.not_matches("note:", report)
    assert.is_nil(info)
  end)

  with_events("that came while signals were blocked are counted", function ()
    local result, report, info = record
      "spin(0.2) refused.block() spin(0.5) refused.unblock() spin(0.2)"
    local blocked, all = info:match(
      "^([%d,]+) of ([%d,]+) ticks came while signals were blocked")
    blocked, all = tonumber(blocked), tonumber((all:gsub(",", "")))
    assert.is_true(blocked > 350 and blocked < 700, info)
    assert.is_true(all > blocked + 50, info)
    assert.matches("p.tgr: [%d,]+ of [%d,]+ ticks came while signals were "
                   .. "blocked: what ran then is shown as what ran next\n$",
                   result.stderr)
    assert.matches("\n\nnote: " .. info .. "\n$", report)
  end)

  -- Unless one comes before they are blocked.
  with_events("that no sample could be taken of are counted", function ()
    local result, report, info
    for _ = 1, 5 do
      result, report, info = record "refused.block() spin(0.5)"
      if info:find "^all" then
        break
      end
    end
    assert.matches("^all %d+ ticks came while signals were blocked: "
                   .. "what ran then is not known$", info)
    assert.matches(info .. "\n$", result.stderr)
    assert.matches("note: " .. info .. "\n$", report)
  end)

  it("wait in no number that the system would answer with another signal",
     function ()
    local result = run.within(function (directory)
      run.write(directory .. "/program.lua", spin
                .. "refused.block() spin(1.5) refused.unblock() print 'lives'")
      local bin = run.build .. "/bin/tracegrip"
      return run.command({"sh", "-c", "ulimit -i 600; exec " .. bin
        .. " record --sample 1000 -o p.tgr program.lua"},
        {cwd = directory, env = run.modules})
    end)
    assert.equal("lives\n", result.stdout)
    assert.equal(0, result.status)
  end)

  it("of a timer, where events are refused, are told with its rate",
     function ()
    local _, report, info = record [[
      refused.refuse()
      local tracegrip = require "tracegrip"
      local trace = tracegrip.start {sample = 1000}
      spin(0.2)
      trace:stop()
      trace:save "q.tgr"
      local notes = tracegrip.open("q.tgr"):info().ticks.notes
      assert(#notes == 1)
      assert(notes[1]:find("refused perf events: a timer ticks, every %d", 1))
    ]]
    assert.is_truthy(report, info)
  end)

  with_events("that a C function has not answered are told when it was killed",
     function ()
    local _, report = record("spin(0.1) refused.hang(0.4)",
                             unread)
    local waiting = report:match("note: the last (%d+) ticks came in a C "
                                 .. "function that did not return")
    assert.is_true(tonumber(waiting) > 100, report)
  end)
end)
