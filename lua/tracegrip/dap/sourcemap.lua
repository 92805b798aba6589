-- sourcemap.lua - a source map (version 3, ECMA-426): from which lines of other
-- files a generated file's lines were made.
--
--   sourcemap.read(text)     a Map | nil, message: what is wrong, in a line
--   sourcemap.inline(url)    the text of a "data:" address; nil, message
--   sourcemap.at(url, fetch) a Map | nil, message: of what is there; fetch(url)
--                            has the text of another address, or nil, message
--   map.sources              list of {name, content}: the name as the map has
--                            it behind its sourceRoot; no content: nil
--   map:original(line)       the number of a source and the line of it that a
--                            generated line begins with; nil: of none
--   map:generated(source, line)
--                            the generated lines that begin with that one; else
--                            the first that has it elsewhere: a list in order,
--                            which may be empty
--   map.last                 the last generated line that is of a source
--
-- Lines count from 1. Lua knows no columns, so of those of a map only their
-- order counts. Sources with the same name are one.
--
-- Failure: a map is taken whole or not at all. What it may take is bounded by
-- its text, and that by MOST.

local core = require "tracegrip.core"
local fileurl = require "tracegrip.inspect.fileurl"
local wire = require "tracegrip.wire"
core.own()

local MOST = 16 << 20           -- bytes of a map
local MAX_DEPTH = 16            -- of its JSON: sections in sections
local MAX_LINE = 1 << 31
local SHIFT = 32                -- a place: its source's number, and its line
local LINE = (1 << SHIFT) - 1

local sourcemap = {}

local Map = {__name = "tracegrip.dap.sourcemap"}
Map.__index = Map

-- What a map is refused with is raised, as a table, since it comes from deep
-- inside.
local function refuse (text, ...)
  error({message = string.format(text, ...)}, 0)
end

---------------------------------------------------------------------------
-- Base64
---------------------------------------------------------------------------

local DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
               .. "0123456789+/"

local value_of = {}             -- byte -> its six bits
for i = 1, #DIGITS do
  value_of[string.byte(DIGITS, i)] = i - 1
end

local function four (a, b, c, d)
  local bits = value_of[a] << 18 | value_of[b] << 12
               | (value_of[c] or 0) << 6 | (value_of[d] or 0)
  return string.sub(string.pack(">I3", bits), 1, c and d and 3 or c and 2 or 1)
end

