-- tab.lua - one Lua state as clients see it: a tab with its actors.
--
-- It has the channel to the state, the names of its actors, and what its host
-- has said of the traces that clients start there. Each connection has actors
-- of its own under these names (connection.lua), so one that does not read
-- keeps nobody waiting; that only one is attached is the feed's business.
--
-- To add an actor: a maker in 'makers'.

local core = require "tracegrip.core"
local traceactor = require "tracegrip.actor"
local feed = require "tracegrip.server.feed"
local heapactor = require "tracegrip.server.heapactor"
local profiler = require "tracegrip.server.profiler"
local profileractor = require "tracegrip.profileractor"
local sockets = require "tracegrip.server.sockets"
local uv = require "luv"
local wire = require "tracegrip.wire"
core.own()

local SOON_MS, SELDOM_MS = 2, 500   -- between reminders

local tab = {}

local Tab = {__name = "tracegrip.server.tab"}
Tab.__index = Tab

---------------------------------------------------------------------------
-- Actors
---------------------------------------------------------------------------

-- The actors of a tab:
--   field    of the tab's form that has its name
--   prefix   of its name; the tab's number follows
--   new      function (tab, id, connection): an object with
--     receive (packet)     answers by connection:send
--     advance ()           sends something of its own accord, if there is any;
--                          whether there was
--     close ()             the connection is closed
--     state                "tracing" if it wants to be asked often
--     requestTypes         list of the requests it knows
local makers = {
  {field = "traceActor", prefix = "trace", new = function (self, id, connection)
    return traceactor.new {
      id = id,
      send = function (packet)
        connection:send(packet)
      end,
      feed = function (listener)
        return feed.new {
          tab = self,
          listener = listener,
          wake = function () connection:wake() end,
          rest = function (ms) connection:rest(ms) end,
          stalled = function () connection:give_up() end,
          client = sockets.client(connection.handle),
          is_slow = function () return connection.slow end
        }
      end
    }
  end},
  -- not profilerActor: that is the sampling profiler of Firefox, whose clients
  -- would take it for theirs
  {field = "scopeActor", prefix = "profiler",
   new = function (self, id, connection)
    return profileractor.new {
      id = id,
      send = function (packet)
        connection:send(packet)
      end,
      profiler = profiler.new(self, function ()
        connection:take_turns()
      end)
    }
  end},
  {field = "heapActor", prefix = "heap", new = function (self, id, connection)
    return heapactor.new(self, id, function (packet)
      connection:send(packet)
    end, function ()
      connection:wake()
    end)
  end},
}

-- The tab as listTabs has it.
function Tab:form ()
  local form = {actor = "tab" .. self.number, title = self.title,
                url = self.title, pid = core.pid()}
  for _, maker in ipairs(makers) do
    form[maker.field] = maker.prefix .. self.number
  end
  return form
end

-- An actor by that name for a connection; nil if the tab has none.
function Tab:actor (id, connection)
  for _, maker in ipairs(makers) do
    if id == maker.prefix .. self.number then
      return maker.new(self, id, connection)
    end
  end
end

---------------------------------------------------------------------------
-- Who is attached
---------------------------------------------------------------------------

-- It is this feed's from now on; false if it has an owner.
function Tab:claim (owner)
  if self.owner then
    return false
  end
  self.owner = owner
  self:attach(true)
  return true
end

function Tab:release ()
  self.owner = nil
  if self.gone then
    return
  end
  self:attach(false)
  if self.closing then
    self:vanish()
  end
end

-- What the state says to debuggers; for nobody, if theirs is gone by now.
local function deliver (self)
  local client, text = self.channel:collect()
  while client do
    if self.debuggers[client] then
      self.debuggers[client](text)
    end
    client, text = self.channel:collect()
  end
end

-- The state has something to tell. The owner comes last: it may be told that
-- the state is gone, and then the channel is closed.
function Tab:news ()
  deliver(self)
  if self.owner then
    self.owner.wake()
  end
end

-- The state closes: the tab goes when all is told.
function Tab:close ()
  self.closing = true
  if not self.gone then
    deliver(self)
  end
  if self.owner then
    self.owner.wake()
  else
    self:vanish()
  end
end

function Tab:vanish ()
  if not self.gone then
    self.gone = true
    self.on_gone(self)
    self.timer:close()
    self.channel:close()
  end
end

---------------------------------------------------------------------------
-- Orders: the program may be where it cannot be reached just now
---------------------------------------------------------------------------

local SILENCE = "The program does not answer: it is in a C function, or nobody "
                .. "runs it. It answers when it runs Lua again."

-- Debuggers wait for a program that cannot even say where it is. As if it had
-- said that by its console.
local function tell_silence (self)
  local text = wire.json {method = "Runtime.consoleAPICalled", params = {
    type = "info", executionContextId = 1, timestamp = os.time() * 1000,
    args = wire.array {{type = "string", value = SILENCE}}
  }}
  for _, debugger in pairs(self.debuggers) do
    debugger(text)
  end
end

-- Reminds the program for as long as it takes.
local function remind (self, ms)
  self.timer:start(ms, 0, function ()
    local waits, heard = self.channel:nudge(), self.channel:heard()
    self.told = self.told and not heard
    if waits then
      if not heard and not self.told and ms == SELDOM_MS then
        self.told = true
        tell_silence(self)
      end
      remind(self, math.min(ms * 2, SELDOM_MS))
    end
  end)
end

-- The orders of a channel that the program must take. Reminders begin anew. An
-- error is about what was asked for, not about this file.
for _, order in ipairs {"attach", "start", "stop", "keep", "kept", "deliver"} do
  Tab[order] = function (self, ...)
    local ok, result = pcall(self.channel[order], self.channel, ...)
    if not ok then
      error(result, 0)
    end
    remind(self, SOON_MS)
    return result
  end
end

---------------------------------------------------------------------------
-- Traces
---------------------------------------------------------------------------

-- Of a trace; never given twice.
function Tab:next_id ()
  self.ids = self.ids + 1
  return self.ids
end

-- A trace's options: those asked for, then the host's. How far a request may
-- go is the channel's business, which also adds what the host keeps secret.
function Tab:options (asked)
  local options = {}
  for _, given in ipairs {self.defaults, asked} do
    for key, value in pairs(given) do
      options[key] = value
    end
  end
  for _, name in ipairs {"redact", "redactPreset", "redactIgnoreCase"} do
    options[name] = asked[name]
  end
  return options
end

-- number: the endpoint's; defaults: the trace options that its host gave;
-- on_gone (tab): there is no such state any more.
function tab.new (number, channel, title, defaults, on_gone)
  return setmetatable({
    number = number,
    channel = channel,
    title = title,
    defaults = defaults,
    timer = uv.new_timer(), -- to remind the program of orders
    owner = nil,            -- the feed of the client that is attached
    profilers = {},         -- set: the clients' (profiler.lua)
    debuggers = {},         -- number -> who takes its messages (door.lua)
    told = false,           -- they know that it does not answer
    closing = false,        -- the state is closing
    gone = false,           -- and all of it is told
    on_gone = on_gone,
    ids = 0,                -- given so far
    names = 0,              -- generated so far: "Trace 1", ...
  }, Tab)
end

return tab
