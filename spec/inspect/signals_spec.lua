-- Messages come at any moment of a program: each is a signal, whose handler
-- puts a hook on what runs, while the debugger or the program itself may be
-- about to change that.

local debugger = require "spec.support.debugger"
local run = require "spec.support.run"

local it = debugger.needed(it, pending)

-- What is sent to a program that has ended would end this one.
local stays = [[
io.stdout:flush()
while true do end
]]

-- Sends messages as long as the program writes nothing; what it has written.
local function disturb (front, command)
  while not command.out:find "\n" do
    for _ = 1, 20 do
      front:post "Runtime.getIsolateId"
    end
    front:pass(0.001)
  end
  return command.out
end

describe("a breakpoint", function ()
  it("is met each time, whenever messages come", function ()
    debugger.debug([[
local COUNT = ]] .. run.some(100000, 250000) .. [[

hits = 0
local function callee (n)
  if n % 10 == 0 then
    return n
  end
end
for n = 1, COUNT do
  callee(n)
end
print(hits - COUNT // 10)
]] .. stays, function (front, _, command)
      front:stop_at(5, "(function () hits = hits + 1 end)()")
      front:post "Debugger.resume"
      assert.equal("0\n", disturb(front, command))
    end)
  end)
end)

describe("the program's own hook", function ()
  it("is as it was set, whenever messages come", function ()
    debugger.attach([[
local COUNT = ]] .. run.some(400000, 1000000) .. [[

local sethook, gethook = debug.sethook, debug.gethook
local events, wrong = 0, 0
local function hook ()
  events = events + 1
end
io.stderr:write "begun\n" while not go do end
for n = 1, COUNT do
  sethook(hook, "l")
  local _, mask = gethook()
  if mask ~= "l" then wrong = wrong + 1 end
  sethook()
end
print(events - 3 * COUNT, wrong, gethook())
]] .. stays, function (front, command)
      front:ask("Runtime.evaluate", {expression = "go = true"})
      assert.equal("0\t0\tnil\n", disturb(front, command))
    end)
  end)
end)
