-- check.lua FIRST LAST - random programs, each fully traced, on an interpreter
-- that logs its own frames ($LUA, made by build-aux/oracle.sh): its log against
-- the packets. A program's number is its seed, so one that fails is there again
-- with check.lua N N.

local generate = require "spec.transparency.generate"
local recorded = require "spec.support.recorded"
local run = require "spec.support.run"
local frames = require "spec.oracle.frames"

local function show (one)
  return one and ("%s %s %s (%s)"):format(one.type, one.what, one.why or "",
                                          one.values or "?")
         or "nothing"
end

local function same (a, b)
  return a and a.type == b.type and a.why == b.why and a.what == b.what
         and a.values == b.values
end

-- The first difference, or nil; and how many packets there were.
local function compare (expected, trace)
  local open, n = {}, 0
  for packet in trace:packets() do
    n = n + 1
    local entered = packet.type == "enteredFrame"
    local what = not entered and table.remove(open) or nil
    local one = frames.told(packet, what)
    if entered then
      open[#open + 1] = one.what
    end
    if not same(expected[n], one) then
      return ("packet %d: the interpreter has %s, the trace %s"):format(
               n, show(expected[n]), show(one)), n
    end
    if n == #expected then
      break
    end
  end
  if n < #expected then
    return ("the trace ends before %s"):format(show(expected[n + 1])), n
  end
  return nil, n
end

local options = {
  trace = {"name", "location", "arguments", "return", "throw", "yield",
           "depth"},
  valueDepth = 0, valueString = 0
}

-- Every third program has a hook of its own from its first line on, which its
-- coroutines inherit.
local function program (seed)
  local hook = "debug.sethook(function () local _ = type(1) end, 'crl', 50) "
  return (seed % 3 == 0 and hook or "") .. generate(seed)
end

local function check (seed, way)
  return run.within(function (directory)
    local log = directory .. "/frames"
    run.modules.ORACLE_LOG = log    -- of the child
    local result = recorded.run(directory, program(seed), options,
                                {direct = way})
    local recording = assert(recorded.open(directory .. "/rec"), result.stderr)
    local expected = frames.expected(io.lines(log))
    local wrong, n = compare(expected, recording:traces()[1])
    return wrong, n
  end)
end

local first, last = tonumber(arg[1]), tonumber(arg[2])
local passed, failed, packets = 0, 0, 0
for seed = first, last do
  local wrong, n = check(seed, seed % 2 == 0 and "0" or nil)
  packets = packets + n
  passed, failed = passed + (wrong and 0 or 1), failed + (wrong and 1 or 0)
  if wrong then
    print(("oracle: program %d: %s"):format(seed, wrong))
  end
end
print(("oracle: programs %d to %d, %d packets"):format(first, last, packets))
print(("oracle: %d passed, %d failed"):format(passed, failed))
os.exit(failed == 0 and packets > 0)
