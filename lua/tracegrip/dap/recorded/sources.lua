-- sources.lua - the sources of a recording's functions as the client has them:
-- the text that the recording keeps, else the file on disk.
--
--   sources.new(trace, info, functions, mappings)
--                          'functions' as replay:functions() has them, 'info'
--                          of the recording; mappings: launch's pathMappings.
--                          Raises a problem
--   self:source(url)       its Source; nil of C
--   self:functions(source) the functions of a Source of the client's, a list;
--                          nil: the recording has none of it
--   self:lines(source)     the lines of such a Source at which it can be
--                          stopped, as possible.lua has them; nil: the same
--   self:text(number)      the text of a sourceReference; raises a problem
--   self:all()             list of Sources
--
-- A file that is as the recording has it is shown as that file. One that is not
-- has a number, and what the client shows then is the recording's text.

local core = require "tracegrip.core"
local fileurl = require "tracegrip.inspect.fileurl"
local places = require "tracegrip.dap.places"
local possible = require "tracegrip.dap.recorded.possible"
local problem = require "tracegrip.dap.problem"
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

function sources.new (trace, info, functions, mappings)
  local self = setmetatable({
    trace = trace, directory = info.directory,
    mappings = places.mappings(mappings),
    by_url = {},          -- url -> {url, path, functions, source, lines}
    by_number = {}, list = {},
  }, Sources)
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
  local name = one.path and one.path:match "[^/]*$" or one.url
  if one.path and (not kept or same) then
    return {name = name, path = one.path,
            origin = from == "changed" and "has changed since it was recorded"
                     or nil}
  end
  return {name = name, sourceReference = number_of(self, one),
          origin = kept and "recording" or nil}
end

function Sources:source (url)
  local one = url and self.by_url[url]
  if not one then
    return nil
  end
  one.source = one.source or made(self, one)
  return one.source
end

local function find (self, source)
  local number = source.sourceReference
  local one = number and self.by_number[number]
  if one then
    return one
  end
  local path = source.path and fileurl.plain(source.path)
  for _, each in ipairs(self.list) do
    if path and each.path == path then
      return each
    end
  end
end

function Sources:functions (source)
  local one = find(self, source)
  return one and one.functions
end

function Sources:lines (source)
  local one = find(self, source)
  if not one then
    return nil
  elseif not one.lines then
    one.lines, one.whole = possible.lines(
      one.functions, (core.sourceText(self.trace, one.url)))
  end
  return one.lines, one.whole
end

function Sources:text (number)
  local one = self.by_number[number]
  local text = one and core.sourceText(self.trace, one.url)
  return text or problem.raise("the recording has no text of this source")
end

function Sources:all ()
  local all = {}
  for i, one in ipairs(self.list) do
    all[i] = self:source(one.url)
  end
  return all
end

return sources
