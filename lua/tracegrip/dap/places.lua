-- places.lua - the program's sources as the client has them: paths of files
-- here, which may be somewhere else for the program (pathMappings), and numbers
-- for what has no file.
--
--   places.new(mappings, from, maps)
--                                from: 0 or 1, the client's first line; maps:
--                                whether files are shown that others were made
--                                of
--   places.mappings(list)        pathMappings, checked; raises a problem
--   places.mapped(mappings, path, from, to)
--                                a path with its root on one side, "here" or
--                                "there", as it is on the other
--   self:add(script)             a Debugger.scriptParsed: its Source, if it is
--                                one that the client should hear of; nil
--   self:source(script_id, text) its Source, nil of C; text(): asked for what
--                                has no name of its own
--   self:position(script_id, line, text)
--                                the Source and the line there that a line of
--                                it is shown at: those of the file that it was
--                                made of (originals.lua), if there is a map
--   self.originals               these files
--   places.twin(path)            the file of Teal of which a file of Lua was
--                                made, if there is one: it has the same lines
--   self:script(number)          the script id of a sourceReference; nil
--   self:urls(path)              the addresses that a file of the client's may
--                                have in the program, a list
--   self:knows(source)           whether the program has loaded it
--   self:ending(tail)            the Source of a file whose path ends so; nil
--   self:forget()                another program begins
--   self:line(number), self:ours(line)
--                                a line of the protocol's, which counts from 0,
--                                as the client counts; and back
--   self:ids(source)             the ids of the scripts that are that Source of
--                                the client's: a list
--   self:all()                   list of Sources
--
-- A list of mappings is one of {localRoot =, remoteRoot =}, or nil; the longest
-- root that fits counts.

local core = require "tracegrip.core"
local fileurl = require "tracegrip.inspect.fileurl"
local originals = require "tracegrip.dap.originals"
local problem = require "tracegrip.dap.problem"
local uv = require "luv"
core.own()

local LONGEST = 40              -- characters of a chunk's first line

local places = {}

local Places = {__name = "tracegrip.dap.places"}
Places.__index = Places

local function without_slash (path)
  return #path > 1 and string.gsub(path, "/+$", "") or path
end

function places.mappings (mappings)
  local list = {}
  for i, one in ipairs(mappings or {}) do
    if type(one) ~= "table" or type(one.localRoot) ~= "string"
       or type(one.remoteRoot) ~= "string" then
      problem.show("'pathMappings' has to be a list of objects with localRoot "
                   .. "and remoteRoot (number %d is none)", i)
    end
    list[i] = {here = without_slash(one.localRoot),
               there = without_slash(one.remoteRoot)}
  end
  return list
end

function places.new (mappings, from, maps)
  local self = setmetatable({
    mappings = places.mappings(mappings), from = from, maps = maps,
  }, Places)
  self:forget()
  return self
end

