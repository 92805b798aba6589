-- profiler.lua - the profiler service for a program on another thread: over
-- a tab's channel, as profileractor.lua wants it.
--
--   local profiler = profiler.new(tab, pause)
--
-- Each client has one of its own, whoever is attached. Requests are answered at
-- once, though the program may be asleep: a session begins when the program
-- comes to it, and is what there is when it is told to stop. If the program has
-- not come to it by then, nothing happened in it.
--
-- What the service does is done here, on the server's thread; the program only
-- records. So a session is made in portions, with a call of pause() between,
-- and a client that asks for too much is refused: for more events than go into
-- an answer, and for a session when all clients of the tab together keep too
-- much.

local core = require "tracegrip.core"
local scope = require "tracegrip.scope"
core.own()

local MAX_EVENTS = 10000          -- of an answer: a part of a second's work
local MAX_BYTES = 256 << 20       -- kept, or on its way; then no session more
local BUFFER = 64 << 20           -- of a trace, if its host says nothing

local profiler = {}

---------------------------------------------------------------------------
-- Traces
---------------------------------------------------------------------------

-- One that the program is to keep; it may be stopped again.
local Watched = {}
Watched.__index = Watched

-- The Trace; nil if it has not begun.
function Watched:stop ()
  if not self.stopped then
    self.trace = self.tab:kept(self.id)
    self.stopped = true
    self.bytes = self.trace and self.trace.bytes or 0
  end
  return self.trace
end

local function watch (tab)
  local options = tab:options {}
  options.trace = options.trace or {"name", "time"}
  options.buffer = options.buffer or BUFFER
  local id = tab:next_id()
  tab:keep(id, options)
  return setmetatable({tab = tab, id = id, bytes = options.buffer}, Watched)
end

local function forget (watched)
  local tab = watched.tab
  if watched.trace then
    core.forget(watched.trace)
  elseif not watched.stopped and not tab.gone then
    tab.channel:drop(watched.id)
    tab:stop(watched.id)
  end
end

---------------------------------------------------------------------------
-- The interface
---------------------------------------------------------------------------

local Profiler = {__name = "tracegrip.server.profiler"}
Profiler.__index = Profiler

-- All that is kept for sessions that have not been released, or may have to be.
local function kept_bytes (tab)
  local sum = 0
  for one in pairs(tab.profilers) do
    for _, bytes in pairs(one.bytes) do
      sum = sum + bytes
    end
  end
  return sum
end

function Profiler:start (fields)
  if kept_bytes(self.tab) >= MAX_BYTES then
    return scope.status.OUT_OF_MEMORY,
           {description = "too much is kept: release sessions first"}
  end
  local status, message = self.profiler:StartProfiler(fields)
  if status == scope.status.OK then
    self.bytes[message.sessionID] = self.profiler.running.trace.bytes
  end
  return status, message
end

function Profiler:stop (fields)
  local running = self.profiler.running
  local watched = running and running.trace
  local status, message = self.profiler:StopProfiler(fields)
  if status == scope.status.OK then
    self.bytes[message.sessionID] = watched.bytes
  end
  return status, message
end

function Profiler:events (fields)
  return self.profiler:GetEvents(fields)
end

-- The collector does not see how much a session keeps.
function Profiler:release (fields)
  local status, message = self.profiler:ReleaseSession(fields)
  for id in pairs(self.bytes) do
    if not self.profiler.sessions[id] then
      self.bytes[id] = nil
    end
  end
  collectgarbage()
  return status, message
end

function Profiler:close ()
  self.tab.profilers[self] = nil
  self.profiler:close()
  collectgarbage()
end

function profiler.new (tab, pause)
  local service = scope.new()
  service.limit, service.pause = MAX_EVENTS, pause
  service.traces = {
    watch = function () return watch(tab) end,
    forget = forget
  }
  local self = setmetatable({
    tab = tab,
    profiler = service,
    bytes = {},             -- by session
  }, Profiler)
  tab.profilers[self] = true
  return self
end

return profiler
