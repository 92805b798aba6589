-- attached.lua - what a program feels of a client that records it or looks on.
--
--   lua5.4 spec/bench/attached.lua BUILD [SECONDS]
--
-- A program calls small functions, a thousand at a time, and looks at the clock
-- after each thousand: calls a second, and the longest it stood still. It does
-- so untraced, listening to nobody and with fifty idle connections, recorded by
-- itself, with `tracegrip attach -o`, with `attach` as a log, with one that is
-- stopped and reads nothing, and with one that waits for a call which never
-- comes. The table has
-- calls a second, that in terms of `record`, the longest stretch, and what was
-- lost of the events; MiB is the program's resident memory at the end.

local uv = require "luv"

local build, seconds = arg[1] or "build", tonumber(arg[2]) or 4
local command = build .. "/bin/tracegrip"

local program = [[
local uv = require "luv"
local function leaf (a) return a + 1 end
local function node (a) return leaf(a) + leaf(a) end
local function thousand ()
  for i = 1, 333 do node(i) end
end
local calls, longest, last, begun = 0, 0, uv.hrtime(), nil
local lines = io.open(os.getenv "LINES", "w")
lines:setvbuf "line"
local next_line = last + 1e8
while true do
  thousand()
  local now = uv.hrtime()
  calls, longest, last = calls + 1000, math.max(longest, now - last), now
  if now >= next_line then
    lines:write(("%d %d %d\n"):format(now, calls, longest))
    next_line, calls, longest = now + 1e8, 0, 0
  end
end
]]

-- Fifty connections that say nothing.
local idle = [[
local uv = require "luv"
for _ = 1, 50 do
  local connection = uv.new_tcp()
  connection:connect("127.0.0.1", tonumber(arg[1]), function ()
    connection:read_start(function () end)
  end)
end
uv.run()
]]

local directory = assert(uv.fs_mkdtemp "/tmp/tracegrip-bench-XXXXXX")

local function path (name)
  return directory .. "/" .. name
end

local function write (name, text)
  local file <close> = assert(io.open(path(name), "w"))
  file:write(text)
end

local function sleep (s)
  uv.sleep(math.floor(s * 1000))
end

-- Runs a command beside this one, by a shell: its process.
local function spawn (words)
  local line = "LINES=" .. path "lines"
  for _, word in ipairs(words) do
    line = line .. (" '%s'"):format(word)
  end
  local pipe <close> = io.popen(line .. " >/dev/null 2>&1 & echo $!")
  return tonumber(pipe:read "l")
end

local function finish (pid, signal)
  repeat
    uv.kill(pid, signal)
    sleep(0.05)
  until not uv.fs_stat("/proc/" .. pid)
end

local function memory (pid)
  for line in io.lines("/proc/" .. pid .. "/status") do
    local kb = line:match "^VmRSS:%s*(%d+)"
    if kb then
      return tonumber(kb) / 1024
    end
  end
end

-- Calls a second, and the longest stretch in ms, of the lines of the middle.
local function summed (from, to)
  local calls, longest, first, last = 0, 0, nil, nil
  for line in io.lines(path "lines") do
    local now, n, stretch = line:match "(%d+) (%d+) (%d+)"
    now = tonumber(now)
    if now and now > from and now <= to then
      if first then
        calls, longest = calls + n, math.max(longest, tonumber(stretch))
      end
      first, last = first or now, now
    end
  end
  return calls / (last - first) * 1e9, longest / 1e6
end

-- Runs the program with 'client' beside it; the figures.
local function measure (words, client, pause)
  local all = table.move(words, 1, #words, 1, {})
  all[#all + 1] = path "program.lua"
  local program_pid = spawn(all)
  sleep(0.5)
  local client_pid = client and spawn(client)
  sleep(0.5)
  if pause then
    uv.kill(client_pid, "sigstop")
  end
  local from = uv.hrtime()
  sleep(seconds)
  local rate, longest = summed(from, uv.hrtime())
  local size = memory(program_pid)
  if pause then
    uv.kill(client_pid, "sigcont")
  end
  if client then
    finish(client_pid, "sigterm")
  end
  finish(program_pid, "sigkill")
  return rate, longest, size
end

-- The share of events that a recording lacks.
local function lost (file)
  local recording = require("tracegrip.core").open(path(file))
  local there, sum = recording:info().events, 0
  for _, n in pairs(recording:traces()[1].lost) do
    sum = sum + n
  end
  return ("%.1f %%"):format(100 * sum / (there + sum))
end

local port = ("%d"):format(20000 + uv.os_getpid() % 20000)
local serve = {command, "serve", "--port", port}

local function attach (...)
  return {command, "attach", port, ...}
end

local rows = {
  {"untraced", {"lua5.4"}},
  {"listening", serve},
  {"50 idle", serve, {"lua5.4", path "idle.lua", port}},
  {"record", {command, "record", "-o", path "r"}, file = "r"},
  {"attach -o", serve, attach("-o", path "a"), file = "a"},
  {"attach", serve, attach()},
  {"attach, stopped", serve, attach("-o", path "s"), pause = true, file = "s"},
  {"attach --on", serve, attach("--on", "^never$")}
}

write("program.lua", program)
write("idle.lua", idle)
print(("%-16s %14s %12s %8s %6s"):format("", "calls/s", "longest, ms", "lost",
                                         "MiB"))
for _, row in ipairs(rows) do
  local rate, longest, size = measure(row[2], row[3], row.pause)
  print(("%-16s %12.2f M %12.1f %8s %6.0f"):format(row[1], rate / 1e6, longest,
    row.file and lost(row.file) or "-", size))
  if row.file then
    os.remove(path(row.file))
  end
end
os.execute("rm -r " .. directory)
