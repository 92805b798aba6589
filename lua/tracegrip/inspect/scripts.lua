-- scripts.lua - the sources of the program's functions, as scripts of the
-- protocol.
--
--   scripts.meet(source, func)    the script of a source as debug.getinfo has
--                                 it, and whether it is new: {id, url, source,
--                                 text, functions, last, map}. func: one of its
--                                 functions, or nil
--   scripts.of(id)                the script of that id; raises a fault
--   scripts.all()                 list, in the order in which they were met
--   scripts.parsed(script)        the parameters of Debugger.scriptParsed
--   scripts.C                     {url, text} of the functions of C
--   scripts.extent(text)          the lines of a text before its last one, and
--                                 how long that is
--   scripts.scan(running)         meets all sources of functions that can be
--                                 reached from globals, loaded modules and the
--                                 stacks of these coroutines
--   scripts.declared(script, line)
--                                 the name that a function gets where it
--                                 begins; nil: none, or it is not alone there
--   scripts.named(script, name)   the functions that are declared by that
--                                 name, or by one that ends in it behind a dot
--                                 or a colon: list of {first =, line =}, where
--                                 it is defined, and its first line with code;
--                                 numbers: a set of which they are of those
--                                 that begin at that line (neighbours.lua), if
--                                 there are several
--   scripts.on_new (script)       to be set: called for each new one
--   scripts.resolve(script, line) the first line from there on that has code,
--                                 and a list of the first lines of the
--                                 functions that it is in; nil: there is none
--
-- A file's text is read when the script is met. Lines count from 1 here. Where
-- the text is of another language (Teal, Fennel, compiled in the program), or
-- is not as it was, the functions that are met tell which lines have code.

local core = require "tracegrip.core"
local fault = require "tracegrip.inspect.fault"
local fileurl = require "tracegrip.inspect.fileurl"
local frames = require "tracegrip.inspect.frames"
local lines = require "tracegrip.inspect.lines"
local neighbours = require "tracegrip.inspect.neighbours"
local sourcemaps = require "tracegrip.inspect.sourcemaps"
local target = require "tracegrip.target"
core.own()

local getinfo, getmetatable = debug.getinfo, debug.getmetatable
local getlocal, getupvalue = debug.getlocal, debug.getupvalue

local scripts = {
  C = {url = "lua://lua/[C]",
       text = "-- Functions written in C have no source here.\n"}
}

local by_source, by_id, list = {}, {}, {}

local C_SOURCE = "=[C]"
local MOST = 50000              -- objects that a scan looks at
local CONTEXT = 1

---------------------------------------------------------------------------
-- What a source is
---------------------------------------------------------------------------

-- Its address and text, and whether that is what it was made of. A chunk from a
-- string has no address, as code that was evaluated has none elsewhere.
local function look_up (source)
  local kind, name = string.sub(source, 1, 1), string.sub(source, 2)
  if source == C_SOURCE then
    return scripts.C.url, scripts.C.text, true
  elseif kind == "@" then
    local path = target.absolute(name) or name
    local text = core.contents(path)
    return fileurl.of(path), text
           or string.format("-- %s cannot be read.\n", name), text ~= nil
  elseif kind == "=" then
    return "lua://lua/" .. fileurl.escape(name),
           "-- Its source is not known.\n", false
  end
  return "", source, true
end

-- Where the last line begins. A pattern that ends the text, "[^\n]*$", would be
-- tried at each character of a long line.
local function behind_last_newline (text)
  return string.match(text, "^.*\n()") or 1
end

function scripts.extent (text)
  local _, n = string.gsub(text, "\n", "")
  return n, #text - behind_last_newline(text) + 1
end

function scripts.parsed (script)
  return {
    scriptId = script.id, url = script.url, startLine = 0, startColumn = 0,
    endLine = script.last, endColumn = script.last_column, hash = "",
    buildId = "", executionContextId = CONTEXT, length = #script.text,
    isModule = false, hasSourceURL = false, scriptLanguage = "JavaScript",
    sourceMapURL = script.map
  }
end

