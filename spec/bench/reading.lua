-- reading.lua - how fast recordings are read, and exported.
--
--   lua5.4 spec/bench/reading.lua [FIBONACCI_NUMBER]
--
-- Programs are recorded into a temporary file with all eight types, their
-- recordings reported, and exported without a limit in every format there is,
-- to /dev/null: what disks add is their own.
-- "of the run" is the time in terms of the traced run's, by the clock on the
-- wall: an export works on several processors. Each is the shortest of so many
-- rounds, in each of which the program is recorded again. "fib" does nothing
-- but call; the others are those of `make bench`.

local core = require "tracegrip.core"
local uv = require "luv"

local ROUNDS = 7

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

-- Seconds that f(...) takes, and its result.
local function timed (f, ...)
  collectgarbage()
  local began = uv.hrtime()
  local result = assert(f(...))
  return (uv.hrtime() - began) / 1e9, result
end

local function record (name, run)
  local _, trace = assert(core.record({}, {path = path, program = name}))
  run()
  return trace:stop()
end

local function size_of (name)
  local file = assert(io.open(name, "rb"))
  local size = file:seek("end")
  file:close()
  return size
end

-- What is measured: {name, function of the recording}.
local readings = {
  {"report", function (recording) return recording:report() end},
  {"tree", function (recording) return recording:tree() end}
}
for _, format in ipairs(core.exportFormats()) do
  table.insert(readings, {"export " .. format.name, function (recording)
    return recording:export(format.name, "/dev/null", {limit = 1 << 40})
  end})
end

-- The shortest times so far, of the run and of each reading; the last results.
local function round (name, program, best, results)
  local function note (i, seconds, result)
    best[i] = math.min(best[i] or seconds, seconds)
    results[i] = result
  end
  note(0, timed(record, name, program))
  local recording = assert(core.open(path))
  for i, reading in ipairs(readings) do
    note(i, timed(reading[2], recording))
  end
  return recording
end

local function print_row (name, seconds, events, bytes, run)
  print(("  %-18s %7.0f ms %7.1f M events/s %s %8.2f of the run"):format(
    name, seconds * 1e3, events / seconds / 1e6,
    bytes and ("%7.0f MB/s %6.0f MB"):format(bytes / seconds / 1e6,
                                             bytes / 1e6) or (" "):rep(22),
    seconds / run))
end

local function read (name, program)
  local best, results, recording = {}, {}, nil
  for _ = 1, ROUNDS do
    recording = round(name, program, best, results)
  end
  print(("reading: %s, %d events, %.1f MB, recorded in %.0f ms"):format(
    name, recording.events, size_of(path) / 1e6, best[0] * 1e3))
  for i, reading in ipairs(readings) do
    print_row(reading[1], best[i], recording.events, results[i].bytes,
              best[0])
  end
end

for _, program in ipairs(programs) do
  read(table.unpack(program))
end
os.remove(path)
