-- looking.lua - what a client asks of a moment of a recording: the coroutines
-- that there were, their frames, what these were called with, what has ended.
--
--   looking.handlers        command -> function (recorded, arguments), as
--                           session.lua has them; recorded: recorded.lua's back
--                           end
--   looking.variable(recorded, ...)
--                           a variable, or what an expression gives

local core = require "tracegrip.core"
local changes = require "tracegrip.dap.recorded.changes"
local code = require "tracegrip.replay.code"
local frames = require "tracegrip.replay.frames"
local points = require "tracegrip.replay.points"
local problem = require "tracegrip.dap.problem"
local tables = require "tracegrip.replay.tables"
local values = require "tracegrip.replay.values"
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

---------------------------------------------------------------------------
-- Frames
---------------------------------------------------------------------------

-- The Source and the line there; nil of C.
local function position (self, thread, i, frame)
  return self.sources:position(frame.url,
                               frames.line(self.walk, thread, i, frame))
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
          totalFrames = points.depth(self.replay, thread)}
end

---------------------------------------------------------------------------
-- Errors
---------------------------------------------------------------------------

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
  local grip, pool, packet = frames.error(self.walk)
  if not packet then
    problem.raise("there is no error at this moment")
  end
  local text = values.said(grip, pool)
  local uncaught = points.is_uncaught(packet, points.depth(self.replay,
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

local hints = {arguments = "arguments", locals = "locals",
               ended = "returnValue", ends = "returnValue"}

function handlers.scopes (self, arguments)
  self:check_still()
  local frame = self.references:get_frame(arguments.frameId)
  local list = {}
  for i, scope in ipairs(frames.scopes(self.walk, frame.thread, frame.index)) do
    list[i] = {
      name = scope.name, presentationHint = hints[scope.kind],
      expensive = false, namedVariables = #scope.items,
      variablesReference = self.references:variables(scope)
    }
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
  local ok, results = code.run(expression, frames.names(
    self.walk, frame.thread, frame.index, frame.index == 1))
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
  self.moving, self.walk.pausing = true, false
  local ok, lines = pcall(tables.calls, self.replay,
                          math.tointeger(tonumber(info.dataId)),
                          self.go_on, CALLS)
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
