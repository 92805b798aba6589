--- jits.lua - the LuaJITs that are here: the distribution's, and those that the
-- environment names (LUAJITS, paths with colons between them).

local run = require "spec.support.run"

local jits = {}

--- A list of {path, release}, "2.1.0-beta3".
function jits.here ()
  local list = {}
  for path in ((os.getenv "LUAJITS" or "luajit") .. ":"):gmatch "([^:]+):" do
    local text = io.popen(run.quote(path) .. " -v 2>&1"):read "a"
    local release = text:match "^LuaJIT (2%.1%.%S+)"
    if release then
      list[#list + 1] = {path = path, release = release}
    end
  end
  return list
end

return jits
