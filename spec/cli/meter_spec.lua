-- The meter that commands show on a terminal when they take time, and what
-- tells it how far a reading has come.

local run = require "spec.support.run"

-- A child with a terminal and a clock of its own: a call of the meter a second.
local function shown (code)
  local result = run.code([[
    local core = require "tracegrip.core"
    core.isatty = function (fd) return fd == 2 end
    local now = 0
    os.time = function () return now end
    local meter = require "tracegrip.cli.meter"
    local function steps (show)
      for i = 0, 4 do show(i / 4) show(i / 4) now = now + 1 end
      return nil, "a", "b"
    end
  ]] .. code)
  assert.equal(0, result.status, result.stderr)
  return result.stdout, result.stderr
end

describe("the meter", function ()
  it("shows percents from the second second on, and wipes them", function ()
    local out, shows = shown "print(meter.during('reading', steps))"
    assert.equal("nil\ta\tb\n", out)
    assert.equal("\rreading 50%\rreading 75%\rreading 100%\r\27[K", shows)
  end)

  it("shows nothing of what takes no time", function ()
    local out, shows = shown "print(meter.during('reading', type))"
    assert.equal("function\n", out)
    assert.equal("", shows)
  end)

  it("is wiped before an error goes on", function ()
    local out, shows = shown [[
      print(pcall(meter.during, "reading", function (show)
        steps(show)
        error("no", 0)
      end))]]
    assert.equal("false\tno\n", out)
    assert.matches("100%%\r\27%[K$", shows)
  end)

  it("is not there without a terminal", function ()
    local out, shows = shown [[
      core.isatty = function () return false end
      print(meter.during("reading", type))]]
    assert.equal("nil\n", out)
    assert.equal("", shows)
  end)
end)

describe("the progress of a reading", function ()
  local program = [[
    local core = require "tracegrip.core"
    local path = os.tmpname()
    local _, trace = assert(core.record({}, {path = path}))
    local console = require "tracegrip.console"
    for i = 1, 100000 do math.abs(i) end
    console.startTrace "second"
    for i = 1, 50000 do math.abs(i) end
    console.stopTrace "second"
    trace:stop()
    local recording = assert(core.open(path))
    os.remove(path)
    local function check (name, read)
      local parts, late = {}
      read(function (part)
        assert(part > 0 and part <= 1 and part >= (parts[#parts] or 0))
        parts[#parts + 1] = part
      end)
      print(name, #parts > 5, parts[#parts] > 0.8)
    end
    ]]

  it("is told of reports and trees, whatever they show", function ()
    local result = run.code(program .. [[
      for _, method in ipairs {"report", "tree"} do
        for _, filter in ipairs {{}, {include = {"^nothing$"}},
                                 {minDuration = 10000}} do
          check(method, function (progress)
            filter.progress = progress
            recording[method](recording, filter)
          end)
        end
      end]])
    assert.equal(("report\ttrue\ttrue\n"):rep(3)
                 .. ("tree\ttrue\ttrue\n"):rep(3),
                 result.stdout .. result.stderr)
  end)

  it("is told of all traces together by info", function ()
    local result = run.code(program .. [[
      check("info", function (progress) recording:info(false, progress) end)]])
    assert.equal("info\ttrue\ttrue\n", result.stdout .. result.stderr)
  end)

  it("can end it with an error", function ()
    local result = run.code(program .. [[
      local thing = {}
      local function throw () error(thing) end
      local function ends (...) assert(not ... and select(2, ...) == thing) end
      for i = 1, 10 do
        ends(pcall(recording.report, recording, {progress = throw}))
        ends(pcall(recording.tree, recording, {progress = throw}))
        ends(pcall(recording.info, recording, false, throw))
      end
      print(recording:report().events == recording:info().events)
      print(pcall(recording.report, recording, {progress = 1}))
      print(pcall(recording.info, recording, false, 1))]])
    assert.matches("^true\n" .. ("false\t[^\n]*'progress': a function "
                   .. "expected, got number\n"):rep(2) .. "$",
                   result.stdout .. result.stderr)
  end)
end)
