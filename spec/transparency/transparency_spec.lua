-- Random programs do the same plain and traced, and their packets nest.
--
-- TRACEGRIP_FUZZ=N tries N programs, TRACEGRIP_SEED=S from another seed on.

local generate = require "spec.transparency.generate"
local nesting = require "spec.transparency.nesting"
local run = require "spec.support.run"

local count = tonumber(os.getenv "TRACEGRIP_FUZZ") or run.some(5, 14)
local first = tonumber(os.getenv "TRACEGRIP_SEED") or 1

local all = {
  "name", "callsite", "time", "parameterNames", "arguments", "return",
  "throw", "yield", "location", "depth", "hitCount", "thread"
}

local function outcome (result)
  return {
    stdout = result.stdout, stderr = result.stderr, status = result.status
  }
end

local function try (seed)
  local program = generate(seed)
  local plain = run.code(program)
  local traced = run.traced(program, {trace = all})
  assert.same(outcome(plain), outcome(traced))
  for cause, n in pairs(traced.lost) do
    assert.equal(0, n, cause)
  end
  local open, names = nesting.check(traced.text)
  assert.equal(0, open, names)
end

-- The same with a trace around it and others that it starts and stops.
local function compare (seed)
  local program = generate(seed)
  local plain = run.code(program, {flags = {"-e", "trace = function () end"}})
  run.within(function (directory)
    local start = ("loadfile(%q)(%q, %q)"):format(
      run.root .. "/spec/transparency/traces.lua", directory, run.root)
    local traced = run.code(program, {flags = {"-e", start}})
    assert.same(outcome(plain), outcome(traced))
    assert.is_nil(run.read(directory .. "/wrong"))
    assert.is_truthy(run.read(directory .. "/count"))
  end)
end

describe("a random program", function ()
  for seed = first, first + count - 1 do
    it(("does the same traced (seed %d)"):format(seed), function ()
      try(seed)
    end)
    it(("is seen alike by every trace (seed %d)"):format(seed), function ()
      compare(seed)
    end)
  end
end)
