-- measure.lua MODE PROGRAM TURNS - runs a program in one way, and prints what
-- each of its functions had to itself, a line each: what the function is, and
-- milliseconds or ticks. For truth_spec.lua and table.lua.
--
-- A function is known by its line, a main chunk as 0; of C by the last word of
-- its name. The last line, without a name, has how long it all was; of a mode
-- with samples, how many.
--
--   time        untraced: seconds of the processor
--   truth       untraced, as sampled from outside of the interpreter
--   calls       all calls traced: times corrected; then those as recorded
--   samples     no calls traced
--   beside      samples beside all calls
--   windows     the same, with the hook off for a part of the time
--   manywindows the same with as many ticks as there can be

local mode, program, turns = ...

local calls = {"name", "time"}
local modes = {
  calls = {trace = calls},
  samples = {sample = 4000},
  beside = {sample = 4000, trace = calls},
  windows = {sample = 4000, trace = calls, windows = 10},
  manywindows = {sample = 10000, trace = calls, windows = 10},
}

-- A coroutine that is given by 'wrap' is not to be had otherwise.
local function watch_coroutines (sampler)
  local wrap = coroutine.wrap
  rawset(coroutine, "wrap", function (f)
    local resumed = wrap(f)
    sampler.watch(select(2, debug.getupvalue(resumed, 1)))
    return resumed
  end)
end

local function write (key, value)
  print(key, ("%.17g"):format(value))
end

local function sample (chunk)
  local sampler = require "sampled"
  watch_coroutines(sampler)
  sampler.start()
  chunk()
  local sum = 0
  for key, ticks in pairs(sampler.stop()) do
    write(key, ticks)
    sum = sum + ticks
  end
  write("", sum)
end

local function key_of (f)
  if f.name == "(main chunk)" then
    return 0
  end
  return f.line or f.name:match "[^.]*$"
end

-- What the collector took is its caller's, as in the truth; and what did not
-- run is nobody's.
local function add_selves (selves, node, key)
  for _, child in ipairs(node.children) do
    local own = child.name == "(garbage collector)" and key or key_of(child)
    if own ~= "(not running)" then
      selves[own] = (selves[own] or 0) + child.self_ms
    end
    add_selves(selves, child, own)
  end
end

local function write_times (running, filter)
  local report, selves = running:report(filter), {}
  filter.levels = 1000
  add_selves(selves, running:tree(filter), "")
  for key, ms in pairs(selves) do
    write(key, ms)
  end
  local windows = report.windows
  write("", windows and windows.samples or report.samples
            or report.duration_ms)
end

local function trace (chunk, options)
  local tracegrip = require "tracegrip"
  options.buffer = 2 << 30
  local running = tracegrip.start(options)
  chunk()
  running:stop()
  assert(running.lost.overflow == 0, "no room for all calls")
  write_times(running, {})
  if mode == "calls" then
    write_times(running, {raw = true})
  end
end

_G.arg = {[0] = program, turns}
local chunk = assert(loadfile(program))
collectgarbage()
if mode == "time" then
  local start = os.clock()
  chunk()
  write("", os.clock() - start)
elseif mode == "truth" then
  sample(chunk)
else
  trace(chunk, modes[mode])
end
