-- reading.lua - how fast recordings are read, and exported.
--
--   lua5.4 spec/bench/reading.lua [FIBONACCI_NUMBER]
--
-- Programs are recorded into a temporary file with all eight types, their
-- recordings reported, and exported without a limit in every format there is,
-- to /dev/null: what disks add is their own.
-- "of the run" is the time in terms of the traced run's: processor time, in
-- user and kernel mode. "fib" does nothing but call; the others are those of
-- `make bench`.

local core = require "tracegrip.core"

local n = tonumber(arg[1]) or 26

local function fib (i)
  if i < 2 then
    return i
  end
  return fib(i - 1) + fib(i - 2)
end

local function work (name)
  return dofile(("spec/bench/work/%s.lua"):format(name))
end

local programs = {
  {("fib(%d)"):format(n), function () fib(n) end},
  {"text", work "text"}, {"objects", work "objects"}
}

local path = os.tmpname()

local function record (name, run)
  collectgarbage()
  local began = os.clock()
  local _, trace = assert(core.record({}, {path = path, program = name}))
  run()
  trace:stop()
  return os.clock() - began
end

local function timed (f, ...)
  collectgarbage()
  local began = os.clock()
  local result = assert(f(...))
  return os.clock() - began, result
end

local function size_of (name)
  local file = assert(io.open(name, "rb"))
  local size = file:seek("end")
  file:close()
  return size
end

local function print_row (name, seconds, events, bytes, run)
  print(("  %-18s %7.0f ms %7.1f M events/s %s %8.2f of the run"):format(
    name, seconds * 1e3, events / seconds / 1e6,
    bytes and ("%7.0f MB/s %6.0f MB"):format(bytes / seconds / 1e6,
                                             bytes / 1e6) or (" "):rep(22),
    seconds / run))
end

local function read (name, program)
  local run = record(name, program)
  local recording = assert(core.open(path))
  local events = recording.events
  print(("reading: %s, %d events, %.1f MB, recorded in %.0f ms"):format(
    name, events, size_of(path) / 1e6, run * 1e3))
  print_row("report", timed(recording.report, recording), events, nil, run)
  print_row("tree", timed(recording.tree, recording), events, nil, run)
  for _, format in ipairs(core.exportFormats()) do
    local seconds, result = timed(recording.export, recording, format.name,
                                  "/dev/null", {limit = 1 << 40})
    print_row("export " .. format.name, seconds, events, result.bytes, run)
  end
end

for _, program in ipairs(programs) do
  read(table.unpack(program))
end
os.remove(path)
