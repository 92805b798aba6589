-- looking.lua - what a client asks of a moment of a recording: the coroutines
-- that there were, their frames, what these were called with, what has ended.
--
--   looking.handlers        command -> function (recorded, arguments), as
--                           session.lua has them; recorded: recorded.lua's back
--                           end
--   looking.error(recorded) the error that is about to unwind frames: what was
--                           thrown, as grip and pool, and the packet; nil
--   looking.depth(replay, thread)
--                           how many frames a coroutine has
--
-- A frame is at the line of the call that it makes next, if that is known; else
-- of the call that it has made last; else where its function begins.

local core = require "tracegrip.core"
local changes = require "tracegrip.dap.recorded.changes"
local code = require "tracegrip.dap.recorded.code"
local problem = require "tracegrip.dap.problem"
local stops = require "tracegrip.dap.recorded.stops"
local values = require "tracegrip.dap.recorded.values"
local units = require "tracegrip.cli.units"
local wire = require "tracegrip.wire"
core.own()

local THREADS = 1024            -- that are told at most
local FRAMES = 1000             -- the same of a request's
local CALLS = 1000              -- the same of a table's history
local HIDDEN = 1 << 30          -- number of the thread that is none

local handlers = {}
local looking = {handlers = handlers}

---------------------------------------------------------------------------
-- Threads
---------------------------------------------------------------------------

local function status_of (one, running)
  return one.thread == running and "running"
         or one.open > 0 and "normal" or "suspended"
end

local function thread_name (self, one, running)
  local name = "main"
  if one.thread ~= 1 then
    local body = self.names[one.body]
    name = ("coroutine %d%s"):format(one.thread, body and ": " .. body or "")
  end
  return ("%s (%s)"):format(name, status_of(one, running))
end

