-- events.lua - tracegrip events: what the profiler service says of a recording.

local core = require "tracegrip.core"
local columns = require "tracegrip.cli.columns"
local functions = require "tracegrip.cli.functions"
local json = require "tracegrip.cli.json"
local main = require "tracegrip.cli.main"
local recording = require "tracegrip.cli.recording"
local scope = require "tracegrip.scope"
local units = require "tracegrip.cli.units"
core.own()

local events = {
  summary = "Lists a recording's calls as events, or adds them up.",
  description = "Lists the calls of one coroutine of a recording (a timeline), "
    .. "in the order in which they began, with the time they took themselves; "
    .. "or adds them up. What tracing took is told apart (overhead).",
  usage = "[options] FILE"
}

events.options = {
  {name = "mode", metavar = "MODE", default = "all", group = "The answer",
   help = "all (one by one), or added up: types (by type), events (by what "
          .. "they are), total (all into one). Or the protocol's name or "
          .. "number of a mode."},
  {name = "limit", kind = "limit", metavar = "N", default = "40",
   group = "The answer", help = "Events shown; N may be 'all'."},
  {name = "json", flag = "--json", value = true, group = "The answer",
   help = "For programs: one JSON object, with all events."},
  {name = "event", kind = "number", metavar = "ID", group = "What is selected",
   help = "Only what happened inside the event of this number."},
  {name = "maxDepth", kind = "number", metavar = "N",
   group = "What is selected",
   help = "Only N levels below that event, or below the timeline."},
  {name = "type", metavar = "TYPE", list = true, group = "What is selected",
   help = "Only events of this type: call, chunk (main chunks and coroutines), "
          .. "compile, collect, or the protocol's name or number of one. May "
          .. "be given more than once."},
  {name = "interval", metavar = "A:B", group = "What is selected",
   help = "Only what was going on between A and B milliseconds after the "
          .. "start; either may be missing."},
  {name = "timeline", kind = "number", metavar = "N", default = "1",
   group = "What is selected", help = "Of which coroutine; 1 is the main one."},
  {name = "trace", metavar = "NAME", group = "What is selected",
   help = "The trace of that name in the recording; without it the first."},
}

function events.declare (parser)
  parser:argument("file"):description("The recording.")
end

---------------------------------------------------------------------------
-- The question
---------------------------------------------------------------------------

local mode_words = {all = 1, types = 2, events = 3, total = 4}

local types = scope.eventTypes

local type_words = {
  call = types.FUNCTION_CALL, chunk = types.SCRIPT_THREAD_EVALUATION,
  compile = types.SCRIPT_COMPILATION, collect = types.GARBAGE_COLLECTION
}

