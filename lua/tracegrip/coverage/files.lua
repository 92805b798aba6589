-- files.lua - the files that coverage tells of: those that were loaded, and
-- those that might have been, with what was counted of each.
--
--   files.of(counted, plan)   list, in the order of their names, of
--     path          absolute
--     name          how it is called: from the plan's directory, if it is in it
--     text
--     functions     coverage.functions of it, each with a 'name' of its own
--     lines         coverage.lines of it
--     totals        {lines, reached, functions, called}
--     loaded        whether any process has loaded it
--   files.loaded(counted, plan)   how many there are of which something was
--                                 counted, whatever patterns say, and the name
--                                 of one
--   files.sum(list)               totals of all
--
-- 'counted' is what core.merge gives. Of the plan are looked at:
--   directory            that in which the command was started
--   include, exclude     lists of patterns, which are tried on the names by
--                        which a file was loaded, its name here, and that with
--                        "./" before it
--   inside               whether others than those below the directory are
--                        left out
--   untested, beside     see untested.lua
--
-- Failure: a file that cannot be read or compiled by now is told on standard
-- error and left out.

local core = require "tracegrip.core"
local counting = require "tracegrip.coverage"
local lines = require "tracegrip.inspect.lines"
local paths = require "tracegrip.coverage.paths"
local scripts = require "tracegrip.inspect.scripts"
local untested = require "tracegrip.coverage.untested"
core.own()

local lua = core.lua          -- the program may have changed its own libraries
local string, table = lua.string, lua.table
local ipairs, pairs = lua.ipairs, lua.pairs

local files = {}

local function note (...)
  core.tell("tracegrip: coverage: " .. core.escaped(string.format(...)) .. "\n")
end

---------------------------------------------------------------------------
-- Which
---------------------------------------------------------------------------

-- Adds a file to those by path, if it is new.
local function meet (found, path, plan)
  if not found[path] then
    local name = paths.shown(path, plan.directory)
    found[path] = {path = path, name = name, counted = {},
                   names = {[name] = true, ["./" .. name] = true}}
  end
  return found[path]
end

-- Path -> what was counted of that file. The same one may have been loaded by
-- several names, also from several directories.
local function by_path (counted, plan)
  local found = {}
  for _, one in ipairs(counted) do
    local name = string.match(one.source, "^@(.*)")
    local from = one.directory ~= "" and one.directory or plan.directory
    local file = meet(found, paths.absolute(name, from), plan)
    file.loaded = true
    file.names[name] = true
    table.insert(file.counted, one)
  end
  return found
end

-- Whether a pattern finds any of its names; nil: that took too long.
local function matched (file, patterns)
  local result = false
  for name in pairs(file.names) do
    local found = core.found(name, patterns)
    if found then
      return true
    elseif found == nil then
      result = nil
    end
  end
  return result
end

-- Drops what is not wanted. A pattern that takes too long finds nothing.
local function narrow (found, plan)
  local undecided = 0
  local function is_of (file, patterns)
    local result = matched(file, patterns)
    undecided = undecided + (result == nil and 1 or 0)
    return result
  end
  for path, file in pairs(found) do
    if plan.inside and file.name == path
       or #plan.include > 0 and not is_of(file, plan.include)
       or is_of(file, plan.exclude) then
      found[path] = nil
    end
  end
  if undecided > 0 then
    note("patterns took too long over %d name%s: not matched", undecided,
         undecided == 1 and "" or "s")
  end
  return found
end

-- Those that are not loaded and might be.
local function add_untested (found, plan)
  local more = {}
  for _, path in ipairs(untested.paths(found, plan)) do
    if not found[path] then
      meet(more, path, plan)
    end
  end
  for path, file in pairs(narrow(more, plan)) do
    found[path] = file
  end
  return found
end

function files.loaded (counted, plan)
  local n, first = 0, nil
  for _, file in pairs(by_path(counted, plan)) do
    n = n + 1
    first = (not first or file.name < first) and file.name or first
  end
  return n, first
end

---------------------------------------------------------------------------
-- What is in them
---------------------------------------------------------------------------

-- Names of functions are unique in a file.
local function namer (text)
  local used = {}
  return function (one)
    local name = one.first == 0 and "(main chunk)"
                 or scripts.declared({text = text}, one.first)
    if not name or used[name] then
      name = string.format("%s:%d", name or "function", one.first)
    end
    while used[name] do
      name = name .. "'"
    end
    used[name] = true
    return name
  end
end

local function totals_of (file)
  local totals = {lines = #file.lines, reached = 0,
                  functions = #file.functions, called = 0}
  for _, pair in ipairs(file.lines) do
    totals.reached = totals.reached + (pair[2] > 0 and 1 or 0)
  end
  for _, one in ipairs(file.functions) do
    totals.called = totals.called + (one.calls > 0 and 1 or 0)
  end
  return totals
end

-- Whether it could be looked at; false and what is wrong with it.
local function look_at (file)
  file.text = core.contents(file.path)
  local compiled = file.text and lines.of(lines.compilable(file.text),
                                          "@" .. file.name, true)
  if not compiled then
    return false, file.text and "compiled" or "read"
  end
  file.functions = counting.functions(compiled, file.counted)
  local name_of = namer(file.text)
  for _, one in ipairs(file.functions) do
    one.name = name_of(one)
  end
  file.lines = counting.lines(file.functions)
  file.totals = totals_of(file)
  return true
end

local TOLD = 5          -- of those that are left out

local function tell_left_out (left)
  table.sort(left)
  for i = 1, #left <= TOLD and #left or TOLD - 1 do
    note("left out, for it cannot be %s", left[i])
  end
  if #left > TOLD then
    note("%d more files are left out that cannot be read or compiled any more",
         #left - TOLD + 1)
  end
end

function files.of (counted, plan)
  local found = add_untested(narrow(by_path(counted, plan), plan), plan)
  local list, left = {}, {}
  for path, file in pairs(found) do
    local ok, what = look_at(file)
    if ok then
      list[#list + 1] = file
    else
      left[#left + 1] = what .. " any more: " .. path
    end
  end
  tell_left_out(left)
  table.sort(list, function (a, b) return a.name < b.name end)
  return list
end

function files.sum (list)
  local sum = {lines = 0, reached = 0, functions = 0, called = 0}
  for _, file in ipairs(list) do
    for key, value in pairs(file.totals) do
      sum[key] = sum[key] + value
    end
  end
  return sum
end

return files