function places.mapped (mappings, path, from, to)
  local best
  for _, one in ipairs(mappings) do
    local root = one[from]
    if (path == root or string.sub(path, 1, #root + 1) == root .. "/")
       and (not best or #root > #best[from]) then
      best = one
    end
  end
  return best and best[to] .. string.sub(path, #best[from] + 1) or path
end

-- "tl gen" keeps the lines, and leaves no map.
function places.twin (path)
  local twin = string.gsub(path, "%.lua$", ".tl")
  return twin ~= path and uv.fs_stat(twin) and twin or nil
end

local function path_of (self, url)
  local escaped = string.match(url, "^file://(/.*)$")
  if not escaped then
    return nil
  end
  local path = places.mapped(self.mappings, fileurl.unescape(escaped), "there",
                             "here")
  return self.maps and places.twin(path) or path
end

local function add_new (list, url)
  for _, one in ipairs(list) do
    if one == url then
      return
    end
  end
  list[#list + 1] = url or nil
end

-- As it is, and without links on the way: which of them the program has taken
-- is not known. The same of the Lua that was made of Teal.
function Places:urls (path)
  local function url (one)
    return fileurl.of(places.mapped(self.mappings, one, "here", "there"))
  end
  local list, real = {}, uv.fs_realpath(path)
  for _, one in ipairs {path, real} do
    add_new(list, url(one))
    local generated = string.gsub(one, "%.tl$", ".lua")
    add_new(list, self.maps and url(generated))
  end
  return list
end

local function first_line (text)
  local line = string.match(text, "^%s*([^\r\n]*)")
  if utf8.len(line) and utf8.len(line) > LONGEST then
    line = string.sub(line, 1, utf8.offset(line, LONGEST + 1) - 1) .. "…"
  end
  return string.format('[string "%s"]', line)
end

local function name_of (self, script, text)
  local id = script.scriptId
  if not self.names[id] then
    local named = string.match(script.url, "^lua://lua/(.*)$")
    self.names[id] = named or first_line(text and text() or "?")
  end
  return self.names[id]
end

local function is_c (script)
  return script.url == "lua://lua/[C]"
end

function Places:source (id, text)
  local script = self.scripts[id]
  if not script or is_c(script) then
    return nil
  end
  local path = path_of(self, script.url)
  if path and uv.fs_stat(path) then
    return {name = string.match(path, "[^/]*$"), path = path}
  end
  return {name = path and string.match(path, "[^/]*$")
                 or name_of(self, script, text),
          path = path, sourceReference = math.tointeger(id)}
end

function Places:position (id, line, text)
  local source, at = self.originals:position(id, line + 1)
  if source then
    return source, at - 1
  end
  return self:source(id, text), line
end

-- What a string was made of is told when it is met.
function Places:add (script)
  self.scripts[script.scriptId], self.known_urls[script.url] = script, true
  return script.url ~= "" and self:source(script.scriptId) or nil
end

-- Whether the program has loaded that file of the client's.
function Places:knows (source)
  for _, url in ipairs(source.path and self:urls(source.path) or {}) do
    if self.known_urls[url] then
      return true
    end
  end
  return false
end

function Places:ids (source)
  local number, list = source.sourceReference or 0, {}
  if number > 0 then
    return {self:script(number)}
  elseif self:knows(source) then
    local is_one = {}
    for _, url in ipairs(self:urls(source.path)) do
      is_one[url] = true
    end
    for id, script in pairs(self.scripts) do
      list[#list + 1] = is_one[script.url] and id or nil
    end
  end
  return list
end

-- The Source of a file whose path ends so; nil.
function Places:ending (tail)
  for id, script in pairs(self.scripts) do
    local path = path_of(self, script.url)
    if path and (path == tail or string.sub(path, -#tail) == tail
                                 and string.sub(tail, 1, 1) == "/") then
      return self:source(id)
    end
  end
end

-- Another program begins: numbers of scripts are its own.
function Places:forget ()
  self.scripts = {}     -- id -> its scriptParsed
  self.known_urls = {}  -- those of scripts
  self.names = {}       -- id -> name of what has no file
  self.actives = {}     -- id -> its lines that have code (mapping.lua)
  self.originals = originals.new(function (path)
    return places.mapped(self.mappings, path, "there", "here")
  end)
end

function Places:script (number)
  local id = string.format("%d", number)
  return self.scripts[id] and id
end

function Places:line (number)
  return number + self.from
end

function Places:ours (line)
  return line - self.from
end

-- A file that is its own original, compiled in the program, is told once.
function Places:all ()
  local list, told = self.originals:all(), {}
  for _, source in ipairs(list) do
    told[source.path or ""] = source.path ~= nil
  end
  for id, script in pairs(self.scripts) do
    local source = script.url ~= "" and self:source(id)
    list[#list + 1] = source and not told[source.path or ""] and source or nil
  end
  table.sort(list, function (a, b)
    return (a.path or a.name) < (b.path or b.name)
  end)
  return list
end

return places
