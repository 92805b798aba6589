-- await.lua - waiting, in a coroutine that luv's loop goes on with.
--
--   await(start)    calls start(done) and returns what 'done' is called with,
--                   at once or later; what it is called with again is dropped

local core = require "tracegrip.core"
core.own()

local function go_on (co)
  local ok, err = coroutine.resume(co)
  if not ok then
    error(debug.traceback(co, tostring(err)), 0)
  end
end

return function (start)
  local co, result, waits = coroutine.running(), nil, false
  start(function (...)
    if result then
      return
    end
    result = table.pack(...)
    if waits then
      go_on(co)
    end
  end)
  if not result then
    waits = true
    coroutine.yield()
  end
  return table.unpack(result, 1, result.n)
end
