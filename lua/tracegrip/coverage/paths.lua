-- paths.lua - names of files as paths, and back. Plain text: nothing is looked
-- up, so a path that goes through a link stays what it says.
--
--   paths.absolute(name, directory)   without "." and ".." in it
--   paths.shown(path, directory)      as seen from there: without what both
--                                     begin with, if it is in there
--   paths.folder(path)                what the file is in; "/" at least

local core = require "tracegrip.core"
core.own()

local string, table = core.lua.string, core.lua.table

local paths = {}

function paths.absolute (name, directory)
  local parts = {}
  local path = string.sub(name, 1, 1) == "/" and name
               or directory .. "/" .. name
  for part in string.gmatch(path, "[^/]+") do
    if part == ".." then
      parts[#parts] = nil
    elseif part ~= "." then
      parts[#parts + 1] = part
    end
  end
  return "/" .. table.concat(parts, "/")
end

function paths.shown (path, directory)
  local before = directory == "/" and "/" or directory .. "/"
  if string.sub(path, 1, #before) == before then
    return string.sub(path, #before + 1)
  end
  return path
end

function paths.folder (path)
  local folder = string.match(path, "^(.*)/[^/]*$")
  return folder ~= "" and folder or "/"
end

return paths
