-- server.lua - the server of a process: who listens, who is connected, which
-- Lua states there are.
--
-- It has a thread and a Lua state of its own. The C side starts it with the
-- first tracegrip.listen and calls run(host), which returns when the host says
-- stop. What the host wants is in the events that it gives:
--
--   listen, unlisten    a state wants a socket, or no longer
--   inspect             the same, for debuggers (inspect/door.lua)
--   news                a state's channel has something to read
--   closed              a state is closing: what there is now is all
--   stop                the end, in so many milliseconds
--
-- Nothing here touches a traced state; that is what channels are for (tab.lua).
--
-- Failure: a listen that fails is answered so; a client that misbehaves loses
-- its connection. What should not have happened is one line on standard error.

local core = require "tracegrip.core"
local connection = require "tracegrip.server.connection"
local sockets = require "tracegrip.server.sockets"
local tab = require "tracegrip.server.tab"
local uv = require "luv"
local wire = require "tracegrip.wire"
core.own()

local MAX_CONNECTIONS = 64
local MAX_STRANGERS = 16        -- of these, who have not said the token yet
local STALL_MS = 5000           -- if a host says nothing, or not to wait
local PARTING_MS = 1000         -- for what is on its way to a client
local WATCH_MS = 100            -- between looks at what takes too long

local server = {}

local Server = {__name = "tracegrip.server"}
Server.__index = Server

function Server:complain (problem) -- luacheck: ignore self
  io.stderr:write("tracegrip: server: " .. tostring(problem) .. "\n")
end

-- For the loop, which does not survive errors.
local function safely (self, f)
  return function (...)
    local ok, err = pcall(f, ...)
    if not ok then
      self:complain(err)
    end
  end
end

function Server:safely (f)
  return safely(self, f)
end

---------------------------------------------------------------------------
-- Connections
---------------------------------------------------------------------------

-- How many there are, and how many of them are strangers.
local function census (self)
  local all, strangers = 0, 0
  for one in pairs(self.connections) do
    all = all + 1
    strangers = strangers + (one.token_given and 0 or 1)
  end
  return all, strangers
end

-- Hangs up on the client that has been silent longest, if there is one that
-- loses nothing by it. Those who stay away do not keep others out.
local function make_room (self)
  local idle
  for one in pairs(self.connections) do
    if one:is_idle(uv.now()) and not (idle and idle.heard <= one.heard) then
      idle = one
    end
  end
  if idle then
    idle:close()
  end
  return idle ~= nil
end

-- One too many hears that instead of a greeting.
local function turn_away (handle)
  handle:write(wire.encode {from = "root", error = "tooManyClients",
                            message = "Too many clients are connected"})
  handle:close()
end

local function welcome (self, handle, listener)
  local all, strangers = census(self)
  if self.stopping then
    return handle:close()
  elseif strangers >= MAX_STRANGERS
         or all >= MAX_CONNECTIONS and not make_room(self) then
    return turn_away(handle)
  end
  local one = connection.new(self, handle, listener.options)
  if not one.closed then
    self.connections[one] = listener
  end
end

-- Of those who speak for the program somebody may still have something to say.
local function finish_if_idle (self)
  if self.stopping and not next(self.connections)
     and not next(self.exporters) then
    self:finish()
  end
end

function Server:lost (one)
  self.connections[one] = nil
  finish_if_idle(self)
end

-- The same of one that works of its own accord, and says what became of it.
function Server:parted (one, account)
  if account then
    io.stderr:write("tracegrip: " .. account .. "\n")
  end
  self.exporters[one] = nil
  finish_if_idle(self)
end

local function look_around (self)
  local busy = false
  for one in pairs(self.connections) do
    busy = one:check(uv.now()) or busy
  end
  if not busy then
    self.watching:stop()
  end
end

-- From now on somebody looks whether something takes too long.
function Server:watch ()
  if not self.watching:is_active() then
    self.watching:start(WATCH_MS, WATCH_MS, safely(self, function ()
      look_around(self)
    end))
  end
end

---------------------------------------------------------------------------
-- Tabs
---------------------------------------------------------------------------

local function find_tab (self, endpoint)
  for i, one in ipairs(self.tabs) do
    if one.number == endpoint then
      return one, i
    end
  end
end

local function stop_listening (self, listener)
  self.listeners[listener.address] = nil
  self.host:drop(listener.handle:fileno())
  listener:close()
end

-- Its clients go, when all is told if that has an end.
local function abandon (self, listener, telling)
  stop_listening(self, listener)
  for one, by in pairs(self.connections) do
    if by == listener then
      one:finish(PARTING_MS, telling)
    end
  end
end

-- The state of that endpoint closes.
local function abandon_endpoint (self, endpoint)
  for _, listener in pairs(self.listeners) do
    if listener.endpoint == endpoint then
      abandon(self, listener, true)
    end
  end
end

-- What the state said last may be read before the host says that it closes,
-- and then it does not wait for that to be heard.
local function remove_tab (self, gone)
  local _, i = find_tab(self, gone.number)
  table.remove(self.tabs, i)
  for one in pairs(self.connections) do
    one:forget(gone)
  end
  for one in pairs(self.exporters) do
    one:forget(gone)
  end
  abandon_endpoint(self, gone.number)
end