local function decode_base64 (text)
  text = string.gsub(text, "=*%s*$", "")
  if string.find(text, "[^%w+/]") or #text % 4 == 1 then
    return nil
  end
  local parts = {}
  for at = 1, #text, 4 do
    parts[#parts + 1] = four(string.byte(text, at, at + 3))
  end
  return table.concat(parts)
end

function sourcemap.inline (url)
  local kind, data = string.match(url, "^data:([^,]*),(.*)$")
  if not kind then
    return nil, "it is no data: address"
  elseif #data > MOST then
    return nil, string.format("it has more than %d MiB", MOST >> 20)
  elseif not string.find(kind, ";base64$") then
    return fileurl.unescape(data)
  end
  local text = decode_base64(fileurl.unescape(data))
  return text, not text and "its base64 is damaged" or nil
end

---------------------------------------------------------------------------
-- Mappings
---------------------------------------------------------------------------

local COMMA, SEMICOLON = string.byte(",;", 1, 2)

-- A number in base 64, the lowest five bits first, its sign the lowest of all;
-- and where the next one begins.
local function number_at (text, at)
  local value, shift = 0, 0
  while true do
    local bits = value_of[string.byte(text, at)]
    if not bits or shift > 30 then
      refuse("its mappings are damaged (character %d)", at)
    end
    value, shift, at = value | (bits & 31) << shift, shift + 5, at + 1
    if bits & 32 == 0 then
      return value & 1 == 0 and value >> 1 or -(value >> 1), at
    end
  end
end

local function ends_at (text, at)
  local byte = string.byte(text, at)
  return byte == nil or byte == COMMA or byte == SEMICOLON
end

-- Where a segment ends, and by how much its source and its line are others than
-- those before; nil: it has none.
local function segment_at (text, at)
  local source, line, _
  _, at = number_at(text, at)           -- the generated column
  if not ends_at(text, at) then
    source, at = number_at(text, at)
    line, at = number_at(text, at)
    _, at = number_at(text, at)         -- the column
    if not ends_at(text, at) then
      _, at = number_at(text, at)       -- a name
    end
  end
  if not ends_at(text, at) then
    refuse("its mappings are damaged (character %d)", at)
  end
  return at, source, line
end

local function add (self, generated, source, line)
  local place = source << SHIFT | line
  local found = self.from[generated]
  if found == nil then
    self.from[generated] = place
    self.made[place] = self.made[place] or {}
    table.insert(self.made[place], generated)
    self.last = math.max(self.last, generated)
  elseif found ~= place and not self.within[place] then
    self.within[place] = generated
  end
end

-- numbers: those of its sources in self.sources; false: one without a name.
local function add_mappings (self, text, numbers, generated)
  local source, line, at = 0, 0, 1
  while at <= #text do
    local byte = string.byte(text, at)
    if byte == SEMICOLON then
      generated, at = generated + 1, at + 1
    elseif byte == COMMA then
      at = at + 1
    else
      local more, down
      at, more, down = segment_at(text, at)
      if more then
        source, line = source + more, line + down
        local number = numbers[source + 1]
        if number == nil or line < 0 or line >= MAX_LINE then
          refuse("it has a place that is not in its sources")
        elseif number then
          add(self, generated, number, line + 1)
        end
      end
    end
  end
end

---------------------------------------------------------------------------
-- Sources
---------------------------------------------------------------------------

local function joined (root, name)
  if type(root) ~= "string" or root == "" then
    return name
  end
  return string.gsub(root, "/$", "") .. "/" .. name
end

local function add_source (self, name, content)
  local number = self.numbers[name]
  if not number then
    number = #self.sources + 1
    self.sources[number], self.numbers[name] = {name = name}, number
  end
  local one = self.sources[number]
  one.content = one.content or type(content) == "string" and content or nil
  return number
end

local function add_sources (self, map)
  local contents = type(map.sourcesContent) == "table" and map.sourcesContent
                   or {}
  local numbers = {}
  for i, name in ipairs(type(map.sources) == "table" and map.sources
                        or refuse("it has no list of sources")) do
    if name ~= wire.null and type(name) ~= "string" then
      refuse("its source number %d has no name", i)
    end
    numbers[i] = type(name) == "string"
                 and add_source(self, joined(map.sourceRoot, name), contents[i])
  end
  return numbers
end

---------------------------------------------------------------------------
-- The map
---------------------------------------------------------------------------

local add_map

local function add_section (self, section, first)
  local offset = type(section) == "table" and section.offset
  local line = type(offset) == "table" and math.tointeger(offset.line)
  if not line or line < 0 or line >= MAX_LINE then
    refuse("a section of it says not where it begins")
  elseif type(section.map) ~= "table" then
    refuse("a section of it has its map elsewhere")
  end
  add_map(self, section.map, first + line)
end

function add_map (self, map, first)
  if math.tointeger(map.version) ~= 3 then
    refuse("it is of version %s, not of 3", tostring(map.version))
  elseif type(map.sections) == "table" then
    for _, section in ipairs(map.sections) do
      add_section(self, section, first)
    end
  elseif type(map.mappings) == "string" then
    add_mappings(self, map.mappings, add_sources(self, map), first)
  else
    refuse("it has no mappings")
  end
end

-- A first line with ")]}'" keeps browsers from running the text.
function sourcemap.read (text)
  if #text > MOST then
    return nil, string.format("it has more than %d MiB", MOST >> 20)
  end
  local map = core.decode(string.gsub(text, "^%)%]}'[^\n]*\n", ""), MAX_DEPTH)
  if type(map) ~= "table" then
    return nil, "it is no JSON object"
  end
  local self = setmetatable({
    sources = {}, last = 0,
    numbers = {},         -- name of a source -> its number
    from = {},            -- generated line -> the place that it begins with
    made = {},            -- place -> the generated lines that begin with it
    within = {},          -- place -> the first generated line that has it
                          -- elsewhere
  }, Map)
  local ok, problem = pcall(add_map, self, map, 1)
  if ok then
    return self
  elseif type(problem) == "table" and problem.message then
    return nil, problem.message
  end
  error(problem, 0)
end

function sourcemap.at (url, fetch)
  local get = string.find(url, "^data:") and sourcemap.inline or fetch
  local text, problem = get(url)
  if not text then
    return nil, problem
  end
  return sourcemap.read(text)
end

function Map:original (line)
  local place = self.from[line]
  if place then
    return place >> SHIFT, place & LINE
  end
end

function Map:generated (source, line)
  local place = source << SHIFT | line
  return self.made[place] or {self.within[place]}
end

return sourcemap
