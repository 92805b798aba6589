-- neighbours.lua - functions that begin in the same line: what each is declared
-- as, and which of them it is that is called.
--
--   neighbours.at(script, line)
--                        list of {name =, print =} in the order of the source;
--                        name: nil, if it is declared by none; nil: they are
--                        not known
--   neighbours.is(script, line, numbers, frame)
--                        whether a frame's function, which begins there, is one
--                        of those with these numbers in that list (a set)
--
-- Lua knows the line where a function begins, and no column. What tells one
-- from its neighbours is its code, and the names of its variables
-- (lines.prints). Those that are written alike are told apart by what they are
-- called by, if one of them has that name.

local core = require "tracegrip.core"
local lines = require "tracegrip.inspect.lines"
local scoping = require "tracegrip.inspect.scoping"
core.own()

local neighbours = {}

-- What the source has and what the compiler has made of it are the same
-- functions in the same order.
local function are_same (named, printed)
  for i, one in ipairs(printed) do
    if not named[i] or one.last > 0 and (named[i].first ~= one.first
                                         or named[i].last ~= one.last) then
      return false
    end
  end
  return #named == #printed
end

-- By the line where they begin.
local function read (script)
  local text = lines.compilable(script.text)
  local chunk, named = load(text, script.source, "t", {}), scoping.of(text)
  local printed = chunk and lines.prints(chunk)
  if script.told or not named or not printed
     or not are_same(named, printed) then
    return {}
  end
  local by_line = {}
  for i = 2, #printed do
    local first = printed[i].first
    by_line[first] = by_line[first] or {}
    table.insert(by_line[first], {name = named[i].declared,
                                  print = printed[i].print})
  end
  return by_line
end

function neighbours.at (script, line)
  script.neighbours = script.neighbours or read(script)
  return script.neighbours[line]
end

local prints = setmetatable({}, {__mode = "k"})     -- function -> its print

local function print_of (func)
  if prints[func] == nil then
    local list = lines.prints(func)
    prints[func] = list and list[1].print or false
  end
  return prints[func]
end

-- "g" of "Class:g".
local function last_of (name)
  return name and string.match(name, "[%w_]+$")
end

-- Those of a list, by their numbers, that have this print.
local function alike (list, print)
  local found = {}
  for number, one in ipairs(list) do
    if one.print == print then
      found[#found + 1] = number
    end
  end
  return found
end

-- It is called by the name of another one, and of none of these.
local function is_another (list, found, numbers, called)
  local another = false
  for _, number in ipairs(found) do
    local has_name = called ~= nil and last_of(list[number].name) == called
    if has_name and numbers[number] then
      return false
    end
    another = another or has_name
  end
  return another
end

function neighbours.is (script, line, numbers, frame)
  local list = neighbours.at(script, line)
  local found = alike(list, print_of(frame.func))
  local is_one = #found == 0            -- its code is not as it is in the text
  for _, number in ipairs(found) do
    is_one = is_one or numbers[number] ~= nil
  end
  return is_one and (#found < 2
                     or not is_another(list, found, numbers, frame.info.name))
end

return neighbours
