-- stacktrace.lua - where a program is, told without variables: StackTrace.
--
--   stacktrace.capture(co, most)   list of at most so many frames, innermost
--                                  first: nothing in it keeps anything of the
--                                  program alive
--   stacktrace.describe(list)      its call frames as the protocol has them
--   stacktrace.text(list)          a StackTrace with them, as JSON
--   stacktrace.name(info)          what a function is called there
--
-- A frame is what debug.getinfo's "nSl" tells. tracegrip's own are left out,
-- and so is the code that a debugger runs.

local core = require "tracegrip.core"
local scripts = require "tracegrip.inspect.scripts"
local wire = require "tracegrip.wire"
core.own()

local getinfo = debug.getinfo

local TEXTS = 1000              -- of frames that are kept
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

local function describe (info)
  local script = scripts.meet(info.source)
  return {functionName = stacktrace.name(info), scriptId = script.id,
          url = script.url, columnNumber = 0,
          lineNumber = math.max(info.currentline, 1) - 1}
end

function stacktrace.describe (list)
  local frames = {}
  for i, info in ipairs(list) do
    frames[i] = describe(info)
  end
  return wire.array(frames)
end

-- Texts of frames by all that they say. What logs does so from a few places.
local texts, count = {}, 0

local function text_of (info)
  local key = string.format("%s %d %d %s %s", scripts.meet(info.source).id,
                            info.currentline, info.linedefined, info.what,
                            info.name or "")
  local text = texts[key]
  if not text then
    if count == TEXTS then
      texts, count = {}, 0
    end
    text = wire.json(describe(info))
    texts[key], count = text, count + 1
  end
  return text
end

function stacktrace.text (list)
  local out = {}
  for i, info in ipairs(list) do
    out[i] = text_of(info)
  end
  return '{"callFrames":[' .. table.concat(out, ",") .. "]}"
end

return stacktrace
