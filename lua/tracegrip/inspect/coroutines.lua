-- coroutines.lua - the coroutines of the program by number, as a debug adapter
-- shows them: as threads.
--
--   coroutines.list(co, most)   at most so many of them as {id =, co =, status
--                               =}: those that run, 'co' first, the others, the
--                               newest first; and how many there are, if those
--                               that run are not so many already
--   coroutines.of(id)           that of a number; raises a fault
--   coroutines.name(co)         what it is: "main", or the function that it was
--                               made with
--
-- The main one is number 1, the others are counted as they are met: a number is
-- for one coroutine as long as that lives. None is kept alive by it.

local core = require "tracegrip.core"
local fault = require "tracegrip.inspect.fault"
local scripts = require "tracegrip.inspect.scripts"
core.own()

local getinfo, status = debug.getinfo, coroutine.status

local coroutines = {}

local numbers = setmetatable({}, {__mode = "k"})    -- coroutine -> number
local by_number = setmetatable({}, {__mode = "v"})
local last = 1

local function number_of (co, is_main)
  if not numbers[co] then
    last = is_main and last or last + 1
    numbers[co] = is_main and 1 or last
    by_number[numbers[co]] = co
  end
  return numbers[co]
end

-- A coroutine's status is asked of our own: those that run are "normal" then,
-- the one that stands still too.
local function add (list, co, id, running)
  list[#list + 1] = {id = id, co = co, status = running or status(co)}
end

function coroutines.list (co, most)
  local chain, list, running = core.inspector.chain(co), {}, {}
  for i, one in ipairs(chain) do
    running[one] = true
    if i <= most then
      add(list, one, number_of(one, i == #chain),
          i == 1 and "running" or "normal")
    end
  end
  if #list == most then
    return list, #list          -- to count them, all objects are looked at
  end
  local others, total = core.inspector.coroutines(most)
  for _, one in ipairs(others or {}) do
    if not running[one] and #list < most then
      add(list, one, number_of(one))
    end
  end
  return list, math.max(total and total + 1 or 0, #list)
end

function coroutines.of (id)
  return by_number[id] or fault.raise("There is no coroutine %d", id)
end

-- The outermost function; levels are found as in frames.lua.
local function outermost (co)
  local low, high = 0, 1
  while getinfo(co, high, "l") do
    low, high = high, high * 2
  end
  while low + 1 < high do
    local middle = (low + high) // 2
    if getinfo(co, middle, "l") then
      low = middle
    else
      high = middle
    end
  end
  return getinfo(co, low, "Sf")
end

local names = setmetatable({}, {__mode = "k"})      -- coroutine -> its name

local function name_of (co)
  local info = outermost(co)
  if not info then
    return "not begun"
  elseif info.what == "C" then
    return "[C]"
  end
  local name = info.what == "main" and "main chunk"
               or scripts.declared(scripts.meet(info.source), info.linedefined)
  return string.format("%s %s:%d", name or "function",
                       string.match(info.short_src, "[^/]*$"),
                       math.max(info.linedefined, 1))
end

-- It stays what it was once it has begun.
function coroutines.name (co)
  if numbers[co] == 1 then
    return "main"
  end
  local name = names[co] or name_of(co)
  if name ~= "not begun" then
    names[co] = name
  end
  return name
end

return coroutines
