-- descendants.lua - samples of what a process has started, and of what that has
-- started: each process that runs Lua has a recording of its own beside that of
-- the first, taken by a tracegrip of its own.
--
--   record --pid 17 -o x.tgr  ── looks at 17
--     └─ record --pid 21 -o x.tgr.21
--
-- They end when we say so (SIGINT), or are gone. What they tell in the end is
-- told as our own. Processes are found by what the kernel lists as children of
-- each thread: one whose parent has ended is nobody's. What the first process
-- has started the kernel's events tell as well: so those that have ended before
-- they were found are counted.

local core = require "tracegrip.core"
local main = require "tracegrip.cli.main"
local single = require "tracegrip.cli.single"
local units = require "tracegrip.cli.units"
core.own()

local descendants = {}

local EVERY_NS = 2e8        -- between looks for new processes
local LONGEST_NS = 5e9      -- between looks at one that runs no Lua
local PARENT = "TRACEGRIP_SAMPLES_FOR"      -- whose descendant is looked at

local Family = {}
Family.__index = Family

descendants.option = {
  name = "subprocesses", flag = "--subprocesses", value = true,
  group = "The program",
  help = "With --pid and --outside: processes that it starts are looked at "
         .. "too, each that runs Lua into FILE.PID."}

---------------------------------------------------------------------------
-- Who they are
---------------------------------------------------------------------------

local function read (path)
  local file <close> = io.open(path, "rb")
  return file and file:read "a" or ""
end

