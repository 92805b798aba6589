-- scripts.lua - the sources of a recording's functions as scripts of the
-- protocol, with the texts that the recording keeps.
--
--   scripts.new(trace, info, functions)
--                         'functions' as replay:functions() has them
--   self:all()            list of {id, url, text, told, map, last, last_column,
--                         source, functions}; told: the text is known; source:
--                         as packets have it
--   self:of(id)           one of them; raises a fault
--   self:at(url)          the one of a function's url; nil: those of C
--   self:lines(script)    the lines at which it can be stopped, as
--                         replay/possible.lua has them
--
-- Without '--sources' the text is that of the file as it is now.

local core = require "tracegrip.core"
local fault = require "tracegrip.inspect.fault"
local fileurl = require "tracegrip.inspect.fileurl"
local possible = require "tracegrip.replay.possible"
local programs = require "tracegrip.inspect.scripts"
local sourcemaps = require "tracegrip.inspect.sourcemaps"
core.own()

-- What is shown without a text, by the reason that core.sourceText tells.
local reasons = {
  changed = "-- %s has changed since it was recorded, and the recording does "
            .. "not keep\n-- its text (record --sources).\n",
  absent = "-- %s is not here, and the recording does not keep its text\n"
           .. "-- (record --sources).\n",
  unknown = "-- The recording does not keep the text of %s\n"
            .. "-- (record --sources).\n"
}

local scripts = {}

local Scripts = {__name = "tracegrip.inspect.recorded.scripts"}
Scripts.__index = Scripts

-- Nothing of a chunk that was a string.
local function path_of (source, directory)
  if source:find "^%[" then
    return nil
  elseif source:sub(1, 1) == "/" then
    return source
  end
  return directory and directory .. "/" .. source
end

local function add (self, script)
  self.list[#self.list + 1] = script
  script.id = ("%d"):format(#self.list)
  script.last, script.last_column = programs.extent(script.text)
  return script
end

local function add_source (self, source)
  local path = path_of(source, self.directory)
  local text, from = core.sourceText(self.trace, source)
  local script = add(self, {
    source = source, functions = {}, told = text ~= nil,
    url = path and fileurl.of(path)
          or "lua://lua/" .. fileurl.escape(source),
    text = text or reasons[from]:format(source)
  })
  script.map = sourcemaps.left(script.text, path)
  self.by_source[source] = script
  return script
end

function scripts.new (trace, info, functions)
  local self = setmetatable({
    trace = trace, directory = info.directory, list = {}, by_source = {}
  }, Scripts)
  for _, f in ipairs(functions) do
    if not f.c and f.url then
      local script = self.by_source[f.url] or add_source(self, f.url)
      table.insert(script.functions, f)
    end
  end
  self.c = add(self, {url = programs.C.url, text = programs.C.text,
                      functions = {}})
  return self
end

function Scripts:all ()
  return self.list
end

function Scripts:of (id)
  return self.list[math.tointeger(tonumber(id))]
         or fault.raise("No script for id: %s", id)
end

function Scripts:at (url)
  return url and self.by_source[url] or self.c
end

function Scripts:lines (script)
  if not script.lines then
    script.lines, script.whole = possible.lines(
      script.functions, script.told and script.text or nil)
  end
  return script.lines, script.whole
end

return scripts
