-- sentblocks.lua - what a server sends of a small program's trace.
--
--   local list = sentblocks.of "a(b())c("     -- a calls b, and c does not end
--   local list = sentblocks.program(source)
--
-- Each is a list of the bytes of bulk packets (spec/support/blocks.lua), made
-- by a child that traces what has a name of one letter, and saves the trace.

local blocks = dofile "spec/support/blocks.lua"
local run = require "spec.support.run"

local sentblocks = {}

-- The trace is global, so that the program can end it.
local driver = [[
local core = require "tracegrip.core"
local program = assert(loadfile "p.lua")
trace = core.start {name = "Trace 1", include = {"^%a$"}}
program()
trace:stop()
assert(trace:save "saved")
]]

--- Of a trace of what `source` calls as "p.lua".
function sentblocks.program (source)
  local list
  run.within(function (directory)
    run.write(directory .. "/p.lua", source)
    run.write(directory .. "/driver.lua", driver)
    local result = run.file("driver.lua", {cwd = directory})
    assert(result.status == 0, result.stderr)
    list = blocks(directory .. "/saved")
  end)
  return list
end

-- "name(" is a function's beginning and "name(...)" a call of it, a line each.
-- What is open in the end is where the trace stops.
local function source_of (text)
  local lines, open = {}, {}
  for name, paren in text:gmatch "(%a*)([()])" do
    if paren == "(" then
      open[#open + 1] = name
      lines[#lines + 1] = ("local function %s ()"):format(name)
    else
      name = table.remove(open)
      lines[#lines + 1] = ("end %s()"):format(name)
    end
  end
  if #open > 0 then
    lines[#lines + 1] = "trace:stop()"
  end
  while #open > 0 do
    lines[#lines + 1] = ("end %s()"):format(table.remove(open))
  end
  return table.concat(lines, "\n")
end

local made = {}

--- Of the calls in `text`.
function sentblocks.of (text)
  made[text] = made[text] or sentblocks.program(source_of(text))
  return made[text]
end

return sentblocks
