-- heapwatch.lua - heap snapshots of a program whose heap has become large, on
-- the server's thread: what listen {heap = ...} asks for.
--
--   heapwatch.start(server, tab, plan)     a watch | nil, message
--
-- plan: over, bytes from which on there is one; growth, how many times as large
-- as at the one before the heap has to be for the next; path, what the files'
-- names begin with (the program's title).
--
-- How large the heap is, is read from memory once a second (heapgauge), and a
-- snapshot is a child's work (picture.lua): nothing runs in the program.
--
-- Failure: a snapshot that cannot be taken is a line on standard error, and the
-- next is tried when the heap has grown as if there were one.

local core = require "tracegrip.core"
local picture = require "tracegrip.server.picture"
local uv = require "luv"
core.own()

local EVERY_MS = 1000

local heapwatch = {}

local Watch = {__name = "tracegrip.server.heapwatch"}
Watch.__index = Watch

local function tell (text, ...)
  io.stderr:write("tracegrip: " .. text:format(...) .. "\n")
end

-- The next number of which there is no file yet: one that is there is another
-- run's.
local function next_path (self)
  local path
  repeat
    self.number = self.number + 1
    path = ("%s-%d-%d.heapsnapshot"):format(self.path, core.pid(), self.number)
  until not core.filetype(path)
  return path
end

-- What a child has left that could not write to the end: there was no file of
-- that name before.
local function drop (path)
  if core.filetype(path) == "file" then
    os.remove(path)
  end
end

local function take (self, size)
  local path, told = next_path(self), nil
  self.due = math.max(self.due, size * self.plan.growth)
  self.file = path
  self.taking = picture.take(self.tab, {
    path = path,
    result = function (result) told = result end,
    bytes = function () end,
    done = function (ok, message)
      self.taking = nil
      if ok then
        tell("the heap has %.0f bytes: %s", told.state_bytes, path)
      else
        drop(path)
        tell("no heap snapshot: %s", message)
      end
    end
  })
end

local function look (self)
  if self.taking or self.tab.gone then
    return
  end
  local size = self.gauge()
  if size and size > self.due then
    take(self, size)
  end
end

-- The tab is gone.
function Watch:forget (tab)
  if tab == self.tab then
    self:finish()
  end
end

-- What is on its way to a file is not waited for: its program ends.
function Watch:finish ()
  if self.ending then
    return
  end
  self.ending = true
  self.timer:close()
  if self.taking then
    self.taking:close()
    drop(self.file)
  end
  self.server:parted(self)
end

-- Titles are file names, or whatever the program calls itself.
local function base_of (title)
  local base = title:match "[^/]*$":gsub("%c", "?"):gsub("%.lua$", "")
  return base ~= "" and base or "lua"
end

function heapwatch.start (server, tab, plan)
  local gauge, message = core.heapgauge(tab.channel)
  if not gauge then
    return nil, "heap: " .. message
  end
  local self = setmetatable({
    server = server, tab = tab, plan = plan, gauge = gauge,
    timer = uv.new_timer(),
    path = plan.path or base_of(tab.title),
    number = 0,                 -- of the last file
    due = plan.over,            -- bytes beyond which is the next
    taking = nil,               -- the snapshot that is being taken
    file = nil,                 -- its name
    ending = false,
  }, Watch)
  self.timer:start(EVERY_MS, EVERY_MS, server:safely(function ()
    look(self)
  end))
  return self
end

return heapwatch
