-- tracegrip heap --growing: leaks that were planted, each in a program that
-- does other work as well, are named in the first row.

local heaps = require "spec.support.heaps"
local lookedat = require "spec.support.lookedat"
local run = require "spec.support.run"
local waiting = require "spec.support.waiting"

local SCREEN = 20

-- What each program does beside its leak: objects come and go, a list that is
-- full is used again, strings are made.
local around = [[
  local other = {}
  local function work ()
    for i = 1, 300 do
      other[i] = {id = i, text = "text " .. i, f = function () return i end}
    end
    local sum = 0
    for i = 1, 300 do sum = sum + #other[i].text end
    return sum
  end
  %s
  for round = 1, 3 do
    for i = 1, 200 do step((round - 1) * 200 + i) end
    work()
    collectgarbage() collectgarbage()
    say(tostring(round))
    io.read()
  end
  return other]]

-- name, the class that is to be named, who keeps it, code that defines 'step'.
local leaks = {
  {"a listener that is never removed", "Listener", "listeners", [[
    local Listener = {} Listener.__index = Listener
    local bus = {listeners = {}}
    package.loaded.bus = bus
    function step (i)
      local l = setmetatable({id = i, view = {i}}, Listener)
      bus.listeners[#bus.listeners + 1] = l
    end]]},
  {"a cache without end", "Page", "package.loaded.cache.pages", [[
    local Page = setmetatable({}, {__name = "x"}) Page.__name = "Page"
    local cache = {pages = {}}
    package.loaded.cache = cache
    function step (i)
      cache.pages["/page/" .. i] = setmetatable({body = ("x"):rep(100) .. i},
                                                Page)
    end]]},
  {"a closure over a request", "function program.lua", "callbacks", [[
    callbacks = {}
    function step (i)
      local request = {path = "/" .. i, headers = {host = "h" .. i}}
      callbacks[#callbacks + 1] = function () return request end
    end]]},
  {"a coroutine that is never resumed", "thread program.lua", "waiting", [[
    waiting = {}
    local function worker (job)
      local state = {job}
      coroutine.yield()
      return state
    end
    function step (i)
      local co = coroutine.create(function (job) return worker(job) end)
      coroutine.resume(co, {i})
      waiting[co] = true
    end]]},
  {"a reference of C's in the registry", "Handle", "registry", [[
    local Handle = {__name = "Handle"}
    local registry = debug.getregistry()
    function step (i)
      registry[#registry + 1] = setmetatable({i}, Handle)
    end]]},
  {"string keys of a memoizer", "(string)", "memo", [[
    local memo = {}
    function square (text)
      local known = memo[text]
      if not known then known = #text * #text memo[text] = known end
      return known
    end
    function step (i) return square("argument number " .. i) end]]},
  {"a chain of metatables", "table", "top", [[
    top = {}
    function step (i)
      top = setmetatable({level = i}, {__index = top})
    end]]},
  {"an ephemeron that is none", "Session", "extra", [[
    local Session = {__name = "Session"}
    extra = setmetatable({}, {__mode = "k"})
    function step (i)
      extra["session " .. i] = setmetatable({i}, Session)
    end]]},
  {"a table that only grows", "table", "numbers", [[
    numbers = {}
    function step (i)
      for k = 1, 20 do numbers[#numbers + 1] = i * k end
    end]]},
  {"an upvalue of a loop", "function program.lua", "handlers", [[
    handlers = {}
    function step (i)
      local rows = {}
      for k = 1, 3 do
        rows[k] = function () return rows, k end
      end
      handlers["on" .. i] = rows[3]
    end]]},
}

local function snapshots (process)
  local paths = {}
  for round = 1, 3 do
    assert(waiting.till(function ()
      return run.read(process.directory .. "/word") == tostring(round)
             and process:waits()
    end, run.patience), "the program has not come to round " .. round)
    paths[round] = ("%s/%d.heapsnapshot"):format(process.directory, round)
    heaps.take(process.pid, paths[round])
    process.stdin:write "\n"
  end
  return paths
end

local function growing (paths)
  local result, document = heaps.command {"--growing", "--json", "--limit",
    tostring(SCREEN), table.unpack(paths)}
  assert(result.status == 0, result.stderr)
  return document.growing
end

local function is_row (row, class, place)
  return row.name:sub(1, #class) == class
         and (row.path:find(place, 1, true) or row.place:find(place, 1, true))
end

describe("what grows from one snapshot to the next", function ()
  for _, leak in ipairs(leaks) do
    local name, class, place, code = table.unpack(leak)
    it("has " .. name, function ()
      lookedat.with(run.lua, around:format(code), function (process)
        local rows = growing(snapshots(process))
        local words = {}
        for i, row in ipairs(rows) do
          words[i] = ("%s %s %s | %s"):format(table.concat(row.counts, ","),
                                              row.name, row.place, row.path)
        end
        if os.getenv "SHOW" then
          print("\n" .. name .. "\n  " .. table.concat(words, "\n  "))
        end
        assert(rows[1] and is_row(rows[1], class, place),
               "the first row is another\n" .. table.concat(words, "\n"))
        assert.is_true(#rows <= SCREEN)
      end)
    end)
  end

  it("is nothing where nothing leaks", function ()
    lookedat.with(run.lua, around:format "function step () end",
                  function (process)
      local rows = growing(snapshots(process))
      assert.same({}, rows)
    end)
  end)
end)
