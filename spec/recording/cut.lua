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

local ROUNDS = 60

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

local busy = assert(loadfile(here .. "busy.lua"))

-- A child that records itself at work, and what it is told to do before.
local function start (options, before)
  options.trace = types
  options.valueString = options.valueString or 1 << 20
  local pid = process.fork()
  if pid == 0 then
    if before then
      before()
    end
    if not core.record(options, {path = path}) then
      process.leave(9)
    end
    busy(ROUNDS)
    os.exit(0)
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

-- A run that nothing disturbs: its packets, and how long it takes.
local function whole ()
  local from = process.now()
  local pid = start {}
  local status = process.wait(pid)
  local seconds = process.now() - from
  if status ~= 0 then
    complain("the whole run: status %d", status)
  end
  local text = assert(packets_of(assert(core.open(path))))
  local info = examine("the whole run", text, "complete")
  if not text:find '"fresh' or not text:find '"exception"' then
    complain "the whole run does not do what it should"
  end
  return text, seconds, info
end

local full, seconds, about = whole()

local ways = {}

-- kill -9 at any moment.
function ways.kill ()
  local n = lines(full)
  local least, most = n, 0
  for i = 1, count do
    os.remove(path)
    local delay = seconds * math.random()
    local pid = start {}
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
  print(("# of %d packets, %d to %d"):format(n, least, most))
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
                               "cut off complete damaged")
    if info and info.state == "complete" and info.events ~= about.events then
      complain("cut at %d: 'complete' with %d packets", list[i], info.events)
    end
    if text and before and #text > #before and i < #list then
      complain("cut at %d: longer than before", list[i])
    end
    before = text
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
