-- Samples of deep stacks: to set a hook on one, and to look at it, may take
-- longer than a tick. The program gets on all the same.

local recorded = require "spec.support.recorded"
local run = require "spec.support.run"
local served = require "spec.support.served"

-- Releases before 5.4.3 have no deep stacks: Lua functions are C calls there.
local shallow = run.older "5.4.3"

-- Processor time of an overflow that is caught, without samples and with so
-- many a second: no more than so many times as much. Without a limit the
-- program would not end.
local overflows = [[
  local function deep () return 1 + deep() end
  local function spent ()
    local begun = os.clock()
    assert(not pcall(deep))
    return os.clock() - begun
  end
  local before = spent()
  local trace = require "tracegrip".start {sample = %d}
  local sampled = spent()
  trace:stop()
  print(sampled < %d * before + 0.1, sampled, before)
]]

-- So many levels, and then a loop.
local recursion = ([[
  local function deep (n)
    if n > 0 then return 1 + deep(n - 1) end
    local x, stop = 0, os.clock() + 0.3
    repeat
      for i = 1, 1000 do x = x + i %% 3 end
    until os.clock() > stop
    return 0
  end
  deep(%d)
]]):format(shallow and 100 or 150000)

for _, way in ipairs {"1", "0"} do
  describe("samples of a deep stack, memory read: " .. way, function ()
    for _, hz in ipairs {250, 10000} do
      it(("let a program overflow it, %d times a second"):format(hz),
         function ()
        local result = run.code(overflows:format(hz, way == "1" and 8 or 20), {
          env = {TRACEGRIP_DIRECT = way}
        })
        assert.equal(0, result.status, result.stderr)
        assert.matches("^true", result.stdout)
      end)
    end

    it("are of the program's own hook as if there were none", function ()
      local code = [[
        local calls = 0
        local function deep (n)
          if n > 0 then return 1 + deep(n - 1) end
          local x = 0
          for i = 1, 100000 do
            x = x + i % 3
          end
          return 0
        end
        local function count () calls = calls + 1 end
        local function counted ()
          calls = 0
          debug.sethook(count, "cr")
          deep(150)
          local hook, mask, n = debug.gethook()
          debug.sethook()
          assert(hook == count and mask == "cr" and n == 0)
          return calls
        end
        local before = counted()
        local trace = require "tracegrip".start {sample = 5000}
        local sampled = counted()
        trace:stop()
        print(before == sampled, before, sampled)
      ]]
      local result = run.code(code, {env = {TRACEGRIP_DIRECT = way}})
      assert.matches("^true", result.stdout, result.stderr)
    end)
  end)
end

describe("a sample that takes too long", function ()
  -- By the public API a hook is set on each frame. Some machines have no clock
  -- that ticks as often as that takes.
  it("has the next ones dropped, which is told", function ()
    recorded.with(recursion, {sample = 10000}, {direct = "0"},
                  function (_, recording, result, directory)
      local trace = recording:traces()[1]
      if shallow or trace:report().samples + trace.lost.dropped < 500 then
        return
      end
      assert.is_true(trace.lost.dropped > 0)
      local told = run.command({run.build .. "/bin/tracegrip", "info",
                                directory .. "/rec"})
      assert.matches("lost: +[%d,]+ samples? %(taking them took half of the"
                     .. " time%)", told.stdout, result.stderr)
    end)
  end)

  it("is not needed where memory is read", function ()
    recorded.with(recursion, {sample = 1000}, {direct = "1"},
                  function (_, recording)
      local trace = recording:traces()[1]
      local samples = trace:report().samples
      assert.is_true(trace.lost.dropped <= samples // 4,
                     trace.lost.dropped .. " of " .. samples)
    end)
  end)
end)

describe("a program that overflows its stack, looked at from outside",
         function ()
  local it = run.needs("luv", it, pending)

  for _, way in ipairs {"1", "0"} do
    it("goes on, memory read: " .. way, function ()
      run.within(function (directory)
        run.write(directory .. "/program.lua", [[
          local function deep () return 1 + deep() end
          print "begun"
          io.stdout:flush()
          while not io.open "enough" do pcall(deep) end
          print "ends"
        ]])
        local command = served.start({"serve", "--port", "0", "program.lua"},
                                     directory, {TRACEGRIP_DIRECT = way})
        command:until_says "begun"
        local address = command.err:match "listening on (%S+)"
        local looked = run.command({
          run.build .. "/bin/tracegrip", "attach", address, "--sample", "1000",
          "--duration", "300ms", "-o", directory .. "/rec"
        })
        assert.equal(0, looked.status, looked.stderr)
        run.write(directory .. "/enough", "")
        command:until_says "ends"
        command:ended()
        assert.equal(0, command.status)
      end)
    end)
  end
end)
