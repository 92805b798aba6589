-- Random programs stepped forwards and backwards at random, against the list of
-- their packets.
--
-- TRACEGRIP_FUZZ=N tries N programs, TRACEGRIP_SEED=S from another seed on.

local generate = require "spec.transparency.generate"
local run = require "spec.support.run"

local count = tonumber(os.getenv "TRACEGRIP_FUZZ") or run.some(5, 15)
local first = tonumber(os.getenv "TRACEGRIP_SEED") or 1

local function try (seed)
  run.within(function (directory)
    local start = ("loadfile(%q)(%q, %q)"):format(
      run.root .. "/spec/replay/random.lua", directory, run.root)
    local result = run.code(generate(seed), {flags = {"-e", start}})
    assert.is_nil(run.read(directory .. "/wrong"), result.stderr)
    assert.is_truthy(run.read(directory .. "/count"), result.stderr)
  end)
end

describe("a random program's recording", function ()
  for seed = first, first + count - 1 do
    it(("is the same forwards and backwards (seed %d)"):format(seed),
       function () try(seed) end)
  end
end)
