-- client.lua WHAT PROGRAM - traces a program once, and makes a recording of
-- what a client is sent again and again, with the first, second, ... of
-- allocations refused, until that needs fewer. WHAT is sent: "replay", packets,
-- of which there is a log as well; "receive", blocks. Each recording must be
-- all of it, or it is said that there was no memory; a log may lack a word.
-- Prints what went wrong. Its own process, as a crash is one of the outcomes.

local blocks = dofile((arg[0]:match "^(.*)/oom/") .. "/support/blocks.lua")
local core = require "tracegrip.core"
core.own()

local what, program = arg[1], assert(loadfile(arg[2]))
local path = os.tmpname()
local log = path .. ".log"
local all = {trace = core.traceTypes}
local to = {path = path, name = what}
local refused, wrong = 0, 0

local trace = core.start {name = what, trace = core.traceTypes,
                          maxEvents = 300}
program()
trace:stop()

local function read (name)
  local file <close> = assert(io.open(name, "rb"))
  return file:read "a"
end

-- What is sent, and how a recording is made of it: true, or nil and why not.
local ways = {}

function ways.replay ()
  local packets = {}
  for packet in trace:packets() do
    packets[#packets + 1] = packet
  end
  return function ()
    local replay, message = core.replay(all, {path = log}, to)
    if not replay then
      return nil, message
    end
    for _, packet in ipairs(packets) do
      replay:put(packet)
      replay:pump()
    end
    local ok
    ok, message = replay:finish "requested"
    return ok, message
  end
end

function ways.receive ()
  assert(trace:save(path))
  local sent = blocks(path)
  return function ()
    local receiver <close> = core.receive(all, nil, to)
    for _, bytes in ipairs(sent) do
      receiver:feed(bytes)
    end
    local ok, message = receiver:finish "requested"
    return ok, message
  end
end

-- What the recording says.
local function said ()
  local out = path .. ".out"
  assert(assert(core.open(path)):export("packets", out))
  local text = read(out)
  os.remove(out)
  return text
end

-- With the n-th allocation refused; whether it came to that.
local function attempt (make, whole, nth)
  core.refuse(nth)
  local raised, ok, message = pcall(make)
  local requests = core.refuse(0)
  message = raised and message or ok
  ok = raised and ok
  collectgarbage()
  local wanted = ok and said() == whole
                 or not ok and tostring(message):find "[mM]emory"
  if not wanted then
    wrong = wrong + 1
    print(("refused %d: %s"):format(nth, ok and "another recording" or message))
  end
  return requests >= nth
end

local make = assert(ways[what], what)()
assert(make())
collectgarbage()
local whole, nth = said(), 1
while attempt(make, whole, nth) do
  refused = refused + 1
  nth = nth + 1
end
os.remove(path)
os.remove(log)
print(("%d allocations refused, %d complaints"):format(refused, wrong))
os.exit(wrong == 0 and refused > 0)
