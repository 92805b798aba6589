-- replayed.lua - what a trace says when its packets were made events again.
--
--   local replayed = dofile ".../replayed.lua"
--   local message = replayed(trace, path)
--
-- reads all packets of a trace with all types, puts them through core.replay,
-- as a client does that records a program elsewhere, opens the recording at
-- 'path' and compares every field. Returns nil, or a line of what is not the
-- same.

local core = require "tracegrip.core"
core.own()

local all = {trace = core.traceTypes}

local function said (value)
  if type(value) == "table" then
    return value.type or "a table"
  end
  return ("%q"):format(value)
end

-- The first place at which two values differ, nil if there is none.
local function difference (a, b, place)
  if type(a) ~= "table" or type(b) ~= "table" then
    return not (a == b and math.type(a) == math.type(b) or a ~= a and b ~= b)
           and ("%s: %s, not %s"):format(place, said(b), said(a)) or nil
  end
  for key, value in pairs(a) do
    local found = difference(value, b[key], place .. "." .. tostring(key))
    if found then
      return found
    end
  end
  for key, value in pairs(b) do
    if a[key] == nil then
      return difference(nil, value, place .. "." .. tostring(key))
    end
  end
end

local function record (trace, path)
  local replay <close> = assert(core.replay(all, nil, {path = path,
                                                       name = trace.name}))
  for packet in trace:packets(all) do
    replay:put(packet)
    assert(replay:pump())
  end
  assert(replay:finish())
  return assert(core.open(path)):traces()[1]
end

return function (trace, path)
  local copy = record(trace, path)
  local mine, other = trace:packets(all), copy:packets(all)
  local packet, again
  repeat
    packet, again = mine(), other()
    local found = difference(packet, again, "")
    if found then
      return ("packet %s%s"):format(packet and packet.sequence or "?", found)
    end
  until not packet
  os.remove(path)
end
