-- following.lua - the recordings of a run, read as they grow, and sent: what
-- record does with --otlp.
--
-- The program writes its recording as it always does and knows nothing of this;
-- the command, its parent, reads the file (core.tail) and makes spans of what
-- is there. So the file is the queue: while the program runs it is read only as
-- fast as the collector takes it, unless it is a ring. What is left when the
-- program has ended is sent as long as that goes on; a collector that takes
-- nothing for a while has the rest dropped.

local core = require "tracegrip.core"
local main = require "tracegrip.cli.main"
local recording = require "tracegrip.cli.recording"
local sending = require "tracegrip.cli.sending"
local units = require "tracegrip.cli.units"
core.own()

local following = {}

local LOOK_MS = 50            -- between looks at the files
local TURN_MS = 20            -- of reading at a time
local SCAN = 20               -- looks between two at the directory
local STALL_MS = 5000         -- a collector that takes nothing for so long

local Follower = {}
Follower.__index = Follower

local function add (self, path)
  if not self.known[path] then
    self.known[path] = true
    table.insert(self.list, {
      tail = core.tail(path, self.run),
      taker = core.receive(self.options, nil, nil, false, self.spans)
    })
  end
end

-- Other processes of a command have files of their own: FILE.PID.
local function scan (self)
  local directory, name = self.path:match "^(.*/)([^/]*)$"
  local found = self.uv.fs_scandir(directory)
  while found do
    local entry = self.uv.fs_scandir_next(found)
    if not entry then
      break
    elseif entry:sub(1, #name + 1) == name .. "."
           and entry:find("^%d+$", #name + 2) then
      add(self, directory .. entry)
    end
  end
end

-- The first failure of a file is told, and the rest of it left.
local function leave (self, one, message)
  if message then
    main.note("otlp: %s", message)
  end
  one.taker:finish("requested")
  self.way:leave(one.taker)
  self.lost = self.lost + one.taker:lost()
  self.undecided = self.undecided + one.taker:undecided()
  one.tail:close()
  one.left = true
end

-- A piece of one file: whether there was any.
local function read (self, one)
  local bytes, message = one.tail:read()
  local ok = not message
  if bytes then
    ok, message = one.taker:feed(bytes)
    self.way:pump(one.taker)
  end
  if not ok then
    leave(self, one, message)
  end
  return bytes ~= nil and ok
end

-- Whether there was anything to be read. 'all': whether or not it can be sent.
local function turn (self, all)
  local busy = false
  for i = #self.list, 1, -1 do
    local one = self.list[i]
    local over = one.tail:over()
    while (all or self.way:has_room()) and not one.left and read(self, one) do
      busy = true
      if self.uv.hrtime() > self.turn_end then
        return true
      end
    end
    if over and not one.left and (all or self.way:has_room()) then
      leave(self, one)
    end
    if one.left then
      table.remove(self.list, i)
    end
  end
  return busy
end

-- One look: whether there is more.
function Follower:look (all)
  self.looks = self.looks + 1
  if self.command and self.looks % SCAN == 1 then
    scan(self)
  end
  self.turn_end = self.uv.hrtime() + TURN_MS * 1000000
  return turn(self, all)
end

-- Until the child has ended; how it has.
function Follower:await ()
  local how, status, more
  self.timer:start(0, LOOK_MS, function ()
    how, status = core.ended()
    if how then
      self.timer:stop()
    else
      more = self:look(self.ring)
    end
  end)
  while not how do
    self.uv.run(more and "nowait" or "once")
    if more and not how then
      more = self:look(self.ring)
    end
  end
  core.interruptible()          -- no child to pass it on to
  return how, status
end

-- What the files still have. Nothing more is written to them.
function Follower:drain ()
  local uv, way = self.uv, self.way
  local sent, since = way:sent(), uv.hrtime()
  if self.command then
    scan(self)
  end
  self.timer:start(LOOK_MS, LOOK_MS, function () end)
  while self:look(self.stalled) or not way:has_room() and not self.stalled do
    uv.run(way:has_room() and "nowait" or "once")
    if way:sent() > sent then
      sent, since = way:sent(), uv.hrtime()
    elseif uv.hrtime() - since > STALL_MS * 1000000 and not way:has_room() then
      self.stalled = true
      way:abandon()
    end
  end
  for _, one in ipairs(self.list) do
    leave(self, one)
  end
  self.timer:close()
  way:finish(true)
  if self.lost > 0 then
    main.note("%s not sent: the ring was faster",
              units.several(self.lost, "event"))
  end
  recording.note_undecided(self.undecided)
end

-- Follows the recording at 'file.path' of the run 'file.run', with the options
-- of its trace. 'command': others beside it. Fails as a command does.
function following.start (plan, file, options, program, command)
  local self = setmetatable({
    uv = main.luv(), way = sending.open(plan), path = file.path,
    run = file.run, options = options, command = command,
    ring = options.overflow == "ring",
    spans = sending.spans(plan, "program", program),
    list = {}, known = {}, looks = 0, lost = 0, undecided = 0, stalled = false
  }, Follower)
  self.timer = self.uv.new_timer()
  add(self, file.path)
  return self
end

return following
