-- source.lua - report --source FUNCTION: the text of a function, with the time,
-- the samples and the calls of each of its lines beside it; or, in an order of
-- memory, with what each has allocated, or has of it still.
--
-- The text is the recording's own (record --sources), else that of the file, if
-- it is older than the recording and has functions where the recording has
-- them. A text of other lines would be worse than none.

local core = require "tracegrip.core"
local columns = require "tracegrip.cli.columns"
local functions = require "tracegrip.cli.functions"
local json = require "tracegrip.cli.json"
local lines = require "tracegrip.cli.lines"
local main = require "tracegrip.cli.main"
local recording = require "tracegrip.cli.recording"
local units = require "tracegrip.cli.units"
core.own()

local source = {}

source.option = {
  name = "source", kind = "pattern", metavar = "FUNCTION", group = "The table",
  help = "In place of the table the text of a function, with the time and the "
         .. "samples of each line: of that name, or defined at that URL:LINE; "
         .. "if there is none, of all whose name a Lua pattern finds. Of a "
         .. "recording with samples (record --sample); with --sort bytes, "
         .. "allocations, live or peak-live, of one made with --memory."
}

local HOT = 0.05          -- of a function's time: a line that is marked
local NEAR = 3            -- lines shown around those that have something
local GAP = 4             -- lines that are left out at least
local TAB = 8

---------------------------------------------------------------------------
-- Which functions
---------------------------------------------------------------------------

local function place_of (f)
  return f.url and f.line and f.url .. ":" .. f.line or f.name
end

local function chosen (list, test)
  local found = {}
  for _, f in ipairs(list) do
    found[#found + 1] = test(f) and f or nil
  end
  return found
end

-- Those that are meant; those of exactly that name or place go before those
-- that a pattern finds.
local function meant (list, wanted)
  local found = chosen(list, function (f)
    return f.name == wanted or place_of(f) == wanted
  end)
  return #found > 0 and found or chosen(list, function (f)
    return f.name:find(wanted) ~= nil
  end)
end

-- The same, of those whose lines are known.
local function lined (list, wanted, path, of)
  local found = meant(list, wanted)
  if #found == 0 then
    main.fail("%s has no function '%s'", path, wanted)
  end
  local with = chosen(found, function (f) return f.lines ~= nil end)
  if #with == 0 then
    main.fail(of.key and "%s has no allocation in a line of '%s'"
              or "%s has no sample in a line of '%s'", path, wanted)
  end
  return with
end

---------------------------------------------------------------------------
-- Their text
---------------------------------------------------------------------------

