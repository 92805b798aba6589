-- history.lua - tracegrip history: every call of a recording that had a table,
-- and which of them found it changed.
--
-- The recording is read once for the places (csrc/replay/history.h), and then
-- along them. Between two packets that follow each other ran one function, as
-- far as calls tell: a change between them is its doing.

local core = require "tracegrip.core"
local columns = require "tracegrip.cli.columns"
local main = require "tracegrip.cli.main"
local meter = require "tracegrip.cli.meter"
local options = require "tracegrip.options"
local recording = require "tracegrip.cli.recording"
local sightings = require "tracegrip.cli.sightings"
local units = require "tracegrip.cli.units"
local wire = require "tracegrip.wire"
core.own()

local TURN = 100000     -- packets
local CALLS = 1000      -- that are shown if nothing else is said,
local TABLES = 20       -- and tables

local history = {
  summary = "Shows every call that had a table, and who changed it.",
  description = "Shows each call of a recording that was given a table or gave "
    .. "it back, at whatever depth, and what had changed in it since the call "
    .. "before. Without TABLE, which tables are in most calls, with their "
    .. "numbers. The recording has to be made with --trace ...,identity.",
  usage = "[options] FILE [TABLE]"
}

history.options = options.joined({
  {name = "changes", flag = "--changes", value = true, group = "The table",
   help = "Only those calls in which it was not what it had been."},
  {name = "field", metavar = "KEY", group = "The table",
   help = "Only this field of it counts: NAME, or '[1]' as in a constructor."},
  {name = "limit", kind = "most", metavar = "N",
   default = CALLS .. " calls, " .. TABLES .. " tables", group = "The table",
   help = "The first N calls, or tables."},
  {name = "json", flag = "--json", value = true, group = "The table",
   help = "For programs: one JSON object."},
}, options.calls)

function history.declare (parser)
  parser:argument("file"):description("The recording.")
  parser:argument("table"):args("?")
    :description("The number of a table, as packets and editors show it.")
end

---------------------------------------------------------------------------
-- Reading
---------------------------------------------------------------------------

local function read (self, table, wanted)
  local found = core.history(self.replay, table, wanted)
  meter.during("reading", function (show)
    local events = show and self.trace.events
    while found:turn(TURN) do
      if show then
        show(select(3, found:counts()) / math.max(events, 1))
      end
    end
  end)
  return found
end

local function number_of (text)
  local number = text:find "^%d+$" and math.tointeger(tonumber(text))
  if not number or number < 1 or number >= 1 << 32 then
    main.misuse("TABLE is a number, not '%s'", text)
  end
  return number
end

---------------------------------------------------------------------------
-- A sighting
---------------------------------------------------------------------------

local ends = {["return"] = "returns", throw = "fails", yield = "yields"}

local function what_of (packet, seen)
  if seen.locals then
    return packet.type == "enteredFrame" and "calls" or "returns"
  elseif packet.type == "enteredFrame" then
    return "is called"
  end
  for field, word in pairs(ends) do
    if packet[field] then
      return word
    end
  end
  return "ends"
end

-- The function that ran between two sightings, if no other did.
local function changer (self, before, seen)
  if before.number + (before.locals and 0 or 1) ~= seen.number then
    return nil
  end
  self.replay:go(seen.number)
  local frame = self.replay:frames(self.replay:moment().running, 1, 1)[1]
  return frame and frame.name
end

-- The packet of a sighting; locals are those of the frame that makes the call.
local function packet_of (self, seen)
  self.replay:go(seen.number)
  local packet = self.replay:coming()
  if seen.locals and packet.type == "enteredFrame" then
    local frame = self.replay:frames(packet.thread, 1, 1)[1] or {}
    return {type = packet.type, name = frame.name, url = frame.url,
            line = packet.locals and packet.locals.line, time = packet.time,
            thread = packet.thread}
  end
  local site = packet.callsite or {}
  packet.url = site.url or packet.url
  packet.line = site.line or packet.line
  return packet
end

local function row_of (self, found, i)
  local seen = found:sighting(i)
  local list, entry = found:list(i)
  local packet = packet_of(self, seen)
  local row = {
    packet = seen.number, time = packet.time, thread = packet.thread,
    name = packet.name, what = what_of(packet, seen), url = packet.url,
    line = packet.line, told = seen.told, changed = seen.changed,
    where = list and sightings.where(list, self.table,
                                     packet.type == "enteredFrame"
                                     and entry.parameterNames),
    text = list and seen.told and sightings.text(list, self.table) or nil
  }
  if seen.changed then
    local before = found:sighting(seen.before)
    row.since = before.number
    row.by = changer(self, before, seen)
    row.changes = list and sightings.differences(
      found:list(seen.before), list, self.table, self.field) or {}
  end
  return row
end

---------------------------------------------------------------------------
-- All of one table
---------------------------------------------------------------------------

local function change_text (row)
  local parts = {}
  for i, one in ipairs(row.changes or {}) do
    parts[i] = ("%s: %s -> %s"):format(columns.clean(one.field),
                                       one.old or "nil", one.new or "nil")
  end
  return table.concat(parts, ", ")
end

