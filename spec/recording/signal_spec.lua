-- The flight recorder's button: SIGUSR1 saves what a ring has.

local lfs = require "lfs"
local run = require "spec.support.run"

local program = [[
local core = require "tracegrip.core"
assert(core.record({overflow = %q, buffer = 1 << 19, trace = {"name", "time"}},
                   {path = "flight.tgr", program = "flight"}))
local function step (i) return i end
local function work () for i = 1, 60000 do step(i) end end
local function press () os.execute("kill -USR1 " .. core.pid()) end
work() work()
press()
local function after_first () end
after_first()
work()
press()
local function after_second () end
after_second()
]]

local function names_in (path)
  local tracegrip = require "tracegrip"
  local recording = assert(tracegrip.open(path))
  local seen, last = {}, nil
  for packet in recording:packets() do
    last = packet.name or last
    seen[packet.name or ""] = true
  end
  return seen, last, recording
end

local function fly (dir, overflow)
  run.write(dir .. "/program.lua", program:format(overflow))
  return run.file(dir .. "/program.lua", {cwd = dir})
end

describe("SIGUSR1", function ()
  it("saves a ring, each time into a file of its own", function ()
    run.within(function (dir)
      local result = fly(dir, "ring")
      assert.same({status = 0, stdout = "", stderr = ""}, result)
      local first, _, one = names_in(dir .. "/flight.tgr.1")
      local second, _, two = names_in(dir .. "/flight.tgr.2")
      local all = names_in(dir .. "/flight.tgr")
      assert.is_true(first.step)
      assert.is_nil(first.after_first or first.after_second)
      assert.is_nil(second.after_second)
      assert.is_true(all.after_second)
      assert.is_true(two.events + two.lost.ring > one.events + one.lost.ring)
      assert.equal("complete", one:info().state)
      assert.is_true(one:info().file_bytes < 1 << 20)
      assert.is_nil(lfs.attributes(dir .. "/flight.tgr.3"))
    end)
  end)

  it("is the program's own where there is no ring", function ()
    run.within(function (dir)
      local result = fly(dir, "stop")
      assert.equal(128 + 10, result.status)
    end)
  end)
end)
