-- diff.lua - two reports compared: what became slower, faster, new and gone.
--
-- Functions are the same if they have the same name in the same file. Where a
-- file has several of one name, those on the same line are the same first; the
-- others, in the order of their lines. Files are the same by their paths; then
-- those of other directories by how much of the ends of their paths is alike.

local core = require "tracegrip.core"
local columns = require "tracegrip.cli.columns"
local functions = require "tracegrip.cli.functions"
local units = require "tracegrip.cli.units"
core.own()

local diff = {}

---------------------------------------------------------------------------
-- Who is who
---------------------------------------------------------------------------

local function by_line (a, b)
  return (a.line or 0) < (b.line or 0)
end

-- The files that a report's functions are in: a set.
local function files_of (list)
  local files = {}
  for _, one in ipairs(list) do
    files[one.url or ""] = true
  end
  return files
end

local function last_part (path)
  return path:match "[^/]*$"
end

-- Those files of a set that are not in the other: last part of the path ->
-- list.
local function only (set, other)
  local lists = {}
  for file in pairs(set) do
    if not other[file] and not file:find "^%[" then
      local name = last_part(file)
      lists[name] = lists[name] or {}
      table.insert(lists[name], file)
    end
  end
  return lists
end

-- How many of the last parts of two paths are alike.
local function likeness (a, b)
  local next_a = a:reverse():gmatch "[^/]+"
  local next_b = b:reverse():gmatch "[^/]+"
  local x, y, n = next_a(), next_b(), 0
  while x and x == y do
    x, y, n = next_a(), next_b(), n + 1
  end
  return n
end

-- The one of a list that is most like a path; nil if several are.
local function most_like (path, list)
  local best, most = nil, 0
  for _, file in ipairs(list or {}) do
    local n = likeness(path, file)
    if n >= most then
      best, most = n > most and file or nil, n
    end
  end
  return best
end

-- Old file -> new file, of those that are elsewhere now.
local function moved (old, new)
  old, new = files_of(old), files_of(new)
  local olds, news, map = only(old, new), only(new, old), {}
  for name, list in pairs(olds) do
    for _, file in ipairs(list) do
      local other = most_like(file, news[name])
      if other and most_like(other, list) == file then
        map[file] = other
      end
    end
  end
  return map
end

-- Name and file -> functions, by line. Files that are in 'map' count as what
-- they are there.
local function grouped (list, map)
  local groups = {}
  for _, one in ipairs(list) do
    local file = one.url or ""
    local key = one.name .. "\0" .. (map[file] or file)
    groups[key] = groups[key] or {}
    table.insert(groups[key], one)
  end
  for _, group in pairs(groups) do
    table.sort(group, by_line)
  end
  return groups
end

-- Takes the first of 'list' that is on that line.
local function take (list, line)
  for i, one in ipairs(list) do
    if one.line == line then
      return table.remove(list, i)
    end
  end
end

