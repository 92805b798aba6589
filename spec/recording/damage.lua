-- damage.lua - recordings of which some bytes are others, many of them.
--
--   lua5.4 damage.lua DIRECTORY COUNT SEED
--
-- in an interpreter of its own. Each is opened and read in all ways: that gives
-- an error in words, or what there is, and never anything else. What is wrong
-- goes to stdout, a line each, and at last how many there were of what.

local core = require "tracegrip.core"

local directory, count, seed = ...
local here = arg[0]:match "^(.*/)" or "./"
local path = directory .. "/rec"
count = math.tointeger(count)
math.randomseed(math.tointeger(seed))

local figures, where = {}, nil

local function tally (name)
  figures[name] = (figures[name] or 0) + 1
end

local function complain (...)
  print(where .. ": " .. string.format(...))
end

local function write (bytes)
  local file <close> = assert(io.open(path, "wb"))
  assert(file:write(bytes))
end

-- A recording of a program at work, as bytes.
local function whole ()
  local busy = assert(loadfile(here .. "busy.lua"))
  local trace = core.start {name = "busy"}
  busy(4)
  trace:stop()
  assert(trace:save(path))
  local file <close> = assert(io.open(path, "rb"))
  return file:read "a"
end

---------------------------------------------------------------------------
-- Reading
---------------------------------------------------------------------------

local steps = {enteredFrame = 1, exitedFrame = -1}

-- All the frame packets; says what is wrong with their order. Changed bytes can
-- make other packets of them, markers, which stand outside the order.
local function read_packets (trace)
  local n, depth = 0, 0
  for packet in trace:packets() do
    local step = steps[packet.type]
    if step then
      if packet.sequence ~= n then
        complain("packet %d says that it is %s", n, packet.sequence)
      end
      n, depth = n + 1, depth + step
      if depth < 0 then
        complain("packet %d leaves a frame that is not there", n)
      end
    elseif packet.type ~= "marker" or packet.sequence then
      complain("after %d packets a %s", n, packet.type)
    end
  end
  return n
end

-- In all other ways.
local function read_all (trace)
  local report = assert(trace:report())
  assert(trace:tree())
  assert(trace:log({path = "/dev/null"}, {maxDepth = 5, valueString = 20}))
  assert(trace:save("/dev/null"))
  assert(trace:export("packets", "/dev/null"))
  return report
end

local states = {complete = true, damaged = true, failed = true,
                ["cut off"] = true}

-- Opened and read; may raise.
local function examine ()
  local recording, message, code = core.open(path)
  if not recording then
    tally "no recording"
    if code ~= "notARecording" or not message:find(path, 1, true) then
      complain("%s (%s)", message, code)
    end
    return
  end
  for _, trace in ipairs(recording:traces()) do
    local n = read_packets(trace)
    local report = read_all(trace)
    if report.events ~= n then
      complain("%d packets, %d in the report", n, report.events)
    end
  end
  local info = recording:info()
  tally(info.state)
  local whole_state = info.state == "complete"
  if not states[info.state] or whole_state ~= (info.reason == nil) then
    complain("state %s, reason %s", info.state, info.reason)
  end
  for _, trace in ipairs(recording:traces()) do
    if trace.damage and info.state ~= "damaged" then
      complain("damage at byte %d, state %s", trace.damage, info.state)
    end
  end
end

---------------------------------------------------------------------------
-- Changes
---------------------------------------------------------------------------

local numbers = {
  "\0\0\0\0", "\xff\xff\xff\xff", "\xff\xff\xff\x7f", "\0\0\0\x80",
  "\1\0\0\0", "\xff\xff\xff\xff\xff\xff\xff\xff", "\0\0\0\0\0\0\0\0"
}

-- Something else at a place: a byte with another bit, or a number.
local function change (bytes, at)
  local with
  if math.random(2) == 1 then
    with = string.char(bytes:byte(at) ~ 1 << math.random(0, 7))
  else
    with = numbers[math.random(#numbers)]
  end
  return bytes:sub(1, at - 1) .. with .. bytes:sub(at + #with)
end

local original = whole()
local entries = original:find("TBLK\2", 1, true)
local events = original:find("TBLK\1", 1, true)

-- In the header, in the entries, in the events, or anywhere.
local function place ()
  local kind = math.random(4)
  local from = ({1, entries, events, 1})[kind]
  return math.random(from, ({64, events, #original, #original})[kind])
end

local total
where = "the whole"
total = read_packets(assert(core.open(path)))
if total < 100 then
  complain("%d packets only", total)
end
for i = 1, count do
  local bytes = original
  for _ = 1, math.random(3) do
    bytes = change(bytes, place())
  end
  where = "recording " .. i
  write(bytes)
  local ok, message = pcall(examine)
  if not ok then
    complain("%s", message)
  end
end

for name, n in pairs(figures) do
  print("# " .. name .. ": " .. n)
end
