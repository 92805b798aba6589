-- options.lua - every option that tracing takes, described once.
--
-- run, record, serve, startTrace and start share these; report, tree, log and
-- export share those of reading. From here come the flags of the command line,
-- their help, and their way into the table that tracegrip.start or a trace's
-- methods take. (Option tables are checked in C, where they are read.)
--
-- A description:
--   name      in Lua; the flag is the same in the command line's spelling:
--             maxDepth, --max-depth
--   kind      how a flag's text becomes a value: a function of
--             optionkinds.lua
--   metavar   what stands for the value in the help
--   group     heading in the help
--   default   as the help tells it
--   help      what it does
--   list      may be given more than once
--   flag      its spelling, if it is not made from the name
--   alias     another spelling
--   required  must be given
--   value     what a flag without a value sets
--   choices   allowed words

local core = require "tracegrip.core"
local kinds = require "tracegrip.optionkinds"
core.own()

local options = {}

options.shared = {
  {name = "trace", kind = "types", metavar = "TYPES", group = "What is traced",
   default = "the first eight and markers",
   help = "What to collect of each call, separated by commas: "
          .. table.concat(core.allTypes, " ") .. "."},
  {name = "sample", kind = "rate", metavar = "HZ", group = "What is traced",
   help = "Look at the stack HZ times per second of processor time (1 to "
          .. "10000). Without --trace no calls are traced: next to no cost."},
  {name = "wall", flag = "--wall", value = true, group = "What is traced",
   help = "Per second of the clock: what the program waits for is seen, too. "
          .. "Without --sample, 1000 times."},
  {name = "windows", kind = "count", metavar = "PERCENT",
   group = "What is traced", default = "0",
   help = "Let the program run without the hook for PERCENT of the time (0 to "
          .. "50): samples there tell how long functions take without "
          .. "tracing, calls there are not seen. Without --sample, 10000 "
          .. "samples a second."},
  {name = "memory", flag = "--memory", value = true, group = "What is traced",
   help = "Count what every call allocates, and the size of Lua's heap; beside "
          .. "what --trace says."},
  {name = "memoryEvery", kind = "bytes", metavar = "BYTES",
   group = "What is traced",
   help = "The same of about one block in so many bytes (524288, 512K), for "
          .. "all that are like it: where to count every block is too dear."},
  {name = "include", kind = "pattern", metavar = "PATTERN", list = true,
   group = "What is traced",
   help = "Only functions whose name or source a Lua pattern finds."},
  {name = "exclude", kind = "pattern", metavar = "PATTERN", list = true,
   group = "What is traced",
   help = "No function whose name or source a Lua pattern finds."},
  {name = "c", flag = "--no-c", value = false, group = "What is traced",
   help = "Lua functions only."},
  {name = "maxDepth", kind = "number", metavar = "N", group = "What is traced",
   help = "Calls nested less than N deep only."},
  {name = "minDuration", kind = "ms", metavar = "MS", group = "What is traced",
   default = "0",
   help = "Leave out calls that take less than MS milliseconds."},
  {name = "maxEvents", kind = "count", metavar = "N", group = "What is traced",
   help = "Stop tracing after N calls and returns; the program goes on."},
  {name = "duration", kind = "lasting", metavar = "S",
   group = "What is traced",
   help = "Stop tracing after S seconds (or 500ms, 2m)."},
  {name = "on", kind = "pattern", metavar = "PATTERN", list = true,
   group = "What is traced",
   help = "Nothing but calls of the functions whose name or source a Lua "
          .. "pattern finds, with all that happens in them; until the first "
          .. "of them the trace waits."},
  {name = "calls", kind = "most", metavar = "N", group = "What is traced",
   default = "1",
   help = "Stop tracing after N calls of what --on says; N may be 'all'."},

  {name = "valueDepth", kind = "limit", metavar = "N", group = "Values",
   default = "1",
   help = "Levels of tables whose contents are shown; N may be 'all'."},
  {name = "valueProperties", kind = "limit", metavar = "N", group = "Values",
   default = "16", help = "Contents shown of one table."},
  {name = "valueString", kind = "limit", metavar = "BYTES", group = "Values",
   default = "256", help = "Bytes shown of one string."},
  {name = "valueObjects", kind = "limit", metavar = "N", group = "Values",
   default = "64", help = "Tables, functions ... looked at for one call."},
  {name = "redact", kind = "pattern", metavar = "PATTERN", list = true,
   group = "Values",
   help = "Keep secret the values of parameters and keys whose name a Lua "
          .. "pattern finds; also where they are passed on, and later strings "
          .. "that hold them."},
  {name = "redactPreset", kind = "text", metavar = "NAME", group = "Values",
   choices = {"secrets"},
   help = "Names that are usual for secrets, whatever their case: passwords, "
          .. "tokens, cookies, keys ..."},
  {name = "redactIgnoreCase", flag = "--redact-ignore-case", value = true,
   group = "Values",
   help = "Patterns of --redact find letters of either case."},

  {name = "buffer", kind = "bytes", metavar = "BYTES", group = "Memory",
   default = "256M", help = "What the trace may keep in memory."},
  {name = "overflow", kind = "text", metavar = "WHAT", group = "Memory",
   choices = {"stop", "ring", "wait"}, default = "stop",
   help = "When that is full: keep the beginning (stop) or the end (ring), "
          .. "or wait for a reader on another thread (wait); without one, "
          .. "wait is stop."},
}

