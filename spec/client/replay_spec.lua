-- Packets made events again (csrc/client/replay.c). All conformance programs
-- run once more, recorded on a file; the packets of each recording are put
-- through a replay onto another file, which must then say the same, field by
-- field (spec/support/replayed.lua).

local generate = require "spec.transparency.generate"
local run = require "spec.support.run"

local names = {
  "call", "chunk", "close", "coroutine", "error", "hook", "marker", "name",
  "packet", "value"
}

describe("replayed", function ()
  lazy_setup(function () run.taped, run.replayed = true, true end)
  lazy_teardown(function () run.taped, run.replayed = false, false end)

  for _, name in ipairs(names) do
    local path = run.root .. "/spec/conformance/" .. name .. "_spec.lua"
    assert(loadfile(path, "t", _ENV))()
  end

  for seed = 1101, 1110 do
    it(("a random program (seed %d)"):format(seed), function ()
      run.traced(generate(seed))
    end)
  end
end)
