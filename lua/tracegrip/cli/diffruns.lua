-- diffruns.lua - tracegrip diff-runs: the first call in which two recordings of
-- a program part.
--
-- Both are read side by side (csrc/replay/parting.h). What is shown of the call
-- is what its packet has, the arguments that it was given, and the stack.

local core = require "tracegrip.core"
local columns = require "tracegrip.cli.columns"
local griptext = require "tracegrip.cli.griptext"
local meter = require "tracegrip.cli.meter"
local options = require "tracegrip.options"
local recording = require "tracegrip.cli.recording"
local units = require "tracegrip.cli.units"
local wire = require "tracegrip.wire"
core.own()

local TURN = 100000     -- packets
local STACK = 64        -- frames of a stack that are told
local SHOWN = 8         -- and shown to a person

local diffruns = {
  summary = "Finds the first call in which two recordings part.",
  description = "Reads two recordings of a program side by side and shows the "
    .. "first call that is not the same in both: another function, from "
    .. "another place, with other arguments, results or another error; with "
    .. "what both were given, and where in the stack. Times are no difference, "
    .. "nor are addresses in strings.",
  usage = "[options] A B"
}

diffruns.options = options.joined({
  {name = "json", flag = "--json", value = true, group = "The answer",
   help = "For programs: one JSON object, {} if there is no difference."},
}, options.calls)

function diffruns.declare (parser)
  parser:argument("a"):description("A recording.")
  parser:argument("b"):description("Another one, of the same program.")
end

---------------------------------------------------------------------------
-- Reading both
---------------------------------------------------------------------------

-- One of the two: its file, its trace, what is known of the recording, and the
-- replay.
local function opened (path, parsed)
  local trace, info = recording.trace(path, parsed.trace)
  local filter = options.filter(parsed, trace)
  return {path = path, trace = trace, info = info,
          replay = core.replay(trace, filter)}
end

-- What differs, nil if nothing does. How many packets there are has to be
-- counted first, for who watches.
local function parted (a, b)
  local parting = core.parting(a.replay, b.replay)
  local events
  return meter.during("comparing", function (show)
    events = show and a.trace.events
    while true do
      local word = parting:turn(TURN)
      if word ~= "going" then
        return word
      elseif show then
        show(a.replay:moment().number / math.max(events, 1))
      end
    end
  end)
end

---------------------------------------------------------------------------
-- What is told of a side
---------------------------------------------------------------------------

-- 'at' is the line that the frame has come to, as far as calls tell.
local function frame_of (frame, at)
  return {name = frame.name, url = frame.url, line = frame.line,
          at = at or frame.reached}
end

-- A packet, with its call's arguments where it is the end of one, and the
-- frames around it.
local function side_of (one)
  local replay = one.replay
  local packet = replay:coming()
  if not packet then
    return {ended = true}
  end
  local exits = packet.type == "exitedFrame"
  local call = exits and replay:arguments(packet.thread, 1)
  if call then
    packet.arguments, packet.parameterNames = call.arguments,
                                              call.parameterNames
    packet.callsite, packet.location = call.callsite, call.location
  end
  packet["function"], packet.entry = nil, nil
  packet.stack = {}
  local frames = replay:frames(packet.thread, exits and 2 or 1, STACK)
  local site = packet.callsite or {}
  for i, frame in ipairs(frames) do
    local calls = i == 1 and frame.url == site.url
    packet.stack[i] = frame_of(frame, calls and site.line)
  end
  return packet
end

---------------------------------------------------------------------------
-- For programs
---------------------------------------------------------------------------

-- Lists as such, also where they are empty.
local function mark_values (list)
  if not list then
    return
  end
  if list.values then
    wire.array(list.values)
  end
  for _, object in ipairs(wire.array(list.objectPool)) do
    if object.parameterNames then
      wire.array(object.parameterNames)
    end
  end
end

local function marked (side)
  for _, key in ipairs {"arguments", "return", "throw", "yield"} do
    mark_values(side[key])
  end
  for _, key in ipairs {"parameterNames", "stack"} do
    if side[key] then
      wire.array(side[key])
    end
  end
  return side
