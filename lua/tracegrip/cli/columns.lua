-- columns.lua - rows as the text of a table that fits its place.
--
-- A column is a table:
--   title    its heading
--   text     function (row) -> what stands there; "" is nothing
--   right    whether it is set at the right (numbers)
--   sparse   it is left out where it has nothing for any row
--   cut      "front" or "back": where it is shortened when the rows are too
--            wide; the last column first
--   least    the width that shortening leaves
--   drop     number; left out when that is not enough, the lowest first
--
-- Without a width nothing is left out or cut: what is piped elsewhere is
-- complete. Knows nothing of recordings.

local core = require "tracegrip.core"
core.own()

local columns = {}

local GAP = 2
columns.gap = (" "):rep(GAP)

---------------------------------------------------------------------------
-- Text
---------------------------------------------------------------------------

-- Names and places are the program's: nothing in them may move the cursor.
columns.clean = core.escaped

-- The columns that clean text takes.
columns.width = core.textwidth

-- The longest beginning that takes no more than 'room' columns.
local function head (text, room)
  for position, code in utf8.codes(text) do
    room = room - columns.width(utf8.char(code))
    if room < 0 then
      return text:sub(1, position - 1)
    end
  end
  return text
end

-- The longest such end.
local function tail (text, room)
  local excess = columns.width(text) - room
  for position, code in utf8.codes(text) do
    if excess <= 0 then
      return text:sub(position)
    end
    excess = excess - columns.width(utf8.char(code))
  end
  return ""
end

-- Text of no more than 'room' columns, an ellipsis where something is gone.
function columns.cut (text, room, where)
  if columns.width(text) <= room then
    return text
  end
  if where == "front" then
    return "…" .. tail(text, room - 1)
  end
  return head(text, room - 1) .. "…"
end

---------------------------------------------------------------------------
-- Layout
---------------------------------------------------------------------------

-- A column with its cells, how wide each is, and all are; nil if there is
-- nothing in them. Cell 0 is the title.
local function filled (column, rows)
  local cells, widths = {[0] = column.title}, {}
  widths[0] = columns.width(column.title)
  local something, widest = not column.sparse, widths[0]
  for i, row in ipairs(rows) do
    local cell = column.text(row)
    local width = columns.width(cell)
    something = something or cell ~= ""
    cells[i], widths[i] = cell, width
    widest = math.max(widest, width)
  end
  return something and {column = column, cells = cells, widths = widths,
                        width = widest}
end

local function fill (list, rows)
  local full = {}
  for _, column in ipairs(list) do
    full[#full + 1] = filled(column, rows) or nil
  end
  return full
end

local function sum (full, width_of)
  local total = -GAP
  for _, one in ipairs(full) do
    total = total + width_of(one) + GAP
  end
  return total
end

local function own_width (one)
  return one.width
end

local function least_width (one)
  return math.min(one.width, one.column.cut and one.column.least or one.width)
end

local function first_to_drop (full)
  local found
  for i, one in ipairs(full) do
    local drop = one.column.drop
    if drop and (not found or drop < full[found].column.drop) then
      found = i
    end
  end
  return found
end

-- Leaves out what must be, and shortens the others only then.
local function fit (full, width)
  local i = first_to_drop(full)
  while i and sum(full, least_width) > width do
    table.remove(full, i)
    i = first_to_drop(full)
  end
  for j = #full, 1, -1 do
    local over = sum(full, own_width) - width
    if over > 0 then
      full[j].width = math.max(full[j].width - over, least_width(full[j]))
    end
  end
end

-- Cell 'i' of a column, as wide as that.
local function padded (one, i)
  local text, width = one.cells[i], one.widths[i]
  if width > one.width then
    text = columns.cut(text, one.width, one.column.cut)
    width = columns.width(text)
  end
  local space = (" "):rep(one.width - width)
  return one.column.right and space .. text or text .. space
end

-- Without the spaces at its end. No pattern: one tries each space that it
-- meets.
local function trimmed (text)
  local last = #text
  while last > 0 and text:byte(last) == 32 do
    last = last - 1
  end
  return text:sub(1, last)
end

-- Row 'i' of all columns; 0: the heading.
local function joined (full, i)
  local words = {}
  for j, one in ipairs(full) do
    words[j] = padded(one, i)
  end
  return trimmed(table.concat(words, columns.gap))
end

-- Text in rows of at most 'width' columns, broken between words; a word that is
-- longer is cut.
function columns.wrap (text, width)
  local out = {}
  for word in text:gmatch "%S+" do
    local last = out[#out]
    if last and columns.width(last .. " " .. word) <= width then
      out[#out] = last .. " " .. word
    else
      out[#out + 1] = columns.cut(word, width, "back")
    end
  end
  return out
end

-- Words about one thing, with commas between them, in as many rows of 'width'
-- as they take; without a width in one.
function columns.sentence (title, parts, width)
  local out = {title .. ": " .. parts[1]}
  for i = 2, #parts do
    local last = out[#out] .. ","
    if width and columns.width(last .. " " .. parts[i]) >= width then
      out[#out] = last
      out[#out + 1] = "  " .. parts[i]
    else
      out[#out] = last .. " " .. parts[i]
    end
  end
  return out
end

-- The same as lists of cells, for whoever paints them: each as wide as its
-- column, with 'gap' between two; and the columns that there is room for.
function columns.cells (list, rows, width)
  local full, kept = fill(list, rows), {}
  fit(full, width)
  local out = {}
  for j, one in ipairs(full) do
    kept[j] = one.column
    for i = 0, #rows do
      out[i + 1] = out[i + 1] or {}
      out[i + 1][j] = padded(one, i)
    end
  end
  return out, kept
end

-- The rows of a table as texts, its heading first; 'width' in columns, or nil.
function columns.format (list, rows, width)
  local full = fill(list, rows)
  if width then
    fit(full, width)
  end
  local out = {}
  for i = 0, #rows do
    out[i + 1] = joined(full, i)
  end
  for i = 1, width and #out or 0 do
    out[i] = columns.cut(out[i], width, "back")
  end
  return out
end

return columns
