-- installed.lua - our C library, and where the server's modules are: installed
-- places, never the current directory.
--
--   local core = require("tracegrip.installed").core
--   installed.paths()      package.path and package.cpath, without what is
--                          relative in them
--
-- Lua's paths end with "./?.lua" and "./?.so", and all of package.path is gone
-- through before package.cpath. So where a program runs in a directory with a
-- tracegrip/core.lua or a luv.lua, "require" would run that file in place of
-- the C library. A program's own modules are found as ever, also those: only
-- what we look for ourselves is looked for at other places.
--
-- One who has said that tracegrip is at a relative place, by having this file
-- found there, has all of his path gone through. So does one whose 'package' is
-- not Lua's.
--
-- Another version of Lua may come by (auto.lua): this file is written in what
-- all versions understand.

if _VERSION ~= "Lua 5.4" and _VERSION ~= "Lua 5.5" then
  error("tracegrip needs Lua 5.4 or 5.5, and this is " .. _VERSION, 0)
end

local name = "tracegrip.core"
local searching, find_all, join = package, string.gmatch, table.concat
local byte, find = string.byte, string.find
local type, pcall, error, require = type, pcall, error, require
local SLASH = byte "/"

local _, file = ...           -- Lua 5.4: where 'require' has found this file
local relative = type(file) == "string" and find(file, "/", 1, true)
                 and byte(file) ~= SLASH

local installed = {}

local function fixed (path)
  if relative or type(path) ~= "string" then
    return path
  end
  local kept = {}
  for template in find_all(path, "[^;]+") do
    if byte(template) == SLASH then
      kept[#kept + 1] = template
    end
  end
  return join(kept, ";")
end

function installed.paths ()
  return fixed(searching.path), fixed(searching.cpath)
end

-- The program's path is as it was by the time that anybody can look.
local function load_core ()
  if type(searching) ~= "table" then
    return require(name)
  end
  local path, cpath = searching.path, searching.cpath
  searching.path, searching.cpath = installed.paths()
  local ok, core = pcall(require, name)
  searching.path, searching.cpath = path, cpath
  return ok and core or error(core, 0)
end

installed.core = load_core()
installed.core.own()

return installed
