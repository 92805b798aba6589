-- untested.lua - files that a program might have loaded and has not.
--
--   untested.paths(found, plan)   list of absolute paths, some perhaps of files
--                                 that were loaded, or twice
--     found            path -> a file that was loaded, and is wanted
--     plan.untested    list of absolute paths: files, whatever they are called,
--                      and folders: all below them that is called *.lua
--     plan.beside      whether what is called so beside the files in 'found'
--                      is meant as well
--
-- Folders are gone through without links and without what is hidden (.git,
-- .luarocks). What cannot be looked into is left out: it is not for us to say
-- that there is anything in it.

local core = require "tracegrip.core"
local paths = require "tracegrip.coverage.paths"
core.own()

local lua = core.lua          -- the program may have changed its own libraries
local string, ipairs, pairs = lua.string, lua.ipairs, lua.pairs

local untested = {}

local function join (folder, name)
  return folder == "/" and "/" .. name or folder .. "/" .. name
end

local function is_lua (path)
  return string.find(path, "%.lua$") ~= nil and core.filetype(path) == "file"
end

-- Adds what a folder has: with 'deep', what is below it as well.
local function look_into (list, folder, deep)
  for _, name in ipairs(core.entries(folder) or {}) do
    local path = join(folder, name)
    if string.sub(name, 1, 1) ~= "." then
      if is_lua(path) then
        list[#list + 1] = path
      elseif deep and core.filetype(path) == "directory"
             and not core.islink(path) then
        look_into(list, path, true)
      end
    end
  end
end

local function folders_of (found)
  local folders = {}
  for path in pairs(found) do
    folders[paths.folder(path)] = true
  end
  return folders
end

function untested.paths (found, plan)
  local list = {}
  for _, path in ipairs(plan.untested) do
    if core.filetype(path) == "directory" then
      look_into(list, path, true)
    else
      list[#list + 1] = path
    end
  end
  for folder in pairs(plan.beside and folders_of(found) or {}) do
    look_into(list, folder, false)
  end
  return list
end

return untested
