-- A debugger's code closed the listener at a breakpoint: the hook went on with
-- what was left of the debugger, which was freed when the state closed and was
-- looked at once more afterwards. 'make asan' finds that, and so does a C
-- library that fills what is freed.

local debugger = require "spec.support.debugger"
local run = require "spec.support.run"
local served = require "spec.support.served"

local it = debugger.needed(it, pending)

local program = [[
listening = assert(require "tracegrip".listen {inspect = 0})
io.stderr:write "begun\n"
local function work ()
  return over
end
repeat until work()
print "over"
]]

describe("a program whose listener is closed at a breakpoint", function ()
  it("ends as ever", function ()
    run.within(function (where)
      run.write(where .. "/app.lua", program)
      local command = served.start({"record", "-o", "app.trace", "app.lua"},
                                   where, {MALLOC_PERTURB_ = "165"})
      debugger.with(command, function ()
        command:until_ready(function () return command.err:find "begun\n" end)
        local front = debugger.connect(command.err:match "&ws=(%S+)\n")
        front:ask("Runtime.enable")
        front:ask("Debugger.enable")
        front:stop_at(4)
        local at = front:event "Debugger.paused"
        front:post("Debugger.evaluateOnCallFrame", {
          callFrameId = at.callFrames[1].callFrameId,
          expression = "(function () over = true listening:close() end)()"
        })
        assert.equal(0, command:ended())
        assert.equal("over\n", command.out)
      end)
    end)
  end)
end)