-- Their numbers, by thread (proc_pid_task_children(5)).
local function children (pid)
  local uv <const>, list = main.luv(), {}
  local folder = ("/proc/%d/task"):format(pid)
  local scan = uv.fs_scandir(folder)
  while scan do
    local tid = uv.fs_scandir_next(scan)
    if not tid then
      break
    end
    for child in read(("%s/%s/children"):format(folder, tid)):gmatch "%d+" do
      list[#list + 1] = math.tointeger(tonumber(child))
    end
  end
  return list
end

-- "x.tgr" becomes "x.tgr.21", as in 'record --'; what is an export keeps its
-- ending, which says of which format it is: "x.21.html". 'times': how often
-- that process became another program before.
function descendants.file (path, pid, exported, times)
  local word = times > 1 and ("%d-%d"):format(pid, times) or tostring(pid)
  if not exported then
    return path .. "." .. word
  end
  local folder = path:match "^.*/" or ""
  local stem, ending = path:sub(#folder + 1):match "^(.[^.]*)(%..*)$"
  return folder .. stem .. "." .. word .. ending
end

---------------------------------------------------------------------------
-- One of them
---------------------------------------------------------------------------

local function command_of (self, pid, file)
  local words = {"record", "--pid", tostring(pid), "-o", file}
  local function add (...)
    table.move({...}, 1, select("#", ...), #words + 1, words)
  end
  if self.parsed.sample then
    add("--sample", ("%d"):format(self.parsed.sample))
  end
  for _, name in ipairs {"wall", "stop", "native", "force"} do
    if self.parsed[name] then
      add("--" .. name)
    end
  end
  if not single.is then
    table.insert(words, 1, arg[0])
  end
  return words
end

local function environment ()
  local list = {PARENT .. "=" .. core.pid()}
  for name, value in pairs(main.luv().os_environ()) do
    list[#list + 1] = name .. "=" .. value
  end
  return list
end

-- What it has said, without its first line, which we have said ourselves.
local function tell (text)
  for line in text:gmatch "[^\n]+" do
    if not line:find "looking at process" then
      main.note("%s", (line:gsub("^tracegrip: ", "")))
    end
  end
end

-- One that became another program may be looked at anew. One that was not Lua
-- after all, as a fork that has not yet become what it was made for, is
-- nothing to be told.
local function over (self, member, text, good)
  member.handle = nil
  self.running = self.running - 1
  if good then
    self.taken = self.taken + 1
    tell(text)
  else
    member.times = member.times - 1
  end
end

-- Starts a tracegrip that looks at it. It is over when it has ended and has
-- said all. A session of its own: Ctrl-C is ours to pass on, once.
local function look_into (self, pid, member)
  local uv <const> = main.luv()
  local pipe, text, ended, good = uv.new_pipe(), "", 0, false
  local file = descendants.file(self.parsed.output, pid, self.exported,
                                member.times + 1)
  local function one_ended ()
    ended = ended + 1
    if ended == 2 then
      over(self, member, text, good)
    end
  end
  local handle
  handle = uv.spawn(core.interpreter(), {
    args = command_of(self, pid, file), stdio = {nil, nil, pipe},
    env = environment(), detached = true
  }, function (status, signal)
    good = status == 0 and signal == 0
    handle:close()
    one_ended()
  end)
  if not handle then
    return pipe:close()
  end
  member.handle, member.times = handle, member.times + 1
  self.running = self.running + 1
  pipe:read_start(function (_, data)
    text = text .. (data or "")
    if not data then
      pipe:close()
      one_ended()
    end
  end)
end

-- Why one that has Lua cannot be looked at is told once.
local function refuse (member, message, code, release)
  if not member.told and (code == "unknown" or code == "forbidden" and release)
  then
    member.told = true
    main.note("no samples are taken: %s", message)
  end
end

-- One that runs no Lua yet may do so later; it is asked less and less often.
local function meet (self, pid, now)
  local member = self.members[pid] or {at = 0, pause = EVERY_NS, times = 0}
  self.members[pid] = member
  if member.handle or now < member.at then
    return
  end
  member.at = now + member.pause
  member.pause = math.min(2 * member.pause, LONGEST_NS)
  local seen, message, code, release = core.glance(pid)
  if seen then
    look_into(self, pid, member)
  else
    refuse(member, message, code, release)
  end
end

-- Our own process may be among them, and what we have started is with it.
local function visit (self, pid, now)
  for _, child in ipairs(children(pid)) do
    if child ~= core.pid() then
      meet(self, child, now)
      visit(self, child, now)
    end
  end
end

---------------------------------------------------------------------------
-- All of them
---------------------------------------------------------------------------

-- Those of a process that is not known yet; nil: nobody has asked for them.
-- 'exported': what is written is no recording. Who looks at the first process
-- says so (family.spy).
function descendants.new (parsed, exported)
  return parsed.subprocesses and setmetatable({
    parsed = parsed, exported = exported, members = {}, next_ns = 0,
    spy = nil,          -- at the first process; nil: nobody looks at that
    started = {},       -- of whom its events have told
    running = 0,        -- tracegrips
    taken = 0           -- recordings that are whole
  }, Family) or nil
end

-- Whether the first process has started some since the last time.
local function has_started (self)
  local list = self.spy and self.spy:forked() or {}
  table.move(list, 1, #list, #self.started + 1, self.started)
  return #list > 0
end

-- Those that there are by now, at most so often, or at once where it is known
-- that there are new ones; for who calls this while it looks at the process
-- itself.
function Family:look ()
  local uv <const> = main.luv()
  local now = uv.hrtime()
  if has_started(self) or now >= self.next_ns then
    self.next_ns = now + EVERY_NS
    uv.run "nowait"
    visit(self, self.parsed.pid, now)
  end
end

-- Those that were gone when we wanted to look.
local function tell_unseen (self)
  local unseen = 0
  has_started(self)
  for _, pid in ipairs(self.started) do
    if not self.members[pid] and pid ~= core.pid() then
      unseen = unseen + 1
    end
  end
  if unseen > 0 then
    main.note("%s that process %d has started ended before anybody looked",
              units.several(unseen, "program"), self.parsed.pid)
  end
end

-- They end, with what they have. How many recordings there are.
function Family:finish ()
  tell_unseen(self)
  for _, member in pairs(self.members) do
    if member.handle then
      member.handle:kill "sigint"
    end
  end
  while self.running > 0 do
    main.luv().run "once"
  end
  return self.taken
end

-- Whether we look at somebody's descendant.
function descendants.is_one ()
  return os.getenv(PARENT) ~= nil
end

-- Whether that somebody is gone.
function descendants.orphaned ()
  local parent = os.getenv(PARENT)
  return parent and main.luv().os_getppid() ~= tonumber(parent)
end

return descendants
