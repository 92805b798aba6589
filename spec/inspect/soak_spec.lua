-- Very many pauses of all kinds leave nothing behind: not in the program's
-- heap, nor in its process.
--
-- TG_SOAK=1 (make soak): ten thousand of them, and how much memory grew is
-- printed.

local debugger = require "spec.support.debugger"

local it = debugger.needed(it, pending)

local SOAK = os.getenv "TG_SOAK"
local ROUNDS = SOAK and 2500 or 75      -- of four pauses each
local WARM = 25

-- Its memory after some rounds, and after all.
local program = ([[
local ROUNDS, WARM = %d, %d

local function memory ()
  collectgarbage()
  collectgarbage()
  local file = assert(io.open "/proc/self/statm")
  local _, resident = file:read("n", "n")
  file:close()
  return collectgarbage "count", resident * 4
end

local function work (n)
  local t = {n, name = "n" .. n, sub = {n}}
  local here = #t
  return here
end

local function fail (n)
  error {n}
end

local heap, resident
for n = 1, ROUNDS do
  work(n)
  pcall(fail, n)
  coroutine.resume(coroutine.create(fail), n)
  if n == WARM then
    heap, resident = memory()
  end
end
local heap_now, resident_now = memory()
print(heap_now - heap, resident_now - resident)
]]):format(ROUNDS, WARM)

local function look (front, at)
  local all = front:scope(at, 1, "local")
  for _, one in pairs(all) do
    if one.objectId then
      front:properties(one.objectId)
    end
  end
  front:value(at, 1, "n + 1")
  front:value(at, 1, "{n, name = 'n'}")
  front:value(at, 1, "error {n}")
end

-- The replies of a round are looked at in it: the front end shall not grow
-- either.
local function forget (front)
  front.messages, front.replies, front.asked, front.seen = {}, {}, {}, 0
end

describe("many pauses", function ()
  it("cost as much memory as a few", function ()
    debugger.debug(program, function (front, _, command)
      front:ask("Debugger.setPauseOnExceptions", {state = "all"})
      front:stop_at(14)
      for _ = 1, ROUNDS do
        local at = front:go "resume"
        assert.equal("other", at.reason)
        look(front, at)
        at = front:go "stepOver"
        assert.equal("step", at.reason)
        look(front, at)
        for _ = 1, 2 do
          at = front:go "resume"
          assert.equal("exception", at.reason)
          look(front, at)
        end
        forget(front)
      end
      front:ask "Debugger.resume"
      assert.equal(0, command:ended())
      local heap, resident = command.out:match "^(%S+)%s+(%S+)\n$"
      if SOAK then
        io.stderr:write(("%d pauses: %s KiB more in the heap, %s KiB more "
          .. "resident\n"):format(4 * ROUNDS, heap, resident))
      end
      assert.is_true(tonumber(heap) < 16, command.out)
      if not os.getenv "LD_PRELOAD" then    -- a sanitizer keeps what is freed
        assert.is_true(tonumber(resident) < 2048, command.out)
      end
    end)
  end)
end)
