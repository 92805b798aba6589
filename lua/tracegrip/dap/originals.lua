-- originals.lua - the files that compilers have made a program's Lua of, by
-- source maps, as sources of the client's. A key names a text of Lua: a script
-- of a program, or an address in a recording.
--
--   originals.new(mapped)    mapped(path): where a file of the program is here
--   originals.base(url)      the directory that the names in the map at that
--                            address count from; nil: it is of no file
--   self:add(key, map, base) by a source map (sourcemap.lua); whose names count
--                            from a directory of the program's
--   self:position(key, line) the Source and the line that a line of Lua is of;
--                            nil: it is of none
--   self:keys(source)        the keys of a Source of the client's, a list; nil:
--                            it is none of these
--   self:stand(source, key, active, line)
--                            the line of Lua where a breakpoint at that line of
--                            a Source stands, or at the next one that has code;
--                            nil: none. active: a list of {line, within,
--                            again}, as the domain Lua has it
--                            (inspect/adapting.lua)
--   self:active(source, key, active)
--                            the lines of a Source that these were made of
--   self:made(source, key, line)
--                            the lines of Lua that were made of a line of a
--                            Source: a list, which may be empty
--   self:same(key, line)     the other lines of Lua that are one with this one
--   self:gaps(key)           where lines of Lua that are of no source begin and
--                            end, alternately, in order
--   self:of_key(key)         the Sources that a key was made of, a list
--   self:text(number)        of a sourceReference; nil: it is none of these
--   self:all()               list of Sources
--
-- Lines count from 1. A file that is here is shown as it is here; else what the
-- map has of it, by a number that is no script's.

local core = require "tracegrip.core"
local fileurl = require "tracegrip.inspect.fileurl"
local uv = require "luv"
core.own()

local FIRST = 1 << 30           -- of the numbers of sources

local originals = {}

local Originals = {__name = "tracegrip.dap.originals"}
Originals.__index = Originals

function originals.new (mapped)
  return setmetatable({
    mapped = mapped,
    list = {},            -- {name, path, content, number, keys = {key, ...}}
    by_name = {},         -- path, or name of what has none -> one of these
    of = {},              -- key -> {map =, sources = {number in map -> one}}
  }, Originals)
end

function originals.base (url)
  local path = string.match(url, "^file://(/.*)$")
  return path and string.match(fileurl.unescape(path), "^(.*/)")
end

---------------------------------------------------------------------------
-- Sources
---------------------------------------------------------------------------

-- The path here of a name in a map; nil: it names no file.
local function path_of (self, name, base)
  local escaped = string.match(name, "^file://(/.*)$")
  if escaped then
    name = fileurl.unescape(escaped)
  elseif string.find(name, "^%a[%w+.-]+:") then
    return nil
  end
  local is_absolute = string.sub(name, 1, 1) == "/"
  return (is_absolute or base)
         and self.mapped(fileurl.plain(is_absolute and name or base .. name))
end

