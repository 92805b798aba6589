-- schedulers.lua - random programs with coroutines that take turns, and what a
-- line hook sees in them.
--
--   schedulers.generate(seed)     the text of a program that always does the
--                                 same. Its statements count themselves in the
--                                 global "n"
--   schedulers.log(text)          list of {line =, n =, taken =}: its line
--                                 events, run without a debugger; taken: the
--                                 program has a hook of its own there
--
-- The programs resume by coroutine.resume, by what coroutine.wrap gave, and by
-- a copy of Lua's own function (debugger.keeping), which a coroutine with a
-- hook of the program's does not: nothing is seen there. They set hooks, and
-- take them away, on what runs and on what is suspended; they yield across
-- pcall, in iterators and from below other coroutines, raise errors, and close
-- coroutines with variables that are to be closed.

local run = require "spec.support.run"

local schedulers = {}

---------------------------------------------------------------------------
-- Programs
---------------------------------------------------------------------------

local head = [[
n = 0
local resume, create, close = coroutine.resume, coroutine.create,
                              coroutine.close
local yield, wrap = coroutine.yield, coroutine.wrap
local running = coroutine.running
local hooked = setmetatable({}, {__mode = "k"})
local function hook (co)
  hooked[co] = true
  debug.sethook(co, function () end, "", 1000)
end
local function unhook (co)
  hooked[co] = nil
  debug.sethook(co)
end
local function old (co, a)
  return (hooked[running()] and resume or kept.resume)(co, a)
end
local closed = {__close = function ()
  n = n + 1
end}
local function leaf (a)
  n = n + 1 local b = a + 1
  n = n + 1 return b
end
local function deep (a)
  n = n + 1 if a == 0 then yield(a) return 0 end
  n = n + 1 local b = deep(a - 1)
  n = n + 1 return b
end
local function numbers (most)
  return wrap(function ()
    for i = 1, most do
      n = n + 1 yield(i)
    end
  end)
end
local fibers = {}
local function start (f)
  n = n + 1 fibers[#fibers + 1] = create(f)
end
]]

local tail = [[
local function turn (i, co)
  n = n + 1
  if i % 3 == 0 then
    old(co, i)
  elseif i % 3 == 1 then
    resume(co, i)
  else
    numbers(2)()
    resume(co, i)
  end
  n = n + 1
end
for round = 1, 12 do
  for i = #fibers, 1, -1 do
    if coroutine.status(fibers[i]) == "dead" then
      table.remove(fibers, i)
    else
      turn(i + round, fibers[i])
    end
  end
  n = n + 1
  local co = fibers[round % 5 + 1]
  if co and round % 4 == 1 then hook(co) end
  if co and round % 4 == 3 then unhook(co) end
  if co and round == 9 then close(co) end
  if round % 5 == 2 then hook(running()) end
  if round % 5 == 4 then unhook(running()) end
end
n = n + 1 print("done", n)
]]

local statements = {
  "n = n + 1 leaf(n)",
  "n = n + 1 yield(n)",
  "n = n + 1 yield(n)",
  "n = n + 1 local x = yield(n)\n  n = n + 1 leaf(x or 0)",
  "n = n + 1 deep(2)",
  "n = n + 1 pcall(function ()\n    n = n + 1 yield(1)\n    n = n + 1 "
    .. "error 'x'\n  end)",
  "for i in numbers(3) do\n    n = n + 1 leaf(i)\n  end",
  "for i = 1, 3 do\n    n = n + 1 if i == 2 then yield(i) end\n  end",
  "n = n + 1 local c <close> = setmetatable({}, closed)",
  "n = n + 1 hook(running())\n  leaf(1)\n  n = n + 1 unhook(running())",
  "n = n + 1 if #fibers < 8 then start(leaf) end",
  "n = n + 1 local inner = create(deep)\n  resume(inner, 1)\n  n = n + 1 "
    .. "old(inner)",
  "n = n + 1 local f = wrap(leaf)\n  f(1)",
}

local function body (random, number)
  local out = {("local function body%d (a)"):format(number),
               "  for turn = 1, " .. random(2, 5) .. " do"}
  for _ = 1, random(2, 6) do
    out[#out + 1] = "  do " .. statements[random(#statements)] .. " end"
  end
  out[#out + 1] = "  n = n + 1 yield(turn)\n  end\n  n = n + 1\nend"
  out[#out + 1] = ("start(body%d)"):format(number)
  return table.concat(out, "\n")
end

function schedulers.generate (seed)
  math.randomseed(seed)
  local out = {head}
  for number = 1, math.random(3, 6) do
    out[#out + 1] = body(math.random, number)
  end
  out[#out + 1] = tail
  return table.concat(out, "\n")
end

---------------------------------------------------------------------------
-- What a line hook sees
---------------------------------------------------------------------------

-- The program's own hooks are noted and not set: the line hook is in their
-- place.
local logger = [[
local create, wrap, running = coroutine.create, coroutine.wrap,
                              coroutine.running
local sethook, getinfo, write = debug.sethook, debug.getinfo, io.write
kept = {resume = coroutine.resume}
local taken = setmetatable({}, {__mode = "k"})
local function hook (_, line)
  if getinfo(2, "S").source == "@app.lua" then
    write(line, " ", n or 0, taken[running()] and " taken\n" or "\n")
  end
end
function coroutine.create (f)
  local co = create(f)
  sethook(co, hook, "l")
  return co
end
function coroutine.wrap (f)
  return wrap(function (...)
    sethook(hook, "l")
    return f(...)
  end)
end
function debug.sethook (co, f)
  if type(co) ~= "thread" then
    co, f = running(), co
  end
  taken[co] = f and true or nil
end
print = function () end
local program = assert(loadfile "app.lua")
sethook(hook, "l")
program()
sethook()
]]

function schedulers.log (text)
  local done = run.command({run.lua, "log.lua"}, {
    files = {["app.lua"] = text, ["log.lua"] = logger}
  })
  assert(done.status == 0, done.stderr)
  local log = {}
  for line, n, taken in done.stdout:gmatch "(%d+) (%d+)( ?%a*)\n" do
    log[#log + 1] = {line = tonumber(line), n = tonumber(n),
                     taken = taken ~= ""}
  end
  return log
end

return schedulers