-- What there is of a state without being asked: spans, profiles, heaps. true |
-- nil, message, code.
local function start_exporters (self, one, defaults)
  for name, plan in pairs {exporter = defaults.otlp,
                           profiles = defaults.profile,
                           heapwatch = defaults.heap} do
    local module = require("tracegrip.server." .. name)
    local started, message = module.start(self, one, plan)
    if not started then
      return nil, message, "noExporter"
    end
    self.exporters[started] = true
  end
  return true
end

local function stop_exporters (self, endpoint)
  for one in pairs(self.exporters) do
    if one.tab.number == endpoint then
      one:finish(PARTING_MS)
    end
  end
end

-- The first address of a state brings its tab, and what it sends. true | nil,
-- message, code.
local function add_tab (self, event, defaults)
  if find_tab(self, event.endpoint) then
    return true
  end
  local channel = self.host:channel(event.endpoint)
  table.insert(self.tabs, tab.new(event.endpoint, channel, event.title or "lua",
                                  defaults.options or {}, function (gone)
    remove_tab(self, gone)
  end))
  return start_exporters(self, self.tabs[#self.tabs], defaults)
end

---------------------------------------------------------------------------
-- Events
---------------------------------------------------------------------------

local events = {}

-- What the host says to the server alone comes as a packet: stallTimeout, and
-- options, of traces. A client for which the program would not wait any longer
-- has as long again to come to where that is told.
local function defaults_of (options)
  local list = options.defaults and wire.decoder():feed(options.defaults)
  return list and list[1] or {}
end

local function started_listening (self, event, listener)
  local defaults = defaults_of(event.options)
  local stall = defaults.stallTimeout or 0
  listener.endpoint = event.endpoint
  listener.options = {
    token = event.options.token,
    patience = 2 * (stall > 0 and stall * 1000 or STALL_MS)
  }
  self.listeners[listener.address] = listener
  self.host:keep(listener.handle:fileno())
  return add_tab(self, event, defaults)
end

function events.listen (self, event)
  local listener
  sockets.open(event.options, safely(self, function (handle)
    welcome(self, handle, listener)
  end), function (opened, message, code)
    listener = opened
    if not opened then
      return self.host:answer(event.id, nil, message, code)
    end
    local ok, problem, why = started_listening(self, event, opened)
    if not ok then
      abandon(self, opened, false)
      return self.host:answer(event.id, nil, problem, why)
    end
    self.host:answer(event.id, true, opened.address)
  end)
end

-- Its module needs a library that nothing else does, so it is loaded only
-- here; nil, message, code.
local function load_door ()
  local found, door = pcall(require, "tracegrip.inspect.door")
  if not found then
    return nil, "debuggers need the module tracegrip.wslay, which was built "
                .. "without the library libwslay", "noWebSocket"
  end
  return door
end

function events.inspect (self, event)
  local door, message, code = load_door()
  if not door then
    return self.host:answer(event.id, nil, message, code)
  end
  local ok, refusal, reason = add_tab(self, event, defaults_of(event.options))
  if not ok then
    return self.host:answer(event.id, nil, refusal, reason)
  end
  local one = find_tab(self, event.endpoint)
  door.open(one, event.options, function (opened, problem, why)
    if not opened then
      return self.host:answer(event.id, nil, problem, why)
    end
    opened.endpoint = event.endpoint
    self.listeners[opened.address] = opened
    self.host:keep(opened.handle:fileno())
    self.host:answer(event.id, true, opened.address)
  end)
end

function events.unlisten (self, event)
  local listener = self.listeners[event.address]
  if listener then
    abandon(self, listener, false)
    stop_exporters(self, listener.endpoint)
  end
  self.host:answer(event.id, true)
end

function events.news (self, event)
  local one = find_tab(self, event.endpoint)
  if one then
    one:news()
  end
end

function events.closed (self, event)
  local one = find_tab(self, event.endpoint)
  if one then
    one:close()
  end
  abandon_endpoint(self, event.endpoint)
end

function events.stop (self, event)
  self.stopping = true
  for _, listener in pairs(self.listeners) do
    stop_listening(self, listener)
  end
  for one in pairs(self.connections) do
    one:finish(event.ms or 0, true)
  end
  for one in pairs(self.exporters) do
    one:finish(event.ms or 0)
  end
  finish_if_idle(self)
end

-- Everything is closed, and the loop has nothing to do any more.
function Server:finish ()
  if not self.poll:is_closing() then
    self.poll:close()
    self.watching:close()
    for _, one in ipairs {table.unpack(self.tabs)} do
      one:vanish()
    end
  end
end

local function attend (self)
  local event = self.host:take()
  while event do
    local handler = events[event.kind]
    if handler then
      handler(self, event)
    end
    event = self.host:take()
  end
end

---------------------------------------------------------------------------
-- The thread's work
---------------------------------------------------------------------------

-- Begins; the loop does the rest.
function server.start (host)
  local self = setmetatable({
    host = host,
    tabs = {},                -- by endpoint
    listeners = {},           -- by address
    connections = {},         -- connection -> the listener it came by
    exporters = {},           -- set: who sends of his own accord
    parting = PARTING_MS,
    watching = uv.new_timer(),
    poll = uv.new_poll(host:fd()),
    stopping = false,
  }, Server)
  self.poll:start("r", safely(self, function () attend(self) end))
  attend(self)
  return self
end

function server.run (host)
  server.start(host)
  uv.run()
end

return server
