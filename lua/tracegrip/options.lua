-- options.lua - every option that tracing takes, described once.
--
-- run, record, serve, startTrace and start share these. From here come the
-- flags of the command line, their help, and their way into the table that
-- tracegrip.start takes. (Option tables are checked in C, where they are
-- read.)
--
-- A description:
--   name      in Lua; the flag is the same in the command line's spelling:
--             maxDepth, --max-depth
--   kind      how a flag's text becomes a value: a function of 'kinds' below
--   metavar   what stands for the value in the help
--   group     heading in the help
--   default   as the help tells it
--   help      what it does
--   list      may be given more than once
--   flag      its spelling, if it is not made from the name
--   value     what a flag without a value sets
--   choices   allowed words

local core = require "tracegrip.core"
core.own()

local options = {}

-- What a flag's text means: the value, or nil and what was expected.
local kinds = {}

function kinds.text (text)
  return text
end

-- A Lua pattern. Those that string.find would refuse are refused here.
function kinds.pattern (text)
  if pcall(string.find, "", text) then
    return text
  end
  return nil, "a Lua pattern"
end

local known = {}
for _, name in ipairs(core.traceTypes) do
  known[name] = true
end

-- Trace types, separated by commas.
function kinds.types (text)
  local list = {}
  for name in text:gmatch("[^,%s]+") do
    if not known[name] then
      return nil, "trace types (" .. table.concat(core.traceTypes, " ")
                  .. "), not '" .. name .. "'"
    end
    list[#list + 1] = name
  end
  return #list > 0 and list or nil, "trace types"
end

function kinds.count (text)
  local n = math.tointeger(tonumber(text))
  if n and n >= 0 then
    return n
  end
  return nil, "a whole number"
end

function kinds.limit (text)
  if text == "all" then
    return text
  end
  return kinds.count(text), "a whole number or 'all'"
end

local sizes = {[""] = 1, K = 1 << 10, M = 1 << 20, G = 1 << 30}

function kinds.bytes (text)
  local number, unit = text:match("^(%d+)([KMG]?)$")
  if number then
    return math.tointeger(tonumber(number)) * sizes[unit]
  end
  return nil, "a number of bytes, with K, M or G for more"
end

local units = {ms = 1, s = 1000, m = 60000}

-- Milliseconds, from a number with or without a unit.
local function span (text, unit)
  local number, suffix = text:match("^([%d.]+)(%a*)$")
  local factor = units[suffix == "" and unit or suffix]
  local value = tonumber(number)
  if value and factor then
    return value * factor
  end
  return nil, "a time, such as 500ms or 2s"
end

function kinds.ms (text)
  return span(text, "ms")
end

function kinds.seconds (text)
  return span(text, "s")
end

options.shared = {
  {name = "trace", kind = "types", metavar = "TYPES", group = "What is traced",
   default = "the first eight",
   help = "What to collect of each call, separated by commas: "
          .. table.concat(core.traceTypes, " ") .. "."},
  {name = "include", kind = "pattern", metavar = "PATTERN", list = true,
   group = "What is traced",
   help = "Only functions whose name or source a Lua pattern finds."},
  {name = "exclude", kind = "pattern", metavar = "PATTERN", list = true,
   group = "What is traced",
   help = "No function whose name or source a Lua pattern finds."},
  {name = "c", flag = "--no-c", value = false, group = "What is traced",
   help = "Lua functions only."},
  {name = "maxDepth", kind = "count", metavar = "N", group = "What is traced",
   help = "Calls nested less than N deep only."},
  {name = "minDuration", kind = "ms", metavar = "MS", group = "What is traced",
   default = "0",
   help = "Leave out calls that take less than MS milliseconds."},
  {name = "maxEvents", kind = "count", metavar = "N", group = "What is traced",
   help = "Stop tracing after N calls and returns; the program goes on."},
  {name = "duration", kind = "seconds", metavar = "S",
   group = "What is traced",
   help = "Stop tracing after S seconds (or 500ms, 2m)."},

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
          .. "pattern finds."},

  {name = "buffer", kind = "bytes", metavar = "BYTES", group = "Memory",
   default = "256M", help = "What the trace may keep in memory."},
  {name = "overflow", kind = "text", metavar = "WHAT", group = "Memory",
   choices = {"stop", "ring", "wait"}, default = "stop",
   help = "When that is full: keep the beginning (stop) or the end (ring), "
          .. "or wait for a reader on another thread (wait); without one, "
          .. "wait is stop."},
}

-- The command line's spelling: valueDepth -> --value-depth.
local function spelled (option)
  return option.flag
    or "--" .. option.name:gsub("%u", function (c) return "-" .. c:lower() end)
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
    :convert(converter(option)):count(option.list and "*" or "?")
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

-- The table for tracegrip.start: what the command line said and nothing else.
function options.collect (parsed)
  local result = {}
  for _, option in ipairs(options.shared) do
    local value = parsed[option.name]
    if type(value) ~= "table" or #value > 0 then
      result[option.name] = value
    end
  end
  return result
end

local function takes_value (list, flag)
  for _, option in ipairs(list) do
    if flag == spelled(option) then
      return option.value == nil
    end
  end
  return false
end

-- The flags of a list, for messages.
function options.flags (list)
  local flags = {}
  for i, option in ipairs(list) do
    flags[i] = spelled(option)
  end
  return table.concat(flags, " ")
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
