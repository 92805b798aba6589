-- topview.lua - what tracegrip top shows: where the time of a program goes, of
-- the last moment or since the beginning.
--
-- A view is given the sums of all that has happened (receiver:profile), and
-- makes rows of text of them. It knows nothing of connections and terminals.

local core = require "tracegrip.core"
local columns = require "tracegrip.cli.columns"
local units = require "tracegrip.cli.units"
core.own()

local topview = {}

local View = {}
View.__index = View

-- 'title': the program; 'calls': calls are counted, and not samples taken.
function topview.new (title, calls)
  return setmetatable({
    title = title, calls = calls, sort = "self", whole = false,
    before = {time = 0, samples = 0, functions = {}}, rows = {}, figures = {}
  }, View)
end

---------------------------------------------------------------------------
-- Sums
---------------------------------------------------------------------------

-- What has been added to a function since 'before'; functions keep their place
-- in the list.
local function difference (row, before)
  return {
    name = row.name, url = row.url, line = row.line,
    self = row.self_ms - (before and before.self_ms or 0),
    total = row.total_ms - (before and before.total_ms or 0),
    calls = row.calls - (before and before.calls or 0)
  }
end

-- Sums as they are now; 'now' in milliseconds on a clock of ours, which the
-- first is the zero of.
function View:take (sums, now, lost)
  self.now = {time = now, samples = sums.samples or 0,
              functions = sums.functions}
  self.lost = lost
  self:work_out()
  self.before = self.now
end

local function busier (key)
  return function (a, b)
    if a[key] ~= b[key] then
      return a[key] > b[key]
    elseif a.self ~= b.self then
      return a.self > b.self
    end
    return a.place < b.place
  end
end

-- Rows and figures of the time that is shown. What comes may be late: then more
-- was spent than there was time, and that is what there was.
function View:work_out ()
  local from = self.whole and {time = 0, samples = 0, functions = {}}
               or self.before
  local spent, calls = 0, 0
  self.rows = {}
  for i, row in ipairs(self.now.functions) do
    local one = difference(row, from.functions[i])
    spent, calls = spent + one.self, calls + one.calls
    one.place = i
    if one.total > 0 or one.calls > 0 then
      self.rows[#self.rows + 1] = one
    end
  end
  table.sort(self.rows, busier(self.sort))
  local span = math.max(self.now.time - from.time, spent, 1e-3)
  self.figures = {span = span, spent = spent, calls = calls,
                  samples = self.now.samples - from.samples}
end

---------------------------------------------------------------------------
-- What keys do
---------------------------------------------------------------------------

local keys = {s = "self", t = "total", c = "calls"}

-- Whether the key means something here.
function View:press (key)
  if keys[key] and (key ~= "c" or self.calls) then
    self.sort = keys[key]
  elseif key == "a" then
    self.whole = not self.whole
  else
    return false
  end
  return true
end

---------------------------------------------------------------------------
-- Lines
---------------------------------------------------------------------------

local function percent (part, figures)
  return units.percent(part, figures.span)
end

local function place (row)
  if row.url == nil then
    return "[C]"
  end
  return columns.clean(row.line and row.url .. ":" .. row.line or row.url)
end

local function table_of (self)
  local figures = self.figures
  local per_second = 1000 / figures.span
  local list = {
    {title = "self %", right = true,
     text = function (row) return percent(row.self, figures) end},
    {title = "total %", right = true,
     text = function (row) return percent(row.total, figures) end},
    {title = "self", right = true, drop = 2,
     text = function (row) return units.column(row.self) end},
  }
  if self.calls then
    list[#list + 1] = {title = "calls/s", right = true, drop = 3,
      text = function (row) return units.count(row.calls * per_second) end}
  end
  list[#list + 1] = {title = "function", cut = "back", least = 12,
    text = function (row) return columns.clean(row.name) end}
  list[#list + 1] = {title = "place", cut = "front", least = 10, drop = 1,
    text = place}
  return list
end

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

local BAR = 20

-- How much of the time was spent in functions.
local function bar (self)
  local share = self.figures.spent / self.figures.span
  local full = math.floor(share * BAR + 0.5)
  return ("%s [%s%s] %s"):format(self.calls and "in calls" or "running",
                                 ("|"):rep(full), (" "):rep(BAR - full),
                                 percent(self.figures.spent, self.figures))
end

-- "1:02:03"
local function clock (ms)
  local s = math.floor(ms / 1000)
  return ("%d:%02d:%02d"):format(s // 3600, s // 60 % 60, s % 60)
end

-- The rows of the table, its heading first, with 'limit' functions at most.
function View:table (width, limit)
  local first = table.move(self.rows, 1, math.min(limit, #self.rows), 1, {})
  return columns.format(table_of(self), first, width)
end

-- What stands above it.
function View:head (width)
  local out = {
    ("tracegrip top: %s, %s"):format(self.title, clock(self.now.time)),
    bar(self) .. "   " .. rates(self)
  }
  for i, row in ipairs(out) do
    out[i] = width and columns.cut(row, width, "back") or row
  end
  return out
end

local function keys_of (self)
  return "q quit  s by self time  t by total time  "
         .. (self.calls and "c by calls  " or "")
         .. (self.whole and "a the last moment  " or "a since the beginning  ")
         .. "p " .. (self.paused and "go on" or "pause")
end

local INVERSE, BOLD, PLAIN = "\27[7m", "\27[1m", "\27[m"

local function inverse (text, width)
  text = columns.cut(text, width, "back")
  return INVERSE .. text .. (" "):rep(width - columns.width(text)) .. PLAIN
end

-- A whole screen.
function View:screen (width, height)
  local out = self:head(width)
  out[1] = BOLD .. out[1] .. PLAIN
  out[#out + 1] = ""
  local rows = self:table(width, height - #out - 2)
  out[#out + 1] = inverse(rows[1], width)
  table.move(rows, 2, #rows, #out + 1, out)
  while #out < height - 1 do
    out[#out + 1] = ""
  end
  out[#out + 1] = inverse(keys_of(self), width)
  return out
end

return topview
