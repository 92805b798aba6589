-- places.lua - the program's sources as the client has them: paths of files
-- here, which may be somewhere else for the program (pathMappings), and numbers
-- for what has no file.
--
--   places.new(mappings, from)   from: 0 or 1, the client's first line
--   places.mappings(list)        pathMappings, checked; raises a problem
--   places.mapped(mappings, path, from, to)
--                                a path with its root on one side, "here" or
--                                "there", as it is on the other
--   self:add(script)             a Debugger.scriptParsed: its Source, if it is
--                                one that the client should hear of; nil
--   self:source(script_id, text) its Source, nil of C; text(): asked for what
--                                has no name of its own
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

function places.new (mappings, from)
  return setmetatable({
    mappings = places.mappings(mappings), from = from,
    scripts = {},         -- id -> its scriptParsed
    known_urls = {},      -- those of scripts
    names = {},           -- id -> name of what has no file
  }, Places)
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

local function path_of (self, url)
  local escaped = string.match(url, "^file://(/.*)$")
  if not escaped then
    return nil
  end
  local path = string.gsub(escaped, "%%(%x%x)", function (digits)
    return string.char(tonumber(digits, 16))
  end)
  return places.mapped(self.mappings, path, "there", "here")
end

-- As it is, and without links on the way: which of them the program has taken
-- is not known.
function Places:urls (path)
  local function url (one)
    return fileurl.of(places.mapped(self.mappings, one, "here", "there"))
  end
  local list, real = {url(path)}, uv.fs_realpath(path)
  local other = real and url(real)
  list[2] = other ~= list[1] and other or nil
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
    local urls = self:urls(source.path)
    for id, script in pairs(self.scripts) do
      if script.url == urls[1] or script.url == urls[2] then
        list[#list + 1] = id
      end
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
  self.scripts, self.known_urls, self.names = {}, {}, {}
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

function Places:all ()
  local list = {}
  for id, script in pairs(self.scripts) do
    list[#list + 1] = script.url ~= "" and self:source(id) or nil
  end
  table.sort(list, function (a, b)
    return (a.path or a.name) < (b.path or b.name)
  end)
  return list
end

return places
