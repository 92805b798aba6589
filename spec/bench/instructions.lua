-- instructions.lua - what an event costs in instructions, which no neighbour on
-- the machine changes.
--
--   make all build/spec/bench_hook.so; eval "$(make -s env)"
--   export LUA_CPATH_5_4="build/spec/?.so;$LUA_CPATH_5_4"
--   lua5.4 spec/bench/instructions.lua [PROGRAM...]
--
-- Each program runs under `valgrind --tool=callgrind` at two sizes: their
-- difference has nothing of starting and stopping in it. Printed is what a call
-- or return costs beyond that of an empty C hook.

local TYPES = {
  time = {"name", "time"},
  values = {"name", "time", "arguments", "return", "throw", "yield"},
  all = {"name", "callsite", "time", "parameterNames", "arguments", "return",
         "throw", "yield"}
}

local MODES = {
  {"time", "time", 0}, {"values", "values", 0}, {"all0", "all", 0},
  {"all1", "all", 1}
}

local function fib (n)
  if n < 2 then
    return n
  end
  return fib(n - 1) + fib(n - 2)
end

local Point = {}
Point.__index = Point

local function point (x)
  return setmetatable({x = x, y = 2}, Point)
end

function Point:add (other)
  return self.x + other.x
end

local programs = {
  calls = function (n)          -- a function that calls itself
    local k = 0
    while k < n do
      fib(10)
      k = k + 354
    end
  end,
  methods = function (n)        -- two objects for arguments
    local a, b = point(1), point(2)
    for _ = 1, n // 2 do
      a:add(b)
    end
  end,
  coroutines = function (n)     -- a resume and a yield: four events
    local next = coroutine.wrap(function ()
      while true do
        coroutine.yield(1)
      end
    end)
    for _ = 1, n // 4 do
      next()
    end
  end,
  builtins = function (n)       -- a C function
    local sin = math.sin
    for _ = 1, n // 2 do
      sin(1)
    end
  end,
  documents = function (n)      -- a long string for an argument
    local byte, document = string.byte, ("x"):rep(1000)
    for _ = 1, n // 2 do
      byte(document, 5)
    end
  end
}

local function run (name, mode, n)
  if mode == "empty" then
    local hooks = require "bench_hook"
    hooks.hook "empty"
    programs[name](n)
    hooks.hook "none"
    return
  end
  for _, m in ipairs(MODES) do
    if m[1] == mode then
      local trace = require "tracegrip".start {
        trace = TYPES[m[2]], valueDepth = m[3], buffer = 1 << 30
      }
      programs[name](n)
      trace:stop()
    end
  end
end

local function executed (name, mode, n)
  local command = ("valgrind --tool=callgrind --callgrind-out-file=/dev/null "
                   .. "%s %s --run %s %s %d 2>&1")
                  :format(arg[-1], arg[0], name, mode, n)
  local pipe <close> = io.popen(command)
  local text = pipe:read "a"
  return tonumber(text:match "Collected : (%d+)") or error(text)
end

local function per_event (name, mode)
  local few, many = 354 * 10, 354 * 110
  return (executed(name, mode, many) - executed(name, mode, few))
         / (many - few)
end

if arg[1] == "--run" then
  run(arg[2], arg[3], tonumber(arg[4]))
  return
end

local names = #arg > 0 and arg
              or {"calls", "methods", "coroutines", "builtins", "documents"}
io.write(("%-12s"):format "")
for _, m in ipairs(MODES) do
  io.write(("%8s"):format(m[1]))
end
print()
for _, name in ipairs(names) do
  local empty = per_event(name, "empty")
  io.write(("%-12s"):format(name))
  for _, m in ipairs(MODES) do
    io.write(("%8.0f"):format(per_event(name, m[1]) - empty))
  end
  print()
end
