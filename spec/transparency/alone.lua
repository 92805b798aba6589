-- alone.lua - what each trace of a random program has, with others or alone.
--
--   lua5.4 -e 'loadfile("alone.lua")(directory, root, wish, only)' program.lua
--
-- The program calls trace(n): it starts trace number n, with options that the
-- number `wish` chooses, or stops it if it is running. The k-th start of all
-- writes its packets to the file k in `directory` at the end, one a line,
-- without times, and with threads and objects numbered in the order in which
-- that trace has them. With `only` no other start is made than that one.

-- luacheck: globals trace

local directory, root, wish, only = ...

local path, cpath = package.path, package.cpath
package.path = root .. "/?.lua;" .. path
package.cpath = cpath:gsub("/lib/lua/5%.%d/%?%.so", "/spec/?.so")
local atexit = require "atexit"
package.cpath = cpath
local tracegrip = require "tracegrip"
package.path = path

local types = {
  "name", "callsite", "location", "parameterNames", "arguments", "return",
  "throw", "yield", "depth", "hitCount", "thread"
}

-- Of the traces 1, 2 and 3: they see all, different functions, to some depth,
-- some calls, or some things of them.
local wishes = {
  {{}, {}, {}},
  {{}, {c = false, maxDepth = 3}, {exclude = "^pcall$", maxDepth = 4}},
  {{}, {on = "^pcall$", calls = 3},
   {on = "^coroutine%.resume$", calls = "all", maxDepth = 2}},
  {{on = "^pcall$", calls = "all"}, {on = "^x?pcall$", include = "^coroutine"},
   {on = "^trace$", calls = 2, c = false}},
  {{maxDepth = 1}, {maxDepth = 2}, {include = "%.lua$", maxDepth = 2}},
  {{valueDepth = 1}, {valueDepth = 2, valueProperties = 1},
   {trace = {"name", "thread"}, c = false}}
}
local kinds = wishes[wish % #wishes + 1]

-- Of some programs there would be hundreds.
local most = 8

local running, all, starts = {}, {}, 0
local finish

-- When the state closes, what was made last is finalized first: so each trace
-- has a guard that is younger, and the first one finalized does everything.
local guard = {__gc = function () finish() end}

-- A function like those of the program: it is in the traces, too.
function trace (n)
  local one = running[n]
  if one then
    running[n] = nil
    if one.trace then
      one.trace:stop()
    end
    return
  elseif starts == most then
    return
  end
  starts = starts + 1
  one = {}
  running[n], all[starts] = one, one
  if not only or only == starts then
    kinds[n].trace = kinds[n].trace or types
    kinds[n].valueDepth = kinds[n].valueDepth or 0
    one.trace = tracegrip.start(kinds[n])
  end
  one.guard = setmetatable({}, guard)
end

-- Numbers in order of appearance, for what differs from run to run.
local function renamer ()
  local names, count = {}, 0
  return function (what)
    if what ~= nil and not names[what] then
      count = count + 1
      names[what] = count
    end
    return names[what]
  end
end

local skipped = {time = true, sequence = true}

-- A function without a name is called by how it was called first, which a trace
-- that begins later does not see.
local unnamed = {
  ["for iterator"] = true, ["(anonymous function)"] = true, ["?"] = true,
  __concat = true
}

local function show (value, rename)
  if unnamed[value] then
    return "?"
  elseif type(value) ~= "table" then
    return tostring(value):gsub("0x%x+", rename)
  end
  local keys, parts = {}, {}
  for key in pairs(value) do
    keys[#keys + 1] = key
  end
  table.sort(keys, function (a, b) return tostring(a) < tostring(b) end)
  for _, key in ipairs(keys) do
    parts[#parts + 1] = tostring(key) .. "=" .. show(value[key], rename)
  end
  return "{" .. table.concat(parts, " ") .. "}"
end

local function line (packet, rename, thread)
  local copy = {}
  for key, value in pairs(packet) do
    copy[key] = not skipped[key] and value or nil
  end
  copy.thread = thread(packet.thread)
  copy.hitCount = not unnamed[packet.name] and packet.hitCount or nil
  return (show(copy, rename):gsub("\n", "\\n"))
end

local function write (k, one)
  local file = assert(io.open(directory .. "/" .. k, "w"))
  local rename, thread = renamer(), renamer()
  for packet in one:packets() do
    assert(file:write(line(packet, rename, thread), "\n"))
  end
  file:close()
end

function finish ()
  finish = function () end
  for _, one in pairs(all) do
    if one.trace then
      one.trace:stop()
    end
  end
  for k, one in pairs(all) do
    if one.trace then
      write(k, one.trace)
    end
  end
end

atexit(function () end, {}, function () finish() end)
