-- lines.lua - what is known of lines, for the commands that show it: the
-- option, what it needs, the rows of a function's lines. Samples tell their
-- times, and recordings of memory what they have allocated, and what is alive
-- of it.

local core = require "tracegrip.core"
local main = require "tracegrip.cli.main"
local units = require "tracegrip.cli.units"
core.own()

local lines = {}

local MOST = 10           -- lines shown of a function if nothing else is said

-- The option --lines of a command.
function lines.option (group, help)
  return {name = "lines", flag = "--lines", value = true, group = group,
          help = help}
end

-- Fails if nothing tells of lines: 'samples' is what a report or a tree has.
function lines.must (samples, path)
  if not samples then
    main.fail("%s has no samples, which tell of lines (record --sample 1000)",
              path)
  end
end

-- The fields of a line that add up: of memory, and all.
lines.held = {"self_bytes", "self_allocations", "self_live_bytes",
              "self_live_blocks", "self_peak_live_bytes",
              "self_peak_live_blocks"}
local sums = table.move(lines.held, 1, #lines.held, 2, {"self_ms"})

-- What stands for lines that are not shown.
local function rest_of (list, from)
  local rest = {guides = "  "}
  for i = from, #list do
    for _, key in ipairs(sums) do
      rest[key] = list[i][key] and (rest[key] or 0) + list[i][key]
    end
  end
  rest.name = ("… %s (--limit)"):format(
    units.several(#list - from + 1, "more line"))
  return rest
end

local function row_of (f, line)
  local known = line.line > 0
  local row = {name = known and "line " .. line.line or "line not known",
               guides = "  ", url = known and f.url or nil, line = line.line,
               self_error_ms = line.self_error_ms}
  for _, key in ipairs(sums) do
    row[key] = line[key]
  end
  return row
end

-- Those of a function that have time.
local function timed (f)
  local list = {}
  for _, line in ipairs(f.lines or {}) do
    list[#list + 1] = line.samples > 0 and line or nil
  end
  return list
end

-- Whether a line has something of that key: of what was allocated that is a
-- count, since a block may have no bytes.
local function has (line, key)
  return line[key == "self_bytes" and "self_allocations" or key] > 0
end

-- What of a function's memory is not of its lines.
function lines.without (f)
  local rest = {line = 0}
  for _, field in ipairs(lines.held) do
    rest[field] = f[field]
    for _, line in ipairs(f[field] and f.lines or {}) do
      rest[field] = rest[field] - (line.line > 0 and line[field] or 0)
    end
  end
  return rest
end

-- Those of a function that have something of that key, in its order. What has
-- no line is one of them.
local function allocated (f, key)
  local list, rest = {}, lines.without(f)
  for _, line in ipairs(f.lines or {}) do
    if line.line > 0 and has(line, key) then
      list[#list + 1] = line
    end
  end
  if #list > 0 and has(rest, key) then
    list[#list + 1] = rest
  end
  table.sort(list, function (a, b)
    if a[key] ~= b[key] then
      return a[key] > b[key]
    end
    return a.line < b.line
  end)
  return list
end

-- What is to be said where no line of what was allocated is known.
lines.UNKNOWN = "note: no line of what was allocated is known (docs/memory.md)"

-- The same, of a report's functions; nil: some line is known.
function lines.unknown (list)
  for _, f in ipairs(list) do
    for _, line in ipairs(f.lines or {}) do
      if line.line > 0 and line.self_allocations > 0 then
        return nil
      end
    end
  end
  return lines.UNKNOWN
end

-- A report's rows, each function with its lines below it: the first ones, or
-- 'all'; by time, or by a key of memory.
function lines.rows (list, all, key)
  local rows = {}
  for _, f in ipairs(list) do
    rows[#rows + 1] = f
    local own = key and allocated(f, key) or not key and timed(f)
    local shown = all and #own or math.min(#own, MOST)
    for i = 1, shown do
      rows[#rows + 1] = row_of(f, own[i])
    end
    if #own > shown then
      rows[#rows + 1] = rest_of(own, shown + 1)
    end
  end
  return rows
end

return lines
