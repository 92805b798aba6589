#!/usr/bin/env lua5.4
-- launcher.lua - the program "tracegrip".
--
-- Run by launcher.sh from the tree it is in, or installed as an executable by
-- itself, when the modules are where Lua looks. Changes no environment: only
-- this interpreter's own package paths.
--
-- Modules are never those of the directory in which somebody says "tracegrip
-- report": Lua's paths end with "./?.lua", and the one of Lua files is gone
-- through before that of C libraries, so a luv.lua that lies there would be run
-- in place of luv.

-- So far any Lua reads this file.
if _VERSION ~= "Lua 5.4" and _VERSION ~= "Lua 5.5" then
  io.stderr:write("tracegrip: this interpreter is of ",
                  _VERSION, ": Lua 5.4 or 5.5 is needed (LUA names it)\n")
  os.exit(1)
end

local root = arg[0]:match("^(.*)/tracegrip/cli/launcher%.lua$")
local lib = os.getenv("TRACEGRIP_LIB")

-- A path without what is relative in it.
local function fixed (path)
  local kept = {}
  for template in path:gmatch("[^;]+") do
    kept[#kept + 1] = template:sub(1, 1) == "/" and template or nil
  end
  return table.concat(kept, ";")
end

package.path, package.cpath = fixed(package.path), fixed(package.cpath)
if root then
  package.path = ("%s/?.lua;%s/?/init.lua;%s"):format(root, root, package.path)
end
if lib then
  package.cpath = ("%s/?.so;%s"):format(lib, package.cpath)
end

local function require_there (module, path, advice)
  if not package.searchpath(module, path) then
    io.stderr:write("tracegrip: cannot find ", module, " (", advice, ")\n")
    os.exit(1)
  end
end

require_there("tracegrip.core", package.cpath, "not built yet? try: make")
require_there("argparse", package.path, "not installed? try: make deps")

os.exit(require("tracegrip.cli.main").main(arg), true)
