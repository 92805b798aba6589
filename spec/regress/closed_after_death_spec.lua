-- A coroutine that died of an error and is closed: its __close methods run on
-- it, but they had the number of a coroutine that was never seen before.

local conform = require "spec.support.conform"

local threads = {trace = {"name", "thread"}}

describe("a coroutine that is closed", function ()
  it("after it died has the number that it had", function ()
    conform.check([[
      local object = setmetatable({}, {__close = function () end})
      local function body () local x <close> = object error("boom") end
      start()
      local co = coroutine.create(body)
      coroutine.resume(co)
      coroutine.close(co)
      local other = coroutine.wrap(body)
      pcall(other)
    ]], [[
      > coroutine.create t1
      < coroutine.create return
      > coroutine.resume t1
        > body t2
          > error t2
          < error throw
        < body throw
      < coroutine.resume return
      > coroutine.close t1
        > __close t2
        < __close return
      < coroutine.close return
      > coroutine.wrap t1
      < coroutine.wrap return
      > pcall t1
        > (anonymous function) t1
          > body t3
            > error t3
            < error throw
          < body throw
          > __close t3
          < __close return
        < (anonymous function) throw
      < pcall return
    ]], threads)
  end)

  it("is in the chain, when a trace starts in what its __close resumes",
     function ()
    conform.check([[
      local function after () end
      local inner = coroutine.create(function () start() after() end)
      local object = setmetatable({}, {__close = function ()
        coroutine.resume(inner)
        after()
      end})
      local co = coroutine.create(function ()
        local x <close> = object
        coroutine.yield()
      end)
      coroutine.resume(co)
      coroutine.close(co)
      after()
    ]], [[
      > after t3
      < after return
      > after t2
      < after return
      > after t1
      < after return
    ]], threads)
  end)
end)