-- Adds the pairs of one group; either side of a pair may be missing.
local function pair_up (pairs_, old, new)
  local rest = {}
  for _, one in ipairs(new) do
    local other = take(old, one.line)
    if other then
      pairs_[#pairs_ + 1] = {old = other, new = one}
    else
      rest[#rest + 1] = one
    end
  end
  for i = 1, math.max(#old, #rest) do
    pairs_[#pairs_ + 1] = {old = old[i], new = rest[i]}
  end
end

local function paired (old, new)
  local list = {}
  local olds, news = grouped(old, moved(old, new)), grouped(new, {})
  for key, group in pairs(news) do
    pair_up(list, olds[key] or {}, group)
    olds[key] = nil
  end
  for _, group in pairs(olds) do
    pair_up(list, group, {})
  end
  return list
end

---------------------------------------------------------------------------
-- What changed
---------------------------------------------------------------------------

local keys = {self = "self_ms", total = "total_ms", calls = "calls"}
local nothing = {calls = 0, self_ms = 0, total_ms = 0}

local function figures (one)
  return one and {line = one.line, calls = one.calls, self_ms = one.self_ms,
                  self_error_ms = one.self_error_ms,
                  total_ms = one.total_ms}
end

-- How far chance alone may take two measurements apart: two standard errors of
-- their difference. A total's is as its own self time's at least.
local function doubt (a, b)
  local x, y = a.self_error_ms or 0, b.self_error_ms or 0
  return 2 * math.sqrt(x * x + y * y)
end

local function verdict (pair, by)
  if not pair.old then
    return "new"
  elseif not pair.new then
    return "gone"
  end
  local key = by == "total" and "total_ms" or "self_ms"
  local a, b = pair.old[key], pair.new[key]
  if math.abs(b - a) <= doubt(pair.old, pair.new) then
    return "same"
  end
  return b > a and "slower" or "faster"
end

-- To the nanosecond: that is what there is, and no more.
local function difference (b, a)
  return math.floor((b - a) * 1e6 + 0.5) / 1e6
end

local function entry (pair, by)
  local known = pair.new or pair.old
  local a, b = pair.old or nothing, pair.new or nothing
  return {
    name = known.name, url = known.url, line = known.line,
    change = verdict(pair, by), calls_change = b.calls - a.calls,
    self_change_ms = difference(b.self_ms, a.self_ms),
    total_change_ms = difference(b.total_ms, a.total_ms),
    old = figures(pair.old), new = figures(pair.new)
  }
end

local changes = {self = "self_change_ms", total = "total_change_ms",
                 calls = "calls_change"}

local function sort (list, by)
  local key = changes[by]
  table.sort(list, function (a, b)
    local x, y = math.abs(a[key]), math.abs(b[key])
    if x ~= y then
      return x > y
    end
    return functions.before(a, b)
  end)
end

local function summary (result)
  return {duration_ms = result.duration_ms, events = result.events,
          lost = result.lost}
end

-- Two results of trace:report compared, as --json prints it; the largest
-- change of 'by' ("self", "total", "calls") first.
function diff.compare (old, new, by)
  local list = {}
  for i, pair in ipairs(paired(old.functions, new.functions)) do
    list[i] = entry(pair, by)
  end
  sort(list, by)
  return {old = summary(old), new = summary(new), functions = list}
end

---------------------------------------------------------------------------
-- The table
---------------------------------------------------------------------------

local function percent (row, by)
  if row.change == "new" or row.change == "gone" then
    return row.change
  end
  local old = row.old[keys[by]]
  return old > 0 and string.format("%+.1f%%", 100 * row[changes[by]] / old)
         or ""
end

local function time (side, key)
  return {title = side, right = true, text = function (row)
    return row[side] and units.column(row[side][key]) or ""
  end}
end

local function calls (row)
  local old, new = row.old and row.old.calls, row.new and row.new.calls
  if old and new and old ~= new then
    return units.count(old) .. " → " .. units.count(new)
  end
  return units.count(new or old)
end

local function table_columns (by)
  by = by == "total" and by or "self"
  return {
    {title = by .. " change", right = true,
     text = function (row) return units.change(row[changes[by]]) end},
    {title = "%", right = true,
     text = function (row) return percent(row, by) end},
    time("old", keys[by]), time("new", keys[by]),
    {title = "calls", right = true, text = calls},
    functions.names()
  }
end

-- The rows of a comparison; 'list' is those of its functions to show.
function diff.format (list, by, width)
  return columns.format(table_columns(by), list, width)
end

local function tally (list)
  local counts, parts = {}, {}
  for _, row in ipairs(list) do
    counts[row.change] = (counts[row.change] or 0) + 1
  end
  for _, word in ipairs {"slower", "faster", "same", "new", "gone"} do
    if counts[word] then
      parts[#parts + 1] = counts[word] .. " " .. word
    end
  end
  return table.concat(parts, ", ")
end

local function note_loss (out, which, lost)
  if lost and lost ~= "none" then
    out[#out + 1] = ("the %s one lacks %s"):format(which, lost)
  end
end

-- The rows before the table; 'old_lost' and 'new_lost' say what is missing,
-- "none" or nil for nothing.
function diff.heading (result, program, old_lost, new_lost)
  local old, new = result.old.duration_ms, result.new.duration_ms
  local sign = new >= old and "+" or ""
  local share = old > 0
                and string.format(", %s%.1f%%", sign, 100 * (new - old) / old)
  local out = {
    ("%s: %s, was %s (%s%s%s)"):format(
      columns.clean(program), units.span(new), units.span(old), sign,
      units.span(new - old), share or ""),
    tally(result.functions)
  }
  note_loss(out, "new", new_lost)
  note_loss(out, "old", old_lost)
  return out
end

return diff
