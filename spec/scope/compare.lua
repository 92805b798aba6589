-- compare.lua - a session of a trace against what reference.lua makes of its
-- packets: many questions, and the sums of its report.

local report = require "spec.report.compare"
local reference = require "spec.scope.reference"

local compare = {}

compare.types = {"name", "location", "time", "thread", "arguments"}

local ns, difference = reference.ns, report.difference

-- A generator of our own, so that questions are the same everywhere.
local function generator (seed)
  local state = seed % 2147483646 + 1
  return function (n)
    state = state * 48271 % 2147483647
    return state // 7 % n + 1
  end
end

local function pick (random, ...)
  return (select(random(select("#", ...)), ...))
end

-- A moment: some event's first or last one, or between, before or after.
local function moment (random, model)
  local event = model.events[random(#model.events)]
  if not event then
    return 0.5
  end
  return pick(random, event.start / 1e6, event.finish / 1e6,
              event.start / 1e6 + 1e-5, event.finish / 1e6 - 5e-7,
              (event.start + random(1000)) / 1e6, -1.0, 0.0, 1e9)
end

local function interval (random, model)
  local a, b = moment(random, model), moment(random, model)
  if a > b and random(10) > 1 then
    a, b = b, a
  end
  return pick(random, {start = a, ["end"] = b}, {start = a, ["end"] = b},
              {start = a, ["end"] = a}, {start = a}, {["end"] = b}, {})
end

local function type_list (random)
  local list = {}
  for i = 1, random(3) do
    list[i] = pick(random, 32, 6, 5, 33, 1, 11)
  end
  return list
end

local function question (random, model)
  local n = #model.events
  return {
    timelineID = random(3) > 1 and random(#model.threads) or 1,
    mode = pick(random, nil, 1, 2, 3, 4),
    eventID = pick(random, nil, nil, random(n + 1), random(n // 8 + 1)),
    maxDepth = pick(random, nil, nil, 1, 2, random(8)),
    eventTypeList = pick(random, nil, nil, type_list(random)),
    interval = pick(random, nil, nil, interval(random, model))
  }
end

local function show (value)
  if type(value) ~= "table" then
    return string.format(math.type(value) == "float" and "%.17g" or "%s",
                         tostring(value))
  end
  local parts = {}
  for key, item in pairs(value) do
    parts[#parts + 1] = tostring(key) .. "=" .. show(item)
  end
  return "{" .. table.concat(parts, " ") .. "}"
end

local function without_overhead (events)
  for _, event in ipairs(events.eventList) do
    event.overhead, event.aggregatedOverhead = 0, nil
  end
end

-- Asks both; what is wrong, nil if nothing.
local function check_question (profiler, id, model, q, paired)
  local expected = model:get(q)
  q.sessionID = id
  local status, got = profiler:GetEvents(q)
  local wrong
  if not expected then
    wrong = status ~= 3 and "status " .. status
  else
    if not paired and status == 0 then
      without_overhead(expected)
      without_overhead(got)
    end
    wrong = status ~= 0 and "status " .. status .. " " .. got.description
            or difference(expected, got, "")
  end
  return wrong and show(q) .. ": " .. wrong
end

-- By function, what the timelines have of it: hits and time.
local function sums_of (profiler, session)
  local sums, hits = {}, 0
  for _, timeline in ipairs(session.timelineList) do
    local _, events = profiler:GetEvents {
      sessionID = session.sessionID, timelineID = timeline.timelineID,
      mode = 3
    }
    for _, event in ipairs(events.eventList) do
      local f = event.functionCall
      local key = ("%s %s:%s"):format(f.name, f.source or "[C]", f.line or "")
      hits = hits + event.hits
      sums[key] = (sums[key] or 0) + ns(event.time)
    end
  end
  return sums, hits
end

-- Against the report, of which overhead is no part either.
local function check_report (profiler, session, trace, packets)
  local sums, hits = sums_of(profiler, session)
  local expected, entries = {}, 0
  for _, f in ipairs(trace:report().functions) do
    local key = ("%s %s:%s"):format(f.name, f.url, f.line or "")
    expected[key] = ns(f.self_ms)
  end
  for _, packet in ipairs(packets) do
    entries = entries + (packet.why and 0 or 1)
  end
  if hits ~= entries then
    return ("%d hits, but %d entries"):format(hits, entries)
  end
  return difference(expected, sums, "report")
end

local function check_timelines (session, model)
  for i, timeline in ipairs(session.timelineList) do
    if timeline.timelineID ~= i or timeline.frameID ~= model.threads[i] then
      return "timeline " .. i
    end
  end
  return #session.timelineList ~= #model.threads and "timelines"
end

-- Each packet's 'spent', what tracing has taken until then; whether that is
-- known. It is not of a trace of long calls only: which are long depends on the
-- kind of times.
local function pair (packets, recorded)
  local paired = #packets == #recorded
  for i, packet in ipairs(packets) do
    packet.spent = paired and ns(recorded[i].time) - ns(packet.time) or 0
  end
  return paired
end

--- What is wrong with the answers to `count` questions about a trace that has
-- stopped and has the types above; nil if nothing. 'how' as profiler:load takes
-- it.
function compare.trace (profiler, trace, count, seed, how)
  local packets = report.collect(trace, {trace = compare.types, raw = false})
  local paired = pair(packets, report.collect(trace, {trace = {"time"}}))
  local status, session = profiler:load(trace, nil, how)
  if status ~= 0 then
    return session.description
  end
  local id = session.sessionID
  local from = ns(profiler:info(id).start_ms)
  local model = reference.session(packets, from, from + ns(session.duration))
  local wrong = check_timelines(session, model)
                or check_report(profiler, session, trace, packets)
  local random = generator(seed)
  for _ = 1, wrong and 0 or count do
    wrong = wrong
            or check_question(profiler, id, model, question(random, model),
                              paired)
  end
  profiler:ReleaseSession {sessionID = id}
  return wrong or nil
end

return compare
