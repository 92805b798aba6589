-- pausing.lua - a moment of a recording as a pause: call frames and their
-- scopes.
--
--   pausing.new(session)
--   self:begin(reason, hits, data)  a walk has come somewhere: tells the front
--                                   end
--   self:finish()                   it goes on; the same
--   self:announce()                 tells it again, if there is a pause
--   self:stands()                   whether there is one; raises a fault
--   self:frame(id)                  {thread, index, entry, seen, tells} by a
--                                   callFrameId; seen: the beginning of its
--                                   call is in the recording; tells: it is the
--                                   first one; raises a fault
--   self:top()                      the index of the first frame that is shown,
--                                   and that frame, as replay:frames has it
--
-- The frames are those of the coroutine that ran then. Functions of C have no
-- text: the innermost frames are left out as long as they are of such, and what
-- is to be seen there is among the scopes of the first one that is shown. The
-- frames of other coroutines are told behind them, without variables, as the
-- protocol has asynchronous stacks; each with what it was. Before the first
-- packet and behind the last one there is no frame: one that says so takes its
-- place, where the program begins or has ended.

local core = require "tracegrip.core"
local fault = require "tracegrip.inspect.fault"
local frames = require "tracegrip.replay.frames"
local points = require "tracegrip.replay.points"
local wire = require "tracegrip.wire"
core.own()

local GROUP = "backtrace"       -- of objects: they end with the pause
local INNERMOST, OUTERMOST = 180, 20    -- frames of a deep stack
local OTHERS = 100              -- frames of another coroutine
local UNDEFINED = {type = "undefined"}

local pausing = {}

local Pausing = {__name = "tracegrip.inspect.recorded.pausing"}
Pausing.__index = Pausing

function pausing.new (session)
  return setmetatable({session = session}, Pausing)
end

---------------------------------------------------------------------------
-- Frames
---------------------------------------------------------------------------

local function location (script, line)
  return {scriptId = script.id, lineNumber = math.max(line, 1) - 1,
          columnNumber = 0}
end

-- What a frame has under its names comes first: its locals, if the recording
-- has them, else its arguments.
local function scope_chain (self, scopes)
  local list, locals = {}, false
  for _, scope in ipairs(scopes) do
    locals = locals or scope.kind == "locals"
  end
  local own = locals and "locals" or "arguments"
  for _, scope in ipairs(scopes) do
    local is_own = scope.kind == own
    table.insert(list, is_own and 1 or #list + 1, {
      type = is_own and "local" or "closure", name = scope.name,
      object = self.session.remote:box(scope, GROUP)
    })
  end
  return wire.array(list)
end

-- What a method was called on.
local function this_of (self, scopes)
  for _, scope in ipairs(scopes) do
    local first = scope.kind == "arguments" and scope.items[1]
    if first and first.name == "self" then
      return self.session.remote:describe(first.grip, scope.pool, GROUP)
    end
  end
  return UNDEFINED
end

-- The first Lua frame; without one the innermost.
function Pausing:top ()
  local walk = self.session.walk
  local list = walk.replay:frames(walk:moment().running, 1, INNERMOST)
  for i, frame in ipairs(list) do
    if not frame.c then
      return i, frame
    end
  end
  return 1, list[1]
end

-- With what is to be seen in the innermost frame, if that is left out.
local function scopes_of (self, thread, index, is_top)
  local walk = self.session.walk
  local list = frames.scopes(walk, thread, index)
  if not is_top or index == 1 then
    return list
  end
  local hidden = walk.replay:frames(thread, 1, 1)[1]
  for _, scope in ipairs(frames.scopes(walk, thread, 1)) do
    if scope.kind == "arguments" or scope.kind == "locals" then
      scope.kind = "hidden"
      scope.name = ("%s of %s"):format(scope.name, hidden.name or "?")
    end
    list[#list + 1] = scope
  end
  return list
end

-- How many frames are shown, if not all are: the last scope is the moment.
local function add_count (self, scopes, thread)
  local total = points.depth(self.session.walk.replay, thread)
  if total > INNERMOST + OUTERMOST then
    table.insert(scopes[#scopes].items, {name = "frames", grip = (
      "%d, of which %d are shown"):format(total, INNERMOST + OUTERMOST)})
  end
end

