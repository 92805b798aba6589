-- places.lua - where functions are, as the front end is told in profiles: what
-- a trace has by its file becomes the script that the debugger knows, or gets
-- to know.
--
--   places.frame(name, source, line)
--                         a CallFrame; source as debug.getinfo has it, nil for
--                         none; line from 1, as far as it is known
--   places.finder()       find(path): the script of a file with an absolute
--                         path; for one profile, in which files come again

local core = require "tracegrip.core"
local fileurl = require "tracegrip.inspect.fileurl"
local scripts = require "tracegrip.inspect.scripts"
core.own()

local places = {}

function places.frame (name, source, line)
  local script = source and line and scripts.meet(source)
  return {
    functionName = name, scriptId = script and script.id or "0",
    url = script and script.url or "",
    lineNumber = script and line - 1 or -1,
    columnNumber = script and 0 or -1
  }
end

function places.finder ()
  local found = {}
  for _, script in ipairs(scripts.all()) do
    found[script.url] = found[script.url] or script
  end
  return function (path)
    local url = fileurl.of(path)
    found[url] = found[url] or scripts.meet("@" .. path)
    return found[url]
  end
end

return places
