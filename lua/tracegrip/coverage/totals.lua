-- totals.lua - coverage in numbers for a person: a table of files, and its sum.
--
--   totals.share(part, whole)      "83.3 %"; "-" of nothing. All of it is 100.0
--                                  and nothing else is
--   totals.rows(files, sum, width)     the table's rows as texts
--   totals.sentence(files, sum)        the sum in words
--   totals.under(sum, percent)     words about what is missing, or nil: no less
--                                  than so much of the lines was reached

local columns = require "tracegrip.cli.columns"
local core = require "tracegrip.core"
core.own()

local lua = core.lua          -- the program may have changed its own libraries
local math, string, table = lua.math, lua.string, lua.table
local ipairs = lua.ipairs

local totals = {}

local MOST = 40         -- files that are shown; of more the worst ones

function totals.share (part, whole)
  if whole == 0 then
    return "-"
  end
  local text = string.format("%.1f", 100 * part / whole)
  if part < whole and 100 * part / whole > 99.9 then
    text = string.gsub(text, "^100(%A)0$", "99%19")
  end
  return text .. " %"
end

-- So much of a file's lines; one without any has all.
local function rate (file)
  local t = file.totals
  return t.lines > 0 and t.reached / t.lines or 1
end

-- Worse ones first: a smaller part, or, of the same, more that is missing.
local function is_worse (a, b)
  if rate(a) ~= rate(b) then
    return rate(a) < rate(b)
  end
  local x, y = a.totals.lines - a.totals.reached,
               b.totals.lines - b.totals.reached
  if x ~= y then
    return x > y
  end
  return a.name < b.name
end

local function part_of (part, whole)
  return whole > 0 and string.format("%d of %d", part, whole) or "-"
end

local list = {
  {title = "lines", right = true, text = function (row)
    return totals.share(row.totals.reached, row.totals.lines)
  end},
  {title = "", right = true, text = function (row)
    return part_of(row.totals.reached, row.totals.lines)
  end},
  {title = "functions", right = true, text = function (row)
    return part_of(row.totals.called, row.totals.functions)
  end},
  {title = "", text = function (row) return row.mark or "" end, sparse = true},
  {title = "file", text = function (row) return columns.clean(row.name) end,
   cut = "front", least = 16},
}

-- What a row says beside its numbers.
local function mark_of (file, worst)
  if not file.loaded then
    return "not loaded"
  elseif file == worst and rate(file) < 1 then
    return "worst"
  end
end

-- The worst of those that were loaded, for which tests are there.
local function worst_of (sorted)
  for _, file in ipairs(sorted) do
    if file.loaded then
      return file
    end
  end
end

-- Those that are shown, by name.
local function shown (files)
  local sorted = table.move(files, 1, #files, 1, {})
  table.sort(sorted, is_worse)
  local worst, rows = worst_of(sorted), {}
  for i = 1, math.min(#sorted, MOST) do
    local file = sorted[i]
    rows[i] = {name = file.name, totals = file.totals,
               mark = mark_of(file, worst)}
  end
  table.sort(rows, function (a, b) return a.name < b.name end)
  return rows, sorted[MOST + 1]
end

local function plural (n, one)
  return string.format("%d %s%s", n, one, n == 1 and "" or "s")
end

function totals.rows (files, sum, width)
  local rows, better = shown(files)
  if better then
    rows[#rows + 1] = {
      name = string.format("and %s with no less than that",
                           plural(#files - MOST, "more file")),
      totals = better.totals
    }
  end
  rows[#rows + 1] = {name = plural(#files, "file"), totals = sum}
  return columns.format(list, rows, width)
end

function totals.sentence (files, sum)
  return string.format("%d of %d lines (%s), %d of %d functions, in %s",
                       sum.reached, sum.lines,
                       totals.share(sum.reached, sum.lines), sum.called,
                       sum.functions, plural(#files, "file"))
end

function totals.under (sum, percent)
  if 100 * sum.reached >= percent * sum.lines then
    return nil
  end
  return string.format("%d of %d lines (%.4g %%) are less than %.14g %%",
                       sum.reached, sum.lines, 100 * sum.reached / sum.lines,
                       percent)
end

return totals
