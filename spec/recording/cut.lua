-- cut.lua - recordings that end before their time, many of them.
--
--   lua5.4 cut.lua WHAT DIRECTORY COUNT SEED
--
-- in an interpreter of its own, untraced; what is recorded runs in forked
-- children. Each recording must open and its packets be the first of those of a
-- run that nothing disturbed; what is wrong goes to stdout, a line each, and at
-- last how many there were of what.

local core = require "tracegrip.core"
local process = require "process"

local what, directory, count, seed = ...
local here = arg[0]:match "^(.*/)" or "./"
local path, out = directory .. "/rec", directory .. "/packets"
count = math.tointeger(count)
math.randomseed(math.tointeger(seed))

-- Of a file that is cut, every place is tried that there is.
local ROUNDS = what == "truncate" and 20 or 40

-- All types but "time", which differs from run to run.
local types = {
  "name", "callsite", "parameterNames", "arguments", "return", "throw",
  "yield", "location", "depth", "hitCount", "thread"
}

local figures = {}

local function tally (name)
  figures[name] = (figures[name] or 0) + 1
end

local function complain (...)
  print(string.format(...))
end

local function read (name)
  local file <close> = assert(io.open(name, "rb"))
  return file:read "a"
end

local function write (name, bytes)
  local file <close> = assert(io.open(name, "wb"))
  assert(file:write(bytes))
end

local REFUSED = 101

local busy = assert(loadfile(here .. "busy.lua"))

-- A child that records itself at work, and what it is told to do before.
local function start (options, before, rounds)
  options.trace = types
  options.valueString = options.valueString or 1 << 20
  local pid = process.fork()
  if pid == 0 then
    if before then
      before()
    end
    if not core.record(options, {path = path}) then
      process.leave(REFUSED)
    end
    os.exit(busy(rounds or ROUNDS) % 100)
  end
  return pid
end

local function packets_of (trace)
  local ok, message = trace:export("packets", out)
  return ok and read(out) or nil, message
end

local function lines (text)
  local _, n = text:gsub("\n", "\n")
  return n
end

