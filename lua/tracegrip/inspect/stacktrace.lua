-- stacktrace.lua - where a program is, told without variables: StackTrace.
--
--   stacktrace.capture(co, most)   list of at most so many frames, innermost
--                                  first: nothing in it keeps anything of the
--                                  program alive
--   stacktrace.describe(list)      its call frames as the protocol has them
--   stacktrace.name(info)          what a function is called there
--
-- A frame is what debug.getinfo's "nSl" tells. tracegrip's own are left out,
-- and so is the code that a debugger runs.

local core = require "tracegrip.core"
local scripts = require "tracegrip.inspect.scripts"
local wire = require "tracegrip.wire"
core.own()

local getinfo = debug.getinfo

local EVALUATED = "=(evaluated)"

local stacktrace = {}

function stacktrace.capture (co, most)
  local list, level = {}, 0
  local info = getinfo(co, level, "nSlf")
  while info and #list < most do
    if info.source ~= EVALUATED and not core.inspector.own(info.func) then
      info.func = nil
      list[#list + 1] = info
    end
    level = level + 1
    info = getinfo(co, level, "nSlf")
  end
  return list
end

-- What called it says best what it is called; a function that C has called has
-- the name of its declaration.
function stacktrace.name (info)
  if info.what == "main" then
    return "(main chunk)"
  elseif info.name or info.what == "C" then
    return info.name or ""
  end
  return scripts.declared(scripts.meet(info.source), info.linedefined) or ""
end

function stacktrace.describe (list)
  local frames = {}
  for i, info in ipairs(list) do
    local script = scripts.meet(info.source)
    frames[i] = {functionName = stacktrace.name(info), scriptId = script.id,
                 url = script.url, columnNumber = 0,
                 lineNumber = math.max(info.currentline, 1) - 1}
  end
  return wire.array(frames)
end

return stacktrace
