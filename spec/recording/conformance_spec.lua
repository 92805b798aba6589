-- What a trace says, it says again when it comes out of a file: each trace of a
-- conformance program has been saved, opened and compared already (again.lua).
-- Here all of these programs run once more, recorded on a file meanwhile, and
-- each of their traces is compared with what the file has of it.

local generate = require "spec.transparency.generate"
local run = require "spec.support.run"

local names = {
  "call", "chunk", "close", "coroutine", "error", "hook", "marker", "name",
  "packet", "value"
}

describe("recorded on a file beside", function ()
  lazy_setup(function () run.taped = true end)
  lazy_teardown(function () run.taped = false end)

  for _, name in ipairs(names) do
    local path = run.root .. "/spec/conformance/" .. name .. "_spec.lua"
    assert(loadfile(path, "t", _ENV))()
  end

  for seed = 1001, 1007 do
    it(("a random program (seed %d)"):format(seed), function ()
      run.traced(generate(seed))
    end)
  end
end)
