-- streaming.lua - what a client on the same machine gets, and what that costs
-- the program which it traces.
--
--   lua5.4 spec/bench/streaming.lua [REPETITIONS] [PROGRAM]
--
-- A second process runs a program (spec/bench/work) again and again: untraced,
-- traced into memory, and traced by this process, which is its client. Its time
-- is the processor time of its traced thread: what the server's thread does is
-- not in it, nor is waiting; the buffer holds a whole run. Rates are by the
-- clock, from the program's start to the reply to stopTrace. Medians of the
-- repetitions.

local core = require "tracegrip.core"
local here = arg[0]:match "^(.*)/" or "."

local BUFFER = 64 << 20

local types = {
  time = {"name", "time"},
  all = {"name", "callsite", "time", "parameterNames", "arguments", "return",
         "throw", "yield"}
}

---------------------------------------------------------------------------
-- The program
---------------------------------------------------------------------------

-- Does what its standard input says: "plain", "memory TYPES", "stream".
local function serve (name)
  local hooks = require "bench_hook"
  local run = dofile(here .. "/work/" .. name .. ".lua")
  local listening = assert(core.listen {host = "127.0.0.1", port = 0})
  hooks.hook "count"
  run()
  print(listening.address, hooks.count())
  hooks.hook()
  for line in io.lines() do
    local mode, what = line:match "^(%a+) ?(%a*)$"
    local trace = mode == "memory" and core.start {trace = types[what],
                                                   buffer = 1 << 30}
    collectgarbage()
    collectgarbage()
    local began = hooks.now()
    run()
    local ns = hooks.now() - began
    if trace then
      trace:stop()
    end
    print(ns)
    io.stdout:flush()
  end
end

if arg[1] == "serve" then
  io.stdout:setvbuf "line"
  serve(arg[2])
  os.exit()
end

---------------------------------------------------------------------------
-- The client
---------------------------------------------------------------------------

local client = require "tracegrip.client"
local uv = require "luv"
local wire = require "tracegrip.wire"

local reps = tonumber(arg[1]) or 5
local name = arg[2] or "calls"

local Program = {}
Program.__index = Program

local function spawn ()
  local input, output = uv.new_pipe(), uv.new_pipe()
  local self = setmetatable({input = input, text = ""}, Program)
  local script = arg[0]
  self.process = assert(uv.spawn(arg[-1], {
    args = {script, "serve", name}, stdio = {input, output, 2}
  }, function () self.process:close() end))
  output:read_start(function (_, piece)
    if not piece then
      return output:close()
    end
    self.text = self.text .. piece
    local line, rest = self.text:match "^(.-)\n(.*)$"
    if line then
      self.text = rest
      assert(coroutine.resume(self.reader, line))
    end
  end)
  return self
end

-- The next line that the program says; in a coroutine.
function Program:read ()
  self.reader = coroutine.running()
  return coroutine.yield()
end

-- Has it run once: the nanoseconds.
function Program:run (order)
  self.input:write(order .. "\n")
  return tonumber(self:read())
end

local function median (list)
  table.sort(list)
  return list[(#list + 1) // 2]
end

-- One run with a client of ours: what the program needed, packets a second.
local function streamed (program, tracer, fields)
  local trace = assert(tracer:startTrace(fields))
  local n = 0
  trace.onframe = function () n = n + 1 end
  local began = uv.hrtime()
  local ns = program:run "stream"
  assert(tracer:stopTrace())
  return ns, n * 1e9 / (uv.hrtime() - began), n
end

-- The same with one that does not look at what comes: also bytes a packet.
local function counted (program, port, fields)
  local socket, bytes, tail = uv.new_tcp(), 0, ""
  local co, awaited = coroutine.running(), nil
  local function wait (pattern)
    awaited = pattern
    coroutine.yield()
  end
  socket:connect("127.0.0.1", port, function ()
    socket:read_start(function (_, piece)
      bytes, tail = bytes + #piece, (tail .. piece):sub(-1000)
      if awaited and tail:find(awaited) then
        awaited = nil
        assert(coroutine.resume(co))
      end
    end)
  end)
  wait "root"
  local packet = {to = "trace1", type = "startTrace"}
  for key, value in pairs(fields) do
    packet[key] = value
  end
  socket:write(wire.encode {to = "trace1", type = "attach"})
  socket:write(wire.encode(packet))
  wait "requested"
  local began, before = uv.hrtime(), bytes
  program:run "stream"
  socket:write(wire.encode {to = "trace1", type = "stopTrace"})
  wait '"stoppedTrace"'
  local seconds = (uv.hrtime() - began) / 1e9
  local n = math.tointeger(tail:match '.*"sequence":(%d+)') + 1
  socket:close()
  return n / seconds, (bytes - before) / n
end

local function print_cost (what, ns, plain, memory, events)
  print(("  %-26s %8.1f ms %8s ns/event %s"):format(what, ns / 1e6,
    plain and ("%.1f"):format((ns - plain) / events) or "-",
    memory and ("%.2f of memory"):format((ns - plain) / (memory - plain))
    or ""))
end

local function print_rate (what, rate, bytes)
  print(("  %-26s %8.2f M packets/s %s"):format(what, rate / 1e6,
    bytes and ("%.1f bytes each"):format(bytes) or ""))
end

-- All of one choice of types.
local function bench (program, port, events, what)
  local connection = assert(client.connect {port = port})
  local tracer = assert(connection:attach())
  local plain, memory, stream, rates, singles = {}, {}, {}, {}, {}
  local single = {trace = types[what], buffer = BUFFER}
  local batched = {trace = types[what], buffer = BUFFER, batch = 1000}
  for i = 1, reps do
    plain[i] = program:run "plain"
    memory[i] = program:run("memory " .. what)
    stream[i], rates[i] = streamed(program, tracer, batched)
    local _, rate = streamed(program, tracer, single)
    singles[i] = rate
  end
  connection:close()
  plain, memory, stream = median(plain), median(memory), median(stream)
  print(("\n%s: %s, %d events"):format(name,
    table.concat(types[what], " "), events))
  print_cost("untraced", plain)
  print_cost("into memory", memory, plain, nil, events)
  print_cost("to a client", stream, plain, memory, events)
  print_rate("received and decoded", median(rates))
  print_rate("the same without batch", median(singles))
  local raw, sizes = {}, {}
  for i = 1, reps do
    raw[i], sizes[i] = counted(program, port, batched)
  end
  print_rate("on the wire", median(raw), median(sizes))
end

local function main ()
  local program = spawn()
  local port, events = program:read():match ":(%d+)\t(%d+)"
  print(("streaming: %d repetitions, batches of 1000"):format(reps))
  for _, what in ipairs {"time", "all"} do
    bench(program, math.tointeger(port), math.tointeger(events), what)
  end
  program.input:close()
end

local started = coroutine.wrap(main)
local timer = uv.new_timer()
timer:start(0, 0, function ()
  timer:close()
  started()
end)
uv.run()
