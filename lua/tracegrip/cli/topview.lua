-- topview.lua - what tracegrip top shows: where the time of a program goes, of
-- the last moment or since the beginning, by function or by line.
--
-- A view is given the sums of all that has happened (receiver:profile), and
-- makes rows of them, and the figures above them. It knows nothing of
-- connections, terminals and colours.

local core = require "tracegrip.core"
local columns = require "tracegrip.cli.columns"
local units = require "tracegrip.cli.units"
core.own()

local topview = {}

local View = {}
View.__index = View

-- 'how.title': the program; 'calls': calls are counted, and not samples taken;
-- 'memory': what is allocated is known; 'by_line'; 'sort': the order.
function topview.new (how)
  return setmetatable({
    title = how.title, calls = how.calls, memory = how.memory,
    by_line = how.by_line, sort = how.sort or "self",
    reversed = false, whole = false, filter = "", place = 0,
    before = {time = 0, samples = 0, functions = {}},
    all = {}, rows = {}, figures = {}, notes = {}
  }, View)
end

---------------------------------------------------------------------------
-- Sums
---------------------------------------------------------------------------

-- As samples call it when they have met it at work (sample/glance.h).
local COLLECTOR = "(garbage collector)"

local NOTHING = {time = 0, samples = 0, functions = {}, lines = {}}

-- What has been added to a row since 'before'; rows keep their place in the
-- list.
local function difference (row, before)
  local function since (key)
    return (row[key] or 0) - (before and before[key] or 0)
  end
  return {
    name = row.name, url = row.url, line = row.at or row.line,
    self = since "self_ms", total = since "total_ms", calls = since "calls",
    bytes = since "self_bytes", allocations = since "self_allocations",
    live = row.self_live_bytes or 0
  }
end

-- The share of a processor, as the system has it, between two moments at which
-- the program has told it; the one before if it has told nothing since.
local function processor (self, from)
  local now = self.now.process
  if now and from and now.time_ms > from.time_ms then
    return (now.processor_ms - from.processor_ms)
           / (now.time_ms - from.time_ms)
  end
  return self.figures.processor
end

-- What the program has told of itself first (receiver:process), or nil.
function View:meet (process)
  self.first = self.first or process
end

-- Sums as they are now; 'now' in milliseconds on a clock of ours, which the
-- first is the zero of; 'process': as receiver:process has it, or nil.
function View:take (sums, now, lost, process)
  self.now = {
    time = now, samples = sums.samples or 0, functions = sums.functions,
    lines = sums.lines, memory = sums.memory, coroutines = sums.coroutines,
    process = process or self.now and self.now.process
  }
  self.lost, self.notes = lost, process and process.notes or self.notes
  self:work_out()
  self.before = self.now
end

---------------------------------------------------------------------------
-- Order
---------------------------------------------------------------------------

-- Whether rows have times. Of lines it is samples that tell them; calls, which
-- lines make, are not counted there.
function View:timed ()
  return not (self.calls and self.by_line)
end

