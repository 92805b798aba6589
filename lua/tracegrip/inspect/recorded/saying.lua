-- saying.lua - what a front end's console shows of a recording: what its
-- program has said, and words of our own.
--
--   saying.new(session)
--   self:introduce()           what recording that is, and how to go back
--   self.GROUP                 that of its objects: they are there until the
--                              front end clears its console
--   self:note(kind, text)      a line of ours: "info", "warning", "error"
--   self:log(script, line, list)
--                              what a logpoint gives: a list of {grip, pool}
--   self:arrive(from, to)      a walk from one moment to another is over: what
--                              the program has said in between, if that was
--                              forwards; and what of the logs was left out
--
-- The front end orders lines by their times: all are told with that of now, the
-- program's after each other.

local core = require "tracegrip.core"
local markers = require "tracegrip.replay.markers"
local recording = require "tracegrip.cli.recording"
local uv = require "luv"
local wire = require "tracegrip.wire"
core.own()

local CONTEXT = 1
local GROUP = "console log"     -- of objects
local MOST = 200                -- markers that are told of one walk
local LOGS = 1000               -- the same of what logpoints give

local saying = {}

local Saying = {__name = "tracegrip.inspect.recorded.saying"}
Saying.__index = Saying
Saying.GROUP = GROUP

function saying.new (session)
  return setmetatable({session = session, unkept = 0, logs = 0}, Saying)
end

local function now ()
  local seconds, us = uv.gettimeofday()
  return seconds * 1000 + us / 1000
end

-- 'place': {script, line, name}, or nil.
local function say (self, kind, args, place)
  if self.session.runtime then
    self.session:send("Runtime.consoleAPICalled", {
      type = kind, args = wire.array(args), executionContextId = CONTEXT,
      timestamp = now(),
      stackTrace = place and {callFrames = wire.array {{
        functionName = place.name or "", scriptId = place.script.id,
        url = place.script.url, lineNumber = place.line - 1, columnNumber = 0
      }}}
    })
  end
end

function Saying:note (kind, text)
  say(self, kind, {{type = "string", value = text}})
end

local WAYS = "Back: stepBack(), stepBackIn(), stepBackOut(), "
             .. "reverseContinue(), moment(N), each alone in this console; "
             .. "\"Restart frame\" in the call stack's menu. Calls that had "
             .. "a table: history(t)."

function Saying:introduce ()
  local book = self.session.book
  self:note("info", recording.told(book.path, book.info) .. ". " .. WAYS)
  local losses = recording.losses(book.trace.lost)
  if losses ~= "none" then
    self:note("warning", "The recording lacks " .. losses)
  end
end

function Saying:log (script, line, list)
  self.logs = self.logs + 1
  if self.logs > LOGS then
    return
  end
  local args = {}
  for i, one in ipairs(list) do
    args[i] = self.session.remote:describe(one.grip, one.pool, GROUP, true)
  end
  say(self, "log", args, {script = script, line = line})
end

local kinds = {debug = "debug", info = "info", warn = "warning",
               error = "error", trace = "trace"}

-- As the program has said it; of what has a count or a time, a line of text.
local function arguments_of (self, marker)
  local list, args = marker.arguments, {}
  if marker.duration or marker.count or not list then
    return {{type = "string", value = markers.text(marker)}}
  end
  for i, grip in ipairs(list.values) do
    args[i] = self.session.remote:describe(grip, list.objectPool, GROUP, true)
  end
  return args
end

local function tell (self, marker)
  local site = marker.callsite
  local script = site and self.session.book.scripts:at(site.url)
  say(self, kinds[marker.method] or "log", arguments_of(self, marker),
      script and {script = script, line = site.line})
end

local function tell_markers (self, from, to)
  local replay = self.session.walk.replay
  local list, more = replay:markers(from, to, MOST)
  for _, marker in ipairs(list) do
    tell(self, marker)
  end
  if more > 0 then
    self:note("info", ("… and %d more that the program has said")
              :format(more))
  end
  local unkept = replay:moment().unkept
  if unkept > self.unkept then
    self.unkept = unkept
    self:note("info", ("%d that the program has said are too many to keep")
              :format(unkept))
  end
end

function Saying:arrive (from, to)
  if self.logs > LOGS then
    self:note("info", ("… and %d more of logpoints"):format(self.logs - LOGS))
  end
  self.logs = 0
  if to > from then
    tell_markers(self, from, to)
  end
end

return saying
