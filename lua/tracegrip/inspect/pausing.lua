-- pausing.lua - a program that stands still: its call frames as the protocol
-- has them, and the loop that serves debuggers until one says how to go on.
--
--   pausing.stop(co, reason, hits, more)
--                                    stands still where the coroutine is, until
--                                    go, or until no debugger is left; returns
--                                    how to go on: "none", "into", ...
--                                    more.data: what there is to say besides;
--                                    more.level: of the first frame shown
--   pausing.go(how)                  raises a fault if it does not stand still
--   pausing.stands()                 whether it does
--   pausing.frame(id)                a frame by its callFrameId; the same
--   pausing.scope(id, number)        the box or table of a scope of it
--   pausing.stack(co, first, most)   some frames of any coroutine, as the
--                                    protocol has them, from that number on;
--                                    the innermost is 0; and how many it has
--   pausing.where()                  the coroutine that stands still; the same
--   pausing.reason()                 what for; the same
--   pausing.number()                 which pause it is; the same
--   pausing.announce(session)        tells it, if the program stands still
--   pausing.serve                    to be set: function that waits for the
--                                    next message and handles it; false:
--                                    nobody is there any more

local core = require "tracegrip.core"
local box = require "tracegrip.inspect.box"
local fault = require "tracegrip.inspect.fault"
local frames = require "tracegrip.inspect.frames"
local objects = require "tracegrip.inspect.objects"
local scripts = require "tracegrip.inspect.scripts"
local sessions = require "tracegrip.inspect.sessions"
local stacktrace = require "tracegrip.inspect.stacktrace"
local values = require "tracegrip.inspect.values"
local wire = require "tracegrip.wire"
core.own()

local GROUP = objects.PAUSE
local FRAMES = 200             -- of a resumer

local pausing = {}

local current                   -- the pause; nil while the program runs
local count = 0

---------------------------------------------------------------------------
-- Frames
---------------------------------------------------------------------------

local function location (script, line)
  return {scriptId = script.id, lineNumber = math.max(line, 1) - 1,
          columnNumber = 0}
end

local function scopes (frame)
  local list = {}
  local function add (kind, value, name)
    if value ~= nil then
      list[#list + 1] = {type = kind, name = name,
                         object = values.describe(value, GROUP)}
      frame.scopes[#list] = value
    end
  end
  frame.scopes = {}
  add("local", frames.locals(frame), stacktrace.name(frame.info))
  add("closure", frames.upvalues(frame), "upvalues")
  local globals = frames.globals(frame)
  add("global", type(globals) == "table" and globals
                or box.new {description = "Global", class = "Global",
                            list = function () return {} end})
  return list
end

local function call_frame (frame, index)
  local info = frame.info
  local script = scripts.meet(info.source)
  return {
    callFrameId = string.format("%d.%d", count, index),
    functionName = stacktrace.name(info),
    location = location(script, info.currentline),
    functionLocation = location(script, info.linedefined),
    url = script.url, scopeChain = scopes(frame),
    this = values.describe(frames.this(frame), GROUP)
  }
end

-- Where resumers are: they are told without variables.
local function resumers (chain, depth)
  local trace
  for i = math.min(#chain, depth + 1), 2, -1 do
    trace = {description = "coroutine.resume", parent = trace,
             callFrames = stacktrace.describe(
               stacktrace.capture(chain[i], FRAMES))}
  end
  return trace
end

---------------------------------------------------------------------------
-- The pause
---------------------------------------------------------------------------

function pausing.announce (session)
  if current then
    session:send("Debugger.paused", {
      callFrames = wire.array(current.call_frames), reason = current.reason,
      data = current.data, hitBreakpoints = wire.array(current.hits),
      asyncStackTrace = resumers(current.chain, session.async_depth)
    })
  end
end

local function begin (co, reason, hits, more)
  count = count + 1
  values.fresh()
  local pause = {number = count, reason = reason, hits = hits,
                 data = more and more.data,
                 co = co, level = more and more.level or 0,
                 frames = frames.of(co, more and more.level),
                 chain = core.inspector.chain(co), call_frames = {},
                 known = {[co] = {}}}
  for i, frame in ipairs(pause.frames) do
    pause.call_frames[i] = call_frame(frame, i)
    pause.known[co][frame.level] = pause.call_frames[i]
  end
  current = pause             -- whole, or none: then the program goes on
end

-- What was kept of the program goes, so that the pause leaves nothing in its
-- memory.
local function finish ()
  for _, frame in ipairs(current.frames) do
    frame.live = false
  end
  current = nil
  objects.release_group(GROUP)
  sessions.each("debugger", function (session)
    session:send("Debugger.resumed", {})
  end)
end

local function serve_until_go (co)
  sessions.each("debugger", pausing.announce)
  while not current.go
        and (sessions.any "debugger" or sessions.any "suspended")
        and pausing.serve(co) do
  end
  return current.go or "none"
end

-- Whatever fails, the pause is over then.
function pausing.stop (co, reason, hits, more)
  begin(co, reason, hits, more)
  local ok, how = pcall(serve_until_go, co)
  finish()
  return ok and how or error(how, 0)
end

local function check ()
  return current or fault.raise("Can only perform operation while paused.")
end

-- One that was shown before is the same frame.
local function frame_at (pause, co, level)
  local known = pause.known[co] or {}
  pause.known[co] = known
  if known[level] == nil then
    local frame = frames.at(co, level)
    if frame then
      table.insert(pause.frames, frame)
      known[level] = call_frame(frame, #pause.frames)
    else
      known[level] = false
    end
  end
  return known[level]
end

-- tracegrip's own frames are left out, and count all the same: they are few.
function pausing.stack (co, first, most)
  local pause, list = check(), {}
  local from = co == pause.co and pause.level or 0
  local depth = frames.depth(co)
  for level = from + first, math.min(from + first + most, depth) - 1 do
    list[#list + 1] = frame_at(pause, co, level) or nil
  end
  return list, math.max(depth - from, 0)
end

function pausing.where ()
  return check().co
end

function pausing.reason ()
  return check().reason
end

function pausing.number ()
  return check().number
end

function pausing.go (how)
  check().go = how
end

function pausing.stands ()
  return current ~= nil
end

function pausing.frame (id)
  local pause, index = string.match(id, "^(%d+)%.(%d+)$")
  local frame = math.tointeger(tonumber(pause)) == check().number
                and current.frames[math.tointeger(tonumber(index))]
  return frame or fault.raise("Could not find call frame with given id")
end

function pausing.scope (id, number)
  return pausing.frame(id).scopes[number + 1]
         or fault.raise("Could not find scope with given number")
end

return pausing
