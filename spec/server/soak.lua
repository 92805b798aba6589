-- soak.lua - clients come and go, for a long time, and nothing is left behind.
--
--   lua5.4 spec/server/soak.lua [SECONDS] [ROUNDS] [SEED]
--
-- A second process computes, checks its own results, and listens. Here clients
-- attach, trace, stop, detach, hang up in the middle, say half a packet, get in
-- each other's way, in random order, so many times and for so long at least
-- (10000, 600). The process's memory and descriptors are looked at meanwhile:
-- at the end they must not be more than a while after the beginning. Exit
-- status 0 if all is well.

local client = require "tracegrip.client"
local uv = require "luv"

local seconds = tonumber(arg[1]) or 600
local rounds = tonumber(arg[2]) or 10000
local seed = tonumber(arg[3]) or os.time()

local LONGEST = 60000       -- ms that a visit may take
local GROWTH = 1 << 20      -- bytes of memory that it may have more
local LATE = 2               -- descriptors: a client has gone, unnoticed as yet

local program = [[
  local listening = assert(require "tracegrip".listen {port = 0})
  io.stdout:write(listening.address, "\n")
  io.stdout:flush()
  local function fib (n)
    return n < 2 and n or fib(n - 1) + fib(n - 2)
  end
  local function walk (n)
    for i = 1, n do
      coroutine.yield({i = i, s = ("x"):rep(i)})
    end
  end
  while true do
    assert(fib(12) == 144)
    local n = 0
    for object in coroutine.wrap(walk), 9 do
      n = n + #object.s
      if object.i == 9 then break end
    end
    assert(n == 45)
    assert(not pcall(error, "on purpose"))
    os.execute "sleep 0.001"
    local there, message = io.stdout:write "\n"
    if there then
      there, message = io.stdout:flush()
    end
    if not there then   -- nobody is
      io.stderr:write("soak: the program cannot write: ", message, "\n")
      os.exit(0)
    end
  end
]]

---------------------------------------------------------------------------
-- The process
---------------------------------------------------------------------------

local function start_process ()
  local output, address = uv.new_pipe(), nil
  local process, pid
  process, pid = assert(uv.spawn(arg[-1], {
    args = {"-e", program}, stdio = {nil, output, 2}
  }, function (status, signal)
    process:close()
    if signal ~= 9 then
      io.stderr:write("soak: the program has ended: status ", status,
                      ", signal ", signal, "\n")
      os.exit(1)
    end
  end))
  output:read_start(function (_, piece)
    address = address or piece    -- what comes then only says: still here
  end)
  while not address do
    uv.run "once"
  end
  return pid, math.tointeger(address:match ":(%d+)")
end