-- The orders that there are, as columns are from left to right.
function View:orders ()
  local list = self:timed() and {"self", "total"} or {}
  if self.calls and not self.by_line then
    list[#list + 1] = "calls"
  end
  if self.memory then
    list[#list + 1] = "bytes"
    list[#list + 1] = "allocations"
    list[#list + 1] = "live"
  end
  list[#list + 1] = "name"
  list[#list + 1] = "place"
  return list
end

local function place (row)
  if row.url == nil then
    return "[C]"
  end
  local line = row.line and row.line > 0 and row.line
  return columns.clean(line and row.url .. ":" .. line or row.url)
end

local texts = {
  name = function (row) return columns.clean(row.name) end,
  place = place
}

-- Rows are lines from now on, or functions, in an order that these have.
function View:show_lines (by_line)
  self.by_line = by_line
  local orders = self:orders()
  for _, order in ipairs(orders) do
    if order == self.sort then
      return
    end
  end
  self.sort = orders[1]
end

-- Numbers from the largest on, texts from the first on; 'reversed' the other
-- way round.
local function sorter (key, reversed)
  local text = texts[key]
  local function first (a, b)
    local x, y = a[key], b[key]
    if text then
      x, y = text(b), text(a)
    end
    if x ~= y then
      return x > y, true
    elseif a.self ~= b.self then
      return a.self > b.self
    end
    return a.place < b.place
  end
  return function (a, b)
    local before, differs = first(a, b)
    if reversed and differs then
      return not before
    end
    return before
  end
end

-- Whether a row has the text in its name or place, however it is written.
function topview.has (row, text)
  local words = columns.clean(row.name) .. " " .. place(row)
  return words:lower():find(text:lower(), 1, true) ~= nil
end

local function narrowed (self)
  if self.filter == "" then
    return self.all
  end
  local rows = {}
  for _, row in ipairs(self.all) do
    if topview.has(row, self.filter) then
      rows[#rows + 1] = row
    end
  end
  return rows
end

-- The rows as they are shown: sorted, and those that the filter leaves.
function View:arrange ()
  self.rows = narrowed(self)
  table.sort(self.rows, sorter(self.sort, self.reversed))
end

-- Rows and figures of the time that is shown. What comes may be late: then more
-- was spent than there was time, and that is what there was.
function View:work_out ()
  local from = self.whole and NOTHING or self.before
  local spent, calls, collector = 0, 0, nil
  for i, row in ipairs(self.now.functions) do
    local one = difference(row, from.functions[i])
    spent, calls = spent + one.self, calls + one.calls
    collector = one.name == COLLECTOR and one.self or collector
  end
  local which = self.by_line and "lines" or "functions"
  self.all = {}
  for i, row in ipairs(self.now[which] or {}) do
    local one = difference(row, (from[which] or {})[i])
    one.place = i
    if one.total > 0 or one.calls > 0 or one.bytes > 0 then
      self.all[#self.all + 1] = one
    end
  end
  local process = not self.whole and self.before.process or self.first
  self.figures = {
    span = math.max(self.now.time - from.time, spent, 1e-3), spent = spent,
    calls = calls, collector = collector, from = from,
    samples = self.now.samples - from.samples,
    processor = processor(self, process)
  }
  self:arrange()
end

---------------------------------------------------------------------------
-- Columns
---------------------------------------------------------------------------

-- "1.2 MiB/s", as wide as others.
local function size (n)
  n = math.floor(n + 0.5)
  return n > 0 and units.bytes(n):gsub(" bytes?$", "   B") or ""
end

local function rate (title, key, drop, text, per_second)
  return {title = title, key = key, right = true, drop = drop,
          text = function (row) return (text(row[key] * per_second)) end}
end

-- As columns.lua has them; 'key': the order that a column is of.
function View:columns ()
  local span = self.figures.span
  local per_second = 1000 / span
  local function share (title, key)
    return {title = title, key = key, right = true, share = true,
            text = function (row) return units.percent(row[key], span) end,
            part = function (row) return row[key] / span end}
  end
  local list = not self:timed() and {} or {
    share("self %", "self"), share("total %", "total"),
    {title = "self", right = true, drop = 2,
     text = function (row) return units.column(row.self) end},
  }
  if self.calls and not self.by_line then
    list[#list + 1] = rate("calls/s", "calls", 4, units.count, per_second)
  end
  if self.memory then
    list[#list + 1] = rate("bytes/s", "bytes", 5, size, per_second)
    list[#list + 1] = rate("allocs/s", "allocations", 3, units.count,
                           per_second)
    list[#list + 1] = rate("live", "live", 6, size, 1)
  end
  list[#list + 1] = {title = "function", key = "name", cut = "back",
                     least = 12, text = texts.name}
  list[#list + 1] = {title = self.by_line and "line" or "place",
                     key = "place", cut = "front", least = 10, drop = 1,
                     text = place}
  return list
end

-- The rows of the table, its heading first, with 'limit' rows at most.
function View:table (width, limit)
  local first = table.move(self.rows, 1, math.min(limit, #self.rows), 1, {})
  return columns.format(self:columns(), first, width)
end

---------------------------------------------------------------------------
-- What stands above
---------------------------------------------------------------------------

local function rates (self)
  local figures = self.figures
  local per_second = 1000 / figures.span
  local words = {}
  if self.calls then
    words[1] = units.count(figures.calls * per_second) .. " calls/s"
  else
    words[1] = units.count(figures.samples * per_second) .. " samples/s"
  end
  if self.lost > 0 then
    words[2] = units.several(self.lost, "event") .. " lost"
  end
  words[#words + 1] = self.whole and "since the beginning"
                      or "the last " .. units.span(figures.span)
  return table.concat(words, ", ")
end

-- What is known of the whole, in words.
local function totals (self)
  local now, from, parts = self.now, self.figures.from, {}
  local function part (...)
    parts[#parts + 1] = string.format(...)
  end
  if now.process and now.process.threads > 0 then
    part("%s", units.several(now.process.threads, "thread"))
  end
  if now.coroutines and now.coroutines > 0 then
    part("%s", units.several(now.coroutines, "coroutine"))
  end
  if self.figures.collector then
    part("collector %s", units.percent(self.figures.collector,
                                       self.figures.span))
  end
  local m, before = now.memory, from.memory or {}
  if not m then
    return parts
  end
  local function since (key)
    return (m[key] or 0) - (before[key] or 0)
  end
  if m.heap_bytes then
    part("heap %s, at most %s", units.bytes(m.heap_bytes),
         units.bytes(m.peak_bytes))
  end
  local per_second = 1000 / self.figures.span
  part("%s/s in %s allocations/s",
       units.bytes(since "total_bytes" * per_second),
       units.count(since "total_allocations" * per_second))
  part("%s", units.several(since "collections", "collection"))
  return parts
end

local BAR = 20

-- How much of a processor the program has, or of the time was spent in
-- functions where that is not told.
local function bar (self, width)
  local figures = self.figures
  local part = figures.processor or figures.spent / figures.span
  local label = figures.processor and "processor"
                or self.calls and "in calls" or "running"
  local full = math.floor(math.min(part, 1) * width + 0.5)
  return {label = label, full = ("|"):rep(full),
          rest = (" "):rep(width - full), text = units.percent(part, 1)}
end

-- "1:02:03"
local function clock (ms)
  local s = math.floor(ms / 1000)
  return ("%d:%02d:%02d"):format(s // 3600, s // 60 % 60, s % 60)
end

-- What stands above the table, in parts: the title, the bar, what is beside the
-- bar, the totals, and notes.
function View:above (width)
  local narrow = width and width < 60
  return {
    title = ("%s: %s, %s"):format(narrow and "top" or "tracegrip top",
                                  self.title, clock(self.now.time)),
    bar = bar(self, narrow and BAR // 2 or BAR),
    rates = rates(self), totals = table.concat(totals(self), ", "),
    notes = self.notes
  }
end

-- The same as lines.
function View:head ()
  local a = self:above()
  local out = {
    a.title, ("%s [%s%s] %s   %s"):format(a.bar.label, a.bar.full, a.bar.rest,
                                          a.bar.text, a.rates)
  }
  if a.totals ~= "" then
    out[#out + 1] = a.totals
  end
  for _, note in ipairs(a.notes) do
    out[#out + 1] = "note: " .. note
  end
  return out
end

return topview
