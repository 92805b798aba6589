-- pprof.lua - profile.proto as tables.

local protobuf = require "spec.support.protobuf"

local pprof = {}

local message, packed = protobuf.message, protobuf.packed

-- A list of messages as tables by their id, made by 'read'.
local function by_id (list, read)
  local all = {}
  for _, bytes in ipairs(list) do
    local m = message(bytes)
    assert(m[1][1] and m[1][1] > 0, "an id of 0")
    assert(not all[m[1][1]], "an id twice")
    all[m[1][1]] = read(m)
  end
  return all
end

--- A profile: {types = {"calls/count", ...}, time, duration, comment,
--- default, period, samples = {{coroutine, values, stack}, ...}}. A stack is a
--- list of {name, file, start, line}, outermost first.
function pprof.read (bytes)
  local profile = message(bytes)
  local strings = profile[6]
  assert(strings[1] == "", "the first string is not empty")
  local function text (list)
    return assert(strings[(list[1] or 0) + 1], "no such string")
  end
  local functions = by_id(profile[5], function (m)
    return {name = text(m[2]), file = text(m[4]), start = m[5][1] or 0}
  end)
  local locations = by_id(profile[4], function (m)
    local line = message(m[4][1])
    local f = assert(functions[line[1][1]], "no such function")
    assert(m[2][1] == 1 and #m[4] == 1)
    return {name = f.name, file = f.file, start = f.start,
            line = line[2][1] or 0}
  end)
  local function type_of (bytes_of_type)
    local m = message(bytes_of_type)
    return text(m[1]) .. "/" .. text(m[2])
  end
  local result = {types = {}, samples = {}, time = profile[9][1],
                  duration = profile[10][1], comment = text(profile[13]),
                  default = text(profile[14]), period = profile[12][1],
                  mapping = text(message(profile[3][1])[5])}
  for i, one in ipairs(profile[1]) do
    result.types[i] = type_of(one)
  end
  for i, one in ipairs(profile[2]) do
    local m, stack = message(one), {}
    local ids = packed(m[1][1])
    for j, id in ipairs(ids) do
      stack[#ids - j + 1] = assert(locations[id], "no such location")
    end
    local sample = {stack = stack, values = packed(m[2][1])}
    for _, bytes_of_label in ipairs(m[3]) do
      local label = message(bytes_of_label)
      sample[text(label[1])] = text(label[2])
    end
    assert(sample.coroutine)
    result.samples[i] = sample
  end
  return result
end

return pprof
