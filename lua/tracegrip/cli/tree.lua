-- tree.lua - tracegrip tree: who called whom, calls of the same kind together.

local core = require "tracegrip.core"
local columns = require "tracegrip.cli.columns"
local functions = require "tracegrip.cli.functions"
local lines = require "tracegrip.cli.lines"
local options = require "tracegrip.options"
local recording = require "tracegrip.cli.recording"
local units = require "tracegrip.cli.units"
local usage = require "tracegrip.cli.usage"
core.own()

local tree = {
  summary = "Shows a recording's call tree, calls of the same kind together.",
  description = "Shows who called whom in a recording, and how long that "
    .. "took. Calls of a function from the same place in the tree are one "
    .. "row; what took longest comes first. A last line says how many levels "
    .. "there are if not all are shown.",
  usage = "[options] FILE"
}

tree.options = options.joined({
  {name = "depth", kind = "limit", metavar = "N", default = "40",
   group = "The tree", help = "Levels shown; N may be 'all'."},
  {name = "sort", metavar = "KEY",
   choices = {"total", "total-bytes", "live", "peak-live"},
   default = "total", group = "The tree",
   help = "What comes first: the time; or what was allocated, what is alive of "
          .. "it at the end, and was at the heap's peak, in and below a row, "
          .. "which is then shown in place of times (record --memory)."},
  lines.option("The tree", "A row is a function with the line at which it "
                           .. "stood, FUNCTION:LINE. Times need samples "
                           .. "(record --sample), orders of memory do not."),
  {name = "minMs", kind = "ms", metavar = "MS", group = "The tree",
   help = "Leave out what took less than MS milliseconds in all."},
}, options.reading, options.times)

function tree.declare (parser)
  parser:argument("file"):description("The recording.")
end

local FOLD = 20           -- levels drawn; then they start anew at the left

---------------------------------------------------------------------------
-- Rows
---------------------------------------------------------------------------

-- An order of children: the largest first.
local function falling (field)
  return function (a, b)
    if a[field] ~= b[field] then
      return a[field] > b[field]
    elseif a.calls ~= b.calls then
      return a.calls > b.calls
    end
    return functions.before(a, b)
  end
end

local orders = {total = falling "total_ms",
                ["total-bytes"] = falling "total_bytes",
                live = falling "total_live_bytes",
                ["peak-live"] = falling "total_peak_live_bytes"}

-- Whether a node has time alone, which a table of memory does not show: what of
-- a function is of no line, where lines are known by what they have allocated.
local function is_empty (node, by)
  return node.calls == 0 and #(node.children or {}) == 0
         and usage.is_empty(node, by)
end