local function call_frame (self, thread, index, frame)
  local session, pause = self.session, self.session.pause
  local script = session.book.scripts:at(frame.url)
  local is_top = #pause.frames == 0
  local scopes = scopes_of(self, thread, index, is_top)
  if is_top then
    add_count(self, scopes, thread)
  end
  local has_begun = frame.seen and not frame.sampled
  table.insert(pause.frames, {thread = thread, index = index, tells = is_top,
                              entry = frame.entry, seen = has_begun})
  return {
    callFrameId = ("%d.%d"):format(pause.number, #pause.frames),
    functionName = frame.name or "", url = script.url,
    location = location(script, frames.line(session.walk, thread, index,
                                            frame)),
    functionLocation = location(script, frame.line or 1),
    scopeChain = scope_chain(self, scopes), this = this_of(self, scopes),
    canBeRestarted = has_begun
  }
end

-- Calls f(index, frame) for those of a coroutine, the middle of many left out.
local function each_frame (self, thread, inner, outer, f)
  local replay = self.session.walk.replay
  local total = points.depth(replay, thread)
  local function some (first, count)
    for i, frame in ipairs(replay:frames(thread, first, count)) do
      f(first + i - 1, frame)
    end
  end
  if total <= inner + outer then
    return some(1, total)
  end
  some(1, inner)
  some(total - outer + 1, outer)
end

-- At both ends of the history: the main chunk of what comes, or of what was.
local function edge_frame (self)
  local walk, pause = self.session.walk, self.session.pause
  local moment = walk:moment()
  local at_start = moment.number == 0
  local packet = walk.replay:coming() or walk.replay:last() or {}
  local script = self.session.book.scripts:at(packet.url)
  pause.frames[1] = {thread = moment.running, index = 1, seen = false,
                     tells = true}
  return {
    callFrameId = ("%d.1"):format(pause.number),
    functionName = at_start and "(beginning of the recording)"
                   or "(end of the recording)",
    url = script.url, location = location(script, packet.line or 1),
    scopeChain = scope_chain(self, {frames.moment(walk)}), this = UNDEFINED,
    canBeRestarted = false
  }
end

local function call_frames (self)
  local list = {}
  local thread, top = self.session.walk:moment().running, self:top()
  each_frame(self, thread, INNERMOST, OUTERMOST, function (i, frame)
    if i >= top then
      list[#list + 1] = call_frame(self, thread, i, frame)
    end
  end)
  if #list == 0 then
    list[1] = edge_frame(self)
  end
  return wire.array(list)
end

---------------------------------------------------------------------------
-- Other coroutines
---------------------------------------------------------------------------

local function name_of (self, one)
  local name = "main"
  if one.thread ~= 1 then
    local body = self.session.book.bodies[one.body]
    name = ("coroutine %d%s"):format(one.thread, body and ": " .. body or "")
  end
  return ("%s (%s)"):format(name, one.open > 0 and "normal" or "suspended")
end

local function stack_of (self, one)
  local list = {}
  each_frame(self, one.thread, OTHERS, 0, function (i, frame)
    local script = self.session.book.scripts:at(frame.url)
    local line = frames.line(self.session.walk, one.thread, i, frame)
    list[#list + 1] = {functionName = frame.name or "", url = script.url,
                       scriptId = script.id, lineNumber = line - 1,
                       columnNumber = 0}
  end)
  return wire.array(list)
end

-- Those that wait for others first; nil: there are none.
local function other_stacks (self)
  local running, all = self.session.walk:moment().running, {}
  for _, one in ipairs(self.session.walk.replay:threads()) do
    if one.thread ~= running then
      all[#all + 1] = one
    end
  end
  table.sort(all, function (a, b)
    if (a.open > 0) ~= (b.open > 0) then
      return a.open > 0
    end
    return a.thread < b.thread
  end)
  local trace
  for i = math.min(#all, self.session.async_depth), 1, -1 do
    trace = {description = name_of(self, all[i]), parent = trace,
             callFrames = stack_of(self, all[i])}
  end
  return trace
end

---------------------------------------------------------------------------
-- The pause
---------------------------------------------------------------------------

function Pausing:begin (reason, hits, data)
  local session = self.session
  session.pauses = session.pauses + 1
  session.pause = {number = session.pauses, frames = {}, reason = reason,
                   hits = wire.array(hits), data = data}
  session.pause.call_frames = call_frames(self)
  self:announce()
end

function Pausing:announce ()
  local pause = self.session.pause
  if pause and self.session.debugger then
    self.session:send("Debugger.paused", {
      callFrames = pause.call_frames, reason = pause.reason,
      data = pause.data, hitBreakpoints = pause.hits,
      asyncStackTrace = other_stacks(self)
    })
  end
end

function Pausing:finish ()
  self.session.pause = nil
  self.session.remote.objects.release_group(GROUP)
  if self.session.debugger then
    self.session:send("Debugger.resumed", {})
  end
end

function Pausing:stands ()
  return self.session.pause
         or fault.raise("Can only perform operation while paused.")
end

function Pausing:frame (id)
  local pause, index = id:match "^(%d+)%.(%d+)$"
  local frame = math.tointeger(tonumber(pause)) == self:stands().number
                and self.session.pause.frames[math.tointeger(tonumber(index))]
  return frame or fault.raise("Could not find call frame with given id")
end

return pausing
