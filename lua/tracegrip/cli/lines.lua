-- lines.lua - what samples tell of lines, for the commands that show it: the
-- option, what it needs, the rows of a function's lines.

local core = require "tracegrip.core"
local main = require "tracegrip.cli.main"
local units = require "tracegrip.cli.units"
core.own()

local lines = {}

local MOST = 10           -- lines shown of a function if nothing else is said

-- The option --lines of a command.
function lines.option (group, help)
  return {name = "lines", flag = "--lines", value = true, group = group,
          help = help .. " Of a recording with samples (record --sample)."}
end

-- Fails if nothing tells of lines: 'samples' is what a report or a tree has.
function lines.must (samples, path)
  if not samples then
    main.fail("%s has no samples, which tell of lines (record --sample 1000)",
              path)
  end
end

-- What stands for lines that are not shown.
local function rest_of (list, from)
  local rest = {guides = "  ", self_ms = 0}
  for i = from, #list do
    rest.self_ms = rest.self_ms + list[i].self_ms
  end
  rest.name = ("… %s (--limit)"):format(
    units.several(#list - from + 1, "more line"))
  return rest
end

local function row_of (f, line)
  local known = line.line > 0
  return {name = known and "line " .. line.line or "line not known",
          guides = "  ", url = known and f.url or nil, line = line.line,
          self_ms = line.self_ms, self_error_ms = line.self_error_ms}
end

-- Those of a function that have time.
local function timed (f)
  local list = {}
  for _, line in ipairs(f.lines or {}) do
    list[#list + 1] = line.samples > 0 and line or nil
  end
  return list
end

-- A report's rows, each function with its lines below it: the first ones, or
-- 'all'.
function lines.rows (list, all)
  local rows = {}
  for _, f in ipairs(list) do
    rows[#rows + 1] = f
    local own = timed(f)
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