-- The number that a word means: one of 'words', or of the protocol's.
local function number_of (what, word, words, protocol)
  local n = words[word:lower()] or protocol[word:upper()]
            or word:find "^%d+$" and math.tointeger(tonumber(word))
  for _, number in pairs(protocol) do
    if n == number then
      return n
    end
  end
  local known = {}
  for name in pairs(words) do
    known[#known + 1] = name
  end
  table.sort(known)
  main.misuse("%s: no such thing as '%s' (known: %s)", what, word,
              table.concat(known, ", "))
end

local function moment (text)
  local n = tonumber(text)
  if text ~= "" and not (n and n == n) then
    main.misuse("--interval wants A:B in milliseconds, such as 10:20.5 or :5")
  end
  return n
end

local function interval_of (text)
  if not text then
    return nil
  end
  local start, stop = text:match("^([^:]*):([^:]*)$")
  return {start = moment(start or "?"), ["end"] = moment(stop)}
end

local function question (parsed, session)
  local list = {}
  for i, word in ipairs(parsed.type or {}) do
    list[i] = number_of("--type", word, type_words, types)
  end
  return {
    sessionID = session.sessionID, timelineID = parsed.timeline or 1,
    mode = number_of("--mode", parsed.mode or "all", mode_words, scope.modes),
    eventID = parsed.event, maxDepth = parsed.maxDepth,
    eventTypeList = list, interval = interval_of(parsed.interval)
  }
end

-- What a command of the service gives; a refusal is the command's failure.
local function must (path, status, message)
  if status ~= scope.status.OK then
    main.fail("%s: %s", path, message.description)
  end
  return message
end

---------------------------------------------------------------------------
-- The table
---------------------------------------------------------------------------

local type_names = {[types.GENERIC] = "all"}
for word, number in pairs(type_words) do
  type_names[number] = word
end

local function type_of (event)
  local evaluation = event.scriptThreadEvaluation
  if evaluation and evaluation.eventName then
    return "coroutine"
  end
  return type_names[event.type]
end

-- What it is about, as a program would write it.
local function name_of (event)
  local compilation, collection = event.scriptCompilation,
                                  event.garbageCollection
  local name = event.functionCall.name
  local detail = compilation and compilation.url
                 or collection and collection.option
  return detail and ("%s %q"):format(name, detail):gsub("\\\n", "\\n") or name
end

local FOLD = 20           -- levels indented; then they start anew at the left

local function guides_of (depth)
  local shown = depth % FOLD
  return (depth >= FOLD and depth - shown .. "┊ " or "") .. ("  "):rep(shown)
end

-- A row for an event; 'depths' has those of the events before it.
local function row_of (event, depths)
  local f = event.functionCall
  local depth = event.eventID and (depths[event.parentEventID] or -1) + 1 or 0
  if event.eventID then
    depths[event.eventID] = depth
  end
  return {
    id = event.eventID, start = event.interval.start,
    length = event.interval["end"] - event.interval.start,
    time = event.time, overhead = event.overhead, hits = event.hits,
    total = event.aggregatedTime, type = type_of(event),
    guides = guides_of(depth), name = f and name_of(event) or "",
    url = f and f.source, line = f and f.line
  }
end

local function number_column (title, key)
  return {title = title, right = true, sparse = true, text = function (row)
    return row[key] and tostring(row[key]) or ""
  end}
end

local function table_columns (mode)
  local name, where = functions.names()
  name.title, name.sparse, where.sparse = "event", true, true
  local total = functions.time("total", "total", 5)
  total.sparse = true
  local list = {
    number_column("id", "id"), functions.time("start", "start", 4),
    functions.time("length", "length", 2), functions.time("self", "time"),
    total, functions.time("overhead", "overhead", 3), functions.count("hits"),
    {title = "type", drop = 1, text = function (row) return row.type end},
    name, where
  }
  if mode ~= scope.modes.ALL then
    table.remove(list, 1)
  end
  return list
end

-- The rows about events, a list; 'more': there are others.
function events.format (list, mode, more, width)
  local rows, depths = {}, {}
  for i, event in ipairs(list) do
    rows[i] = row_of(event, depths)
  end
  if #rows == 0 and not more then
    return {"no events"}
  end
  local out = columns.format(table_columns(mode), rows, width)
  if more then
    out[#out + 1] = "… and more (--limit)"
  end
  return out
end

local function heading (info, session, lost, timeline, index, width)
  local parts = {
    ("timeline %d of %d"):format(timeline, #session.timelineList),
    units.span(session.duration),
    ("%s in all"):format(units.several(index.events, "event")),
    ("overhead %s a call and %s a return"):format(
      units.span(session.callOverhead), units.span(session.returnOverhead))
  }
  local losses = recording.losses(lost)
  if losses ~= "none" then
    parts[#parts + 1] = "lost " .. losses
  end
  return columns.sentence(columns.clean(info.program or info.path), parts,
                          width)
end

---------------------------------------------------------------------------
-- The command
---------------------------------------------------------------------------

-- The first 'limit' events of an iterator, and whether there are more.
local function first_of (each, limit)
  local list = {}
  for event in each do
    if #list == limit then
      return list, true
    end
    list[#list + 1] = event
  end
  return list, false
end

-- An event at a time: there may be more than would fit.
local function write_json (each)
  local interval
  recording.write("{\n  \"eventList\": [")
  for event in each do
    recording.write((interval and ",\n    " or "\n    ") .. json.object(event))
    interval = interval or {start = event.interval.start, ["end"] = 0.0}
    interval["end"] = math.max(interval["end"], event.interval["end"])
  end
  local last = interval and ",\n  \"interval\": " .. json.object(interval) or ""
  recording.write("\n  ]" .. last .. "\n}\n")
end

function events.run (parsed)
  local trace, info = recording.trace(parsed.file, parsed.trace)
  local profiler = scope.new()
  local session = must(parsed.file, profiler:load(trace))
  recording.note_damage(parsed.file, trace, info)
  local q = question(parsed, session)
  local each = must(parsed.file, profiler:each(q))
  if parsed.json then
    return write_json(each)
  end
  local limit = parsed.limit or 40
  local list, more = first_of(each, limit == "all" and math.huge or limit)
  local width = recording.width()
  local index = profiler:info(session.sessionID)
  local out = heading(info, session, trace.lost, q.timelineID, index, width)
  out[#out + 1] = ""
  local rows = events.format(list, q.mode, more, width)
  recording.write_rows(table.move(rows, 1, #rows, #out + 1, out))
end

return events
