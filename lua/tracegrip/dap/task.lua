-- task.lua - what waits: functions that run on coroutines, which luv's loop
-- goes on with.
--
--   task.start(f, ...)     runs f on a coroutine of its own, until it waits
--   task.await(begin)      calls begin(done) and returns what 'done' is called
--                          with, at once or later; what it is called with again
--                          is dropped
--   task.turns()           a function turn(): waits until those who called it
--                          before have closed what it gave them, and returns
--                          the same for its caller: local _ <close> = turn()
--
-- Failure: what a task raises that nobody hears any more, a problem
-- (problem.lua) of a program that has ended, is dropped; an error of ours is
-- told on standard error, which editors keep, and ends that task alone.

local core = require "tracegrip.core"
local problem = require "tracegrip.dap.problem"
core.own()

local task = {}

local function traced (err)
  return problem.is(err) and err or debug.traceback(tostring(err), 2)
end

local function guarded (f, ...)
  local ok, err = xpcall(f, traced, ...)
  if not ok and not problem.is(err) then
    io.stderr:write("tracegrip: internal error: ", err, "\n")
  end
end

function task.start (f, ...)
  coroutine.resume(coroutine.create(guarded), f, ...)
end

function task.await (begin)
  local co, result, waits = coroutine.running(), nil, false
  begin(function (...)
    if result then
      return
    end
    result = table.pack(...)
    if waits then
      coroutine.resume(co)
    end
  end)
  if not result then
    waits = true
    coroutine.yield()
  end
  return table.unpack(result, 1, result.n)
end

-- Whoever is next may be done at once: that is seen here, and not from inside.
local function hand_on (turns)
  if turns.handing then
    turns.taken = false
    return
  end
  turns.handing = true
  repeat
    local go_on = table.remove(turns.waiting, 1)
    turns.taken = go_on ~= nil
    if go_on then
      go_on()
    end
  until turns.taken or not go_on
  turns.handing = false
end

function task.turns ()
  local turns = {taken = false, handing = false, waiting = {}}
  local turn = setmetatable({}, {__close = function () hand_on(turns) end})
  return function ()
    if turns.taken then
      task.await(function (done) table.insert(turns.waiting, done) end)
    end
    turns.taken = true
    return turn
  end
end

return task