local function with (option, changes)
  local copy = {}
  for key, value in pairs(option) do
    copy[key] = value
  end
  for key, value in pairs(changes or {}) do
    copy[key] = value
  end
  return copy
end

-- The shared options, with what 'changes' has for some: name -> fields.
function options.vary (changes)
  local list = {}
  for i, option in ipairs(options.shared) do
    list[i] = with(option, changes[option.name])
  end
  return list
end

-- Those with these names, with the same changes for all.
local function borrowed (names, changes)
  local list = {}
  for _, option in ipairs(options.shared) do
    if names:find("%f[%a]" .. option.name .. "%f[%A]") then
      list[#list + 1] = with(option, changes)
    end
  end
  return list
end

-- Several lists as one.
function options.joined (...)
  local all = {}
  for _, list in ipairs {...} do
    table.move(list, 1, #list, #all + 1, all)
  end
  return all
end

-- What a reader of a recording shows: the fields of a filter, and 'trace',
-- which here is the name of one of the recording's traces.
options.reading = options.joined({
  {name = "trace", metavar = "NAME", group = "What is shown",
   help = "The trace of that name in the recording; without it the first, "
          .. "which is the whole program in one that 'record' made."},
  {name = "thread", kind = "number", metavar = "N", group = "What is shown",
   help = "Coroutine N only; 1 is the main one."},
  {name = "from", kind = "moment", metavar = "MS", group = "What is shown",
   help = "Only calls that begin MS milliseconds (2s, 1m) after the start, "
          .. "or later, by the times that are shown here; +MS is after the "
          .. "first call, as viewers count."},
  {name = "to", kind = "moment", metavar = "MS", group = "What is shown",
   help = "As if it had been stopped MS milliseconds after the start, or +MS "
          .. "after the first call."},
}, borrowed("include exclude c maxDepth minDuration",
            {group = "What is shown"}))

-- The same where each call counts, however long it was.
options.calls = {}
for _, option in ipairs(options.reading) do
  if option.name ~= "minDuration" then
    table.insert(options.calls, option)
  end
end

-- For what gives times without what tracing has cost.
options.times = {
  {name = "raw", flag = "--raw", value = true, group = "What is shown",
   help = "Times as recorded, with what tracing has cost the program, as logs "
          .. "and packets have them; --from and --to are then such times "
          .. "too."},
}

-- Beside those, for what gives times as recorded if nothing else is said.
options.corrected = {
  {name = "corrected", flag = "--true", value = true, group = "What is shown",
   help = "Times as in reports and viewers, without what tracing has cost; "
          .. "--from and --to are then such times too."},
}

-- How values are shown; as recorded if nothing else is said.
options.values = borrowed("valueDepth valueProperties valueString "
                          .. "valueObjects", {default = false})

-- The command line's spelling: valueDepth -> --value-depth.
local function spelled (option)
  return option.flag
    or "--" .. option.name:gsub("%u", function (c) return "-" .. c:lower() end)
end

local function chosen (choices, text)
  for _, choice in ipairs(choices) do
    if text == choice then
      return text
    end
  end
  return nil, table.concat(choices, " or ")
end

local booleans = {["true"] = true, ["false"] = false}

-- What a word means as an option's value where options are written name=value;
-- nil and what was expected if it means nothing. A flag has two: true, false.
function options.value (option, text)
  if option.value ~= nil then
    return booleans[text], "true or false"
  elseif option.choices then
    return chosen(option.choices, text)
  end
  return kinds[option.kind or "text"](text)
end

-- For argparse: a value, or nil and what is wrong.
local function converter (option)
  local spelling, convert = spelled(option), kinds[option.kind or "text"]
  return function (text)
    local value, expected = convert(text)
    if value == nil then
      return nil, ("%s wants %s"):format(spelling, expected)
    end
    return value
  end
end

local function described (option)
  if option.default then
    return ("%s (default: %s)"):format(option.help, option.default)
  end
  return option.help
end

local function declare (parser, option)
  if option.value ~= nil then
    return parser:flag(spelled(option)):target(option.name)
                 :description(described(option))
                 :action("store_" .. tostring(option.value))
  end
  local element = parser:option(spelled(option)):target(option.name)
    :argname(option.metavar):description(described(option))
    :convert(converter(option))
    :count(option.list and "*" or option.required and "1" or "?")
  if option.alias then
    element:hidden_name(option.alias)
  end
  return option.choices and element:choices(option.choices) or element
end

-- Gives an argparse parser the flags of a list of descriptions, under their
-- headings, in the order in which they are described.
function options.declare (parser, list)
  local groups, order = {}, {}
  for _, option in ipairs(list) do
    local group = groups[option.group]
    if not group then
      group = {}
      groups[option.group] = group
      order[#order + 1] = option.group
    end
    group[#group + 1] = declare(parser, option)
  end
  for _, name in ipairs(order) do
    parser:group(name, table.unpack(groups[name]))
  end
end

-- What the command line said of a list of options and nothing else: the table
-- for tracegrip.start, from options.shared, or a filter, from options.reading.
function options.collect (list, parsed)
  local result = {}
  for _, option in ipairs(list) do
    local value = parsed[option.name]
    if type(value) ~= "table" or next(value) ~= nil then
      result[option.name] = value
    end
  end
  return result
end

-- When the first call begins that a filter leaves, or the first marker is: time
-- 0 of an export. A trace without times has none; then they count from its
-- start.
local function first_call (trace, filter)
  local first = {trace = {"time", "markers", "memory", "allocations"}}
  for key, value in pairs(filter) do
    first[key] = value
  end
  first.from, first.to = nil, nil
  first.raw = filter.raw or false
  local packet = trace:packets(first)()
  return packet and packet.time or 0
end

-- The filter that the command line describes, for the methods of this trace.
-- A command whose usual times are other ones says so by 'parsed.raw'.
function options.filter (parsed, trace)
  local filter = options.collect(options.joined(
    options.reading, options.values), parsed)
  filter.raw = parsed.raw
  filter.trace = nil      -- there it would be the types
  local start
  for _, key in ipairs {"from", "to"} do
    if type(filter[key]) == "table" then
      start = start or first_call(trace, filter)
      filter[key] = start + filter[key].after
    end
  end
  return filter
end

local function takes_value (list, flag)
  for _, option in ipairs(list) do
    if flag == spelled(option) or flag == option.alias then
      return option.value == nil and not option.implied
    end
  end
  return false
end

-- The value of a flag that may stand without: '--inspect' is '--inspect=9229'.
local function implied_value (list, flag)
  for _, option in ipairs(list) do
    if flag == spelled(option) then
      return option.implied
    end
  end
end

-- The flags of a list, for messages.
function options.flags (list)
  local flags = {}
  for i, option in ipairs(list) do
    flags[i] = spelled(option)
  end
  return table.concat(flags, " ")
end

-- Words as argparse understands them: a number below 0 after a flag that wants
-- a value is no flag, and a flag may imply a value. Up to the word before
-- 'stop'.
function options.settled (list, words, stop)
  local settled = {}
  for i, word in ipairs(words) do
    local flag = settled[#settled]
    local implied = i < stop and implied_value(list, word)
    if implied then
      settled[#settled + 1] = word .. "=" .. implied
    elseif i < stop and word:find "^%-%d" and flag and flag:find "^%-%-"
       and takes_value(list, flag) then
      settled[#settled] = flag .. "=" .. word
    else
      settled[#settled + 1] = word
    end
  end
  return settled
end

-- Index of the first word that is not an option or an option's value: the
-- program to run, or "--". What comes after it belongs to the program.
function options.program (list, words)
  local i = 1
  while i <= #words do
    local word = words[i]
    if word == "-" or word == "--" or word:sub(1, 1) ~= "-" then
      return i
    end
    i = i + (takes_value(list, word) and 2 or 1)
  end
  return #words + 1
end

return options
