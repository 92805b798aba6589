-- replay.lua PROGRAM - traces a program once, and makes a log and a recording
-- of its packets again and again, with the first, second, ... of allocations
-- refused, until that needs fewer. Each recording must be all of it, or it is
-- said that there was no memory; a log may lack a word. Prints what went wrong.
-- Its own process, as a crash is one of the outcomes.

local core = require "tracegrip.core"
core.own()

local program, path = assert(loadfile(arg[1])), os.tmpname()
local all = {trace = core.traceTypes}
local refused, wrong = 0, 0

local trace = core.start {name = "replay", trace = core.traceTypes,
                          maxEvents = 300}
program()
trace:stop()
local packets = {}
for packet in trace:packets() do
  packets[#packets + 1] = packet
end

local function read (name)
  local file = assert(io.open(name, "rb"))
  local text = file:read "a"
  file:close()
  return text
end

local function make ()
  local replay, message = core.replay(all, {path = path .. ".log"},
                                      {path = path, name = "replay"})
  if not replay then
    return nil, message
  end
  for _, packet in ipairs(packets) do
    replay:put(packet)
    replay:pump()
  end
  local ok
  ok, message = replay:finish("requested")
  return ok, message
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
local function attempt (whole, nth)
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

assert(make())
collectgarbage()
local whole, nth = said(), 1
while attempt(whole, nth) do
  refused = refused + 1
  nth = nth + 1
end
os.remove(path)
os.remove(path .. ".log")
print(("%d allocations refused, %d complaints"):format(refused, wrong))
os.exit(wrong == 0 and refused > 0)
