-- coverage.lua - which functions and lines of a program have run, from what was
-- counted (csrc/coverage/) and the text of its files.
--
--   coverage.functions(compiled, counted)
--                      functions of one source: list of {first, last, calls,
--                      lines = {{line, count}, ...}}, in the order of their
--                      first lines; those that were never called too
--     compiled         what lines.of says of the source
--     counted          what was counted of it: list of {first, last, calls,
--                      lines = {[line] = count}}
--   coverage.write(counted, text)
--                      writes a file in lcov's format. The plan is a Lua table
--                      as text: output, directory, include, exclude. Called at
--                      the program's end, in a Lua state of its own
--
-- Lines that have code are those that debug.getinfo calls active; counts of
-- others, as Lua's hook gives some for a function's end, are left out.
--
-- Failure: a file that cannot be read or compiled by now is told on standard
-- error and left out; one that cannot be written raises.

local core = require "tracegrip.core"
local lines = require "tracegrip.inspect.lines"
local scripts = require "tracegrip.inspect.scripts"
core.own()

local coverage = {}

local function note (...)
  io.stderr:write("tracegrip: " .. string.format(...) .. "\n")
end

---------------------------------------------------------------------------
-- Functions
---------------------------------------------------------------------------

local function key (one)
  return string.format("%d %d", one.first, one.last)
end

-- One that has run and was not called was running when counting began.
local function counts_of (one, found)
  local list, calls = {}, found and found.calls or 0
  for i, line in ipairs(one.active) do
    local count = found and found.lines[line] or 0
    list[i] = {line, count}
    calls = math.max(calls, math.min(count, 1))
  end
  return {first = one.first, last = one.last, calls = calls, lines = list}
end

-- A file that was loaded by several names is counted by each.
local function sum_up (counted)
  local by_place = {}
  for _, one in ipairs(counted) do
    local sum = by_place[key(one)] or {calls = 0, lines = {}}
    sum.calls = sum.calls + one.calls
    for line, count in pairs(one.lines) do
      sum.lines[line] = (sum.lines[line] or 0) + count
    end
    by_place[key(one)] = sum
  end
  return by_place
end

