-- The packets of each trace of random programs are the same alone and with
-- others. Only what was thrown may be known in one case and not in the other:
-- the hook has seen more where a trace began earlier.
--
-- TRACEGRIP_FUZZ=N tries N programs, TRACEGRIP_SEED=S from another seed on.

local run = require "spec.support.run"
local switches = require "spec.transparency.switches"

local count = tonumber(os.getenv "TRACEGRIP_FUZZ") or run.some(12, 30)
local first = tonumber(os.getenv "TRACEGRIP_SEED") or 1

-- Runs the program; with `only` it starts no trace but that one.
local function try (program, directory, wish, only)
  local start = ("loadfile(%q)(%q, %q, %d, %s)"):format(
    run.root .. "/spec/transparency/alone.lua", directory, run.root, wish, only)
  local result = run.code(program, {flags = {"-e", start}})
  assert.equal("", result.stderr)
end

-- What was thrown, of exits in which that is not known in one of them.
local function settle (one, other)
  if one and other
     and (one:find(" unknown=true ", 1, true)
          or other:find(" unknown=true ", 1, true)) then
    local pattern = " throw={.*} type=exitedFrame "
    return one:gsub(pattern, " ?"), (other:gsub(pattern, " ?"))
  end
  return one, other
end

local function compare (alone, together, k)
  local theirs = together:gmatch "[^\n]+"
  for mine in alone:gmatch "[^\n]+" do
    local a, b = settle(mine, theirs())
    assert.equal(a, b, "trace " .. k)
  end
  assert.is_nil(theirs(), "trace " .. k)
end

-- How many traces the program has started.
local function check (seed)
  local program = switches(seed)
  return run.within(function (directory)
    local texts = {}
    try(program, directory, seed)
    repeat
      texts[#texts + 1] = run.read(directory .. "/" .. #texts + 1)
    until not texts[#texts] or not run.read(directory .. "/" .. #texts + 1)
    for k, together in ipairs(texts) do
      try(program, directory, seed, k)
      compare(run.read(directory .. "/" .. k), together, k)
    end
    return #texts
  end)
end

describe("each trace of a random program", function ()
  local traces = 0
  for seed = first, first + count - 1 do
    it(("is the same without the others (seed %d)"):format(seed), function ()
      traces = traces + check(seed)
    end)
  end

  it("has others beside it", function ()
    assert.is_true(traces > count)
  end)
end)
