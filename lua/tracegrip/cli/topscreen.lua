-- topscreen.lua - the screen of tracegrip top: a view (topview.lua) in lines of
-- a terminal, with a row that the cursor is on, colours, help and a prompt.
--
-- It knows where in the table one is; what keys do is topkeys.lua's.

local core = require "tracegrip.core"
local columns = require "tracegrip.cli.columns"
local topview = require "tracegrip.cli.topview"
core.own()

local topscreen = {}

local Screen = {}
Screen.__index = Screen

-- 'colors': whether there are any; 'ends': the program can be ended.
function topscreen.new (view, colors, ends)
  return setmetatable({
    view = view, colors = colors, ends = ends,
    cursor = 1,         -- the row that it is on
    first = 1,          -- the row on top
    room = 1,           -- rows that there is room for
    search = "",        -- what was looked for last
    mode = nil          -- "help", "search", "filter", "end"
  }, Screen)
end

---------------------------------------------------------------------------
-- Paint
---------------------------------------------------------------------------

local PLAIN, INVERSE, BOLD = "\27[m", "\27[7m", "\27[1m"

-- Each with and without colours.
local styles = {
  title = {BOLD, BOLD}, paused = {"\27[30;43m", INVERSE},
  bar = {"\27[32m", ""}, note = {"\27[33m", BOLD},
  heading = {"\27[30;42m", INVERSE},
  sorted = {"\27[1;30;46m", "\27[1;4;7m"}, cursor = {"\27[30;46m", INVERSE},
  hot = {"\27[1;31m", ""}, warm = {"\27[33m", ""}, place = {"\27[36m", ""},
  found = {"\27[1;35m", BOLD}, key = {BOLD, BOLD},
  foot = {"\27[30;46m", INVERSE}, prompt = {"\27[30;43m", INVERSE}
}

local function paint (self, style, text)
  local code = styles[style] and styles[style][self.colors and 1 or 2] or ""
  return code ~= "" and text ~= "" and code .. text .. PLAIN or text
end