local function tells (row)
  if row.changed then
    return change_text(row)
  end
  return row.text or "(not told)"
end

local layout = {
  {title = "event", right = true, text = function (row)
    return tostring(row.packet)
  end},
  {title = "time", right = true, drop = 1, sparse = true, text = function (row)
    return row.time and units.span(row.time) or ""
  end},
  {title = "call", text = function (row)
    return columns.clean(row.name or "?") .. " " .. row.what
  end, cut = "back", least = 16},
  {title = "at", sparse = true, cut = "front", least = 12,
   text = function (row)
    return row.url and row.line and columns.clean(row.url) .. ":" .. row.line
           or ""
  end},
  {title = "as", text = function (row) return row.where or "" end,
   cut = "back", least = 8},
  {title = "changed by", sparse = true, drop = 2, text = function (row)
    return not row.changed and "" or row.by and columns.clean(row.by)
           or ("since event %d"):format(row.since)
  end},
  {title = "contents", text = tells, cut = "back", least = 20},
}

-- Which of the kept sightings are shown: of changes alone those before them are
-- kept, too.
local function chosen (found, only_changes, most)
  local list, more = {}, 0
  for i = 1, (found:counts()) do
    if not only_changes or found:sighting(i).changed then
      if #list < most then
        list[#list + 1] = i
      else
        more = more + 1
      end
    end
  end
  return list, more + (only_changes and 0 or select(2, found:counts()))
end

local function rows_of_table (self, parsed)
  local found = read(self, self.table, {
    field = self.field and sightings.key(self.field), changes = parsed.changes
  })
  local list, more = chosen(found, parsed.changes, self.limit or CALLS)
  local rows = {}
  for k, i in ipairs(list) do
    rows[k] = row_of(self, found, i)
  end
  return rows, more
end

local function show_table (self, parsed)
  local rows, more = rows_of_table(self, parsed)
  if parsed.json then
    for _, row in ipairs(rows) do
      row.changes = row.changes and wire.array(row.changes)
    end
    return recording.write(wire.json {table = self.table, field = self.field,
                                      calls = wire.array(rows), more = more}
                           .. "\n")
  end
  local out = columns.format(layout, rows, recording.width())
  if #rows == 0 then
    out = {parsed.changes and "nothing in it has changed, as far as it was told"
           or ("no call has table %d"):format(self.table)}
  end
  if more > 0 then
    out[#out + 1] = ("… and %d more calls"):format(more)
  end
  recording.write_rows(out)
end

---------------------------------------------------------------------------
-- All tables
---------------------------------------------------------------------------

-- The values of a packet that have the table.
local function list_with (packet, wanted)
  for _, field in ipairs {"locals", "arguments", "return", "throw", "yield"} do
    local list = packet[field]
    if list and sightings.object(list, wanted) then
      return list, field
    end
  end
end

local function row_of_any (self, one)
  self.replay:go(one.first)
  local packet = self.replay:coming()
  local list, field = list_with(packet, one.table)
  return {
    table = one.table, lists = one.lists, packet = one.first,
    name = packet.name, time = packet.time,
    class = list and sightings.object(list, one.table).class,
    where = list and sightings.where(list, one.table, field == "arguments"
                                     and packet.parameterNames),
    text = list and sightings.text(list, one.table)
  }
end

local any_layout = {
  {title = "table", right = true, text = function (row)
    return tostring(row.table)
  end},
  {title = "in lists", right = true, text = function (row)
    return tostring(row.lists)
  end},
  {title = "first event", right = true, drop = 1, text = function (row)
    return tostring(row.packet)
  end},
  {title = "of", text = function (row)
    return columns.clean(row.name or "?")
  end, cut = "back", least = 12},
  {title = "as", text = function (row) return row.where or "" end,
   cut = "back", least = 8},
  {title = "contents there", text = function (row) return row.text or "" end,
   cut = "back", least = 20},
}

local function show_tables (self, parsed)
  local found = read(self, 0)
  local list, more = found:tables(math.min(self.limit or TABLES, 100000))
  local rows = {}
  for i, one in ipairs(list) do
    rows[i] = row_of_any(self, one)
  end
  if parsed.json then
    return recording.write(wire.json {tables = wire.array(rows), more = more}
                           .. "\n")
  end
  local out = #rows > 0 and columns.format(any_layout, rows, recording.width())
              or {"no call has a table"}
  if more > 0 then
    out[#out + 1] = ("… and %d more tables"):format(more)
  end
  recording.write_rows(out)
end

function history.run (parsed)
  local trace, info = recording.trace(parsed.file, parsed.trace)
  local self = {
    trace = trace, table = parsed.table and number_of(parsed.table),
    field = parsed.field,
    limit = parsed.limit == "all" and math.maxinteger or parsed.limit,
    replay = core.replay(trace, options.filter(parsed, trace))
  }
  if not self.replay:records "identity" then
    main.fail("%s does not tell which tables its values are (record --trace "
              .. "...,identity)", parsed.file)
  elseif self.table then
    show_table(self, parsed)
  else
    show_tables(self, parsed)
  end
  recording.note_damage(parsed.file, trace, info)
end

return history
