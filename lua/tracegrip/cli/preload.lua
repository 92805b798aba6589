-- preload.lua - --preload: into programs that embed Lua and heed no LUA_INIT.
--
-- The loader is told to put an object of ours before the command's libraries
-- (modules/preload.c). It does so for programs that get Lua from a shared
-- library, and that have no more rights than who starts them; of a command for
-- which it will not work, one line says so before it runs. Reading its file
-- tells: nothing of it is run.

local core = require "tracegrip.core"
local main = require "tracegrip.cli.main"
local target = require "tracegrip.target"
local versions = require "tracegrip.cli.versions"
core.own()

local preload = {}

preload.option = {
  name = "preload", flag = "--preload", value = true, group = "The command",
  help = "Also into programs that embed Lua and heed no LUA_INIT, such as "
         .. "lighttpd, by LD_PRELOAD; after '--' comes a command."
}

-- What is left of those that cannot be reached.
local function instead ()
  if package.searchpath("tracegrip.cli.dump", package.path) then
    return "tracegrip dump PID looks into it while it runs"
  end
  return "require 'tracegrip.auto' in its script is what is left"
end

---------------------------------------------------------------------------
-- The loader's variable
---------------------------------------------------------------------------

local function object ()
  local path = versions.core(versions.own):gsub("core%.so$", "preload.so")
  if core.filetype(path) ~= "file" then
    main.fail("--preload needs %s, which is not there", path)
  elseif path:find "[ :]" then
    main.fail("--preload cannot: the loader takes no path with a space or a "
              .. "colon: %s", path)
  end
  return path
end

-- LD_PRELOAD for the command: what was in it comes first, as some objects have
-- to, and what we run under may have put ours there.
function preload.variable ()
  local path, before = object(), os.getenv "LD_PRELOAD" or ""
  for there in before:gmatch "[^ :]+" do
    if there == path then
      return before
    end
  end
  return before == "" and path or before .. ":" .. path
end

---------------------------------------------------------------------------
-- Whether it will do
---------------------------------------------------------------------------

local ELF, EXECUTABLE, SHARED, INTERPRETER = "\127ELF", 2, 3, 3

-- Whether a program has a loader at all: an entry of its table says which. Nil
-- of what is no program of this machine's kind.
local function has_loader (image)
  local class, order = image:byte(5, 6)
  local wide = class == 2
  local e = order == 2 and ">" or "<"
  local kind = string.unpack(e .. "I2", image, 17)
  if kind ~= EXECUTABLE and kind ~= SHARED then
    return nil
  end
  local at = wide and string.unpack(e .. "I8", image, 33)
             or string.unpack(e .. "I4", image, 29)
  local size, count = string.unpack(e .. "I2I2", image, wide and 55 or 43)
  for i = 0, count - 1 do
    if string.unpack(e .. "I4", image, at + i * size + 1) == INTERPRETER then
      return true
    end
  end
  return false
end

-- Lua's own lines, of which every copy of it has one. By plain text first:
-- programs are large.
local marks = {
  {"$LuaVersion: Lua ", "^%$LuaVersion: (Lua %d+%.%d+)"},
  {"LuaJIT 2.", "^(LuaJIT %d+%.%d+)"},
}

-- Which Lua a program has inside; nil of none, and of interpreters, which need
-- no preload.
local function embedded (image)
  for _, mark in ipairs(marks) do
    local at = image:find(mark[1], 1, true)
    if at and not image:find("LUA_INIT", 1, true) then
      return image:match(mark[2], at)
    end
  end
end

-- Why the loader, or the program, will not have it; nil: nothing is known
-- against it.
local function objection (file)
  local image = core.contents(file)
  local right = core.privileged(file)
  if right then
    return "it has more rights than you (" .. right
           .. "), and for such programs LD_PRELOAD is not heeded"
  elseif not image or image:sub(1, 4) ~= ELF then
    return nil
  end
  local known, loader = pcall(has_loader, image)
  local version = embedded(image)
  if version then
    return "it has " .. version .. " inside, before which nothing can be put"
  elseif known and loader == false then
    return "it is linked statically, so that no loader puts anything before it"
  end
end

-- Says so if the command itself, which is that file, cannot be reached. It is
-- run all the same: what it starts may be.
function preload.check (command, file)
  local reason = objection(target.absolute(file))
  if reason then
    main.note("--preload does not reach %s: %s; %s", command, reason,
              instead())
  end
end

function preload.misused ()
  main.misuse("--preload is for a command, which comes after '--'")
end

-- What the command did not run, for the message that nothing was recorded.
function preload.heeding ()
  return "program that has Lua " .. table.concat(versions.installed(), " or ")
         .. " from a shared library, and no " .. versions.heeding()
end

return preload
