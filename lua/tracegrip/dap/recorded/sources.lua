-- sources.lua - the sources of a recording's functions as the client has them:
-- the text that the recording keeps, else the file on disk; and the files that
-- the Lua was made of, by source maps that are here.
--
--   sources.new(trace, info, functions, arguments)
--                          'functions' as replay:functions() has them, 'info'
--                          of the recording, 'arguments' of launch. Raises a
--                          problem
--   self:position(url, line)
--                          the Source, and its line, at which a line of Lua is
--                          shown; nil of C
--   self:spots(source, line)
--                          where a line of a Source of the client's is in the
--                          recording: a list of {url, line, functions}
--   self:lines(source)     the lines of such a Source at which it can be
--                          stopped, as possible.lua has them; nil: the
--                          recording has nothing of it
--   self.refused           list of {url, problem}: maps that are left aside
--   self:text(number)      the text of a sourceReference; raises a problem
--   self:all()             list of Sources
--
-- A file that is as the recording has it is shown as that file. One that is not
-- has a number, and what the client shows then is the recording's text.

local core = require "tracegrip.core"
local fileurl = require "tracegrip.inspect.fileurl"
local originals = require "tracegrip.dap.originals"
local places = require "tracegrip.dap.places"
local possible = require "tracegrip.replay.possible"
local problem = require "tracegrip.dap.problem"
local sourcemap = require "tracegrip.dap.sourcemap"
local sourcemaps = require "tracegrip.inspect.sourcemaps"
core.own()

local sources = {}

local Sources = {__name = "tracegrip.dap.recorded.sources"}
Sources.__index = Sources

-- The path of a function's file as the client has it; nil: it is of no file.
local function path_of (self, url)
  if url:find '^%[' then
    return nil
  end
  local path = url
  if url:sub(1, 1) ~= "/" then
    if not self.directory then
      return nil
    end
    path = self.directory .. "/" .. url
  end
  return fileurl.plain(places.mapped(self.mappings, path, "there", "here"))
end

-- What Fennel knew of the lines of what it has compiled in the program is gone.
local function read_map (self, one)
  local text = core.sourceText(self.trace, one.url)
  local url = sourcemaps.left(text or "", one.path)
  if not url then
    one.twin = one.path and places.twin(one.path)
    return
  end
  local map, message = sourcemap.at(url, function ()
    return sourcemaps.text(url), "it cannot be read"
  end)
  if map then
    self.originals:add(one.url, map, originals.base(url)
                                     or one.path and one.path:match "^.*/")
  else
    self.refused[#self.refused + 1] = {url = one.url, problem = message}
  end
end

function sources.new (trace, info, functions, arguments)
  local self = setmetatable({
    trace = trace, directory = info.directory,
    mappings = places.mappings(arguments.pathMappings),
    maps = arguments.sourceMaps ~= false, refused = {},
    by_url = {},          -- url -> {url, path, twin, functions, source, lines}
    by_number = {}, list = {},
  }, Sources)
  self.originals = originals.new(function (path)
    return places.mapped(self.mappings, path, "there", "here")
  end)
  for _, f in ipairs(functions) do
    if not f.c and f.url then
      local one = self.by_url[f.url]
      if not one then
        one = {url = f.url, path = path_of(self, f.url), functions = {}}
        self.by_url[f.url] = one
        self.list[#self.list + 1] = one
      end
      table.insert(one.functions, f)
    end
  end
  for _, one in ipairs(self.maps and self.list or {}) do
    read_map(self, one)
  end
  return self
end

local function number_of (self, one)
  if not one.number then
    self.by_number[#self.by_number + 1] = one
    one.number = #self.by_number
  end
  return one.number
end

-- Which of file and recording is shown is decided when it is met first.
local function made (self, one)
  local text, from = core.sourceText(self.trace, one.url)
  local kept = text and from == "recording"
  local same = kept and one.path and core.contents(one.path) == text
  local path = (not kept or same) and one.twin or one.path
  local name = path and path:match "[^/]*$" or one.url
  if path and (not kept or same) then
    return {name = name, path = path,
            origin = from == "changed" and "has changed since it was recorded"
                     or nil}
  end
  return {name = name, sourceReference = number_of(self, one),
          origin = kept and "recording" or nil}
end

local function source_of (self, one)
  one.source = one.source or made(self, one)
  return one.source
end

function Sources:position (url, line)
  local source, at = self.originals:position(url, line)
  if source then
    return source, at
  end
  local one = url and self.by_url[url]
  return one and source_of(self, one), line
end

local function find (self, source)
  local number = source.sourceReference
  local one = number and self.by_number[number]
  if one then
    return one
  end
  local path = source.path and fileurl.plain(source.path)
  for _, each in ipairs(self.list) do
    if path and (each.path == path or each.twin == path) then
      return each
    end
  end
end

function Sources:spots (source, line)
  local list, keys = {}, self.originals:keys(source)
  for _, url in ipairs(keys or {}) do
    for _, made_line in ipairs(self.originals:made(source, url, line)) do
      list[#list + 1] = {url = url, line = made_line,
                         functions = self.by_url[url].functions}
    end
  end
  local one = not keys and find(self, source)
  return one and {{url = one.url, line = line, functions = one.functions}}
         or list
end

local function lines_of (self, one)
  if not one.lines then
    one.lines, one.whole = possible.lines(
      one.functions, (core.sourceText(self.trace, one.url)))
  end
  return one.lines, one.whole
end

-- Of a file that Lua was made of: the lines of which the Lua's were made.
local function original_lines (self, source, keys)
  local recorded, list, is_whole = {}, {}, true
  for _, url in ipairs(keys) do
    local lines, whole = lines_of(self, self.by_url[url])
    is_whole = is_whole and whole
    for _, place in ipairs(lines) do
      for _, at in ipairs(self.originals:active(source, url, {place})) do
        recorded[at] = recorded[at] or place.recorded
      end
    end
  end
  for line, is in pairs(recorded) do
    list[#list + 1] = {line = line, recorded = is}
  end
  table.sort(list, function (a, b) return a.line < b.line end)
  return list, is_whole
end

function Sources:lines (source)
  local keys = self.originals:keys(source)
  if keys then
    return original_lines(self, source, keys)
  end
  local one = find(self, source)
  if one then
    return lines_of(self, one)
  end
end

function Sources:text (number)
  local kept = math.type(number) == "integer" and self.originals:text(number)
  if kept then
    return kept
  end
  local one = self.by_number[number]
  local text = one and core.sourceText(self.trace, one.url)
  return text or problem.raise("the recording has no text of this source")
end

function Sources:all ()
  local all = self.originals:all()
  for _, one in ipairs(self.list) do
    all[#all + 1] = source_of(self, one)
  end
  return all
end

return sources
