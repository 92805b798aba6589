-- exports.lua PROGRAM RECORDING - traces a program once and exports that and
-- the recording, which is of samples, again and again in every format, with the
-- first, second, ... allocation refused, until an export needs fewer. Each must
-- be the whole document, or say that there was no memory. The same of reports
-- and trees with lines. Prints what went wrong. Its own process, as a crash is
-- one of the outcomes.

local core = require "tracegrip.core"
core.own()

local program, path = assert(loadfile(arg[1])), os.tmpname()
local refused, wrong = 0, 0

local function read ()
  local file = assert(io.open(path, "rb"))
  local text = file:read "a"
  file:close()
  return text
end

local called = core.start {name = "exports", c = false}
program()
called:stop()
local recording = assert(core.open(arg[2]))

local function export (trace, format, nth, lines)
  core.refuse(nth)
  local ok, result, message = pcall(trace.export, trace, format, path,
                                    {samples = true, limit = 60, lines = lines})
  return core.refuse(0), ok and result or nil, message or result
end

-- Exports a format with the n-th allocation refused; whether it came to that.
local function attempt (trace, format, whole, nth, lines)
  local requests, done, message = export(trace, format, nth, lines)
  local wanted = done and read() == whole
                 or not done and tostring(message):find "memory"
  if not wanted then
    wrong = wrong + 1
    print(("%s, refused %d: %s"):format(format, nth, done and "another document"
                                                     or message))
  end
  return requests >= nth
end

local function sweep (trace, format, lines)
  local _, done, message = export(trace, format, 0, lines)
  assert(done, message)
  local whole, nth = read(), 1
  while attempt(trace, format, whole, nth, lines) do
    refused = refused + 1
    nth = nth + 1
  end
end

-- The same of a method that gives a table; whether it came to that.
local function attempt_table (trace, method, nth)
  core.refuse(nth)
  local ok, result, message = pcall(trace[method], trace, {lines = true})
  local requests = core.refuse(0)
  message = message or result
  if not (ok and result) and not tostring(message):find "memory" then
    wrong = wrong + 1
    print(("%s, refused %d: %s"):format(method, nth, message))
  end
  return requests >= nth
end

local function sweep_table (trace, method)
  local nth = 1
  while attempt_table(trace, method, nth) do
    refused = refused + 1
    nth = nth + 1
  end
end

local sampled = recording:traces()[1]
for _, trace in ipairs {called, sampled} do
  for _, format in ipairs(core.exportFormats()) do
    sweep(trace, format.name)
  end
end
sweep(sampled, "folded", true)
sweep_table(sampled, "report")
sweep_table(sampled, "tree")
os.remove(path)
print(("%d allocations refused, %d complaints"):format(refused, wrong))
os.exit(wrong == 0 and refused > 0)