end

local function document (word, a, b)
  if not word then
    return {}
  end
  return {packet = a.replay:moment().number, difference = word,
          a = marked(side_of(a)), b = marked(side_of(b))}
end

---------------------------------------------------------------------------
-- For a person
---------------------------------------------------------------------------

local function words_of (list)
  local parts = {}
  for i, grip in ipairs(list and list.values or list and {list.value} or {}) do
    parts[i] = griptext(grip, list.objectPool)
  end
  return table.concat(parts, ", ")
end

local outcomes = {
  {"return", "returns "}, {"throw", "fails with "}, {"yield", "yields "}
}

-- "f(1, 2)", and how that ends if it does.
local function call_of (side)
  if side.ended then
    return "(it has ended)"
  end
  local text = columns.clean(side.name or "?") .. "("
               .. words_of(side.arguments) .. ")"
  if side.type == "enteredFrame" then
    return text .. (side.resumed and " goes on" or "")
  end
  for _, outcome in ipairs(outcomes) do
    local list = side[outcome[1]]
    if list then
      local empty = list.values and #list.values == 0
      return text .. " " .. outcome[2] .. (empty and "nothing"
                                           or words_of(list))
    end
  end
  return text .. (side.tailCall and " makes a tail call"
                  or side.why == "terminated" and " is ended with its coroutine"
                  or " ends")
end

local function place_of (url, line)
  return url and line and columns.clean(url) .. ":" .. line or ""
end

local differences = {
  ["end"] = "one of the runs ends",
  kind = "the runs do different things",
  thread = "the coroutine differs",
  ["function"] = "the function differs",
  place = "the place of the call differs"
}

local function difference (word, side)
  if word ~= "values" then
    return differences[word]
  elseif side.type == "enteredFrame" then
    return "the arguments differ"
  end
  return side["return"] and "the results differ"
         or side.throw and "the error differs" or "what is yielded differs"
end

local layout = {
  {title = "", text = function (row) return row.who end},
  {title = "call", text = function (row) return row.call end, cut = "back",
   least = 30},
  {title = "from", sparse = true, text = function (row) return row.from end,
   cut = "front", least = 12},
  {title = "time", sparse = true, right = true, drop = 1,
   text = function (row) return row.time end}
}

local function row_of (one, side)
  local site = side.callsite or {}
  return {who = columns.clean(one.path), call = call_of(side),
          from = place_of(site.url, site.line),
          time = side.time and units.span(side.time) or ""}
end

local function stack_rows (stack, rows)
  for i, frame in ipairs(stack or {}) do
    if i > SHOWN then
      rows[#rows + 1] = {who = "", call = ("… and %d more"):format(
        #stack - SHOWN), from = "", time = ""}
      break
    end
    rows[#rows + 1] = {
      who = i == 1 and "in" or "", call = columns.clean(frame.name or "?"),
      from = place_of(frame.url, frame.at or frame.line), time = ""
    }
  end
  return rows
end

local function rows_of (word, a, b)
  if not word then
    return {("%s and %s are the same: %s"):format(
      columns.clean(a.path), columns.clean(b.path),
      units.several(a.replay:moment().number, "event"))}
  end
  local one, other = side_of(a), side_of(b)
  local rows = stack_rows(one.stack or other.stack,
                          {row_of(a, one), row_of(b, other)})
  local out = columns.format(layout, rows, recording.width())
  table.insert(out, 1, ("The first %s are the same, then %s:"):format(
    units.several(a.replay:moment().number, "event"),
    difference(word, one.ended and other or one)))
  out[2] = ""           -- headings say nothing here
  return out
end

function diffruns.run (parsed)
  local a, b = opened(parsed.a, parsed), opened(parsed.b, parsed)
  local word = parted(a, b)
  for _, one in ipairs {a, b} do
    recording.note_damage(one.path, one.trace, one.info)
  end
  if parsed.json then
    return recording.write(wire.json(document(word, a, b)) .. "\n")
  end
  recording.write_rows(rows_of(word, a, b))
end

return diffruns
