-- Sessions of random programs, compared with plain Lua.
--
-- TRACEGRIP_FUZZ=N tries N programs, TRACEGRIP_SEED=S from another seed on.

local generate = require "spec.transparency.generate"
local run = require "spec.support.run"

local count = tonumber(os.getenv "TRACEGRIP_FUZZ") or run.some(2, 7)
local first = tonumber(os.getenv "TRACEGRIP_SEED") or 1

local function try (seed)
  run.within(function (directory)
    local start = ("loadfile(%q)(%q, %q)"):format(
      run.root .. "/spec/scope/random.lua", directory, run.root)
    local result = run.code(generate(seed), {flags = {"-e", start}})
    assert.is_nil(run.read(directory .. "/wrong"), result.stderr)
    assert.is_truthy(run.read(directory .. "/count"), result.stderr)
  end)
end

describe("a random program's session", function ()
  for seed = first, first + count - 1 do
    it(("answers as plain Lua does (seed %d)"):format(seed),
       function () try(seed) end)
  end
end)