local function source_of (self, name, path, content)
  local one = self.by_name[path or name]
  if not one then
    one = {name = string.match(name, "[^/]+$") or name, path = path, keys = {},
           number = FIRST + #self.list}
    self.by_name[path or name] = one
    table.insert(self.list, one)
  end
  one.content = one.content or content
  return one
end

function Originals:add (key, map, base)
  local sources = {}
  for number, one in ipairs(map.sources) do
    local found = source_of(self, one.name, path_of(self, one.name, base),
                            one.content)
    sources[number] = found
    table.insert(found.keys, key)
  end
  self.of[key] = {map = map, sources = sources}
end

-- As the protocol has it. One that is neither here nor in the map has its path
-- all the same: the client says that it cannot be read.
local function told (one)
  local here = one.path and uv.fs_stat(one.path)
  return {name = one.name, path = one.path,
          sourceReference = not here and one.content and one.number or nil}
end

local function all_told (list)
  local all = {}
  for i, one in ipairs(list) do
    all[i] = told(one)
  end
  return all
end

function Originals:of_key (key)
  return all_told(self.of[key].sources)
end

function Originals:all ()
  return all_told(self.list)
end

local function find (self, source)
  local number = source.sourceReference or 0
  if number >= FIRST then
    return self.list[number - FIRST + 1]
  end
  local path = source.path
  local one = path and (self.by_name[path]
                        or self.by_name[fileurl.plain(path)])
  if not one and path then
    local real = uv.fs_realpath(path)
    one = real and self.by_name[real]
  end
  return one
end

function Originals:keys (source)
  local one = find(self, source)
  return one and one.keys
end

function Originals:text (number)
  local one = self.list[number - FIRST + 1]
  return one and one.content
end

---------------------------------------------------------------------------
-- Lines
---------------------------------------------------------------------------

-- What its map says of a line, with the map's script; nil: it has none.
local function original_of (self, key, line)
  local one = self.of[key]
  if one then
    return one, one.map:original(line)
  end
end

function Originals:position (key, line)
  local one, number, at = original_of(self, key, line)
  if number then
    return told(one.sources[number]), at
  end
end

-- Calls use(row, at) for each row of code that is of a line of a Source.
local function each_of (self, source, key, active, use)
  local one, wanted = self.of[key], find(self, source)
  for _, row in ipairs(active) do
    local number, at = one.map:original(row.line)
    if number and one.sources[number] == wanted then
      use(row, at)
    end
  end
end

-- The rows of the first line from there on that has some, and that line.
local function rows_from (self, source, key, active, line)
  local rows, rows_at = {}, nil
  each_of(self, source, key, active, function (row, at)
    if at >= line and (not rows_at or at < rows_at) then
      rows, rows_at = {}, at
    end
    if at == rows_at then
      table.insert(rows, row)
    end
  end)
  return rows, rows_at
end

-- A line of the source that begins none of Lua is within one.
local function within (self, source, key, active, line)
  local made = self:made(source, key, line)[1]
  for _, row in ipairs(made and active or {}) do
    if row.line == made then
      return made
    end
  end
end

local function is_before (a, b)
  return a.line < b.line or a.line == b.line and a.within < b.within
end

-- The first of the rows; or the first one behind it in the same function to
-- which code does not come back: TypeScriptToLua writes a call over several
-- lines, and the first of these is met twice.
local function met_once (rows)
  table.sort(rows, is_before)
  local functions = {}
  for _, row in ipairs(rows) do
    functions[row.line] = (functions[row.line] or 0) + 1
  end
  local first = rows[1]
  for _, row in ipairs(first.again and rows or {}) do
    if row.within == first.within and not row.again
       and functions[row.line] == 1 then
      return row.line
    end
  end
  return first.line
end

function Originals:stand (source, key, active, line)
  local rows, at = rows_from(self, source, key, active, line)
  return at ~= line and within(self, source, key, active, line)
         or at and met_once(rows)
end

function Originals:active (source, key, active)
  local list, seen = {}, {}
  each_of(self, source, key, active, function (_, at)
    if not seen[at] then
      seen[at], list[#list + 1] = true, at
    end
  end)
  table.sort(list)
  return list
end

function Originals:made (source, key, line)
  local one, wanted = self.of[key], find(self, source)
  for number, each in ipairs(one.sources) do
    if each == wanted then
      return one.map:generated(number, line)
    end
  end
  return {}
end

function Originals:same (key, line)
  local one, number, at = original_of(self, key, line)
  return number and one.map:generated(number, at) or {}
end

function Originals:gaps (key)
  local map, list = self.of[key].map, {}
  for line = 1, map.last + 1 do
    local is_gap = map:original(line) == nil
    if is_gap ~= (#list % 2 == 1) then
      list[#list + 1] = line
    end
  end
  return list
end

return originals
