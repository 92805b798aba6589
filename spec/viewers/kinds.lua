-- kinds.lua - every kind of recording that the docs show: a list of {name,
-- words of "tracegrip record", program, words of "tracegrip export", more of
-- these for the format firefox, status = that of the program}.
--
-- Where a program needs time it counts its own processor time, so that there
-- are samples on a machine of any speed.

local busy = [[
  local function inner (n)
    local x = 0
    for i = 1, n do x = x + i % 7 end
    return x
  end
  local function outer (n) return inner(n) + inner(n) end
  local function work (seconds)
    local start = os.clock()
    while os.clock() - start < seconds do outer(2000) end
  end
]]

local marks = busy .. [[
  local console = require "tracegrip.console"
  console.time "all"
  for i = 1, 3 do
    console.time("round " .. i)
    outer(100)
    console.timeEnd("round " .. i)
  end
  console.log("said", {a = 1}, "</script>")
  console.warn "late"
  console.count "again"
  console.timeLog "all"
  console.timeEnd "all"
  console.timeStamp "done"
]]

local coroutines = busy .. [[
  local list = {}
  for i = 1, 4 do
    list[i] = coroutine.wrap(function ()
      for turn = 1, 3 do outer(100 * i) coroutine.yield(turn) end
    end)
  end
  for turn = 1, 3 do
    for i = 1, #list do list[i]() end
  end
]]

local memory = [[
  local function fill (n)
    local t = {}
    for i = 1, n do t[i] = {i, tostring(i)} end
    return t
  end
  for turn = 1, 5 do fill(300 * turn) end
  collectgarbage()
  fill(100)
]]

local values = busy .. [[
  local function take (...) return ... end
  local t = setmetatable({1, 2, key = "value", password = "hush"},
                         {__name = "Thing"})
  take(t, "\0\xff</script>\u{2028}", 0/0, 1/0, -0.0, math.mininteger, nil,
       print, coroutine.create(print), io.stdout)
  take(("x"):rep(5000))
]]

return {
  {"calls", {}, busy .. "outer(100) work(0.002)"},
  {"calls without values", {"--trace", "name,time"}, busy .. "outer(100)"},
  {"values of all types", {"--redact", "password"}, values},
  {"a program of no call", {"--no-c", "--include", "nothing"}, busy},
  {"samples", {"--sample", "2000"}, busy .. "work(0.02)"},
  {"samples by the clock", {"--wall"},
   busy .. 'work(0.02) os.execute "sleep 0.01"'},
  {"calls and samples", {"--sample", "2000", "--trace", "name,time"},
   busy .. "work(0.02)"},
  {"allocations", {"--memory"}, memory},
  {"allocations in a program of three calls", {"--memory"},
   "local function f () return {} end f() f()"},
  {"the size of the heap", {"--trace", "name,time,memory"}, memory},
  {"all that can be recorded",
   {"--memory", "--sources", "--sample", "2000", "--trace",
    "name,callsite,time,parameterNames,arguments,return,throw,yield,location,"
    .. "depth,hitCount,thread,markers,memory,allocations"},
   memory .. marks .. coroutines, {}, {"--sources"}},
  {"markers and timers", {}, marks},
  {"markers alone", {"--include", "nothing"}, marks},
  {"coroutines", {}, coroutines},
  {"one coroutine", {}, coroutines, {"--thread", "3"}},
  {"a ring", {"--ring", "--buffer", "64K"},
   coroutines .. busy .. "for i = 1, 20000 do outer(1) end"},
  {"a full buffer", {"--buffer", "64K"},
   busy .. "for i = 1, 20000 do outer(1) end"},
  {"a number of events", {"--max-events", "20"}, coroutines},
  {"a program that was killed", {},
   busy .. 'outer(100) os.execute "kill -9 $PPID"', status = 137},
  {"errors", {}, [[
     local function fail (n) if n == 0 then error {code = 1} end fail(n - 1) end
     pcall(fail, 5)
     fail(3)]], status = 1},
  {"deep recursion", {},
   "local function f (n) if n > 0 then f(n - 1) end end f(12000)"},
  {"calls left out", {}, coroutines, {"--limit", "20"}},
  {"short calls left out", {}, coroutines, {"--min-ms", "0.001"}},
  {"a part of the time", {}, coroutines, {"--from", "+0.005"}},
  {"times as recorded", {}, marks .. coroutines, {"--raw"}},
  {"a trace of several", {}, coroutines .. [[
     local console = require "tracegrip.console"
     console.startTrace "one" outer(10) console.startTrace "two"
     outer(20) console.stopTrace "two" console.stopTrace "one"]],
   {"--trace", "two"}}
}