-- Opens the file and checks what must hold of whatever is left of it.
local function examine (where, full, states)
  local recording, message, code = core.open(path)
  if not recording then
    tally "no recording"
    if code ~= "notARecording" then
      complain("%s: %s", where, message)
    end
    return nil
  end
  local info = recording:info()
  if not states:find(info.state, 1, true) then
    complain("%s: state %s, %s", where, info.state, info.reason)
  end
  if (info.state == "complete") == (info.reason ~= nil) then
    complain("%s: state %s, reason %s", where, info.state, info.reason)
  end
  tally(info.state)
  if not recording:trace() then
    tally "no trace yet"
    return info
  end
  local text
  text, message = packets_of(recording)
  if not text then
    complain("%s: %s", where, message)
  elseif full:sub(1, #text) ~= text or text:sub(-1) ~= "\n" and text ~= "" then
    write(directory .. "/wrong", text)
    complain("%s: %d packets, not the first ones", where, lines(text))
  elseif lines(text) ~= info.events then
    complain("%s: %d packets, %d in info", where, lines(text), info.events)
  end
  return info, text
end

local expected = busy(ROUNDS) % 100   -- what the program comes to untraced

-- What is packed does not stand in the order of events: what is left of a file
-- that was cut begins at the beginning if it is not.
local undisturbed = {compress = what == "truncate" and "none" or nil}

-- A run that nothing disturbs: its packets, and how long it takes.
local function whole ()
  local seconds = 1
  for _ = 1, 5 do
    local from = process.now()
    local status = process.wait(start(undisturbed))
    seconds = math.min(seconds, process.now() - from)
    if status ~= expected then
      complain("the whole run: status %d", status)
    end
  end
  local text = assert(packets_of(assert(core.open(path))))
  local info = examine("the whole run", text, "complete")
  if not text:find '"freshx' or not text:find '"exception"' then
    complain "the whole run does not do what it should"
  end
  return text, seconds, info
end

local full, seconds, about = whole()
local total = lines(full)

-- Until there is a file.
local function await ()
  local file
  repeat
    process.sleep(50e-6)
    file = io.open(path, "rb")
  until file
  file:close()
end

local ways = {}

-- kill -9 at any moment.
function ways.kill ()
  local least, most = total, 0
  for i = 1, count do
    os.remove(path)
    local delay = seconds * math.random()
    local pid = start {}
    if i % 8 > 0 then       -- of the others some come before the file
      await()
    end
    process.sleep(delay)
    process.kill(pid, 9)
    process.wait(pid)
    local where = ("kill %d after %.2f ms"):format(i, delay * 1e3)
    local file = io.open(path, "rb")
    if file then
      file:close()
      local info = examine(where, full, "cut off complete")
      local events = info and info.events or 0
      least, most = math.min(least, events), math.max(most, events)
    else
      tally "no file yet"
    end
  end
  print(("# of %d packets, %d to %d"):format(total, least, most))
end

-- Whether each exit closes the innermost open frame and nothing is missing.
local function nests (text)
  local open, sequence = 0, 0
  for line in text:gmatch "[^\n]+" do
    open = open + (line:find('"type":"enteredFrame"', 1, true) and 1 or -1)
    if open < 0 or not line:find(('"sequence":%d[,}]'):format(sequence)) then
      return false
    end
    sequence = sequence + 1
  end
  return true
end

-- kill -9 at any moment of a ring that has come round many times.
function ways.ring ()
  local biggest, lost = 0, 0
  for i = 1, count do
    os.remove(path)
    local pid = start({overflow = "ring", buffer = 300000,
                       valueString = 256},
                      nil, 10 * ROUNDS)
    await()
    process.sleep(4 * seconds * math.random())
    process.kill(pid, 9)
    process.wait(pid)
    local recording, message, code = core.open(path)
    if not recording then
      tally "no recording"
      if code ~= "notARecording" then
        complain("kill %d: %s", i, message)
      end
    elseif recording:trace() then
      local info = recording:info()
      local text, problem = packets_of(recording)
      if not text or not nests(text) or info.state == "damaged" then
        write(directory .. "/wrong", text or "")
        complain("kill %d: %s, %s, %s", i, problem, info.state, info.reason)
      end
      tally(info.state)
      biggest = math.max(biggest, info.file_bytes)
      lost = math.max(lost, info.lost.ring)
    end
  end
  print(("# up to %d bytes, up to %d lost"):format(biggest, lost))
  if biggest > 8 << 20 then
    complain("the file grew to %d bytes", biggest)
  end
end

-- Places where something begins or ends: the header's fields, each block's
-- head, its data, its end, and some events at the end of it.
local function places (bytes)
  local list = {}
  local function add (...)
    for _, place in ipairs {...} do
      if place >= 0 and place <= #bytes then
        list[#list + 1] = place
      end
    end
  end
  add(0, 1, 7, 8, 12, 16, 20, 63, 64, 4095)
  local place = 4096
  while place + 40 <= #bytes do
    local size = string.unpack("<I8", bytes, place + 9)
    local used = string.unpack("<I4", bytes, place + 37)
    local data = place + 40
    add(place, place + 1, place + 4, place + 39, data, data + 1, data + 4,
        data + 12, data + used - 1, data + used, data + used + 1)
    place = place + size
  end
  return list
end

-- The file cut after so many bytes.
function ways.truncate ()
  local bytes = read(path)
  local list = places(bytes)
  print(("# %d places, %d bytes"):format(#list, #bytes))
  for _ = 1, count do
    list[#list + 1] = math.random(0, #bytes)
  end
  table.sort(list)
  local before = ""
  write(path, bytes)
  for i = #list, 1, -1 do           -- each time a little shorter
    assert(process.truncate(path, list[i]))
    local info, text = examine("cut at " .. list[i], full,
                               "cut off complete")
    if info and info.state == "complete" and info.events ~= about.events then
      complain("cut at %d: complete with %s packets", list[i], info.events)
    end
    if text and before and #text > #before and i < #list then
      complain("cut at %d: longer than before", list[i])
    end
    before = text
  end
end

-- A program whose file cannot grow any more: it goes on as if nothing were, and
-- what is not in the file is counted. Returns whether it could start.
local function without_room (where, before)
  local pid = start({}, before)
  local status = process.wait(pid)
  if status == REFUSED then
    tally "refused"
    local file = io.open(path, "rb")
    if file then
      file:close()
      complain("%s: refused, and left a file", where)
    end
    return false
  end
  if status ~= expected then
    complain("%s: status %d", where, status)
  end
  local info = examine(where, full, "failed complete")
  if info and info.events + info.lost.disk ~= total then
    complain("%s: %d packets, %d lost", where, info.events, info.lost.disk)
  elseif info and (info.state == "failed") ~= (info.lost.disk > 0) then
    complain("%s: %s, %d lost", where, info.state, info.lost.disk)
  elseif info and info.state == "failed"
         and (not info.reason:find "could not grow"
              or info.traces[1].ended ~= "disk") then
    complain("%s: %s, ended %s", where, info.reason, info.traces[1].ended)
  end
  return true
end

-- No file may be longer than so many bytes.
function ways.limit ()
  local size = #read(path)
  for i = 1, count do
    local most = i <= 20 and i * 4096 or math.random(1, size * 11 // 10)
    os.remove(path)
    without_room("limit " .. most, function ()
      process.limit(most)
    end)
  end
end

-- The directory is on a disk of a few sizes.
function ways.disk ()
  for _, kilobytes in ipairs {4, 68, 100, 340, 600, 700, 1000, 1400, 4096} do
    assert(os.execute(("mount -t tmpfs -o size=%dk none %s"):format(
      kilobytes, directory)))
    out = os.tmpname()
    without_room(kilobytes .. "K", nil)
    os.remove(out)
    collectgarbage()        -- recordings keep their files open
    assert(os.execute("umount " .. directory))
  end
end

ways[what]()

local names = {}
for name in pairs(figures) do
  names[#names + 1] = name
end
table.sort(names)
for _, name in ipairs(names) do
  print(("# %s: %d"):format(name, figures[name]))
end