local function words_of (path)
  local file <close> = assert(io.open(path))
  local words = {}
  for word in file:read("a"):gmatch "%S+" do
    words[#words + 1] = word
  end
  return words
end

-- Bytes of memory, and how many descriptors.
local function usage (pid)
  local pages = tonumber(words_of("/proc/" .. pid .. "/statm")[2])
  local fds, n = assert(uv.fs_scandir("/proc/" .. pid .. "/fd")), 0
  while uv.fs_scandir_next(fds) do
    n = n + 1
  end
  return pages * 4096, n
end

---------------------------------------------------------------------------
-- What clients do
---------------------------------------------------------------------------

local port

local function connect ()
  return assert(client.connect {port = port})
end

local types = {"name", "callsite", "time", "parameterNames", "arguments",
               "return", "throw", "yield", "location", "depth", "hitCount",
               "thread"}

local function some_types ()
  local list = {}
  for _, name in ipairs(types) do
    if math.random(2) == 1 then
      list[#list + 1] = name
    end
  end
  return list
end

local function start (tracer, fields)
  fields = fields or {}
  fields.trace = some_types()
  fields.batch = math.random(2) == 1 and math.random(200) or nil
  fields.buffer = 256 << 10     -- that is what a stop or detach waits for
  return assert(tracer:startTrace(fields))
end

-- Reads some packets, which must be in sequence.
local function read (trace, n)
  local expected = 0
  if n == 0 then
    return
  end
  for packet in trace:packets() do
    assert(packet.sequence == expected)
    expected = expected + 1
    if expected == n then
      return
    end
  end
end

local visits = {}

function visits.glance ()
  local connection <close> = connect()
  assert(connection:attach()):detach()
end

function visits.trace ()
  local connection <close> = connect()
  local tracer = assert(connection:attach())
  local trace = start(tracer)
  read(trace, math.random(50))
  assert(tracer:stopTrace())
  assert(tracer:detach())
end

function visits.several ()
  local connection <close> = connect()
  local tracer = assert(connection:attach())
  for i = 1, math.random(4) do
    start(tracer, {name = "t" .. math.random(i)})
  end
  read(tracer.router.traces[1], math.random(20))
  assert(tracer:detach())
end

function visits.short ()
  local connection <close> = connect()
  local tracer = assert(connection:attach())
  local trace = start(tracer, {maxEvents = math.random(100)})
  assert(trace:wait())
  assert(trace.why == "maxEvents")
end

function visits.hang_up ()
  local connection <close> = connect()
  local trace = start(assert(connection:attach()))
  read(trace, math.random(0, 30))
end

function visits.knock ()
  local connection <close> = connect()
  if math.random(2) == 1 then
    connection.handle:write(('17:{"to":"trace1","x":'):sub(1, math.random(18)))
  end
end

function visits.nonsense ()
  local connection <close> = connect()
  connection.handle:write(math.random(2) == 1 and "x:" or '4:nul{2:{}')
  connection:run(0.001)
end

function visits.crowd ()
  local first <close> = connect()
  local second <close> = connect()
  local tracer = assert(first:attach())
  assert(select(3, second:attach()) == "wrongState")
  assert(tracer:detach())
  assert(second:attach()):detach()
end

-- Sometimes it goes without a word, sometimes before anything has happened. Not
-- in a short run: the memory for it takes a while to come to its size.
function visits.profile ()
  local connection <close> = connect()
  local function ask (fields)
    fields.to = "profiler1"
    return connection:request(fields)
  end
  assert(ask {type = "startProfiler", startMode = 1, windowID = 1}.sessionID)
  connection:run(math.random(0, 3) / 1000)
  if math.random(3) > 1 then
    local session = ask {type = "stopProfiler", sessionID = 1}
    assert(ask({type = "getEvents", sessionID = 1, timelineID = 1,
                mode = math.random(2, 4)}).eventList, session.message)
  end
  if math.random(2) == 1 then
    ask {type = "releaseSession"}
  end
end

if seconds < 60 then
  visits.profile = nil
end

local kinds = {}
for kind in pairs(visits) do
  kinds[#kinds + 1] = kind
end
table.sort(kinds)

-- Those before may not have been missed yet.
local patient = {"Already attached", "ended it", "has closed the connection"}

local function is_crowded (message)
  for _, words in ipairs(patient) do
    if message:find(words, 1, true) then
      return true
    end
  end
  return false
end

local watchdog = uv.new_timer()
watchdog:unref()

local function visit ()
  local kind = kinds[math.random(#kinds)]
  watchdog:start(LONGEST, 0, function ()
    io.stderr:write("soak: too long a visit: ", kind, "\n")
    os.exit(1)
  end)
  for _ = 1, 1000 do
    local ok, message = pcall(visits[kind])
    if ok then
      return
    elseif not is_crowded(tostring(message)) then
      error(kind .. ": " .. tostring(message), 0)
    end
    uv.sleep(1)
  end
  error(kind .. ": nobody gets in", 0)
end

---------------------------------------------------------------------------
-- All of it
---------------------------------------------------------------------------

local samples = {}

-- Looks at the process: the line about it.
local function look (pid, passed, n, elapsed)
  local memory, fds = usage(pid)
  table.insert(samples, {passed = passed, memory = memory, fds = fds})
  print(("soak: %6d rounds, %4.0f s, %8.0f KiB, %d descriptors"):format(
    n, elapsed, memory / 1024, fds))
end

-- The least that it had of something between two moments: what it has of its
-- own accord comes and goes.
local function least (what, from, to)
  local value = math.huge
  for _, sample in ipairs(samples) do
    if sample.passed >= from and sample.passed <= to then
      value = math.min(value, sample[what])
    end
  end
  return value
end

local pid
pid, port = start_process()
math.randomseed(seed)
print(("soak: %d rounds, %d seconds at least, seed %d"):format(rounds, seconds,
                                                             seed))
-- Until then buffers grow to the size that they keep.
for _ = 1, 100 do
  visit()
end
uv.update_time()
local began = uv.now()
local n, passed, next_look = 0, 0, 0

while passed < 1 do
  visit()
  n = n + 1
  uv.update_time()
  local elapsed = (uv.now() - began) / 1000
  passed = math.min(n / rounds, elapsed / seconds)
  if passed >= next_look then
    next_look = next_look + 0.05
    look(pid, math.min(passed, 1), n, elapsed)
  end
end

uv.kill(pid, "sigkill")
uv.run()
local memory = least("memory", 0.8, 1) - least("memory", 0.2, 0.4)
local fds = least("fds", 0.8, 1) - least("fds", 0.2, 0.4)
print(("soak: %d rounds: %+.0f KiB, %+d descriptors"):format(n, memory / 1024,
                                                           fds))
os.exit(memory < GROWTH and fds <= LATE)
