-- demo.lua DOCUMENT DIRECTORY - a real program traced from start to end.
--
-- Runs orders.lua on a document: untraced, traced with times only, traced with
-- all that a trace holds by default. Prints what was recorded and what it
-- cost, and writes the packets into DIRECTORY.

local luv = require "luv"

local tracegrip = require "tracegrip"

local document, directory = ...
local here = arg[0]:match "^(.*/)" or ""
local program = assert(loadfile(here .. "orders.lua"))
local print_really = print

local function run ()
  print = function () end     -- luacheck: ignore
  local from = luv.hrtime()
  program(document, directory .. "/orders.jsonl")
  local ns = luv.hrtime() - from
  print = print_really        -- luacheck: ignore
  return ns / 1e6
end

--- The best of three runs, in ms; the last run's trace.
local function measure (options)
  local best, trace = math.huge, nil
  for _ = 1, 3 do
    collectgarbage()
    trace = options and tracegrip.start(options)
    best = math.min(best, run())
    if trace then
      trace:stop()
    end
  end
  return best, trace
end

local buffer = 2 << 30
local everything = {"name", "callsite", "time", "parameterNames", "arguments",
                    "return", "throw", "yield", "location", "thread"}

local function count (trace)
  local entries, events, functions, threads = 0, 0, {}, {}
  for packet in trace:packets() do
    events = events + 1
    if packet.type == "enteredFrame" then
      entries = entries + (packet.resumed and 0 or 1)
      local at = packet.location
      functions[packet.name .. (at and at.url .. (at.line or "") or "")] = true
      threads[packet.thread] = true
    end
  end
  return entries, events, functions, threads
end

local function size (set)
  local n = 0
  for _ in pairs(set) do
    n = n + 1
  end
  return n
end

local function megabytes (path)
  return luv.fs_stat(path).size / 1e6
end

local function export (trace, name)
  local path = directory .. "/" .. name
  local from = luv.hrtime()
  assert(trace:export("packets", path))
  print(string.format("  %-24s %7.1f MB  in %.1f s", path, megabytes(path),
                      (luv.hrtime() - from) / 1e9))
end

local function cost (what, ms, plain, events)
  local each = events and string.format("  %5.1f ns per event",
                                        (ms - plain) * 1e6 / events) or ""
  print(string.format("  %-44s %6.0f ms  %5.2f x%s", what, ms, ms / plain,
                      each))
end

local plain = measure(nil)
local light, times = measure {name = "times", trace = {"name", "time"},
                              buffer = buffer}
local full = measure {name = "all", buffer = buffer}

-- once more, for the counts, and for all about the program's own functions
local seen = tracegrip.start {name = "seen", buffer = buffer,
                              trace = {"name", "location", "thread"}}
local own = tracegrip.start {name = "own", buffer = buffer, trace = everything,
                             include = {"orders%.lua$"}}
run()
own:stop()
seen:stop()

local entries, events, functions, threads = count(seen)
print(string.format("%s (%.1f MB) traced: %d frames of %d functions in %d "
  .. "coroutines", document, megabytes(document), entries, size(functions),
  size(threads)))
for cause, lost in pairs(times.lost) do
  if lost > 0 then
    print(string.format("  lost: %d (%s)", lost, cause))
  end
end

print "\ncost (best of three runs, in one process):"
cost("untraced", plain, plain)
cost("traced: name, time", light, plain, events)
cost("traced: all eight types, values of depth 1", full, plain, events)

print "\npackets as JSON Lines:"
export(times, "packets.jsonl")
export(own, "own.jsonl")