-- The running one first. Of more than can be told, the last says how many there
-- are.
function handlers.threads (self)
  local running, list = self:moment().running, {}
  local all = self.replay:threads()
  table.sort(all, function (a, b)
    if (a.thread == running) ~= (b.thread == running) then
      return a.thread == running
    end
    return a.thread < b.thread
  end)
  for i, one in ipairs(all) do
    if i == THREADS and #all > THREADS then
      list[i] = {id = HIDDEN, name = ("… %d of %d coroutines are not shown")
                 :format(#all - THREADS + 1, #all)}
      break
    end
    list[i] = {id = one.thread, name = thread_name(self, one, running)}
  end
  if #list == 0 then
    list[1] = {id = running, name = "main (not running)"}
  end
  return {threads = wire.array(list)}
end

function looking.depth (replay, thread)
  for _, one in ipairs(replay:threads()) do
    if one.thread == thread then
      return one.frames
    end
  end
  return 0
end

---------------------------------------------------------------------------
-- Frames
---------------------------------------------------------------------------

-- The line of the call that the frame is about to make, if it is innermost. One
-- that has just been entered is still where it is defined, unless that call was
-- what one wanted to stop before.
local function next_line (self, thread, frame)
  local last, coming = self.replay:last(), self.replay:coming()
  local entered = last and last.type == "enteredFrame" and not last.resumed
                  and last.entry == frame.entry and not self.at_line
  local site = coming and coming.type == "enteredFrame"
               and not coming.resumed and coming.thread == thread
               and coming.callsite
  return not entered and site and site.url == frame.url and site.line or nil
end

-- The Source and the line there; nil of C.
local function position (self, thread, i, frame)
  local line = i == 1 and next_line(self, thread, frame)
               or frame.reached or frame.line
  return self.sources:position(frame.url, line or 1)
end

local function stack_frame (self, thread, i, frame)
  local source, line = position(self, thread, i, frame)
  return {
    id = self.references:frame {thread = thread, index = i},
    name = frame.name or "?", source = source,
    line = source and line - 1 + self.line_from or 0,
    column = source and self.column_from or 0,
    presentationHint = not source and "subtle" or nil
  }
end

function handlers.stackTrace (self, arguments)
  self:check_still()
  local thread, list = arguments.threadId, {}
  local first = math.max(arguments.startFrame or 0, 0)
  local levels = arguments.levels or 0
  local count = levels > 0 and math.min(levels, FRAMES) or FRAMES
  for i, frame in ipairs(self.replay:frames(thread, first + 1, count)) do
    list[i] = stack_frame(self, thread, first + i, frame)
  end
  return {stackFrames = wire.array(list),
          totalFrames = looking.depth(self.replay, thread)}
end

---------------------------------------------------------------------------
-- Errors
---------------------------------------------------------------------------

-- Only before the first of the frames that it unwinds.
function looking.error (self)
  local coming = self.replay:coming()
  if not coming or coming.why ~= "exception" or not self:moment().stands then
    return nil
  end
  local thrown = coming.throw
  if not thrown then
    return {type = "undefined"}, {}, coming
  end
  return thrown.value, thrown.objectPool, coming
end

local function backtrace (self)
  local thread, list = self:moment().running, {}
  for i, frame in ipairs(self.replay:frames(thread, 1, 50)) do
    local source, line = position(self, thread, i, frame)
    list[i] = source and ("%s:%d: %s"):format(source.name, line,
                                              frame.name or "?")
              or "[C]: " .. (frame.name or "?")
  end
  return table.concat(list, "\n")
end

function handlers.exceptionInfo (self)
  local grip, pool, packet = looking.error(self)
  if not packet then
    problem.raise("there is no error at this moment")
  end
  local text = values.said(grip, pool)
  local uncaught = stops.is_uncaught(packet, looking.depth(self.replay,
                                                           packet.thread))
  return {
    exceptionId = values.type(grip, pool), description = text,
    breakMode = uncaught and "unhandled" or "always",
    details = {message = text, typeName = values.type(grip, pool),
               stackTrace = backtrace(self)}
  }
end

---------------------------------------------------------------------------
-- Scopes
---------------------------------------------------------------------------

-- The items of a list, and that there were more, if there were.
local function told (items, list)
  if list.truncated then
    items[#items + 1] = {name = "[[truncated]]", grip = true}
  end
  return items
end

-- Values in a list as {name, grip}: by the names of parameters, if there are
-- any.
local function items_of (list, names)
  local items = {}
  local fixed = names and names[#names] == "..." and #names - 1
                or names and #names or 0
  for i, grip in ipairs(list.values or {list.value}) do
    local name = names and names[i] ~= "..." and names[i]
                 or names and ("(vararg %d)"):format(i - fixed)
                 or tostring(i)
    items[i] = {name = name, grip = grip,
                expression = names and i <= fixed and names[i] or nil}
  end
  return told(items, list)
end

-- The same of values that have their names; the later one of two that have the
-- same is what code means by it.
local function named_items (list)
  local items, latest = {}, {}
  for i, one in ipairs(list.values) do
    latest[one.name] = i
  end
  for i, one in ipairs(list.values) do
    local name = type(one.name) == "string" and one.name
                 or values.text(one.name, list.objectPool)
    items[i] = {name = name, grip = one.value,
                expression = latest[one.name] == i and name or nil}
  end
  return told(items, list)
end

local function add_scope (self, list, name, hint, items, pool)
  list[#list + 1] = {
    name = name, presentationHint = hint, expensive = false,
    namedVariables = #items,
    variablesReference = self.references:variables {items = items, pool = pool}
  }
end

local function add_arguments (self, list, call)
  local given = call and call.arguments
  if given then
    add_scope(self, list, "Arguments", "arguments",
              items_of(given, call.parameterNames), given.objectPool)
  end
end

-- Those of the innermost frame where it makes the call that comes next, or
-- returns; of another one where it has made the call that it is in.
local function locals_of (self, thread, i)
  if i > 1 then
    return self.replay:locals(thread, i)
  end
  local coming = self.replay:coming()
  if coming and coming.thread == thread and self:moment().stands then
    return coming.locals
  end
end

local function add_locals (self, list, thread, i)
  local given = locals_of(self, thread, i)
  if given then
    add_scope(self, list, "Locals", "locals", named_items(given),
              given.objectPool)
  end
end

local endings = {
  {"return", "Results of %s", "Returns"}, {"throw", "Error of %s", "Error"},
  {"yield", "Yielded by %s", "Yields"}
}

-- What a packet gave that ended a frame; 'which': 2, of a call that has ended,
-- 3, of the frame itself, which ends next.
local function add_ending (self, list, packet, which)
  for _, ending in ipairs(endings) do
    local given = packet[ending[1]]
    if given then
      add_scope(self, list, ending[which]:format(packet.name or "?"),
                "returnValue", items_of(given), given.objectPool)
    end
  end
end

-- What the innermost frame has had from the call that it made, and what it is
-- about to give.
local function add_endings (self, list, thread)
  local last, coming = self.replay:last(), self.replay:coming()
  if last and last.type == "exitedFrame" and last.thread == thread then
    add_ending(self, list, last, 2)
  end
  if coming and coming.type == "exitedFrame" and coming.thread == thread
     and self:moment().stands then
    add_ending(self, list, coming, 3)
  end
end

local function add_moment (self, list)
  local moment = self:moment()
  local of = moment.total and " of " .. moment.total or ""
  local items = {
    {name = "number", grip = moment.number .. of},
    {name = "time", grip = moment.time_ms and units.span(moment.time_ms)
                           or "unknown"},
  }
  add_scope(self, list, "Moment", nil, items, {})
end

function handlers.scopes (self, arguments)
  self:check_still()
  local frame = self.references:get_frame(arguments.frameId)
  local list = {}
  add_arguments(self, list, self.replay:arguments(frame.thread, frame.index))
  add_locals(self, list, frame.thread, frame.index)
  if frame.index == 1 then
    add_endings(self, list, frame.thread)
    add_moment(self, list)
  end
  return {scopes = wire.array(list)}
end

---------------------------------------------------------------------------
-- Variables
---------------------------------------------------------------------------

-- A variable, or what an expression gives. 'expression' is what is written to
-- have it in code; nil: nothing is.
function looking.variable (self, name, grip, pool, expression)
  local children, indexed = values.children(grip, pool)
  local opens = #children > 0
  return {
    name = name, value = values.text(grip, pool),
    type = values.type(grip, pool), evaluateName = expression,
    presentationHint = name:find "^%[%[" and {kind = "virtual"} or nil,
    indexedVariables = opens and indexed > 0 and indexed or nil,
    namedVariables = opens and indexed > 0 and #children - indexed or nil,
    variablesReference = opens and self.references:variables {
      grip = grip, pool = pool, expression = expression
    } or 0
  }
end

-- The items of what is opened, and how many of them are a sequence.
local function opened (of)
  if of.items then
    return of.items, 0
  end
  local children, indexed = values.children(of.grip, of.pool)
  for _, child in ipairs(children) do
    child.expression = of.expression and child.field
                       and of.expression .. child.field or nil
  end
  return children, indexed
end

-- A variable that is shown in an object or a scope: its value and pool, and,
-- where it is a field and no table itself, the object and its key.
local function shown (self, arguments)
  local of = self.references:get_variables(arguments.variablesReference)
  for _, item in ipairs((opened(of))) do
    if item.name == arguments.name then
      local field = item.key and values.type(item.grip, of.pool) ~= "table"
      return field and of.grip or item.grip, of.pool, field and item.key or nil
    end
  end
end

function handlers.variables (self, arguments)
  local of = self.references:get_variables(arguments.variablesReference)
  local items, indexed = opened(of)
  local from, to = 1, #items
  if arguments.filter == "indexed" then
    to = indexed
  elseif arguments.filter == "named" then
    from = indexed + 1
  end
  from = from + math.max(arguments.start or 0, 0)
  local count = arguments.count or 0
  to = count > 0 and math.min(to, from + count - 1) or to
  local list = {}
  for i = from, to do
    local item = items[i]
    list[#list + 1] = looking.variable(self, item.name, item.grip, of.pool,
                                       item.expression)
  end
  return {variables = wire.array(list)}
end

---------------------------------------------------------------------------
-- Code
---------------------------------------------------------------------------

-- The names of a frame: of the innermost one also of what has ended, or ends.
local function names_of (self, frame)
  local call = self.replay:arguments(frame.thread, frame.index)
  local variables = locals_of(self, frame.thread, frame.index)
  if frame.index > 1 then
    return code.names(call, nil, variables)
  end
  local last, coming = self.replay:last(), self.replay:coming()
  local ends = coming and coming.type == "exitedFrame"
               and coming.thread == frame.thread and coming
  local ended = last and last.type == "exitedFrame"
                and last.thread == frame.thread and last
  return code.names(call, ends or ended or nil, variables)
end

local function texts_of (results)
  local texts = {}
  for i = 1, results.n do
    local grip, pool = values.grip(results[i])
    texts[i] = values.text(grip, pool)
  end
  return table.concat(texts, ", ")
end

local function run (self, expression, id)
  local frame = id and self.references:get_frame(id)
                or {thread = self:moment().running, index = 1}
  local ok, results = code.run(expression, names_of(self, frame))
  return ok and results or problem.raise("%s", results)
end

-- A table of the recording that an expression gives.
local function data_of (self, expression, id)
  local results = run(self, expression, id)
  return values.grip(results[1])
end

function handlers.dataBreakpointInfo (self, arguments)
  self:check_still()
  if arguments.variablesReference then
    return changes.info(shown(self, arguments))
  end
  return changes.info(data_of(self, arguments.name, arguments.frameId))
end

-- A request of our own: the calls that had a table.
function handlers.history (self, arguments)
  self:check_still()
  local info = changes.info(data_of(self, arguments.expression,
                                    arguments.frameId))
  if info.dataId == wire.null then
    problem.raise("%s", info.description)
  end
  self.moving, self.pausing = true, false
  local ok, lines = pcall(self.changes.calls, self.changes,
                          math.tointeger(tonumber(info.dataId)), function ()
    self.port.breathe()
    return not self.pausing
  end, CALLS)
  self.moving = false
  if not ok then
    error(lines, 0)
  end
  return {result = lines and table.concat(lines, "\n") or "paused",
          calls = wire.array(lines or {}), variablesReference = 0}
end

function handlers.evaluate (self, arguments)
  self:check_still()
  local of = arguments.context == "repl"
             and arguments.expression:match "^%s*history%s*(%b())%s*$"
  if of then
    return handlers.history(self, {expression = of,
                                   frameId = arguments.frameId})
  end
  local results = run(self, arguments.expression, arguments.frameId)
  if results.n ~= 1 then
    return {result = texts_of(results), variablesReference = 0}
  end
  local grip, pool = values.grip(results[1])
  local one = looking.variable(self, "", grip, pool, arguments.expression)
  local plain = arguments.context == "clipboard" and type(grip) == "string"
  return {result = plain and grip or one.value, type = one.type,
          indexedVariables = one.indexedVariables,
          namedVariables = one.namedVariables,
          variablesReference = one.variablesReference}
end

return looking
