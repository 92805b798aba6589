-- client.lua PROGRAM - traces a program once, and makes a recording and a log
-- of the blocks that a client is sent again and again, with the first, second,
-- ... of allocations refused, until that needs fewer. Each recording must be
-- all of it, or it is said that there was no memory; a log may lack a word.
-- Prints what went wrong. Its own process, as a crash is one of the outcomes.

local blocks = dofile((arg[0]:match "^(.*)/oom/") .. "/support/blocks.lua")
local core = require "tracegrip.core"
core.own()

local program = assert(loadfile(arg[1]))
local path = os.tmpname()
local log = path .. ".log"
local all = {trace = core.traceTypes}
local to = {path = path, name = "sent"}
local refused, wrong = 0, 0

local trace = core.start {name = "sent", trace = core.traceTypes,
                          maxEvents = 300}
program()
trace:stop()

local function read (name)
  local file <close> = assert(io.open(name, "rb"))
  return file:read "a"
end

assert(trace:save(path))
local sent = blocks(path)

-- true, or nil and why not.
local function make ()
  local receiver, message = core.receive(all, {path = log}, to)
  if not receiver then
    return nil, message
  end
  for _, bytes in ipairs(sent) do
    receiver:feed(bytes)
    receiver:pump()
  end
  local ok
  ok, message = receiver:finish "requested"
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
os.remove(log)
print(("%d allocations refused, %d complaints"):format(refused, wrong))
os.exit(wrong == 0 and refused > 0)
