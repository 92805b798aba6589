-- testfiles.lua - where the recordings of tests go: files of one directory with
-- the names of the tests.
--
--   local files = testfiles.new(directory)
--   files:running(name)     the path of a recording that still goes on
--   files:take(name)        a file's name that no other test has, "NAME.tgr"
--   files:path(file)        the path of such a file
--   files:make()            makes the directory, if it is not there: true |
--                           nil, message
--   files:sweep()           what was made and has stayed empty goes again

local core = require "tracegrip.core"
core.own()

local lfs = require "lfs"
local target = require "tracegrip.target"

local testfiles = {}

-- A test may put anything in the place of a library's function: what is called
-- while tests run is kept here.
local format, gsub, match = string.format, string.gsub, string.match
local lower, sub = string.lower, string.sub
local len, offset = utf8.len, utf8.offset
local insert, setmetatable = table.insert, setmetatable
local attributes, mkdir, rmdir = lfs.attributes, lfs.mkdir, lfs.rmdir

local Files = {}
Files.__index = Files

-- ---- names ------------------------------------------------------------------

local LONGEST = 180     -- bytes; file systems have 255, saving adds some

-- Letters of all languages, digits, and "-" for everything between them.
local function file_name (name)
  local valid = len(name)
  local safe = gsub(name, valid and "[^%w_.\x80-\xff]+" or "[^%w_.]+", "-")
  safe = gsub(safe, "^[-.]+", "")
  if #safe > LONGEST then
    safe = sub(safe, 1, (valid and offset(safe, 0, LONGEST + 1)
                         or LONGEST + 1) - 1)
  end
  safe = gsub(safe, "[-.]+$", "")
  return safe ~= "" and safe or "test"
end

-- Whether it can be ours: an older recording makes room, nothing else does.
local function is_free (self, file)
  if self.taken[lower(file)] then
    return false
  end
  local _, _, code = target.clear(self:path(file))
  self.taken[lower(file)] = true
  return code ~= "exists" and code ~= "running"
end

function Files:path (file)
  return self.directory .. "/" .. file
end

function Files:running (name)
  return self:path(file_name(name) .. ".running.tgr")
end

function Files:take (name)
  local stem, n = file_name(name), 1
  local file = stem .. ".tgr"
  while not is_free(self, file) do
    n = n + 1
    file = format("%s-%d.tgr", stem, n)
  end
  return file
end

-- ---- the directory ----------------------------------------------------------

local function make (self, path)
  if attributes(path, "mode") == "directory" then
    return true
  end
  local parent = match(path, "^(.*[^/])/+[^/]+/*$")
  if parent then
    make(self, parent)
  end
  local ok, message = mkdir(path)
  if ok then
    insert(self.made, path)
  end
  if ok or attributes(path, "mode") == "directory" then
    return true       -- somebody else may have made it
  end
  return nil, format("%s: %s", path, message)
end

function Files:make ()
  return make(self, self.directory)
end

function Files:sweep ()
  for i = #self.made, 1, -1 do
    rmdir(self.made[i])
  end
  self.made = {}
end

function testfiles.new (directory)
  return setmetatable({
    directory = target.absolute(directory),
    taken = {},         -- set: names of files, in lower case
    made = {},          -- directories that were not there, outermost first
  }, Files)
end

return testfiles
