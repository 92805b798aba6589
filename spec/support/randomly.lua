-- randomly.lua - traces in a random program, for what checks them at its end.
--
--   loadfile("randomly.lua")(directory, root, {fields = {...}, check = f})
--
-- One trace sees the whole program; trace(n), which the program calls, starts
-- and stops others, with `fields` in their options, so that frames are open at
-- both ends of those. At the end f(whole, list, ask) is called: it calls
-- ask(n, what, wrong) for n comparisons made, 'wrong' what was found wrong or
-- nil. That goes to the file "wrong" in `directory`, and the number of
-- comparisons to "count".

-- luacheck: globals trace

local directory, root, how = ...

local cpath = package.cpath
package.cpath = cpath:gsub("/lib/lua/5%.%d/%?%.so", "/spec/?.so")
local atexit = require "atexit"
package.cpath = cpath
local tracegrip = require "tracegrip"

local running, all = {}, {}
local whole, count = nil, 0

local kinds = {
  {}, {c = false}, {exclude = {"^say$", "^num$", "^f[135]$", "^coroutine"}},
  {include = {"^f[24]$", "^num$", "^pcall$", "^O:"}}, {maxDepth = 3},
  {maxDepth = 2, exclude = {"^pcall$", "chunk"}}, {maxEvents = 50},
  {minDuration = 0.005}, {overflow = "ring", buffer = 4096},
}

local finish

-- When the state closes, what was made last is finalized first; so each trace
-- has a guard that is younger, and the first one finalized does everything.
local guard = {__gc = function () finish() end}

function trace (n)
  local one = running[n]
  if one then
    one:stop()
    running[n] = nil
    return
  end
  for key, value in pairs(how.fields) do
    kinds[n][key] = value
  end
  running[n] = tracegrip.start(kinds[n])
  all[#all + 1] = running[n]
  all[setmetatable({}, guard)] = true
end

local function write (name, text)
  local file = assert(io.open(directory .. "/" .. name, "w"))
  assert(file:write(text))
  file:close()
end

local function ask (n, what, wrong)
  count = count + n
  if wrong then
    write("wrong", what .. ": " .. wrong)
    error(wrong)
  end
end

function finish ()
  finish = function () end
  whole:stop()
  for _, one in ipairs(all) do
    one:stop()
  end
  how.check(whole, all, ask)
  write("count", tostring(count))
end

local function start (options)
  whole = tracegrip.start(options)
  return whole
end

-- What the checks need of the tree is not in the program's way.
local path = package.path
package.path = root .. "/?.lua;" .. path
how.prepare()
package.path = path

atexit(start, {trace = tracegrip.traceTypes, valueDepth = 0},
       function () finish() end)
