-- reading.lua - how fast recordings are read, and exported.
--
--   lua5.4 spec/bench/reading.lua [FIBONACCI_NUMBER]
--
-- A recording of a call-dense program (all eight types) is made in a temporary
-- file, reported, and exported in every format there is. "of the run" is the
-- time in terms of the traced run's.

local core = require "tracegrip.core"

local n = tonumber(arg[1]) or 26

local function fib (i)
  if i < 2 then
    return i
  end
  return fib(i - 1) + fib(i - 2)
end

local function record (path)
  local began = os.clock()
  local _, trace = assert(core.record({}, {path = path, program = "fib"}))
  fib(n)
  trace:stop()
  return os.clock() - began
end

local function timed (f, ...)
  collectgarbage()
  local began = os.clock()
  local result = assert(f(...))
  return os.clock() - began, result
end

local function size_of (path)
  local file = assert(io.open(path, "rb"))
  local size = file:seek("end")
  file:close()
  return size
end

local function print_row (name, seconds, events, bytes, run)
  print(("  %-22s %8.0f ms %9.1f M events/s %s %8.2f of the run"):format(
    name, seconds * 1e3, events / seconds / 1e6,
    bytes and ("%8.1f MB/s"):format(bytes / seconds / 1e6) or (" "):rep(13),
    seconds / run))
end

local path, out = os.tmpname(), os.tmpname()
local run = record(path)
local recording = assert(core.open(path))
local events = recording.events
print(("reading: fib(%d), %d events, %.1f MB, recorded in %.0f ms"):format(
  n, events, size_of(path) / 1e6, run * 1e3))
print_row("open", timed(core.open, path), events, nil, run)
print_row("report", timed(recording.report, recording), events, nil, run)
print_row("tree", timed(recording.tree, recording), events, nil, run)
for _, format in ipairs(core.exportFormats()) do
  local seconds = timed(recording.export, recording, format.name, out,
                        {limit = 1 << 40})
  print_row("export " .. format.name, seconds, events, size_of(out), run)
end
os.remove(path)
os.remove(out)
