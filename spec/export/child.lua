-- child.lua - runs a program and exports its traces, for specs.
--
--   lua5.4 child.lua ROOT program.lua
--
-- in a directory with "how.lua", which returns {trace = options of the trace,
-- export = options of the export, formats = list, packets = whether they are
-- wanted, lines = whether the report has them}. To the program it offers
-- start([options]), which starts a trace and returns it. Everything started is
-- stopped when the program ends. Trace number i is exported to "i.FORMAT"; what
-- it says itself goes to "result.lua".

local root, program = ...
local tracegrip = require "tracegrip"
require "tracegrip.core".own()    -- start() is not part of the program
local literal = dofile(root .. "/spec/support/literal.lua")
local how = dofile "how.lua"
local started = {}

-- luacheck: globals start
function start (options)
  local trace = tracegrip.start(options or how.trace)
  started[#started + 1] = trace
  return trace
end

local chunk = assert(loadfile(program))
pcall(chunk)
for i = 1, #started do   -- no call before the last trace has stopped
  started[i]:stop()
end

-- All in the times that exports have, packets too.
how.export.raw = how.export.raw or false

local filter = {}
for _, key in ipairs {"include", "exclude", "thread", "minDuration",
                      "maxDepth", "c", "raw"} do
  filter[key] = how.export[key]
end

local function collect (trace)
  local list = {}
  for packet in trace:packets(filter) do
    list[#list + 1] = packet
  end
  return list
end

local function report (trace)
  filter.lines = how.lines
  local result = trace:report(filter)
  filter.lines = nil
  return result
end

local result = {}
for i, trace in ipairs(started) do
  local one = {name = trace.name, lost = trace.lost, exported = {},
               packets = how.packets and collect(trace) or nil,
               report = report(trace)}
  for _, format in ipairs(how.formats) do
    one.exported[format] = assert(trace:export(format, i .. "." .. format,
                                               how.export))
  end
  result[i] = one
end

local file = assert(io.open("result.lua", "wb"))
assert(file:write("return ", literal(result)))
assert(file:close())
