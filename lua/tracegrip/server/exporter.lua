-- exporter.lua - the calls of one Lua state as spans, to a collector, on the
-- server's thread: what listen {otlp = ...} and serve --otlp ask for.
--
--   exporter.start(server, tab, plan)     an exporter | nil, message
--   exporter:finish(ms)                   sends what there is, and ends
--
-- It is a client like another, but for the connection: it attaches to the tab
-- and takes the program's stream as blocks, with overflow "ring", so that the
-- program never waits; what comes too fast is lost and counted. So no other
-- client can attach meanwhile.
--
-- The server (server.lua) has: exporters and parted(exporter, account).

local core = require "tracegrip.core"
local feed = require "tracegrip.server.feed"
local otlp = require "tracegrip.send.otlp"
local units = require "tracegrip.cli.units"
local uv = require "luv"
local wire = require "tracegrip.wire"
core.own()

local SHORTEST, LONGEST = 1, 16 -- ms between looks at what the trace has
local SLICE_NS = 5000000      -- of work, then others have their turn
local FLUSH_MS = 1000         -- a span waits no longer for others
local ACTOR = "otlp"          -- what stands for an actor's name in the blocks
local MAX_LENGTH = 1 << 30

local exporter = {}

local Exporter = {__name = "tracegrip.server.exporter"}
Exporter.__index = Exporter

-- One piece of the stream, if there is any.
local function take (self)
  local bytes = self.feed.opened and self.feed:frames(ACTOR, 0)
  for _, packet in ipairs(bytes and self.decoder:feed(bytes) or {}) do
    if packet.bytes then
      self.taker:feed(packet.bytes)
    end
  end
  otlp.pump(self.taker, self.sender)
  return bytes
end

-- What the trace has by now, as far as that goes before others want to work.
-- Whether there was anything.
local function read (self)
  local until_ns, any = uv.hrtime() + SLICE_NS, false
  while take(self) do
    any = true
    if uv.hrtime() > until_ns and not self.ending then
      break
    end
  end
  return any
end

local function look (self)
  self.rest = read(self) and SHORTEST or math.min(self.rest * 2, LONGEST)
  if uv.now() - self.flushed >= FLUSH_MS then
    self.flushed = uv.now()
    otlp.pump(self.taker, self.sender, true)
  end
  if self.tab.gone then
    self:finish(self.server.parting)
  end
end

-- The tab is gone, and its channel with it: called while that is read to its
-- end.
function Exporter:forget (tab)
  if tab == self.tab then
    self.feed:close()
  end
end

local function told (self)
  local lost, undecided = self.taker:lost(), self.taker:undecided()
  local text = self.sender:told()
  if lost > 0 then
    text = text .. "; " .. units.several(lost, "event") .. " lost"
  end
  if undecided > 0 then
    text = text .. "; patterns took too long over "
           .. units.several(undecided, "name")
  end
  return text
end

function Exporter:finish (ms)
  if self.ending then
    return
  end
  self.ending = true
  read(self)
  self.timer:close()
  self.feed:close()
  self.taker:finish("requested")
  otlp.pump(self.taker, self.sender, true)
  self.sender:part(ms, function ()
    self.server:parted(self, told(self))
  end)
end

local function options_of (tab, plan)
  local options = {overflow = "ring", traceparent = plan.traceparent}
  for key, value in pairs(tab.defaults) do
    options[key] = options[key] or value
  end
  return options
end

function exporter.start (server, tab, plan)
  local sender, message = otlp.sender(plan)
  if not sender then
    return nil, message
  end
  local options = options_of(tab, plan)
  local self = setmetatable({
    server = server, tab = tab, sender = sender,
    taker = core.receive(options, nil, nil, false,
                         otlp.spans(plan, "otlp", tab.title)),
    decoder = wire.decoder {maxLength = MAX_LENGTH, bulk = true},
    timer = uv.new_timer(), flushed = uv.now(), rest = SHORTEST,
    ending = false,
  }, Exporter)
  self.feed = feed.new {
    tab = tab, listener = function () end,
    wake = server:safely(function () look(self) end),
    rest = function () end, stalled = function () end
  }
  local problem = self.feed:open()
  if problem then
    return nil, problem
  end
  options.name, options.blocks = "otlp", true
  self.feed:start(options)
  self.wait = server:safely(function ()
    look(self)
    if not self.ending then
      self.timer:start(self.rest, 0, self.wait)
    end
  end)
  self.timer:start(0, 0, self.wait)
  return self
end

return exporter
