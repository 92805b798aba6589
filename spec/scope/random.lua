-- random.lua - a random program with traces whose sessions are checked.
--
--   lua5.4 -e 'loadfile("random.lua")(directory, root)' program.lua
--
-- One trace sees the whole program; trace(n), which the program calls, starts
-- and stops others, so that frames are open at both ends of those. At the end
-- questions about each are compared with plain Lua's answers, with segments of
-- several lengths. What is wrong goes to the file "wrong" in `directory`, and
-- the number of questions to "count".

-- luacheck: globals trace

local directory, root = ...

local path, cpath = package.path, package.cpath
package.path = root .. "/?.lua;" .. path
package.cpath = cpath:gsub("/lib/lua/5%.4/%?%.so", "/spec/?.so")
local atexit = require "atexit"
package.cpath = cpath
local tracegrip = require "tracegrip"
local scope = require "tracegrip.scope"
local compare = require "spec.scope.compare"
package.path = path

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
  kinds[n].trace = compare.types
  kinds[n].valueDepth = 0
  running[n] = tracegrip.start(kinds[n])
  all[#all + 1] = running[n]
  all[setmetatable({}, guard)] = true
end

local function write (name, text)
  local file = assert(io.open(directory .. "/" .. name, "w"))
  assert(file:write(text))
  file:close()
end

local function check (what, one, questions, stride)
  local wrong = compare.trace(scope.new(), one, questions, count + 1,
                              {stride = stride})
  count = count + questions
  if wrong then
    write("wrong", ("%s, stride %s: %s"):format(what, stride, wrong))
    error(wrong)
  end
end

function finish ()
  finish = function () end
  whole:stop()
  for _, one in ipairs(all) do
    one:stop()
  end
  local events = whole.events
  for _, stride in ipairs {0, 1, 7, 100, 1000} do
    if events < 20000 or stride >= 100 then
      check("the whole", whole, events < 4000 and 40 or 10, stride)
    end
  end
  for i, one in ipairs(all) do
    check(("trace %d"):format(i), one, 10, i % 2 == 0 and 3 or 40)
  end
  write("count", tostring(count))
end

local function start (options)
  whole = tracegrip.start(options)
  return whole
end

atexit(start, {trace = tracegrip.traceTypes, valueDepth = 0},
       function () finish() end)