function coverage.functions (compiled, counted)
  local by_place, list = sum_up(counted), {}
  for _, one in ipairs(compiled) do
    if by_place[key(one)] ~= true then      -- two that share both lines are one
      list[#list + 1] = counts_of(one, by_place[key(one)])
      by_place[key(one)] = true
    end
  end
  table.sort(list, function (a, b)
    if a.first ~= b.first then
      return a.first < b.first
    end
    return a.last > b.last
  end)
  return list
end

---------------------------------------------------------------------------
-- Files
---------------------------------------------------------------------------

-- Name of each file -> what was counted of it.
local function by_file (counted)
  local files = {}
  for _, one in ipairs(counted) do
    local name = string.match(one.source, "^@(.*)")
    if name then
      files[name] = files[name] or {}
      table.insert(files[name], one)
    end
  end
  return files
end

-- Drops what is not wanted. A pattern that takes too long finds nothing.
local function narrow (files, plan)
  local undecided = 0
  local function found_by (patterns, name)
    local found = core.found(name, patterns)
    undecided = undecided + (found == nil and 1 or 0)
    return found
  end
  for name in pairs(files) do
    if #plan.include > 0 and not found_by(plan.include, name)
       or found_by(plan.exclude, name) then
      files[name] = nil
    end
  end
  if undecided > 0 then
    note("coverage: patterns took too long over %d name%s: not matched",
         undecided, undecided == 1 and "" or "s")
  end
  return files
end

-- Without what a path goes through in vain: "./lib/../app.lua".
local function absolute (name, directory)
  local parts = {}
  local path = string.sub(name, 1, 1) == "/" and name
               or directory .. "/" .. name
  for part in string.gmatch(path, "[^/]+") do
    if part == ".." then
      parts[#parts] = nil
    elseif part ~= "." then
      parts[#parts + 1] = part
    end
  end
  return "/" .. table.concat(parts, "/")
end

-- One file: {path, text, functions}; nil if there is none any more.
local function look_at (name, counted, plan)
  local path = absolute(name, plan.directory)
  local text = core.contents(path)
  local compiled = text and lines.of(scripts.compilable(text), "@" .. name)
  if not compiled then
    note("coverage: left out, for it cannot be %s any more: %s",
         text and "compiled" or "read", path)
    return nil
  end
  return {path = path, text = text,
          functions = coverage.functions(compiled, counted)}
end

-- The same file may have been loaded by several names.
local function look_at_all (counted, plan)
  local list, seen = {}, {}
  for name, functions in pairs(narrow(by_file(counted), plan)) do
    local path = absolute(name, plan.directory)
    if not seen[path] then
      seen[path] = {name = name}
      list[#list + 1] = seen[path]
    end
    table.move(functions, 1, #functions, #seen[path] + 1, seen[path])
  end
  local files = {}
  for _, one in ipairs(list) do
    files[#files + 1] = look_at(one.name, one, plan)
  end
  table.sort(files, function (a, b) return a.path < b.path end)
  return files
end

---------------------------------------------------------------------------
-- The format: geninfo(1), FILES
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

-- A line of several functions has been reached as often as in all of them.
local function sum_lines (functions)
  local counts, list = {}, {}
  for _, one in ipairs(functions) do
    for _, pair in ipairs(one.lines) do
      local line, count = pair[1], pair[2]
      if not counts[line] then
        list[#list + 1] = line
      end
      counts[line] = (counts[line] or 0) + count
    end
  end
  table.sort(list)
  return list, counts
end

local function write_functions (out, file, totals)
  local name_of, names, called = namer(file.text), {}, 0
  for i, one in ipairs(file.functions) do
    names[i] = name_of(one)
    out(string.format("FN:%d,%s\n", math.max(one.first, 1), names[i]))
  end
  for i, one in ipairs(file.functions) do
    out(string.format("FNDA:%d,%s\n", one.calls, names[i]))
    called = called + (one.calls > 0 and 1 or 0)
  end
  out(string.format("FNF:%d\nFNH:%d\n", #names, called))
  totals.functions = totals.functions + #names
  totals.called = totals.called + called
end

local function write_lines (out, file, totals)
  local list, counts = sum_lines(file.functions)
  local reached = 0
  for _, line in ipairs(list) do
    out(string.format("DA:%d,%d\n", line, counts[line]))
    reached = reached + (counts[line] > 0 and 1 or 0)
  end
  out(string.format("LF:%d\nLH:%d\n", #list, reached))
  totals.lines = totals.lines + #list
  totals.reached = totals.reached + reached
end

local function share (part, whole)
  return whole > 0 and 100 * part / whole or 100
end

function coverage.write (counted, text)
  local plan = assert(load("return " .. text, "=plan", "t", {}))()
  local files = look_at_all(counted, plan)
  local parts = {}
  local function out (part)
    parts[#parts + 1] = part
  end
  local totals = {lines = 0, reached = 0, functions = 0, called = 0}
  for _, file in ipairs(files) do
    out(string.format("TN:\nSF:%s\n", file.path))
    write_functions(out, file, totals)
    write_lines(out, file, totals)
    out "end_of_record\n"
  end
  local file <close>, message = io.open(plan.output, "wb")
  if not file or not file:write(table.concat(parts)) or not file:flush() then
    error(message or "cannot write " .. plan.output, 0)
  end
  note("%s: %d of %d lines (%.1f %%), %d of %d functions, in %d file%s",
       plan.shown, totals.reached, totals.lines,
       share(totals.reached, totals.lines), totals.called, totals.functions,
       #files, #files == 1 and "" or "s")
end

return coverage