local function lines_of (text)
  local list = {}
  for line in (text:gsub("\n$", "") .. "\n"):gmatch "([^\n]*)\n" do
    list[#list + 1] = (line:gsub("\r$", ""))
  end
  return list
end

-- Whether a file of Lua has the functions of the report where these say.
local function fits (text, url, list)
  if not url:find "%.lua$" then
    return true
  end
  for _, f in ipairs(list) do
    local inner = f.url == url and f.last_line
    if inner and not (text[f.line] and text[f.line]:find "function"
                      and text[f.last_line]
                      and text[f.last_line]:find "end") then
      return false
    end
  end
  return true
end

local reasons = {
  absent = "the text of %s is not there",
  changed = "%s has changed since it was recorded",
  unknown = "the text of %s is not known"
}

-- The lines of a source and where they are from.
local function text_of (trace, url, list, path)
  local text, from, where = core.sourceText(trace, url)
  if text then
    local list_of = lines_of(text)
    if from == "recording" or fits(list_of, url, list) then
      return list_of, from
    end
    from, where = "changed", from
  end
  main.fail("%s: " .. reasons[from] .. " (record --sources keeps it)", path,
            columns.clean(where))
end

-- All lines of a function with what is known of each; a main chunk has all of
-- its source.
local function read (f, text, from)
  local known, last = {}, f.last_line or #text
  for _, line in ipairs(f.lines) do
    known[line.line] = line
  end
  local result = {name = f.name, url = f.url, line = f.line, last_line = last,
                  self_ms = f.self_ms, self_error_ms = f.self_error_ms,
                  calls = f.calls, source = from, lines = {},
                  rest_ms = f.self_ms, rest = lines.without(f)}
  result.rest_bytes = result.rest.self_bytes
  for _, key in ipairs(lines.held) do
    result[key] = f[key]
  end
  for number = f.line, math.min(last, #text) do
    local line = known[number] or {self_ms = 0, samples = 0}
    local row = {line = number, self_ms = line.self_ms,
                 self_error_ms = line.self_error_ms, samples = line.samples,
                 calls = line.calls, text = text[number]}
    for _, key in ipairs(lines.held) do
      row[key] = f[key] and (line[key] or 0)
    end
    result.lines[#result.lines + 1] = row
    result.rest_ms = result.rest_ms - line.self_ms
  end
  return result
end

---------------------------------------------------------------------------
-- The table
---------------------------------------------------------------------------

-- Tabs as the spaces that they stand for; what may move the cursor is shown.
local function plain (text)
  local out, width = {}, 0
  for part, tab in text:gmatch "([^\t]*)(\t?)" do
    local clean = columns.clean(part)
    width = width + columns.width(clean)
    local space = tab ~= "" and TAB - width % TAB or 0
    width = width + space
    out[#out + 1] = clean .. (" "):rep(space)
  end
  return table.concat(out)
end

local function number (title, key, drop, text)
  return {title = title, right = true, drop = drop, sparse = true,
          text = function (row)
    return (row[key] or 0) > 0 and text(row[key]) or ""
  end}
end

-- The first column marks a line that has much of what its function has, the
-- second says how much.
local function add_shares (list, f, key)
  list[1] = {title = "", text = function (row)
    return f[key] > 0 and (row[key] or 0) >= HOT * f[key] and ">" or ""
  end}
  list[2] = number("%", key, nil, function (n)
    return units.percent(n, f[key])
  end)
end

-- The bytes and blocks that an order of memory shows, and what they are called.
local function memory_of (key)
  if not key:find "live" then
    return "self_bytes", "bytes", "self_allocations", "allocation"
  end
  local blocks = key:gsub("bytes$", "blocks")
  return key, key:find "peak" and "at peak" or "live", blocks, "block"
end

local function add_numbers (list, f, of)
  if of.key then
    local bytes, title, blocks, one = memory_of(of.key)
    list[#list + 1] = number(title, bytes, nil, units.bytes)
    list[#list + 1] = number(one .. "s", blocks, 3, units.count)
    return
  end
  list[#list + 1] = number("self", "self_ms", nil, units.column)
  list[#list + 1] = functions.doubt(f.self_ms, 1)
  list[#list + 1] = number("samples", "samples", 3, units.count)
end

local function table_columns (f, of)
  local list = {}
  add_shares(list, f, of.key or "self_ms")
  add_numbers(list, f, of)
  list[#list + 1] = number("calls", "calls", 2, units.count)
  list[#list + 1] = {title = "line", right = true, text = function (row)
    return row.line and tostring(row.line) or ""
  end}
  list[#list + 1] = {title = "source", cut = "back", least = 20,
                     text = function (row)
    return row.gap or plain(row.text)
  end}
  return list
end

local function has_something (line)
  return line.samples > 0 or (line.calls or 0) > 0
         or (line.self_allocations or 0) > 0
end

-- Which lines are shown: the first, and what is near to those that have
-- something.
local function shown_lines (f, all)
  local shown = {[1] = true}
  for i, line in ipairs(f.lines) do
    if all or has_something(line) then
      for k = math.max(1, i - NEAR), math.min(#f.lines, i + NEAR) do
        shown[k] = true
      end
    end
  end
  return shown
end

-- The rows of a function; one stands for lines that are not shown, if they are
-- more than a few.
local function rows_of (f, all)
  local shown, rows, hidden = shown_lines(f, all), {}, {}
  local function put_hidden ()
    if #hidden >= GAP then
      hidden = {{gap = "… " .. units.several(#hidden, "line")}}
    end
    table.move(hidden, 1, #hidden, #rows + 1, rows)
    hidden = {}
  end
  for i, line in ipairs(f.lines) do
    if shown[i] then
      put_hidden()
      rows[#rows + 1] = line
    else
      hidden[#hidden + 1] = line
    end
  end
  put_hidden()
  return rows
end

-- What the function has.
local function parts_of (f, of)
  if of.key then
    local bytes, title, blocks, one = memory_of(of.key)
    local whole = of.memory[(bytes:gsub("^self", "total"))]
    return {units.bytes(f[bytes]) .. " of its own"
            .. (title ~= "bytes" and " " .. title or ""),
            units.percent(f[bytes], whole), units.several(f[blocks], one)}
  end
  local samples = 0
  for _, line in ipairs(f.lines) do
    samples = samples + line.samples
  end
  return {units.span(f.self_ms) .. " of its own",
          units.percent(f.self_ms, of.whole_ms),
          units.several(samples, "sample")}
end

-- In as many rows as it takes.
local function heading (f, of, width)
  local parts = parts_of(f, of)
  if f.calls > 0 then
    parts[#parts + 1] = units.several(f.calls, "call")
  end
  parts[#parts + 1] = f.source == "recording" and "text of the recording"
                      or "text of " .. columns.clean(f.source)
  local rows = columns.sentence(columns.clean(f.name) .. ", "
                                .. columns.clean(place_of(f)), parts, width)
  for i = 1, width and #rows or 0 do
    rows[i] = columns.cut(rows[i], width, "back")
  end
  return rows
end

-- What has no line.
local function rest_of (f, of)
  if of.key then
    local bytes = f.rest[(memory_of(of.key))]
    return bytes > 0 and units.bytes(bytes) .. " of it without a line"
  end
  return f.rest_ms > 0.005 * f.self_ms
         and ("%s of it without a line: no sample tells"):format(
           units.span(f.rest_ms))
end

-- A function's text as rows of a table.
local function format (f, of, all, width)
  local out = heading(f, of, width)
  local rows = columns.format(table_columns(f, of), rows_of(f, all), width)
  out[#out + 1] = ""
  table.move(rows, 1, #rows, #out + 1, out)
  out[#out + 1] = rest_of(f, of) or nil
  return out
end

---------------------------------------------------------------------------
-- The command
---------------------------------------------------------------------------

-- Of a report with lines: 'list' are its functions in their order, 'limit' of
-- them are shown at most. 'of' says what is shown, and what shares are shares
-- of: 'key', a field of memory, and 'memory', which the report has of the
-- whole; without a key times, and 'whole_ms'.
function source.run (parsed, trace, list, limit, of)
  local found, results = lined(list, parsed.source, parsed.file, of), {}
  local shown, rest = units.first(found, limit, "function")
  for i, f in ipairs(shown) do
    results[i] = read(f, text_of(trace, f.url, list, parsed.file))
  end
  if parsed.json then
    for _, result in ipairs(results) do
      result.rest_ms, result.rest = math.max(0, result.rest_ms), nil
    end
    return recording.write(json.text {functions = results})
  end
  local out = {}
  for i, result in ipairs(results) do
    out[#out + 1] = i > 1 and "" or nil
    local rows = format(result, of, limit == math.huge,
                        recording.width())
    table.move(rows, 1, #rows, #out + 1, out)
  end
  out[#out + 1] = rest
  recording.write_rows(out)
end

return source
