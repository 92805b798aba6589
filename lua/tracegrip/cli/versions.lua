-- versions.lua - the versions of Lua that a trace can get into, and the module
-- of each.
--
-- This interpreter's own module is where Lua finds it. That of another version
-- is installed beside it: lib/lua/5.5/tracegrip/core.so beside lib/lua/5.4/.

local core = require "tracegrip.core"
local target = require "tracegrip.target"
core.own()

local versions = {}

--- All of them, and this interpreter's.
versions.list = {"5.4", "5.5"}
versions.own = _VERSION:match "%d+%.%d+"

--- The name of a variable that only this version heeds.
function versions.variable (name, version)
  return name .. "_" .. version:gsub("%.", "_")
end

--- Where a version's module is; nil: it is not installed.
function versions.core (version)
  local own = package.searchpath("tracegrip.core", package.cpath)
  local path = target.absolute(own)
  if version == versions.own then
    return path
  end
  local before, after = path:match("^(.*/lua/)" .. versions.own .. "(/.*)$")
  local other = before and before .. version .. after
  return other and core.filetype(other) == "file" and other or nil
end

--- Those of which the module is there.
function versions.installed ()
  local found = {}
  for _, version in ipairs(versions.list) do
    found[#found + 1] = versions.core(version) and version
  end
  return found
end

--- The same for a message about what was not run.
function versions.heeding ()
  local list = {}
  for i, version in ipairs(versions.installed()) do
    list[i] = ("Lua %s that heeds %s"):format(
      version, versions.variable("LUA_INIT", version))
  end
  return table.concat(list, ", and no ")
end

return versions
