-- sourcemaps.lua - where the source map of a script is: what a compiler to Lua
-- has left of the lines that it was given.
--
--   sourcemaps.url(script)   its address: of a file, or one with the map in it
--                            ("data:"); nil: it has none
--   sourcemaps.left(text, path)
--                            the same of what a compiler has left in a text or
--                            beside its file; path: where that is, or nil
--   sourcemaps.text(url)     the text behind the address of a file; nil: there
--                            is none, or more of it than a map may have
--
-- TypeScriptToLua writes FILE.lua.map, or a comment at the end of the Lua file,
-- as JavaScript has it. Fennel, where it compiles in the program, keeps a table
-- of lines (sourcemap of the module fennel.compiler), of which a map is made
-- here. Teal, and Fennel with "correlate", keep the lines and need none.

local core = require "tracegrip.core"
local fileurl = require "tracegrip.inspect.fileurl"
local target = require "tracegrip.target"
local wire = require "tracegrip.wire"
core.own()

local MOST = 16 << 20           -- bytes of a map

local sourcemaps = {}

---------------------------------------------------------------------------
-- Files
---------------------------------------------------------------------------

local function path_of (script)
  local name = string.match(script.source, "^@(.*)$")
  return name and (target.absolute(name) or name)
end

-- An address that a file names, which counts from its directory; nil: a map in
-- the net is not asked for.
local function resolved (address, path)
  if string.find(address, "^data:") or string.find(address, "^file://") then
    return address
  elseif string.find(address, "^%a[%w+.-]*:") or not path then
    return nil
  end
  local name = fileurl.unescape(address)
  return fileurl.of(string.sub(name, 1, 1) == "/" and name
                    or string.match(path, "^.*/") .. name)
end

-- The last such comment counts.
local function commented (text, path)
  if not string.find(text, "sourceMappingURL=", 1, true) then
    return nil
  end
  local address = string.match("\n" .. text,
    "^.*\n[ \t]*[-/][-/][#@][ \t]+sourceMappingURL=(%S+)")
  return address and resolved(address, path)
end

local function beside (path)
  local map = path .. ".map"
  return core.filetype(map) == "file" and fileurl.of(map) or nil
end

---------------------------------------------------------------------------
-- Fennel
---------------------------------------------------------------------------

-- A field of a table, whatever its metatable says; nil of what is none.
local function field (value, key)
  if type(value) == "table" then
    return rawget(value, key)
  end
end

-- Its list of {file, line}, one for each line of Lua.
local function fennel_lines (source)
  local loaded = rawget(debug.getregistry(), "_LOADED")
  return field(field(field(loaded, "fennel.compiler"), "sourcemap"), source)
end

local DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
               .. "0123456789+/"

-- A number as maps have it: its sign is the lowest bit, five bits at a time.
local function vlq (number)
  local bits = number < 0 and (-number << 1 | 1) or number << 1
  local out = ""
  repeat
    local digit = bits & 31
    bits = bits >> 5
    digit = bits > 0 and digit | 32 or digit
    out = out .. string.sub(DIGITS, digit + 1, digit + 1)
  until bits == 0
  return out
end

local function number_of (sources, numbers, file)
  if not numbers[file] then
    sources[#sources + 1] = fileurl.of(target.absolute(file) or file)
    numbers[file] = #sources
  end
  return numbers[file]
end

-- A map of such a list. A line that a macro has made may have none.
local function map_of (list)
  local sources, numbers, segments = {}, {}, {}
  local source, line = 1, 1
  for i = 1, rawlen(list) do
    local file, at = field(list[i], 1), field(list[i], 2)
    segments[i] = ""
    if type(file) == "string" and math.type(at) == "integer" and at > 0 then
      local number = number_of(sources, numbers, file)
      segments[i] = "A" .. vlq(number - source) .. vlq(at - line) .. "A"
      source, line = number, at
    end
  end
  return sources[1] and wire.json {
    version = 3, sources = wire.array(sources), names = wire.array(),
    mappings = table.concat(segments, ";")
  }
end

---------------------------------------------------------------------------
-- What there is
---------------------------------------------------------------------------

function sourcemaps.left (text, path)
  return commented(text, path) or path and beside(path) or nil
end

function sourcemaps.url (script)
  local path = path_of(script)
  local address = sourcemaps.left(script.text, path)
  if address then
    return address
  end
  local list = path and fennel_lines(script.source)
  local map = list and map_of(list)
  return map and "data:application/json," .. fileurl.escape(map)
end

function sourcemaps.text (url)
  local address = string.match(url, "^file://(/.*)$")
  local text = address and core.contents(fileurl.unescape(address))
  return text and #text <= MOST and text or nil
end

return sourcemaps
