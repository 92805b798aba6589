-- A ring whose first chunk began with a resume could not be read ("Bad
-- message"): the chunk's CONTEXT had the coroutine on the chain already.

local run = require "spec.support.run"

local program = [[
  local tracegrip = require "tracegrip"
  local function deep (n)
    if n == 0 then
      while true do coroutine.yield(1) end
    end
    deep(n - 1)
    return 1
  end
  local next = coroutine.wrap(deep)
  next(60)                -- a resume needs more room than any other event
  for extra = 1, 10 do
    local trace = tracegrip.start {trace = {"name"}, overflow = "ring",
                                   buffer = 4096}
    for _ = 1, 9000 + 7 * extra do
      next()
    end
    trace:stop()
    local packets = 0
    for _ in trace:packets() do
      packets = packets + 1
    end
    print(packets > 100)
  end
]]

describe("a ring that begins in the middle of a resume", function ()
  it("can be read", function ()
    local result = run.code(program)
    assert.equal("", result.stderr or "")
    assert.equal(("true\n"):rep(10), result.stdout)
  end)
end)
