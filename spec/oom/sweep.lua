-- sweep.lua PROGRAM FROM - runs a program again and again with tracing on and
-- the FROM-th, FROM+1-th, ... allocation refused, from before the module's
-- first use to the export, until a run needs fewer. Prints what went wrong and
-- how many were refused. Its own process, as a crash is one of the outcomes.

local core = require "tracegrip.core"
local dkjson = require "dkjson"

core.own()

local program, path = assert(loadfile(arg[1])), os.tmpname()
local refused, wrong = 0, 0

local function complain (nth, ...)
  wrong = wrong + 1
  print(string.format("refused %d: %s", nth, string.format(...)))
end

local function outcome (run)
  local lines, really = {}, print
  print = function (...)        -- luacheck: ignore
    lines[#lines + 1] = table.concat({...}, "\t")
  end
  local ok, message = pcall(run)
  print = really                -- luacheck: ignore
  return ok and table.concat(lines, "\n") or "error: " .. tostring(message)
end

local function check_packets (nth)
  local open, sequence = 0, 0
  for line in io.lines(path) do
    local packet = dkjson.decode(line)
    if not packet then
      return complain(nth, "not JSON: %s", line)
    end
    open = open + (packet.type == "enteredFrame" and 1 or -1)
    if open < 0 or packet.sequence ~= sequence then
      return complain(nth, "packet %d does not nest", sequence)
    end
    sequence = sequence + 1
  end
  return sequence
end

local function lost (trace)
  local n = 0
  for _, count in pairs(trace.lost) do
    n = n + count
  end
  return n
end

-- A report is whole, or says that there was no memory for it.
local function check_report (nth, trace, method)
  local ok, report, message = pcall(trace[method], trace, {c = false})
  message = message or report
  if not (ok and report) and not tostring(message):find "memory" then
    complain(nth, "%s: %s", method, message)
  end
end

local plain = outcome(program)

local types = {"name", "callsite", "time", "parameterNames", "arguments",
               "return", "throw", "yield", "location", "depth", "hitCount",
               "thread"}

-- One run with the n-th allocation refused: how many there were, its packets.
local function attempt (nth)
  core.refuse(nth)
  local started, trace = pcall(core.start, {name = "sweep", trace = types,
                                            memory = true})
  local got = outcome(program)
  if got ~= plain then
    complain(nth, "the program noticed: %s", got)
  end
  if not started then
    if not tostring(trace):find "memory" then
      complain(nth, "start: %s", trace)
    end
    return core.refuse(0)
  end
  trace:stop()
  local _, exported, message = pcall(trace.export, trace, "packets", path,
                                     {trace = types})
  check_report(nth, trace, "report")
  check_report(nth, trace, "tree")
  local requests = core.refuse(0)
  if type(exported) ~= "table" then
    message = message or exported
    exported = nil
    if not tostring(message):find "memory" then
      complain(nth, "export: %s", message)
    end
  end
  local packets = exported and check_packets(nth)
  return requests, packets, lost(trace)
end

local _, whole = attempt(0)
local nth = tonumber(arg[2]) or 1
while true do
  local requests, packets, missing = attempt(nth)
  if packets and packets < whole and missing == 0 then
    complain(nth, "%d packets of %d, and no loss is told", packets, whole)
  end
  if requests < nth then
    break
  end
  refused = refused + 1
  nth = nth + 1
end
os.remove(path)
print(string.format("%d allocations refused, %d complaints", refused, wrong))
os.exit(wrong == 0 and refused > 0)
