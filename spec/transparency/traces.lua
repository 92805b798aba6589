-- traces.lua - traces that a random program starts and stops as it runs.
--
--   lua5.4 -e 'loadfile("traces.lua")(directory, root)' program.lua
--
-- One trace sees the whole program. The program calls trace(n): it starts the
-- n-th kind of trace, or stops it if it is running. At the end, each of these
-- has to be what model.lua derives from the whole; what is not goes to the
-- file "wrong" in `directory`, and the number of traces compared to "count".

-- luacheck: globals trace

local directory, root = ...

local path, cpath = package.path, package.cpath
package.path = root .. "/?.lua;" .. path
package.cpath = cpath:gsub("/lib/lua/5%.%d/%?%.so", "/spec/?.so")
local atexit = require "atexit"
package.cpath = cpath
local tracegrip = require "tracegrip"
local model = require "spec.transparency.model"
package.path = path

local types = {"name", "thread", "depth", "location", "time", "throw"}
local running, all = {}, {}
local calls = 0
local whole

local function options (filter)
  filter.trace = types
  return filter
end

local kinds = {
  options {},
  options {c = false},
  options {exclude = {"^say$", "^num$", "^show$", "^f[135]$", "^coroutine"}},
  options {include = {"^f[24]$", "^num$", "^pcall$", "^error$", "^O:"}},
  options {maxDepth = 3},
  options {maxDepth = 2, exclude = {"^pcall$", "^coroutine", "chunk"}},
  options {maxEvents = 50},
  options {overflow = "stop", buffer = 4096},
  options {overflow = "ring", buffer = 4096},
}

local finish

-- When the state closes, what was made last is finalized first; so each trace
-- has a guard that is younger, and the first one finalized does everything.
local guard = {__gc = function () finish() end}

-- A function like those of the program: it is in the traces too.
function trace (n)
  calls = calls + 1
  local one = running[n]
  if one then
    one.trace:stop()
    one.last, running[n] = calls, nil
  else
    running[n] = {first = calls, options = kinds[n],
                  trace = tracegrip.start(kinds[n])}
    running[n].guard = setmetatable({}, guard)
    all[#all + 1] = running[n]
  end
end

local function write (name, text)
  local file = assert(io.open(directory .. "/" .. name, "w"))
  assert(file:write(text))
  file:close()
end

local function start (mine)
  whole = tracegrip.start(mine)
  return whole
end

function finish ()
  finish = function () end
  whole:stop()
  for i = 1, #all do
    all[i].trace:stop()
  end
  local wrong = model.compare(whole, all)
  if wrong then
    write("wrong", wrong)
  end
  write("count", tostring(#all))
end

atexit(start, {trace = types}, function () finish() end)
