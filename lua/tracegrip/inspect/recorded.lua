-- recorded.lua - a recording in front of Chrome DevTools: one end of Chrome's
-- protocol (docs/inspect.md), where no program is, but what one has left.
--
--   recorded.open(path, trace, info, begins)
--                         a tab for the door (door.lua): trace and info as
--                         recording.trace has them; begins: where, "error",
--                         "entry" or "end"
--
--   door.lua ── recorded.lua ── replay/walk.lua: a walk of each
--                  ├ recorded/debugging.lua: the domain Debugger
--                  ├ recorded/evaluating.lua: the domain Runtime
--                  ├ recorded/walking.lua: from one pause to the next
--                  ├ recorded/pausing.lua: call frames and scopes of a moment
--                  ├ recorded/stops.lua: breakpoints
--                  ├ recorded/saying.lua: what the program has said
--                  ├ recorded/remote.lua: recorded values as RemoteObjects
--                  └ recorded/scripts.lua: sources as scripts
--
-- What it shows is what a debug adapter's session shows of a recording
-- (dap/recorded.lua); both have it from tracegrip/replay. The walk begins when
-- the front end has set its breakpoints (Runtime.runIfWaitingForDebugger). From
-- then on it is paused, or a search is under way: Debugger.resumed is what
-- begins that, Debugger.paused what ends it, and between the search's pieces
-- other requests have their turn.
--
-- The front end has no buttons that go back. "Restart frame" in the menu of the
-- call stack goes to where that call has begun; the console has the other ways,
-- as functions (evaluating.lua).
--
-- Each connection is a session of its own, with its own moment: nobody is
-- disturbed by who looks as well, and nothing is left when one goes.
--
-- Failure: what a recording cannot do, such as to set a variable, is an error
-- in the reply. What cannot be read on ends a search there, and the console
-- says why.

local core = require "tracegrip.core"
local debugging = require "tracegrip.inspect.recorded.debugging"
local evaluating = require "tracegrip.inspect.recorded.evaluating"
local pausing = require "tracegrip.inspect.recorded.pausing"
local protocol = require "tracegrip.inspect.protocol"
local remote = require "tracegrip.inspect.recorded.remote"
local requests = require "tracegrip.inspect.requests"
local saying = require "tracegrip.inspect.recorded.saying"
local scripts = require "tracegrip.inspect.recorded.scripts"
local stops = require "tracegrip.inspect.recorded.stops"
local uv = require "luv"
local values = require "tracegrip.inspect.values"
local walk = require "tracegrip.replay.walk"
local wire = require "tracegrip.wire"
core.own()

local recorded = {}

---------------------------------------------------------------------------
-- Methods
---------------------------------------------------------------------------

-- Only those that are described.
local methods = {}
for domain, some in pairs {Debugger = debugging.methods,
                           Runtime = evaluating.methods} do
  for name, method in pairs(some) do
    name = domain .. "." .. name
    methods[name] = assert(protocol.commands[name] and method, name)
  end
end

---------------------------------------------------------------------------
-- A session
---------------------------------------------------------------------------

local Session = {__name = "tracegrip.inspect.recorded"}
Session.__index = Session

-- Waits for the loop's next turn, in which messages come.
local function breathe ()
  local co, timer = coroutine.running(), uv.new_timer()
  timer:start(0, 0, function ()
    timer:close()
    coroutine.resume(co)
  end)
  coroutine.yield()
end

function Session:send (method, params)
  if not self.over then
    self.write(wire.json {method = method, params = params})
  end
end

-- A function that is to be called once the reply is sent: a search, which may
-- wait.
function Session:after (f)
  self.follower = f
end

local function guarded (self, f)
  local ok, message = xpcall(f, debug.traceback)
  if not ok then
    io.stderr:write("tracegrip: internal error: ", message, "\n")
    self.console:note("error", "Internal error: " .. message)
  end
end

function Session:receive (text)
  local request, reply = requests.read(text, methods)
  if request then
    values.fresh()
    reply = requests.perform(request, methods[request.method], self)
  end
  self.write(wire.json(reply))
  local f = self.follower
  self.follower = nil
  if f then
    coroutine.resume(coroutine.create(guarded), self, f)
  end
end

function Session:close ()
  self.over = true
  self.walk:pause()
end

local function new_session (book, write)
  local self = setmetatable({
    book = book, write = write,
    walk = walk.new(core.replay(book.trace), breathe),
    remote = remote.new(book.scripts),
    debugger = false,         -- it has enabled the domain
    runtime = false,          -- the same
    begun = false,            -- the walk has
    pause = nil,              -- where it stands (pausing.lua)
    pauses = 0,               -- so far
    async_depth = 0,          -- how many other coroutines it wants to see
    ignored = {},             -- functions: whether steps pass over an address
    halting = false,          -- it wants to stop, wherever that is
    follower = nil,           -- what follows the reply
    over = false,             -- it has gone
  }, Session)
  self.stops = stops.new(book.scripts)
  self.console = saying.new(self)
  self.pausing = pausing.new(self)
  return self
end

---------------------------------------------------------------------------
-- The tab
---------------------------------------------------------------------------

local Tab = {__name = "tracegrip.inspect.recorded.tab"}
Tab.__index = Tab

-- There is no program that had to be reminded of anything, or could linger.
local channel = {
  nudge = function () return true end,
  lingers = function () return nil end
}

-- A message; nothing: it has gone; a truth value: whether it reads too slowly,
-- which nobody heeds, since it is told nothing that it has not asked for.
function Tab:deliver (client, text)
  local session = self.sessions[client]
  if type(text) == "string" then
    if not self.debuggers[client] then
      return false              -- it has lost its connection by now
    end
    if not session then
      session = new_session(self.book, function (answer)
        local write = self.debuggers[client]
        return write and write(answer)
      end)
      self.sessions[client] = session
    end
    session:receive(text)
  elseif text == nil and session then
    session:close()
    self.sessions[client] = nil
  end
  return true
end

function recorded.open (path, trace, info, begins)
  local functions = core.replay(trace):functions()
  local book = {
    path = path, trace = trace, info = info, begins = begins,
    scripts = scripts.new(trace, info, functions), bodies = {}
  }
  for _, f in ipairs(functions) do
    book.bodies[f.id] = f.name
  end
  return setmetatable({
    book = book, title = path, channel = channel,
    what = "tracegrip: a recording",
    domains = {Debugger = true, Runtime = true},
    debuggers = {},           -- number -> who takes its messages (door.lua)
    sessions = {},            -- the same -> its session
    gone = false
  }, Tab)
end

return recorded