local function new (source)
  local url, text, is_whole = look_up(source)
  local functions = source ~= C_SOURCE and is_whole
                    and lines.of(lines.compilable(text), source)
  local script = {
    id = string.format("%d", #list + 1), url = url, source = source,
    text = text, functions = functions or {},
    told = not functions and source ~= C_SOURCE and {} or nil
  }
  script.last, script.last_column = scripts.extent(text)
  script.map = source ~= C_SOURCE and sourcemaps.url(script) or nil
  return script
end

-- Where the text does not tell the functions, one of them tells itself and
-- those in it. told: those that are known.
local function learn (script, func)
  local info = script.told and func and getinfo(func, "S")
  if not info or info.source ~= script.source then
    return
  end
  for _, one in ipairs(lines.of_function(func) or {}) do
    local key = string.format("%d %d", one.first, one.last)
    if not script.told[key] then
      script.told[key] = true
      table.insert(script.functions, one)
    end
  end
end

function scripts.meet (source, func)
  local script = by_source[source]
  if script then
    learn(script, func)
    return script, false
  end
  script = new(source)
  learn(script, func)
  by_source[source], by_id[script.id] = script, script
  list[#list + 1] = script
  scripts.on_new(script)
  return script, true
end

function scripts.of (id)
  return by_id[id] or fault.raise("No script for id: %s", id)
end

function scripts.all ()
  return list
end

---------------------------------------------------------------------------
-- Lines
---------------------------------------------------------------------------

function scripts.resolve (script, line)
  local found = lines.first(script.functions, line)
  local inside = {}
  for _, one in ipairs(found and script.functions or {}) do
    for _, active in ipairs(one.active) do
      if active == found then
        inside[#inside + 1] = one.first
      end
    end
  end
  return found, inside
end

local declarations = {"function%s+([%a_][%w_.:]*)",
                      "([%a_][%w_.]*)%s*=%s*function%f[^%w_]"}

local function line_of (script, line)
  local at, number = 1, 1
  while at and number < line do
    at = string.find(script.text, "\n", at, true)
    at, number = at and at + 1, number + 1
  end
  return at and string.match(script.text, "[^\n]*", at) or ""
end

function scripts.declared (script, line)
  local text = line_of(script, line)
  local _, count = string.gsub(text, "%f[%w_]function%f[^%w_]", "")
  for _, pattern in ipairs(count == 1 and declarations or {}) do
    local name = string.match(text, pattern)
    if name then
      return name
    end
  end
end

local function is_named (declared, name)
  return declared == name
         or declared ~= nil and string.sub(declared, -#name) == name
            and string.find(declared, "^[.:]", -#name - 1) ~= nil
end

-- Whether a function that begins there is declared by that name; of several in
-- the line, the one of that number. Whether there are several. The whole source
-- is read only where a line has the name's last word.
local function is_declared (script, line, number, name, last)
  local declared = scripts.declared(script, line)
  if declared or not string.find(line_of(script, line), last, 1, true) then
    return is_named(declared, name), false
  end
  local all = neighbours.at(script, line) or {}
  return all[number] ~= nil and is_named(all[number].name, name), #all > 1
end

-- By where they begin.
local function add_named (found, one, number)
  local place = found[#found]
  if not place or place.first ~= one.first then
    place = {first = one.first, line = lines.first({one}, one.first),
             numbers = number and {}}
    found[#found + 1] = place
  end
  if number then
    place.numbers[number] = true
  end
end

-- A name is where the function begins, and a file has few of them: without it
-- in the text nothing is looked at.
function scripts.named (script, name)
  local found, counts = {}, {}
  local last = string.match(name, "[%w_]*$")
  if last == "" or not string.find(script.text, last, 1, true) then
    return found
  end
  for _, one in ipairs(script.functions) do
    local number = (counts[one.first] or 0) + 1
    counts[one.first] = number
    if one.active[1] and one.first > 0 then
      local is, several = is_declared(script, one.first, number, name, last)
      if is then
        add_named(found, one, several and number or nil)
      end
    end
  end
  return found
end

---------------------------------------------------------------------------
-- What there is already
---------------------------------------------------------------------------

local searched = {["function"] = true, table = true, thread = true}

-- Breadth first, so that what is near is found within the limit.
local function reach (found, seen, queue)
  if searched[type(found)] and not seen[found] and #queue < MOST then
    seen[found] = true
    queue[#queue + 1] = found
  end
end

local look = {}

function look.table (found, seen, queue)
  for key, value in next, found do
    reach(key, seen, queue)
    reach(value, seen, queue)
  end
end

look["function"] = function (found, seen, queue)
  local i, name, value = 1, getupvalue(found, 1)
  while name do
    reach(value, seen, queue)
    i = i + 1
    name, value = getupvalue(found, i)
  end
  local info = getinfo(found, "S")
  if info.what ~= "C" and not core.inspector.own(found) then
    scripts.meet(info.source, found)
  end
end

-- Nothing else has the main chunk, and what it keeps in local variables.
function look.thread (found, seen, queue)
  for _, frame in ipairs(frames.of(found)) do
    reach(frame.func, seen, queue)
    local i, name, value = 1, getlocal(found, frame.level, 1)
    while name do
      reach(value, seen, queue)
      i = i + 1
      name, value = getlocal(found, frame.level, i)
    end
  end
end

function scripts.scan (running)
  local registry = debug.getregistry()
  local seen, queue, at = {}, {}, 1
  for _, co in ipairs(running) do
    reach(co, seen, queue)
  end
  reach(rawget(registry, 2), seen, queue)       -- LUA_RIDX_GLOBALS
  reach(rawget(registry, "_LOADED"), seen, queue)
  while queue[at] do
    local found = queue[at]
    look[type(found)](found, seen, queue)
    reach(getmetatable(found), seen, queue)
    at = at + 1
  end
end

return scripts