-- A line of pieces {style, text, style, text ...}, cut at the width; 'fill': a
-- style for the rest of it.
local function line_of (self, pieces, width, fill)
  local out, left = {}, width
  for i = 1, #pieces, 2 do
    local text = columns.cut(pieces[i + 1], left, "back")
    if left > 0 then
      out[#out + 1] = paint(self, pieces[i], text)
    end
    left = left - columns.width(text)
  end
  if fill and left > 0 then
    out[#out + 1] = paint(self, fill, (" "):rep(left))
  end
  return table.concat(out)
end

---------------------------------------------------------------------------
-- The table
---------------------------------------------------------------------------

local UP, DOWN = "↑", "↓"

-- The column by which rows are sorted says so in its heading.
local function marked (self)
  local view = self.view
  local list = view:columns()
  for _, column in ipairs(list) do
    if column.key == view.sort then
      local text = column.key == "name" or column.key == "place"
      local up = view.reversed ~= text
      column.title = (up and UP or DOWN) .. column.title
      column.sorted, column.drop = true, nil
    end
  end
  return list
end

local function style_of (self, column, row)
  if self.search ~= "" and column.key == "name"
     and topview.has(row, self.search) then
    return "found"
  elseif column.share then
    local part = column.part(row)
    return part >= 0.2 and "hot" or part >= 0.05 and "warm" or ""
  end
  return column.key == "place" and "place" or ""
end

local function heading (self, cells, kept, width)
  local pieces = {}
  for j, cell in ipairs(cells) do
    pieces[#pieces + 1] = kept[j].sorted and "sorted" or "heading"
    pieces[#pieces + 1] = cell
    pieces[#pieces + 1] = "heading"
    pieces[#pieces + 1] = columns.gap
  end
  return line_of(self, pieces, width, "heading")
end

local function table_row (self, cells, kept, row, width, here)
  local pieces = {}
  for j, cell in ipairs(cells) do
    pieces[#pieces + 1] = here and "cursor" or style_of(self, kept[j], row)
    pieces[#pieces + 1] = cell
    pieces[#pieces + 1] = here and "cursor" or ""
    pieces[#pieces + 1] = columns.gap
  end
  return line_of(self, pieces, width, here and "cursor")
end

-- The cursor stays on a row that there is, and the row on the screen.
local function settle (self)
  local n = #self.view.rows
  self.cursor = math.max(1, math.min(self.cursor, n))
  self.first = math.max(1, math.min(self.first, self.cursor,
                                    n - self.room + 1))
  self.first = math.max(self.first, self.cursor - self.room + 1)
end

local function add_table (self, out, width, height)
  self.room = math.max(height - #out - 2, 1)
  settle(self)
  local last = math.min(self.first + self.room - 1, #self.view.rows)
  local shown = table.move(self.view.rows, self.first, last, 1, {})
  local cells, kept = columns.cells(marked(self), shown, width)
  out[#out + 1] = heading(self, cells[1], kept, width)
  for i, row in ipairs(shown) do
    out[#out + 1] = table_row(self, cells[i + 1], kept, row, width,
                              self.first + i - 1 == self.cursor)
  end
end

---------------------------------------------------------------------------
-- Above and below it
---------------------------------------------------------------------------

-- Notes are told in full, if there is room for some rows as well.
local function add_notes (self, out, notes, width, height)
  for _, note in ipairs(notes) do
    for _, line in ipairs(columns.wrap("note: " .. note, width)) do
      if #out < height // 2 then
        out[#out + 1] = line_of(self, {"note", line}, width)
      end
    end
  end
end

local function add_head (self, out, width, height)
  local view = self.view
  local a = view:above(width)
  local paused = view.paused and " PAUSED " or ""
  local gap = view.paused and "  " or ""
  local title = columns.cut(a.title, width - #paused - #gap, "back")
  out[1] = line_of(self, {"title", title, "", gap, "paused", paused}, width)
  out[2] = line_of(self, {"", a.bar.label .. " [", "bar", a.bar.full, "",
                          a.bar.rest .. "] " .. a.bar.text .. "   "
                          .. a.rates}, width)
  if a.totals ~= "" and height > 8 then
    out[3] = line_of(self, {"", a.totals}, width)
  end
  add_notes(self, out, a.notes, width, height)
  if view.filter ~= "" and height > 8 then
    out[#out + 1] = line_of(self, {"note", "filter: " .. view.filter}, width)
  end
  if height >= 16 then
    out[#out + 1] = ""
  end
end

local function keys_of (self)
  local view = self.view
  local list = {
    "q", "quit", "?", "help", "/", "search", "\\", "filter", "<>", "sort",
    "p", view.paused and "go on" or "pause",
    "a", view.whole and "last moment" or "all time"
  }
  if not view.calls or view.memory then
    table.move({"l", view.by_line and "functions" or "lines"}, 1, 2,
               #list + 1, list)
  end
  if self.ends then
    table.move({"k", "end it"}, 1, 2, #list + 1, list)
  end
  return list
end

-- "3-20 of 54"
local function place_of (self)
  local n = #self.view.rows
  if n <= self.room then
    return ""
  end
  return (" %d-%d of %d "):format(self.first,
                                  math.min(self.first + self.room - 1, n), n)
end

local function foot (self, width)
  local keys, pieces = keys_of(self), {}
  local where = place_of(self)
  for i = 1, #keys, 2 do
    pieces[#pieces + 1] = "key"
    pieces[#pieces + 1] = keys[i]
    pieces[#pieces + 1] = "foot"
    pieces[#pieces + 1] = " " .. keys[i + 1] .. " "
  end
  local room = width - columns.width(where)
  return line_of(self, pieces, room, "foot")
         .. line_of(self, {"foot", where}, width - room)
end

local prompts = {
  search = function (self) return " search: " .. self.search .. "_ " end,
  filter = function (self)
    return " only rows with: " .. self.view.filter .. "_ "
  end,
  ["end"] = function (self)
    return " end " .. self.view.title .. "? y: SIGTERM, 9: SIGKILL, "
           .. "any other key: no "
  end
}

local function bottom (self, width)
  local prompt = prompts[self.mode]
  if prompt then
    return line_of(self, {"prompt", prompt(self)}, width)
  elseif self.word then
    return line_of(self, {"prompt", " " .. self.word .. " "}, width)
  end
  return foot(self, width)
end

---------------------------------------------------------------------------
-- Help
---------------------------------------------------------------------------

local help = {
  {"up down", "one row", "PgUp PgDn", "a screen of rows"},
  {"Home End", "the first row, the last one"},
  {"/ F3", "search for a text in functions and places"},
  {"n N", "the next that has it, the one before"},
  {"\\ F4", "show only rows that have a text; Esc: all again"},
  {"s t c", "sort by self time, total time, calls (--calls)"},
  {"b", "sort by bytes allocated (--memory)"},
  {"< >", "sort by the column to the left, to the right"},
  {"r", "the other way round"},
  {"l", "by function, or by line (samples, --memory)"},
  {"a", "of the last moment, or since the beginning"},
  {"p space", "pause, and go on"},
  {"k F9", "end the program, if top has run it"},
  {"q F10", "quit; the program goes on"},
  {"Ctrl-C", "end a program that top has run; quit any other"},
  {"Ctrl-Z", "stop top; fg goes on"},
  {"? h F1", "this"},
}

local explained = {
  "self %: of the time that has passed, in the function itself;",
  "total %: in what it has called, too. processor: what the program had",
  "of one, as the system counts it.",
}

local function help_lines ()
  local out = {}
  for _, row in ipairs(help) do
    for i = 1, #row, 2 do
      out[#out + 1] = {"key", ("  %-10s"):format(row[i]), "",
                       " " .. row[i + 1]}
    end
  end
  out[#out + 1] = {"", ""}
  for _, text in ipairs(explained) do
    out[#out + 1] = {"", "  " .. text}
  end
  return out
end

local function draw_help (self, width, height)
  local lines = help_lines()
  local room = height - 2
  self.page = math.max(0, math.min(self.page or 0, #lines - room))
  local out = {line_of(self, {"title", "tracegrip top: keys"}, width)}
  for i = 1, room do
    out[#out + 1] = line_of(self, lines[self.page + i] or {}, width)
  end
  local more = #lines > room and "up, down: more; " or ""
  out[#out + 1] = line_of(self, {"prompt", " " .. more
                                 .. "any other key: back "}, width)
  return out
end

---------------------------------------------------------------------------
-- Drawing, and going about
---------------------------------------------------------------------------

-- A whole screen.
function Screen:lines (width, height)
  if self.mode == "help" then
    return draw_help(self, width, height)
  end
  local out = {}
  add_head(self, out, width, height)
  add_table(self, out, width, height)
  while #out < height - 1 do
    out[#out + 1] = ""
  end
  out[#out + 1] = bottom(self, width)
  return out
end

function Screen:move (by)
  self.cursor = self.cursor + by
  settle(self)
end

function Screen:page_by (pages)
  self.first = self.first + pages * self.room
  self:move(pages * self.room)
end

-- To the next row that has the text, 'step' 1 or -1, from the one after the
-- cursor's on; 'here': from the cursor's. Whether there is any.
function Screen:find (step, here)
  local rows = self.view.rows
  for i = here and 0 or 1, #rows - (here and 1 or 0) do
    local at = (self.cursor - 1 + i * step) % #rows + 1
    if topview.has(rows[at], self.search) then
      self.cursor = at
      settle(self)
      return true
    end
  end
  return false
end

return topscreen