-- A node's children that are shown, sorted, and those that are not.
local function sorted (node, level, limits)
  local shown, hidden = {}, {}
  for _, child in ipairs(node.children or {}) do
    local short = child.total_ms < limits.min_ms
    local list = (short or level >= limits.depth) and hidden or shown
    if not (limits.lined and is_empty(child, limits.by)) then
      list[#list + 1] = child
    end
  end
  table.sort(shown, orders[limits.by])
  return shown, hidden
end

-- What stands for children that are not shown.
local function others (hidden)
  local calls, ms = 0, 0
  for _, child in ipairs(hidden) do
    calls, ms = calls + child.calls, ms + child.total_ms
  end
  return {name = ("… %s in %s, %s"):format(
    units.several(calls, "call"), units.several(#hidden, "function"),
    units.span(ms))}
end

-- The guides before a child's own children: its parent's and one more.
local function bars_below (bars, level, last)
  if level % FOLD == 0 then
    return level .. "┊ "
  end
  return bars .. (last and "  " or "│ ")
end

-- Puts the children of an entry on the stack, the first one on top.
local function push_children (stack, entry, limits)
  local shown, hidden = sorted(entry.node, entry.level, limits)
  if #hidden > 0 then
    shown[#shown + 1] = others(hidden)
  end
  for i = #shown, 1, -1 do
    local last = i == #shown
    stack[#stack + 1] = {
      node = shown[i], level = entry.level + 1,
      guides = entry.bars .. (last and "└ " or "├ "),
      bars = bars_below(entry.bars, entry.level + 1, last)
    }
  end
end

-- Of a tree of lines with that at which the frame stood, if it is known.
local function name_of (node)
  return node.at and node.name .. ":" .. node.at or node.name
end

-- The rows of a tree from the top. With a stack of its own: recursions of a
-- program may be deeper than Lua would let us go.
local function rows_of (root, limits)
  local rows = {}
  local stack = {{node = root, level = 0, guides = "", bars = ""}}
  while #stack > 0 do
    local entry = table.remove(stack)
    local node = entry.node
    local row = {
      guides = entry.guides, name = name_of(node), url = node.url,
      line = node.line, calls = node.calls, self_ms = node.self_ms,
      total_ms = node.total_ms, throws = node.throws, yields = node.yields,
      apart = node.samples ~= nil, self_error_ms = node.self_error_ms
    }
    for _, field in ipairs(usage.fields) do
      row[field] = node[field]
    end
    rows[#rows + 1] = row
    push_children(stack, entry, limits)
  end
  return rows
end

---------------------------------------------------------------------------
-- The table
---------------------------------------------------------------------------

local function table_columns (whole_ms)
  return {
    functions.time("total", "total_ms"),
    functions.share("total_ms", whole_ms),
    functions.time("self", "self_ms"), functions.doubt(whole_ms, 3),
    functions.count("calls"),
    functions.count("throws", 2), functions.count("yields", 1),
    functions.names()
  }
end

-- Whether the line of a node is known that has allocated something.
local function knows_lines (root)
  local stack = {root}
  while #stack > 0 do
    local node = table.remove(stack)
    if node.at and (node.self_allocations or 0) > 0 then
      return true
    end
    table.move(node.children or {}, 1, #(node.children or {}), #stack + 1,
               stack)
  end
  return false
end

-- A trace's tree as rows of text. 'depth' levels, nothing below 'min_ms', what
-- --sort says, a tree of lines; all may be nil.
function tree.format (root, depth, min_ms, width, by, lined)
  local limits = {depth = depth or math.huge, min_ms = min_ms or 0,
                  by = by or "total", lined = lined and usage.keys[by]}
  -- Of samples, parts are of the time that the program ran.
  local whole_ms = root.total_ms - (root.samples and root.self_ms or 0)
  local shown = usage.keys[limits.by] and usage.columns(limits.by, root)
                or table_columns(whole_ms)
  local out = columns.format(shown, rows_of(root, limits), width)
  if (root.levels or 0) > limits.depth then
    out[#out + 1] = ("… %s of %s (--depth)"):format(
      units.count(limits.depth), units.several(root.levels, "level"))
  end
  if limits.lined and not knows_lines(root) then
    out[#out + 1] = lines.UNKNOWN
  end
  return out
end

local DEPTH = 40          -- levels shown if nothing else is said

function tree.run (parsed)
  local trace, info = recording.trace(parsed.file, parsed.trace)
  local depth = parsed.depth ~= "all" and (parsed.depth or DEPTH) or nil
  -- Those below the last one are summed up by their callers.
  local root, message = recording.read(trace, "tree", parsed,
                                       depth and depth + 1)
  recording.note_damage(parsed.file, trace, info)
  recording.note_losses(parsed.file, trace)
  recording.must(parsed.file, root, message)
  local memory = usage.asked(parsed.sort, root, parsed.file)
  if parsed.lines and not memory then
    lines.must(root.samples, parsed.file)
  end
  recording.write_rows(tree.format(root, depth, parsed.minMs,
                                   recording.width(), parsed.sort,
                                   parsed.lines))
end

return tree
