--- compare.lua - a replay walked through at random, compared with the model
-- (model.lua) of the same trace's packets.
--
--   compare.trace(trace, steps, seed, how) -> what is wrong, or nil
--
-- `how` as core.replay has it.

local core = require "tracegrip.core"
local model = require "spec.replay.model"

local compare = {}

compare.types = {"name", "callsite", "time", "parameterNames", "arguments",
                 "return", "throw", "yield", "location", "depth", "thread",
                 "locals"}

local function generator (seed)
  local state = seed * 7919 % 2147483647 + 1
  return function (n)
    state = state * 48271 % 2147483647
    return state // 7 % n + 1
  end
end

local function show (value)
  if type(value) ~= "table" then
    return tostring(value)
  end
  local keys, out = {}, {}
  for k in pairs(value) do
    keys[#keys + 1] = k
  end
  table.sort(keys, function (a, b) return tostring(a) < tostring(b) end)
  for i, k in ipairs(keys) do
    out[i] = tostring(k) .. "=" .. show(value[k])
  end
  return "{" .. table.concat(out, " ") .. "}"
end

local function same (a, b)
  return show(a) == show(b)
end

-- The fields of a packet, which the replay gives with others. Locals it gives
-- with what comes.
local function packet_wrong (what, given, packet)
  if (given == nil) ~= (packet == nil) then
    return ("%s: %s, and not %s"):format(what, show(given), show(packet))
  end
  for key, value in pairs(packet or {}) do
    local told = key ~= "hitCount" and (key ~= "locals" or what == "coming")
    if told and not same(given[key], value) then
      return ("%s: %s is %s, and not %s"):format(what, key, show(given[key]),
                                                 show(value))
    end
  end
end

-- Where a function that is not in the trace has made a call, its locals are
-- nobody's.
local function locals_wrong (replay, thread, i, wanted)
  local given = replay:locals(thread, i)
  if given and not same(given, wanted) then
    return ("locals of frame %d: %s, and not %s"):format(i, show(given),
                                                       show(wanted))
  end
end

local function frames_wrong (replay, m, n, thread)
  local wanted = m:stack(n, thread)
  local frames = replay:frames(thread, 1, 1000)
  if #frames ~= #wanted then
    return ("thread %d has %d frames, and not %d"):format(thread, #frames,
                                                           #wanted)
  end
  for i, frame in ipairs(wanted) do
    if frames[i].entry ~= frame.entry
       or frames[i].name ~= frame.packet.name then
      return ("frame %d is %s, and not %s (%d)"):format(
        i, show(frames[i]), show(frame.packet), frame.entry)
    end
    if i > 1 and i <= 4 then
      local wrong = locals_wrong(replay, thread, i, wanted[i - 1].locals)
      if wrong then
        return wrong
      end
    end
    if i <= 3 and not frame.packet.resumed then
      local wrong = packet_wrong(("arguments of frame %d"):format(i),
                                 replay:arguments(thread, i), frame.packet)
      if wrong then
        return wrong
      end
    end
  end
end

-- A coroutine that was collected has no frames any more, which packets do not
-- tell.
local function threads_wrong (replay, m, n)
  local left = m:threads(n)
  for _, one in ipairs(replay:threads()) do
    local list, open = m:stack(n, one.thread)
    if #list ~= one.frames or open ~= one.open then
      return ("thread %s, and not %d frames, %d open"):format(show(one), #list,
                                                               open)
    end
    left[one.thread] = nil
  end
  for thread in pairs(left) do
    local _, open = m:stack(n, thread)
    if open > 0 then
      return ("thread %d is missing"):format(thread)
    end
  end
end

-- What is wrong with the moment that the replay is at, which should be `n`.
local function moment_wrong (replay, m, n)
  local moment = replay:moment()
  if moment.number ~= n then
    return ("at moment %d, and not %d"):format(moment.number, n)
  elseif moment.stands ~= m:stands(n) and not m:in_errors(n, n + 1) then
    return ("moment %d stands: %s"):format(n, moment.stands)
  elseif moment.running ~= m:running(n) then
    return ("at moment %d %d runs, and not %d"):format(n, moment.running,
                                                       m:running(n))
  end
  local last = m.packets[n]
  -- what comes is asked for last: then nothing else has changed it
  local wrong = packet_wrong("last", replay:last(),
                             last and last.why ~= "yield" and last
                             or last and {type = last.type, why = last.why})
    or packet_wrong("coming", replay:coming(), m.packets[n + 1])
    or threads_wrong(replay, m, n)
  for thread in pairs(m:threads(n)) do
    wrong = wrong or (#replay:frames(thread, 1, 1) > 0
                      and frames_wrong(replay, m, n, thread))
  end
  return wrong and ("moment %d: %s"):format(n, wrong)
end

---------------------------------------------------------------------------
-- Steps
---------------------------------------------------------------------------

-- The line that a call is about to be made on.
local function line_of (packet)
  local site = packet and packet.type == "enteredFrame" and not packet.resumed
               and packet.callsite
  return site and ("%s:%d"):format(site.url, site.line)
end

-- Some of these lines, in the functions of their files.
local function random_lines (replay, m, random, list)
  local lines = {}
  for _ = 1, random(4) - 1 do
    local packet = m.packets[random(m.total)]
    local line = line_of(packet)
    for _, f in ipairs(line and replay:functions() or {}) do
      if f.url == packet.callsite.url then
        list[#list + 1] = {id = f.id, line = packet.callsite.line}
        lines[line] = true
      end
    end
  end
  return lines
end

-- Where to stop: some functions, or their results, calls on some lines, errors;
-- for the replay, and for the model.
local function random_stops (replay, m, random)
  local list, calls, results = {}, {}, {}
  local lines = random_lines(replay, m, random, list)
  for _, f in ipairs(replay:functions()) do
    local key = ("%s %s %d"):format(f.name, f.url, f.line or 0)
    if calls[key] == nil then           -- functions may share a key
      calls[key], results[key] = random(6) == 1, random(9) == 1
    end
    list[#list + 1] = {id = f.id, call = calls[key], result = results[key]}
  end
  local errors = random(3) == 1
  replay:stop_at(list, errors)
  local function key_of (packet)
    return ("%s %s %d"):format(packet.name, packet.location.url or "",
                               packet.location.line or 0)
  end
  return function (n)
    local last, coming = m.packets[n], m.packets[n + 1]
    if errors and coming and coming.why == "exception"
       and not model.same_event(last, coming) then
      return true
    elseif lines[line_of(coming)] and not model.same_event(last, coming) then
      return true
    elseif not last or last.why == "yield" or last.resumed then
      return false
    elseif last.type == "enteredFrame" then
      return calls[key_of(last)] == true
    end
    return results[key_of(m.left[n].packet)] == true
  end
end

local moves = {"in", "over", "out", "on", "backIn", "backOver", "backOut",
               "back"}

-- The moments that are accepted, of those at which somebody would stop.
local function accepted (n)
  return n % 3 ~= 0
end

local function search (replay, move, thread, stopping, budget)
  replay:search(move, thread, stopping)
  for _ = 1, 1e7 do
    local state = replay:turn(budget)
    if state == "candidate" and accepted(replay:moment().number) then
      replay:accept()
      if not move:find "^back" then
        return "found"
      end
    elseif state == "found" or state == "edge" then
      return state
    end
  end
  error("a search without end: " .. move)
end

-- A coroutine that has been collected while it was suspended: with that its
-- calls are over, and packets do not tell.
local function is_gone (replay, m, n, thread)
  local list, open = m:stack(n, thread)
  return #list > 0 and open == 0 and #replay:frames(thread, 1, 1) == 0
end

local function step_wrong (replay, m, random, stops)
  local n = replay:moment().number
  local threads = {1}
  for thread in pairs(m:threads(n)) do
    threads[#threads + 1] = thread
  end
  table.sort(threads)
  local thread = random(3) == 1 and threads[random(#threads)]
                 or replay:moment().running
  local move = moves[random(#moves)]
  local stopping = move == "on" or move == "back" or random(3) == 1
  local wanted, how = m:step(n, move, thread, stopping and function (i)
    return stops(i) and accepted(i)
  end or nil)
  local state = search(replay, move, thread, stopping, random(200))
  local at = replay:moment().number
  if at ~= wanted and is_gone(replay, m, at, thread) then
    return nil
  elseif at ~= wanted and m:in_errors(at, wanted) then
    return nil
  elseif state ~= how or at ~= wanted then
    return ("%s from %d in %d: %s at %d, and not %s at %d"):format(
      move, n, thread, state, at, how, wanted)
  end
  local wrong = moment_wrong(replay, m, wanted)
  return wrong and ("%s from %d in %d: %s"):format(move, n, thread, wrong)
end

function compare.trace (trace, steps, seed, how)
  local packets = {}
  for packet in trace:packets() do
    if packet.sequence == #packets then     -- no marker
      packets[#packets + 1] = packet
    end
  end
  local m = model.new(packets)
  local replay = core.replay(trace, how)
  local random = generator(seed)
  local stops = random_stops(replay, m, random)
  local wrong = moment_wrong(replay, m, 0)
  for i = 1, steps do
    if wrong then
      return wrong
    elseif i % 5 == 0 then
      local n = random(m.total + 1) - 1
      replay:go(n)
      wrong = moment_wrong(replay, m, n)
    else
      wrong = step_wrong(replay, m, random, stops)
    end
    if i % 40 == 0 then
      stops = random_stops(replay, m, random)
    end
  end
  return wrong
end

return compare
