-- Whatever becomes of the process or of the file: what was recorded up to the
-- last complete event is there, and it is what a run that nothing disturbed
-- begins with.
--
-- TRACEGRIP_FUZZ=N tries N points of each kind, TRACEGRIP_SEED=S others.

local run = require "spec.support.run"

local count = tonumber(os.getenv "TRACEGRIP_FUZZ") or run.some(15, 30)
local seed = tonumber(os.getenv "TRACEGRIP_SEED") or 1

local function cut (what, points)
  run.within(function (directory)
    local result = run.file(run.root .. "/spec/recording/cut.lua", {
      args = {what, directory, points or count, seed}, timeout = 600,
      env = run.modules
    })
    assert.equal("", result.stderr)
    assert.equal(0, result.status)
    if os.getenv "TRACEGRIP_FUZZ" then
      print(result.stdout)
    end
    for line in result.stdout:gmatch "[^\n]+" do
      assert.equal("#", line:sub(1, 1), line)
    end
  end)
end

describe("what is left of a recording is its beginning", function ()
  it("when the process is killed at any moment", function ()
    cut "kill"
  end)

  it("when a ring is killed at any moment", function ()
    cut("ring", count // 3)
  end)

  it("when the file is cut at any byte", function ()
    cut "truncate"
  end)

  it("when no file may be longer, and the program goes on", function ()
    cut("limit", count // 2)
  end)

  it("when the disk is full, and the program goes on", function ()
    if not os.execute [[d=$(mktemp -d) && mount -t tmpfs none $d 2>/dev/null \
                        && umount $d && rmdir $d]] then
      pending "nothing can be mounted here"
    else
      cut("disk", count // 2)
    end
  end)
end)
