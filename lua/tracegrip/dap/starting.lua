-- starting.lua - a launch: the first process of the program that runs Lua,
-- those that it starts, what is printed, and the end of it all.
--
--   starting.program(live)   starts it; where it can be debugged, as
--                            attaching.lua tells it too. Waits; raises a
--                            problem. live: the back end (live.lua), which gets
--                            'launched' and 'output'
--   starting.begins(live)    the first process is about to be let begin
--   starting.leave(live)     all of it goes on without the client; waits;
--                            raises a problem
--
-- From then on "output" is told, and, when the program has ended and all of it
-- was read, "exited" and "terminated". Another process that runs Lua is offered
-- to the client as a session of its own; it runs by itself if it is not wanted.

local core = require "tracegrip.core"
local debuggee = require "tracegrip.dap.debuggee"
local launching = require "tracegrip.dap.launching"
local output = require "tracegrip.dap.output"
local problem = require "tracegrip.dap.problem"
local task = require "tracegrip.dap.task"
local uv = require "luv"
local versions = require "tracegrip.cli.versions"
core.own()

local START_MS = 30000          -- for a program to run Lua
local DRAIN_MS = 500            -- for the last output of one that has ended
local SAID = 1000               -- bytes of it that a failed launch tells

local starting = {}

---------------------------------------------------------------------------
-- The end
---------------------------------------------------------------------------

local function status_of (launched)
  return launched.signal ~= 0 and 128 + launched.signal or launched.code
end

-- The process has ended and said all that it had to say. Another one may have
-- been started since.
local function exited (live, launched)
  if launched == live.launched and not live.over then
    live.output:finish()
    live.port.send_event("exited", {exitCode = status_of(launched)})
    live:tell_end()
  end
end

-- What it has started may keep its output open: that is waited for a while, and
-- for a client that reads slowly as long as it takes.
local function drain (live, launched)
  local timer = uv.new_timer()
  timer:start(DRAIN_MS, DRAIN_MS, function ()
    if not live.output:holds() or launched.closed then
      timer:close()
      exited(live, launched)
    end
  end)
end

local function ended (live, launched, code, signal)
  launched.code, launched.signal = code, signal
  if next(launched.pipes) then
    drain(live, launched)
  else
    exited(live, launched)
  end
end

---------------------------------------------------------------------------
-- What it starts
---------------------------------------------------------------------------

local function release (place)
  local program = debuggee.connect(place.where, place.path, function () end,
                                   function () end)
  if program then
    program:try("Runtime.runIfWaitingForDebugger", {stop = false})
    program:close()
  end
end

local function offer (live, launched, place)
  local configuration = {
    type = live.port.client.adapterID, request = "attach", name = place.title,
    host = place.where.host, port = place.where.port,
    pathMappings = live.arguments.pathMappings,
    sourceMaps = live.arguments.sourceMaps
  }
  local wanted = task.await(function (done)
    live.port.ask("startDebugging", {request = "attach",
                                     configuration = configuration}, done)
  end)
  launched.held[place] = nil
  if not wanted then
    release(place)
  end
end

---------------------------------------------------------------------------
-- The beginning
---------------------------------------------------------------------------

local function print_output (live, launched)
  live.output = output.new(function (category, text)
    live.port.send_event("output", {category = category, output = text})
  end, live.port.unread, function (on) launched:read(on) end)
  launched.said = ""
  launched.output = function (category, bytes)
    live.output:put(category, bytes)
    launched.said = string.sub(launched.said .. (bytes or ""), -SAID)
    if launched.code and not next(launched.pipes) then
      exited(live, launched)
    end
  end
end

-- done(place) for the first process, done(nil) if there will be none.
local function launch (live, done)
  local function told (launched, place)
    launched.held[place] = true
    if live.left then
      return
    elseif launched.main then
      return task.start(offer, live, launched, place)
    end
    launched.main, launched.first = place.pid, place
    done(place)
  end
  local launched = launching.new(told)
  live.launched = launched
  launched:start(live.arguments, live.port)
  print_output(live, launched)
  launched.ended = function (code, signal)
    ended(live, launched, code, signal)
    done(nil)
  end
  launched:read(true)
end

local function fail (launched)
  local heeding = versions.heeding()
  if launched.code then
    problem.show("the program has ended (status %d), and has run no %s: %s",
                 status_of(launched), heeding, launched.said)
  end
  problem.show("the program cannot be debugged: within %d s it has run no %s",
               START_MS // 1000, heeding)
end

function starting.program (live)
  local timer <close> = setmetatable({handle = uv.new_timer()}, {
    __close = function (self) self.handle:close() end
  })
  local place = task.await(function (done)
    timer.handle:start(START_MS, 0, function () done(nil) end)
    launch(live, done)
  end)
  if not place then
    live.over = true            -- it has never begun for the client
    if not live.left then
      live.launched:kill "sigkill"
    end
    live.launched:close()
    fail(live.launched)
  end
  return place
end

function starting.begins (live)
  live.launched.held[live.launched.first] = nil
end

function starting.leave (live)
  live.left = true
  local ok, err = pcall(live.launched.leave, live.launched)
  if not ok then
    live.left = false
    error(err, 0)
  end
  for place in pairs(live.launched.held) do
    release(place)
  end
end

return starting
