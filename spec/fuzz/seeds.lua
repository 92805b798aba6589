-- seeds.lua - makes the small recordings from which the fuzzer begins.
--
--     lua5.4 spec/fuzz/seeds.lua TRACEGRIP TEST_FUZZ
--
-- with the paths of the command and of replay.c's program, writes them into
-- spec/fuzz/corpus. Their bytes are other ones each time (clocks, process ids),
-- so this is run when the format has changed, and not as a test. Those whose
-- names begin with "found" are the fuzzer's own: each once broke a promise.
-- "packed" and "columns" were made by hand, from small recordings: the events
-- of one are packed by the program zstd, behind an empty block, those of the
-- other are "values", packed in columns.

local command, packer = table.unpack(arg)
local corpus = "spec/fuzz/corpus/"

local programs = {}

programs.calls = {[[
  local function fib (n)
    if n < 2 then return n end
    return fib(n - 1) + fib(n - 2)
  end
  local function loop (n) if n > 0 then return loop(n - 1) end return "end" end
  fib(5) loop(4)
  string.rep("x", 3) math.max(1, 2.5) select("#", nil, nil)
]]}

programs.values = {[[
  local t = setmetatable({1, 2, "three", x = {y = {z = {}}}}, {
    __name = "Point", __index = function () end})
  t.self, t[t], t[1.5], t[true], t[-0.0] = t, print, "f", 1 << 62, 0/0
  t["\xff bytes"], t["[1]"], t["a\nb"] = "\xff\0", ("long"):rep(100), "é"
  local function f (...) return ... end
  f(t, t.x, coroutine.create(f), io.stdout, f, print)
  f(nil, true, false, 0, 63, 64, -1, math.mininteger, 1.5, 1/0, 0/0)
  local again = ("again and "):rep(20)
  for i = 1, 4 do f(again, again, {again, [again] = i}) end
]], "--value-depth 3"}

programs.alike = {[[
  local function f (...) return ... end
  local document = ("again and "):rep(20)
  for i = 1, 4 do
    local t = {i, kind = "node", line = i, parent = {}, text = "t" .. i}
    f(t) f(t, {kind = "node", line = 1, parent = t})
    t.line, t[2], t.text = 0, document, nil
    f(document, t, t)
  end
]]}

-- The same with objects that come next.
programs.next = {[[
  local function f (a, b) return a end
  for i = 1, 5 do
    local t = {kind = "node", line = i, parent = {}, text = "t", ready = f}
    f(t, {kind = "node", line = 1, parent = t, text = "t", ready = print})
  end
]]}

-- Calls and returns of the shorter forms, many tables that are only named.
programs.rows = {[[
  local function f (...) return ... end
  local function row (n)
    local t = {}
    for i = 1, n do t[i] = i % 3 > 0 and {i} or setmetatable({}, {}) end
    return t
  end
  local function pass (t, n) return f(t, row(n)) end
  local function work ()
    for n = 1, 20, 6 do pass(row(n), n) f() f(n, "text", ("x"):rep(40)) end
    f(("x"):rep(60), ("y"):rep(60), ("z"):rep(60))
  end
  work()
]]}

programs.coroutines = {[[
  local function gen (n)
    for i = 1, n do coroutine.yield(i, {i}) end
    error {n}
  end
  local a, b = coroutine.wrap(gen), coroutine.create(gen)
  for i = 1, 3 do a(3) coroutine.resume(b, 2) end
  pcall(a) coroutine.resume(b)
  local c = coroutine.create(gen)
  coroutine.resume(c, 5) coroutine.close(c)
  coroutine.wrap(function () coroutine.wrap(gen)(1) end)()
]]}

programs.errors = {[[
  local function deep (n) if n == 0 then error {code = n} end deep(n - 1) end
  pcall(deep, 6)
  xpcall(deep, function (e) return e end, 2)
  xpcall(deep, debug.traceback, 1)
  pcall(error) pcall(error, nil) assert(not pcall(nil))
  deep(1)
]]}

programs.traces = {[[
  local tracegrip = require "tracegrip"
  local function f (a, b) return a, b end
  local one = tracegrip.start {name = "one", types = {"name", "time"}}
  f(1, 2)
  local two = tracegrip.start {name = "two", include = {"^f$", "ma.-x"},
                               redact = {"^b$"}, maxEvents = 3}
  f(3, 4) math.max(5, 6)
  one:stop()
  f {password = 7}
  two:stop()
]], "--redact pass --max-depth 4"}

programs.short = {[[
  local function nop () end
  local function busy (n) for _ = 1, n do nop() end end
  for i = 1, 3 do busy(i) end
  local s = ("x"):rep(10000):gsub("x", "yy")
]], "--min-duration 0.001 --trace name,time,arguments,depth,thread,hitCount"}

programs.ring = {[[
  local function f (n) if n > 0 then f(n - 1) end end
  local co = coroutine.wrap(function () while true do coroutine.yield() end end)
  for i = 1, 5 do f(3) co() end
]], "--ring"}

programs.held = {[[
  local kept = {}
  local function keep (n) for i = 1, n do kept[#kept + 1] = {i} end end
  local function drop () kept = {} collectgarbage() end
  for i = 1, 3 do keep(5) coroutine.wrap(keep)(3) drop() end
  keep(20)
  local s = ("x"):rep(100):rep(100)
]], "--memory"}

programs.held_samples = {programs.held[1], "--memory-every 64"}

programs.killed = {[[
  local function f (n) return {n} end
  for i = 1, 20 do f(i) end
  io.popen("kill -9 $PPID"):read "a"
  while true do f(1) end
]]}

-- Some samples of each; the clock decides how many.
local spins = [[
  local function spin (n)
    local x = 0
    for i = 1, n do x = x + i % 7 end
    return x
  end
  local function work (n) return spin(n) + spin(2 * n) end
  local co = coroutine.wrap(function (n)
    while true do coroutine.yield(work(n)) end
  end)
  for _ = 1, 12 do work(2000) co(2000) end
]]

programs.samples = {spins, "--sample 10000"}

programs.sampled = {spins, "--sample 10000 --include work --trace "
                           .. "name,callsite,time,thread"}

local function run (line)
  print(line)
  return os.execute(line)
end

local name = os.tmpname()
for title, program in pairs(programs) do
  local file = assert(io.open(name .. ".lua", "w"))
  file:write(program[1])
  file:close()
  os.remove(name .. ".rec")
  run(("%s record %s -o %s.rec %s.lua >%s.out 2>&1"):format(
    command, program[2] or "", name, name, name))
  assert(run(("%s --pack %s.rec %s%s"):format(packer, name, corpus, title)))
end
os.execute("rm -f " .. name .. "*")
